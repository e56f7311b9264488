"""What the files of some families have for each name, as texts for comparison: bindings, annotations, a backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from gradmill.families.annotated_args import ANNOTATED_ARGS, MODULES
from gradmill.families.bindings import BINDINGS
from gradmill.families.family import REGISTRATION, BackendFamily
from gradmill.families.lazy import LAZY
from gradmill.model.backends import Backend, BackendFunction, OwnNode
from gradmill.query.database import Database
from gradmill.query.query import Query
from gradmill.releases.model import Release
from gradmill.stages import python_names, shard
from gradmill.stages.kinds.python_names import listed
from gradmill.stages.set import release as release_of

Entries = dict[str, tuple[str, ...]]  # texts by name
Check = tuple[Query[..., int], tuple[str, ...]]  # a query, and its key


class Compared(Struct, frozen=True):
    """A family whose entries are compared by name."""

    family: str  # also the field of a report
    title: str
    texts: str  # what an entry has
    read: Callable[[Database], Entries]
    check: Check | None = None  # the query that must have no errors, if the stages before units do not find all


def _bindings(db: Database) -> Entries:
    """What Python parses for each name, in its order: signatures, then the fields of named results."""
    from gradmill.families.bindings.plan import plan as plan_binding

    parsed = {}
    for unit in listed(db, BINDINGS):
        own = python_names.binding(db, unit.name)
        assert own is not None
        plan = plan_binding(own, release_of(db))
        results = (f"{each.function} returns ({', '.join(each.fields)})" for each in plan.structseqs)
        parsed[unit.name] = (*(case.signature for case in plan.cases), *results)
    return parsed


def _annotated_args(db: Database) -> Entries:
    """The required arguments of each name, by overload."""
    from gradmill.families.annotated_args.text import plan as plan_args

    annotated = {}
    for unit in listed(db, ANNOTATED_ARGS):
        own = python_names.named_functions(db, unit.name)
        if own is not None and own.module in MODULES:
            plan = plan_args(own, release_of(db))
            annotated[unit.name] = tuple(f"({', '.join(map(str, overload))})" for overload in plan.overloads)
    return annotated


def _backend(db: Database) -> Entries:
    """What the backend has: its settings, its functions, then its own nodes."""
    from gradmill.stages import backend  # only needed with a backend

    facts, release = backend.backend(db, backend.LAZY), release_of(db)
    if facts is None:
        return {}
    entries = {"backend": _settings(facts)}
    roles = backend.roles(db, backend.LAZY)
    for member in backend.all_members(db, backend.LAZY):
        own = backend.lazy_function(db, member.function)
        assert own is not None
        name = str(own.function.func.name)
        lists = roles.get(name)
        entries[name] = (*(f"in {each}" for each in (lists.listed if lists else ())), *_function(own, release))
    for node in backend.own_nodes(db, backend.LAZY):
        name = f"non_native {node.schema.name}"
        entries[name] = (*entries.get(name, ()), *_own_node(node))
    return entries


def _settings(backend: Backend) -> tuple[str, ...]:
    flags = {"device_guard": backend.device_guard, "use_out_as_primary": backend.out_as_primary}
    own = (f"backend: {backend.key}", f"cpp_namespace: {backend.namespace}")
    return (*own, *(f"{name}: true" for name, on in flags.items() if on))


def _function(of: BackendFunction, release: Release) -> Iterator[str]:
    """The text of a function: the key of its registration, its kernel or what it wraps, its node."""
    from gradmill.families.backends.stubs import stub
    from gradmill.families.lazy.text import node_of

    pieces, node = stub(of, release), node_of(of, release)
    if REGISTRATION in pieces:
        yield f"registered for {of.member.key}"
    for declaration in (pieces[each] for each in BackendFamily.kernels if each in pieces):
        yield declaration.removeprefix("static ").removesuffix(";")
    if of.functional is not None:
        yield f"wraps {of.functional.func.name}"
    if node is not None:
        arguments = ", ".join(f"{each.cpp} {each.name}" for each in node.arguments)
        yield f"node {node.node}({arguments}), outputs: {node.returns}"


def _own_node(node: OwnNode) -> Iterator[str]:
    yield str(node.schema)
    if node.kind:
        yield f"opkind: {node.kind}"
    if node.properties:
        yield f"properties: {', '.join(node.properties)}"


COMPARED = (
    Compared(BINDINGS.name, "Python bindings", "signatures", _bindings, (python_names.stage, ())),
    Compared(ANNOTATED_ARGS.name, "annotated arguments", "required arguments", _annotated_args),
    Compared(LAZY.name, "lazy backend", "lists, kernel, node", _backend, (shard.backend_checked, (LAZY.name,))),
)
