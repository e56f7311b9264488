"""A backend outside of ATen: the operators that its file lists, the functions that it has text for.

This is not a stage: only the families that print backends depend on it. Roles are looked up by operator, so that an
edited list dirties the functions of its operators alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from msgspec.structs import replace

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.families.family import BackendFamily, BackendLayout
from gradmill.grammar.buckets import bucket_of
from gradmill.grammar.schema import parser
from gradmill.model.backends import KERNELS as LISTED_KERNELS
from gradmill.model.backends import (
    LISTS,
    OPTIONS,
    STRUCTURED,
    Backend,
    BackendFile,
    BackendFunction,
    Item,
    Member,
    OwnNode,
    Roles,
)
from gradmill.model.entries import by_key
from gradmill.model.layers import LAYER_MARK
from gradmill.model.native import FunctionSummary
from gradmill.model.schema import is_tensor_like
from gradmill.problems.problem import Problem, Role, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.backends.kernels import META, defined_kernels, missing_kernel
from gradmill.rules.backends.members import IGNORED, check_keys, clashes, members_of, problem_of_item, structured_errors
from gradmill.specs.spec_set import FILE_NAMES
from gradmill.stages import kernels
from gradmill.stages.schemas import buckets, entry_of, function, heads, in_order
from gradmill.stages.set import includes, is_described, release, sources, spec_set
from gradmill.stages.spec_files import of_file, parse_file, text

LAZY: Role = "backend"  # the role of the file of lazy tensors
STUBS: Role = "external_backend"  # of one for stubs
_OF_BOOL_OR_INT = {  # CompositeImplicit functions whose results have no gradient
    *("isclose", "isfinite", "isreal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("argsort", "argwhere", "nonzero_numpy", "one_hot"),
}
SHAPES = "shape_inference"  # the key of the header that lazy tensors need
KERNELS: dict[Role, Role] = {LAZY: "backend_kernels", STUBS: "external_kernels"}  # of the C++ file with kernels


@query
def read(db: Database, role: Role) -> BackendFile | None:
    """The file of a role; None if it is invalid, which is reported."""
    from gradmill.specs.backend import read_backend  # reads YAML

    schemas = parser(frozenset(release(db).base_types))
    return parse_file(db, role, lambda whole: read_backend(whole, schemas, lazy=role == LAZY))


@query
def backend(db: Database, role: Role) -> Backend | None:
    """What the file says of the backend as a whole; None if it is invalid."""
    whole = read(db, role)
    return None if whole is None else whole.backend


@query
def own_nodes(db: Database, role: Role) -> list[OwnNode]:
    """The nodes of operations that no native function declares."""
    whole = read(db, role)
    return [] if whole is None else list(whole.nodes)


def layout(db: Database, family: BackendFamily) -> BackendLayout | None:
    """What the files of a family need besides its functions; None if it prints no valid backend."""
    facts, how = backend(db, family.role), includes(db)
    if facts is None:
        return None
    nodes = tuple(own_nodes(db, family.role))
    return BackendLayout(facts, nodes, how.folders.get(family.name, ""), bool(how.operator_headers))


@query
def roles(db: Database, role: Role) -> dict[str, Roles]:
    """The lists that each operator is in."""
    whole = read(db, role)
    listed: dict[str, set[str]] = {}
    order = (*LISTS, *OPTIONS)
    for item in whole.items if whole is not None else ():
        listed.setdefault(item.name, set()).add(item.listed)
    return {name: Roles(tuple(each for each in order if each in listed[name])) for name in sorted(listed)}


@table
def members(db: Database, role: Role) -> dict[str, Member]:
    """The functions that the backend has text for, by identity."""
    facts = backend(db, role)
    if facts is None or not facts.kernels:
        return {}
    return {member.function: member for member in members_of(_heads_of_listed(db, role), roles(db, role), facts)}


def _heads_of_listed(db: Database, role: Role) -> list[tuple[str, FunctionSummary]]:
    """The functions in the buckets of operators that the backend's file lists."""
    return _heads(db, dict.fromkeys(map(bucket_of, roles(db, role))))


def _heads(db: Database, of: Iterable[str]) -> list[tuple[str, FunctionSummary]]:
    """The functions of buckets in the namespace of PyTorch, where stubs are registered; a described set may have
    others."""
    listed = [each for bucket in of for each in heads(db, bucket)]
    if not is_described(db):
        return listed
    others = {source.layer for source in sources(db) if source.namespace}
    named = ((each, entry_of(each[0]).rpartition(LAYER_MARK)) for each in listed)
    return [
        each for each, (operator, mark, layer) in named if not mark or (layer not in others and "::" not in operator)
    ]


def all_members(db: Database, role: Role) -> list[Member]:
    """The functions that the backend has text for, in upstream's order: that of the file, or by name before that."""
    listed = list(members(db, role).values())
    if role == LAZY:
        return sorted(listed, key=lambda member: member.order)
    return in_order(db, listed, lambda member: member.first)


def backend_function(db: Database, name: str, role: Role) -> BackendFunction | None:
    """A function as its text is rendered from it; None if the backend has none for it."""
    facts, member = backend(db, role), members.item(db, role, name)
    own = function(db, name)
    if facts is None or member is None or own is None:
        return None
    functional, out = (function(db, each) if each else None for each in (member.functional, member.out))
    return BackendFunction(backend=facts, member=member, function=own, functional=functional, out=out)


lazy_function, stub = partial(backend_function, role=LAZY), partial(backend_function, role=STUBS)


# ---- errors


def placed(db: Database, role: Role, name: str, problem: Problem) -> Problem:
    """A problem of a function, at the line of its operator in the backend's file."""
    member = members.item(db, role, name)
    wanted = (name,) if member is None else (name, member.out, member.functional)
    operators = [str(own.func.name) for each in wanted if each and (own := function(db, each)) is not None]
    item = _first(db, role, operators)
    return problem if item is None else _at(role, problem, item)


def _first(db: Database, role: Role, operators: Iterable[str]) -> Item | None:
    """The first item that names one of the operators."""
    whole = read(db, role)
    items = whole.items if whole is not None else ()
    return next((item for name in operators for item in items if item.name == name), None)


def _at(role: Role, problem: Problem, item: Item) -> Problem:
    return replace(
        problem, role=role, entry="", op=item.name, field=(), needle="", file="", line=item.line, column=item.column
    )


def report_node(db: Database, role: Role, number: int, error: SpecError) -> None:
    """Reports an error of one of the backend's own nodes."""
    whole = read(db, role)
    assert whole is not None
    line, column = whole.places[number + 1]
    db.report(replace(of_file(role, error), op=str(whole.nodes[number].schema.name), line=line, column=column))


@query
def checked(db: Database, role: Role) -> bool:
    """Reports operators that no function has, that are listed twice, or that have kernels for two keys."""
    whole = read(db, role)
    if whole is None:
        return False
    _check_key(db, role, whole)
    known, own = {head.name for _, head in _heads(db, db.names(buckets))}, roles(db, role)
    for key in (SHAPES, KERNELS[role]) if role == LAZY else ():
        if key not in spec_set(db).files:
            error = SpecError(f"the spec set has no {FILE_NAMES[key]}", "add it: torchgen reads it, too")
            db.report(replace(of_file(role, error), line=1, column=1))
    lost = _without_gradient(db, whole.backend, own) if role == STUBS else set()
    seen: set[tuple[str, str]] = set()
    for item in whole.items:
        problem = problem_of_item(role, item, known, own, seen)
        if problem is None and item.name in lost and item.listed in LISTED_KERNELS:
            what = f"'{item.name}' is CompositeImplicit: with a kernel for {whole.backend.key} it has no gradient there"
            hint = "list it in autograd, with a kernel that has a gradient; or leave it out: it calls other operators"
            problem = Problem(role, "", "", what, hint, warning=True, rule="lost-gradient")
        if problem is not None:
            db.report(_at(role, problem, item))
        seen.add((item.name, item.listed))
    listed = _heads_of_listed(db, role)
    for clash in clashes(listed, own):
        item = next(item for item in whole.items if item.name == clash.autograd and item.listed == "autograd")
        twice = f"'{clash.autograd}' has a kernel for autograd, and '{clash.kernel}' one for {whole.backend.key}"
        hint = "list all variants of an operator in autograd, or none"
        db.report(_at(role, Problem(role, "", "", twice, hint), item))
    for operator, error in structured_errors(listed, own):
        item = next(item for item in whole.items if item.name == operator and item.listed == STRUCTURED)
        db.report(_at(role, problem_of(error, role, "", ""), item))
    return True


def _without_gradient(db: Database, of: Backend, own: Mapping[str, Roles]) -> set[str]:
    """The listed operators whose gradient a kernel for the backend takes away: autograd differentiates the calls in a
    CompositeImplicit kernel, which this one replaces. Those with a kernel for some device, or with derivatives, have
    one for autograd."""
    found = set()
    for name, head in _heads_of_listed(db, STUBS):
        listed = own.get(head.name)
        if listed is None or not listed.kernel or not head.implicit or head.abstract or not head.returns_tensors:
            continue
        native, pair = function(db, name), kernels.kernel(db, name)
        takes_tensors = native is not None and any(is_tensor_like(each.type) for each in native.func.inputs)
        derived = pair is not None and bool({DEFAULT_KEY, of.autograd_key} & set(pair.source or ()))
        if takes_tensors and not derived and head.base not in _OF_BOOL_OR_INT:
            found.add(head.name)
    return found


def _check_key(db: Database, role: Role, whole: BackendFile) -> None:
    line, column = whole.places[0]
    if not whole.backend.kernels:
        missing = SpecError("the file lists no operator", "list one in supported or in full_codegen")
        if role == STUBS:
            missing = SpecError("supported is empty: torchgen writes no file", "list operators there", rule=IGNORED)
        db.report(replace(of_file(role, missing), line=line, column=column, warning=role == STUBS))
        if role == LAZY:
            return
    try:
        check_keys(whole.backend, release(db), _taken(db, whole.backend.key))
    except SpecError as error:
        db.report(replace(of_file(role, error), line=line, column=column))


def _taken(db: Database, key: str) -> set[str]:
    """The dispatch keys that entries have kernels for, if the key may be one of them."""
    if key not in release(db).kernel_keys:
        return set()
    from gradmill.stages.operators import first_kernels

    return {each for bucket in db.names(buckets) for each in first_kernels(db, bucket)}


@table
def lines(db: Database) -> dict[str, bool]:
    """The lines of the header of shape functions, each of which an edit may change alone; none without the file."""
    whole = text(db, SHAPES) if SHAPES in spec_set(db).files else None
    return dict.fromkeys(sorted((whole or "").split("\n")), True)


def check_declaration(db: Database, name: str, declaration: str) -> None:
    """Reports the declaration that a function needs in the header, if that lacks it."""
    if lines.item(db, declaration) is None:
        header = spec_set(db).files.get(SHAPES, "")
        error = SpecError(f"{header} does not declare the function of its shape", f"add a line: {declaration}")
        db.report(placed(db, LAZY, name, problem_of(error, LAZY, "", "")))


def check_kernels(db: Database, role: Role, declarations: Mapping[str, str]) -> None:
    """Reports handwritten kernels that the backend's C++ file does not define, if there is one. `declarations`: of
    kernels, by function."""
    key = KERNELS[role]
    facts, whole = backend(db, role), text(db, key) if key in spec_set(db).files else None
    if facts is None or whole is None:
        return
    written = [each for each in all_members(db, role) if each.kernel and not each.traced]
    metas = [(each.kernel + META, each.function) for each in written if each.defines_meta]
    wanted = by_key([*((each.kernel, each.function) for each in written), *metas])
    try:
        defined = defined_kernels(whole, facts.class_name)
    except SpecError as odd:
        db.report(of_file(role, odd))
        return
    for kernel, functions in wanted.items():
        file = spec_set(db).files[key]
        declared = [declarations[each] for each in functions if declarations.get(each)]
        missing = missing_kernel(
            kernel=kernel,
            wanted=len(functions),
            defined=defined,
            class_name=facts.class_name,
            file=file,
            declarations=declared,
        )
        if missing is not None:
            db.report(placed(db, role, functions[0], problem_of(missing, role, "", "")))
