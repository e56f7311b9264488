"""The dependencies of each stage, from the recorded dependencies of its rows: other stages and inputs."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from gradmill.query.database import Database
from gradmill.query.explain import reads
from gradmill.query.memo import ITEM, Name
from gradmill.reports.trail import Ends, end_of


class StageReads(Struct, frozen=True):
    """The dependencies of one stage: the stages it reads, and the inputs."""

    stages: list[str]
    inputs: Ends


def stage_reads(db: Database, roots: Mapping[str, Name]) -> dict[str, StageReads]:
    """The dependencies of each stage in `roots`. All roots must be up to date."""
    stages = {_module(root): stage for stage, root in roots.items()}
    return {stage: _reads_of(db, root, stages) for stage, root in roots.items()}


def _reads_of(db: Database, root: Name, stages: Mapping[str, str]) -> StageReads:
    """Follows the dependencies of a stage from its root, until they leave the stage's module."""
    read_stages: set[str] = set()
    inputs: Ends = {}
    seen = {root}
    waiting = [root]
    while waiting:
        for read in reads(db, waiting.pop()):
            source = read[1:-1] if read[0] == ITEM else read
            end = end_of(read)
            if _module(source) == _module(root):
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)
            elif _module(source) in stages:
                read_stages.add(stages[_module(source)])
            elif end is not None:
                inputs[end] = None
    return StageReads([stage for stage in stages.values() if stage in read_stages], inputs)


def _module(name: Name) -> str:
    return str(name[0]).partition(":")[0]
