"""Stage `derivatives`: the entries of derivatives.yaml to raw definitions.

Reads one `SpecFile`; writes `Definitions`. Nothing is looked up here: what depends on the schemas is `infos`. An entry
whose value did not change is taken over from the previous artifact.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import Raw

from pipeline.model.artifact import digest, encode
from pipeline.model.infos import DefinitionRow, Definitions
from pipeline.model.specs import SpecFile
from pipeline.problems.problem import Problem, SpecError, problem_of
from pipeline.releases.model import Release
from pipeline.rules.derivatives.definition import parse_definition


class Read(NamedTuple):
    definitions: Definitions
    problems: list[Problem]


def run(derivatives: SpecFile, release: Release, previous: Definitions | None) -> Read:
    """The definitions of all entries that are right, and every mistake and suspicion."""
    known = {row.source: row for row in previous.rows} if previous is not None else {}
    rows = []
    problems = []
    for i, entry in enumerate(derivatives.entries):
        row = known.get(entry.digest)
        if row is not None:
            rows.append(row if row.entry == i else msgspec.structs.replace(row, entry=i))
            problems += _placed(rows[-1])
            continue
        value = entry.decode()
        try:
            definition, suspicions = parse_definition(value, release)
        except SpecError as error:
            problems.append(problem_of(error, "derivatives", i, _op(value)))
            continue
        body = encode(definition)
        warnings = tuple(problem_of(s, "derivatives", -1, _op(value), warning=True) for s in suspicions)
        row = DefinitionRow(i, entry.digest, digest(body), definition.schema, definition.name, Raw(body), warnings)
        rows.append(row)
        problems += _placed(row)
    return Read(Definitions(tuple(rows)), problems)


def _placed(row: DefinitionRow) -> list[Problem]:
    return [msgspec.structs.replace(warning, entry=row.entry) for warning in row.warnings]


def _op(value: object) -> str:
    name = value.get("name") if isinstance(value, dict) else None
    return name.partition("(")[0] if isinstance(name, str) else ""
