"""What changed in the C functions that AOTInductor's models call, next to a header of before.

Upstream commits these headers, and stops if one differs from what it would write: a compiled model calls the functions
with the parameters of then.

torchgen: `gen_aoti_c_shim.gen_aoti_c_shim_files`.
"""

from __future__ import annotations

from msgspec.structs import replace

from gradmill.families.c_shims import C_SHIMS
from gradmill.families.family import Layout
from gradmill.families.file import File
from gradmill.families.template import Template
from gradmill.model.layers import role_of
from gradmill.model.regex import regex
from gradmill.model.schema import Schema
from gradmill.model.units import Unit
from gradmill.problems.problem import LAST, Problem, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.releases.model import Release
from gradmill.specs.location import SHIM_HEADER
from gradmill.stages.emit import rendered
from gradmill.stages.set import release, spec_label, spec_set
from gradmill.stages.shims import name_in_lists, shim
from gradmill.stages.units import units

_DECLARATION = regex(r"AOTI_TORCH_EXPORT AOTITorchError (\w+)\((.*)\);")
_UPDATE = "gradmill torchgen --update-aoti-c-shim"


@query
def compared(db: Database) -> None:
    """Reports what changed next to the headers that a build compares."""
    made = headers(db)
    for key, name in spec_set(db).files.items():
        before = db.input(spec_label(key)) if role_of(key) == SHIM_HEADER else None
        if before is not None and name in made:
            for problem in changes(db, made[name], before.decode(errors="replace")):
                db.report(replace(problem, rank=LAST))  # after any other error, functions are missing


Functions = dict[str, list[str]]  # the names of C functions, each with its parameters


def headers(db: Database) -> dict[str, File]:
    """The headers of C functions, by name."""
    files = C_SHIMS.files(units(db, C_SHIMS.name), Layout(), release(db))
    return {file.name: file for file in files if file.name.endswith(".h")}


def header_text(db: Database, file: File) -> str:
    """The text of a header."""
    texts = {hole: "\n".join(filter(None, (_piece(db, file, unit) for unit in file.units))) for hole in file.holes}
    return Template(file.before, blocks=False).fill(texts)


def _piece(db: Database, file: File, unit: str) -> str:
    (name,) = (content.name for content in file.pieces.values())
    return C_SHIMS.piece(rendered(db, C_SHIMS.name, unit), name)


def changes(db: Database, file: File, before: str) -> list[Problem]:
    """What differs in a header from its text of before, as errors; none if it is the same."""
    if before.replace("\r\n", "\n") == header_text(db, file):
        return []
    old, known = _functions(before), set[str]()
    problems = []
    for unit in units(db, C_SHIMS.name):
        own = _functions(_piece(db, file, unit.name))
        known.update(own)
        error = _change(file, unit, own, old, db)
        problems += [problem_of(error, "native", unit.entry, unit.overload)] if error is not None else []
    problems += [_removed(file, name) for name in old if name not in known]
    if not problems:
        error = SpecError(f"{file.name} is not what would be written now", f"run {_UPDATE}, and look at the difference")
        problems.append(problem_of(error, "fallback_ops", "", ""))
    return problems


def _functions(text: str) -> Functions:
    """The functions that a text declares, with their parameters."""
    return {match[1]: match[2].split(", ") if match[2] else [] for match in _DECLARATION.finditer(text)}


def _change(file: File, unit: Unit, own: Functions, old: Functions, db: Database) -> SpecError | None:
    """The error for the newest function of an operator that is new, or has other parameters."""
    for name, parameters in own.items():
        if name not in old:
            problem = f"{file.name} does not declare {name}"
            return SpecError(problem, f"if the function is new, run {_UPDATE}, and commit the header", field=("func",))
        elif old[name] != parameters:
            problem = f"the parameters of {name} are no longer those in {file.name}, with which compiled models call it"
            return SpecError(problem, _hint(db, unit, parameters, old[name]), field=("func",))
    return None


def _hint(db: Database, unit: Unit, parameters: list[str], old: list[str]) -> str:
    """What to do about other parameters: if there are only more, to add a version."""
    facts, own = release(db), shim(db, unit.function)
    assert own is not None
    if not facts.shim_versions or [each for each in parameters if each in old] != old:
        return "undo the change, or add an operator"
    added = _arguments(own.function.func, [each for each in parameters if each not in old])
    number = 1 + max(version.number for versions in own.versions.values() for version in versions)
    return f'give "{name_in_lists(own.function)}" in fallback_ops.py {_row(number, added, facts)}, then run {_UPDATE}'


def _arguments(schema: Schema, parameters: list[str]) -> list[str]:
    names = {each.rpartition(" ")[2] for each in parameters}
    return [argument.name for argument in schema.arguments if argument.name in names]


def _row(number: int, added: list[str], facts: Release) -> str:
    names = ", ".join(f'"{name}"' for name in added)
    if facts.shim_versions == "arguments":
        return f'"v{number}": [{names}]'
    macro = f"TORCH_VERSION_{facts.version.replace('.', '_')}_0"
    return f'"v{number}": {{"new_args": [{names}], "since": "{macro}"}}'


def _removed(file: File, name: str) -> Problem:
    problem = f"{file.name} declares {name}, which compiled models call and no operator in the lists has"
    return problem_of(SpecError(problem, "list the operator again"), "fallback_ops", "", "")
