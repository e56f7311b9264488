"""The plan of a class of named results is the class itself."""

from __future__ import annotations

from pipeline.model.structseqs import Structseq
from pipeline.releases.model import Release
from pipeline.rules.native.structseqs import all_named


def plan(structseq: Structseq, release: Release) -> Structseq:
    """The class. Raises SpecError if it has a field without a name."""
    all_named(structseq.fields)
    return structseq
