"""Stage `derivatives`: the entries of derivatives.yaml to raw definitions.

Reads one `SpecFile`; writes `Definitions`. Nothing is looked up here: what depends on the schemas is `infos`.
"""

from __future__ import annotations

from typing import NamedTuple

from pipeline.model.artifact import digest, encode
from pipeline.model.infos import DefinitionRow, Definitions
from pipeline.model.specs import SpecFile
from pipeline.problems import Problem, SpecError, problem_of
from pipeline.releases.model import Release
from pipeline.rules.definition import parse_definition


class Read(NamedTuple):
    definitions: Definitions
    problems: list[Problem]


def run(derivatives: SpecFile, release: Release) -> Read:
    """The definitions of all entries that are right, and every mistake and suspicion."""
    rows = []
    problems = []
    for i, entry in enumerate(derivatives.entries):
        value = entry.decode()
        try:
            definition, suspicions = parse_definition(value, release)
        except SpecError as error:
            problems.append(problem_of(error, "derivatives", i, _op(value)))
            continue
        problems += [problem_of(suspicion, "derivatives", i, _op(value), warning=True) for suspicion in suspicions]
        rows.append(DefinitionRow(i, digest(encode(definition)), definition))
    return Read(Definitions(tuple(rows)), problems)


def _op(value: object) -> str:
    name = value.get("name") if isinstance(value, dict) else None
    return name.partition("(")[0] if isinstance(name, str) else ""
