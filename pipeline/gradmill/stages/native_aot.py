"""Kernels that are compiled ahead of time: the stubs that wrappers of structured kernels call. Part of the stage
`schemas`.

torchgen since 2.15: `native_aot.parse_native_aot_manifests`, `native_aot.validate_native_aot_manifests`.
"""

from msgspec.structs import replace

from gradmill.families.native_aot_stubs import NATIVE_AOT_STUBS
from gradmill.model.native import AotStub, NativeFunction, Operator
from gradmill.model.native_aot import AotDeclaration
from gradmill.problems.problem import SpecError
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.dispatch.groups import Group, groups_of
from gradmill.specs.location import NATIVE_AOT
from gradmill.stages.operators import operator
from gradmill.stages.set import asked_families, release, spec_set
from gradmill.stages.spec_files import of_file, parse_file


@table
def declarations(db: Database) -> dict[str, AotDeclaration]:
    """The declarations that resolve, by dispatch key and operator: `CUDA topk`. Reports the others."""
    from gradmill.specs.native_aot import read_declaration  # parses Python

    found: dict[str, AotDeclaration] = {}
    if not release(db).has_native_aot:
        return found
    for file in sorted(name for name in spec_set(db).files if name.startswith(f"{NATIVE_AOT}:")):
        own = parse_file(db, file, read_declaration)
        if own is None:
            continue
        name = f"{own.key} {own.op}"
        error = SpecError(f"{name} is declared twice", "leave one out") if name in found else _error(db, own)
        others = {each.key for each in found.values()} - {own.key}
        if error is None and others and NATIVE_AOT_STUBS.name in asked_families(db):
            problem = f"'{own.op}' is declared for {own.key}, and another operator for {', '.join(others)}"
            error = SpecError(problem, "declare all for one key: torchgen sorts them by operators only within a key")
        if error is not None:
            db.report(replace(of_file(file, error), line=own.line))
        else:
            found[name] = own
    return {name: found[name] for name in sorted(found)}


def _error(db: Database, own: AotDeclaration) -> SpecError | None:
    """What is wrong with the operator or the key of a declaration."""
    if own.key not in release(db).dispatch_keys:
        return SpecError(f"there is no dispatch key '{own.key}'", "write CUDA")
    names = [str(group.functional.func.name) for group in _structured(operator(db, base_of(own)))]
    if own.op in names or ("." not in own.op and len(names) == 1):
        return None
    if names:
        problem = f"'{own.op}' names no single structured operator"
        return SpecError(problem, f"write one of {', '.join(names)}")
    return SpecError(f"'{own.op}' is not a structured operator", "a stub is called between its meta and its impl")


def _structured(of: Operator | None) -> list[Group]:
    return [group for group in groups_of(of) if group.structured] if of is not None else []


@query
def keys(db: Database) -> list[str]:
    """The dispatch keys with such kernels."""
    return sorted({name.partition(" ")[0] for name in db.names(declarations)})


def stub(db: Database, name: str) -> AotStub | None:
    """The stub of a declaration, by the name of this; None if there is none."""
    own = declarations.item(db, name)
    for group in _structured(operator(db, base_of(own))) if own is not None else ():
        if own is not None and own.op in (str(group.functional.func.name), group.functional.func.name.base):
            return AotStub(own, group.primary)
    return None


def base_of(own: AotDeclaration) -> str:
    """The base name of the operator of a declaration."""
    return own.op.partition(".")[0]


def compiled_ahead(db: Database, key: str, functional: NativeFunction) -> AotDeclaration | None:
    """The declaration for a structured kernel; None if there is none. One with the overload comes first."""
    if key not in keys(db):
        return None
    name = functional.func.name
    return declarations.item(db, f"{key} {name}") or declarations.item(db, f"{key} {name.base}")
