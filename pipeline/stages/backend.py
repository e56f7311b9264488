"""A backend outside of ATen: the operators that its file lists, the functions that it has text for.

This is not a stage: only the families that print backends depend on it. Roles are looked up by operator, so that an
edited list dirties the functions of its operators alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from pipeline.grammar.buckets import in_buckets
from pipeline.grammar.schema import parser
from pipeline.model.backends import LISTS, Backend, BackendFile, BackendFunction, Item, Member, OwnNode, Roles
from pipeline.model.entries import by_key
from pipeline.problems.problem import Problem, Role, SpecError, nearest, problem_of
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.rules.backends.kernels import defined_kernels, missing_kernel
from pipeline.rules.backends.members import check_keys, clashes, members_of
from pipeline.specs.spec_set import FILE_NAMES
from pipeline.stages.layered.files import of_file, parse_file, text
from pipeline.stages.schemas import bucket_of_function, buckets, function, heads
from pipeline.stages.set import release, spec_set

ROLE: Role = "backend"
SHAPES, KERNELS = "shape_inference", "backend_kernels"  # the keys of the header and of the C++ file that it needs


@query
def read(db: Database) -> BackendFile | None:
    """The file; None if it is invalid, which is reported."""
    from pipeline.specs.backend import read_backend  # reads YAML

    return parse_file(db, ROLE, lambda whole: read_backend(whole, parser(frozenset(release(db).base_types))))


@query
def backend(db: Database) -> Backend | None:
    """What the file says of the backend as a whole; None if it is invalid."""
    whole = read(db)
    return None if whole is None else whole.backend


@query
def own_nodes(db: Database) -> list[OwnNode]:
    """The nodes of operations that no native function declares."""
    whole = read(db)
    return [] if whole is None else list(whole.nodes)


@table
def roles(db: Database) -> dict[str, Roles]:
    """The lists that each operator is in."""
    whole = read(db)
    listed: dict[str, set[str]] = {}
    for item in whole.items if whole is not None else ():
        listed.setdefault(item.name, set()).add(item.listed)
    return {name: Roles(tuple(each for each in LISTS if each in listed[name])) for name in sorted(listed)}


@table
def listed_in(db: Database) -> dict[str, list[str]]:
    """The operators that the backend's file lists, by bucket, in its order."""
    return in_buckets(db.names(roles))


@table
def members(db: Database, bucket: str) -> dict[str, Member]:
    """The functions of a bucket that the backend has text for, by identity."""
    facts, listed = backend(db), listed_in.item(db, bucket)
    if facts is None or not listed:
        return {}
    own = {name: role for name in listed if (role := roles.item(db, name)) is not None}
    return {member.function: member for member in members_of(heads(db, bucket), own, facts)}


def all_members(db: Database) -> list[Member]:
    """The functions that the backend has text for, in upstream's order: by name, then in the order of the file."""
    listed = [
        member
        for bucket in db.names(listed_in)
        for name in db.names(members, bucket)
        if (member := members.item(db, bucket, name)) is not None
    ]
    return sorted(listed, key=lambda member: member.order)


def backend_function(db: Database, name: str) -> BackendFunction | None:
    """A function as its text is planned from it; None if the backend has none for it."""
    facts, member, own = backend(db), members.item(db, bucket_of_function(name), name), function(db, name)
    if facts is None or member is None or own is None:
        return None
    return BackendFunction(facts, member, own, function(db, member.functional) if member.functional else None)


# ---- errors


def placed(db: Database, name: str, problem: Problem) -> Problem:
    """A problem of a function, at the line of its operator in the backend's file."""
    member = members.item(db, bucket_of_function(name), name)
    wanted = (name,) if member is None or not member.functional else (name, member.functional)
    operators = [str(own.func.name) for each in wanted if (own := function(db, each)) is not None]
    item = _first(db, operators)
    return problem if item is None else _at(problem, item)


def _first(db: Database, operators: Iterable[str]) -> Item | None:
    """The first item that names one of the operators."""
    whole = read(db)
    items = whole.items if whole is not None else ()
    return next((item for name in operators for item in items if item.name == name), None)


def _at(problem: Problem, item: Item) -> Problem:
    return replace(
        problem, role=ROLE, entry="", op=item.name, field=(), needle="", file="", line=item.line, column=item.column
    )


def report_node(db: Database, number: int, error: SpecError) -> None:
    """Reports an error of one of the backend's own nodes."""
    whole = read(db)
    assert whole is not None
    line, column = whole.places[number + 1]
    db.report(replace(of_file(ROLE, error), op=str(whole.nodes[number].schema.name), line=line, column=column))


@query
def checked(db: Database) -> bool:
    """Reports operators that no function has, that are listed twice, or that have kernels for two keys."""
    whole = read(db)
    if whole is None:
        return False
    _check_key(db, whole)
    known = {head.name for bucket in db.names(buckets) for _, head in heads(db, bucket)}
    own = {name: role for name in db.names(roles) if (role := roles.item(db, name)) is not None}
    for key in (SHAPES, KERNELS):
        if key not in spec_set(db).files:
            error = SpecError(f"the spec set has no {FILE_NAMES[key]}", "add it: torchgen reads it, too")
            db.report(replace(of_file(ROLE, error), line=1, column=1))
    seen: set[tuple[str, str]] = set()
    for item in whole.items:
        problem = _problem_of(item, known, own, seen)
        if problem is not None:
            db.report(_at(problem, item))
        seen.add((item.name, item.listed))
    for bucket in db.names(listed_in):
        for clash in clashes(heads(db, bucket), own):
            item = next(item for item in whole.items if item.name == clash.autograd and item.listed == "autograd")
            twice = f"'{clash.autograd}' has a kernel for autograd, and '{clash.kernel}' one for {whole.backend.key}"
            hint = "list all variants of an operator in autograd, or none"
            db.report(_at(Problem(ROLE, "", "", twice, hint), item))
    return True


def _check_key(db: Database, whole: BackendFile) -> None:
    line, column = whole.places[0]
    if not any(item.listed in ("supported", "full_codegen") for item in whole.items):
        error = SpecError("the file lists no operator", "list one in supported or in full_codegen")
        db.report(replace(of_file(ROLE, error), line=line, column=column))
        return
    try:
        check_keys(whole.backend, release(db))
    except SpecError as error:
        db.report(replace(of_file(ROLE, error), line=line, column=column))


_IGNORED = "ignored-operator"


def _problem_of(item: Item, known: set[str], own: dict[str, Roles], seen: set[tuple[str, str]]) -> Problem | None:
    """The problem of an item; None if it is right. What upstream ignores is a warning."""
    if item.name not in known:
        ignored = item.listed in ("symint", "ir_gen")
        hint = nearest(item.name, sorted(known)) or "an overload is a part of the name, as in add.Tensor"
        also = ": torchgen ignores it" if ignored else ""
        problem = f"no function is called '{item.name}'{also}"
        return Problem(ROLE, "", "", problem, hint, warning=ignored, rule=_IGNORED if ignored else "")
    if (item.name, item.listed) in seen:
        problem = f"'{item.name}' is twice in {item.listed}"
        return Problem(ROLE, "", "", problem, "remove one", warning=True, rule="listed-twice")
    role = own[item.name]
    if item.listed == "symint" and not (role.kernel or role.autograd):
        problem = f"'{item.name}' has no kernel: torchgen ignores it here"
        return Problem(ROLE, "", "", problem, "list it in supported, too", warning=True, rule=_IGNORED)
    return None


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
        db.report(placed(db, name, problem_of(error, ROLE, "", "")))


def check_kernels(db: Database, declarations: Mapping[str, str]) -> None:
    """Reports handwritten kernels that the backend's C++ file does not define. `declarations`: of kernels, by
    function."""
    facts, whole = backend(db), text(db, KERNELS) if KERNELS in spec_set(db).files else None
    if facts is None or whole is None:
        return
    wanted = by_key((each.kernel, each.function) for each in all_members(db) if each.kernel and not each.traced)
    defined = defined_kernels(whole, facts.class_name)
    for kernel, functions in wanted.items():
        file = spec_set(db).files[KERNELS]
        declared = [declarations[each] for each in functions if declarations.get(each)]
        error = missing_kernel(kernel, len(functions), defined, facts.class_name, file, declared)
        if error is not None:
            db.report(placed(db, functions[0], problem_of(error, ROLE, "", "")))
