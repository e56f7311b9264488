"""The units of every family, each with its entry. Depends on functions and the index of Nodes."""

from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from itertools import chain
from types import ModuleType

from msgspec import Struct
from msgspec.structs import replace

from gradmill.families.family import BackendFamily, Family
from gradmill.families.graphs.files import GRAPHS
from gradmill.families.hook_files.files import HOOK_FILES
from gradmill.families.table import FAMILIES, distinctive
from gradmill.model.keys import HEADS
from gradmill.model.layers import entry_operator
from gradmill.model.native import FunctionNames
from gradmill.model.nodes import NodeRow
from gradmill.model.units import Unit
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.query import query, table, unkept
from gradmill.rules.native.heads import names_of
from gradmill.specs.spec_set import FILE_NAMES
from gradmill.stages import selection
from gradmill.stages.infos import keyed
from gradmill.stages.kernels import definition_of, kernels
from gradmill.stages.layered.taking import all_participants, ordered
from gradmill.stages.match import all_pairs, node, nodes
from gradmill.stages.schemas import bucket_of_function, buckets, entry_of, function, heads, in_order, schema_texts
from gradmill.stages.schemas import schema_of as function_schema
from gradmill.stages.set import (
    asked,
    asked_families,
    defines,
    described,
    families_described,
    is_described,
    own_templates,
    paths,
    release,
    spec_set,
)
from gradmill.stages.specs import fields, files_of, keys_of

# Kinds of units that a module of stages has: `all_units`, `unit_named`, `units_of_function`, and of kinds that are made
# bucket by bucket `units_of_bucket`.
_MODULES = {
    "binding": "python_names",
    "operator": "operators",
    "registration": "registrations",
    "stub": "native_aot",
    "group": "groups",
    "variants": "variants",
    "hint": "hints",
}


def families(db: Database) -> list[str]:
    """The requested families that the spec set has templates for, or else those by default; the family of graphs if
    `graphs=` names files. If there is none, the first one whose templates are missing: the stage `shard` says so."""
    by_default = [name for name, family in FAMILIES.items() if family.by_default]
    wanted = asked_families(db) or [*(families_described(db) or by_default), HOOK_FILES.name]
    of_set = [family for name, family in FAMILIES.items() if name in wanted and family.unit != "graph"]
    found = [family.name for family in of_set if not lacking(db, family.name)]
    if asked(db).files:
        found.append(GRAPHS.name)
    return found or [family.name for family in of_set if family.needs and not family.needs_file][:1]


def lacking(db: Database, family: str) -> str:
    """What a family is made from and the spec set does not have: a spec file, or all templates; "" if it has some."""
    kind, facts = FAMILIES[family], spec_set(db)
    if kind.needs_file and kind.needs_file not in facts.files:
        return FILE_NAMES[kind.needs_file]
    layers = described(db)
    rules = None if layers is None else layers.description.family.get(family)
    if kind is HOOK_FILES and not defines(db, "files"):
        return "files, in the hooks of a description,"
    known = (*kind.templates, *(rules.file if rules is not None else ()))
    has_templates = not kind.needs or any(name in facts.templates for name in distinctive(kind))
    has_templates = has_templates or any(name in known for name in own_templates(db, family))
    return "" if has_templates else f"the template {kind.needs}"


@query
def units(db: Database, family: str) -> list[Unit]:
    """All units of a family, in the order in which they are printed."""
    listed = _all_units(db, family)
    if not FAMILIES[family].described or not release(db).described:
        return listed
    from gradmill.stages.layered.asking import about_unit, rules_of

    of = rules_of(db, family).functions
    participants = {name for name, _ in all_participants(db)}
    kind = FAMILIES[family].unit
    selected = [
        unit
        for unit in listed
        if (kind in ("Node", "binding") or unit.function in participants) and about_unit(db, unit).matches(of)
    ]
    if not defines(db, "select"):
        return selected
    from gradmill.stages.layered.hooks import is_selected

    return [unit for unit in selected if not unit.function or is_selected(db, family, unit.function)]


class UnitTitles(Struct, frozen=True, array_like=True):
    """The number of units, and the titles that several of them share."""

    count: int
    shared: list[str]


@query
def unit_titles(db: Database) -> UnitTitles:
    """The number of all units, and the titles that several of them share."""
    numbers = Counter(chain.from_iterable([unit.title for unit in units(db, family)] for family in families(db)))
    return UnitTitles(numbers.total(), sorted(title for title, number in numbers.items() if number > 1))


def _all_units(db: Database, family: str) -> list[Unit]:
    kind = FAMILIES[family]
    if kind.unit == "graph":
        from gradmill.stages.graphs import all_names  # much code, only needed with graphs

        return [_graph(db, file, name) for file, name in all_names(db)]
    if kind.unit == "Node":
        return [_node(name, row) for name, row in nodes(db)]
    if isinstance(kind, BackendFamily):
        return backend_units(db, kind)
    if kind.unit in _MODULES:
        module = _module_of(kind)
        if "deprecated" in kind.reads:
            db.digest(module.stage)
        own: list[Unit] = module.all_units(db)
        return own
    chosen = [each for bucket in db.names(buckets) for each in selected_of(db, family, bucket)]
    if kind.unit == "kernel":
        return [unit for _, unit in ordered(db, chosen, lambda each: each[1].name, lambda each: each[0])]
    if kind.subject == "shim":
        from gradmill.stages.shims import in_upstreams_order

        return in_upstreams_order(db, [unit for _, unit in chosen])
    first: dict[str, str] = {}
    if kind.subject == "view":
        from gradmill.stages.groups import first_of_views

        first = first_of_views(db)
    return in_order(db, [unit for _, unit in chosen], lambda unit: first.get(unit.name, unit.name))


@unkept
def from_entries(db: Database) -> dict[str, int]:
    """The number of units per entry, by role and entry: for a schema the units of its function, for a definition its
    Nodes and all units that print its formulas, for a deprecated form the bindings that parse it."""
    counts: dict[str, int] = {}
    definitions = _definitions(db)
    for family in families(db):
        kind = FAMILIES[family]
        for each in units(db, family):
            natives = {entry_of(name) for name in each.functions or [each.function] if name}
            defined = {each.entry} if kind.unit == "Node" else definitions.get(each.function, set())
            if kind.subject == "outputs" and release(db).viewed(each.op.partition(".")[0]) is None:
                defined = set()
            defined = defined if kind.subject in ("reverse", "derivatives", "outputs") else set()
            forms = _forms(db, each) if "deprecated" in kind.reads else set()
            by_role = {"native": natives, "derivatives": defined, "deprecated": forms}
            for entry in (f"{role} {name}" for role, names in by_role.items() for name in names):
                counts[entry] = counts.get(entry, 0) + 1
    return counts


def _definitions(db: Database) -> dict[str, set[str]]:
    """The definitions that serve each function."""
    rows = {keyed(row.function, row.dispatch_key): row.definition for _, row in nodes(db)}
    return {
        pair.function: {rows[at] for key, name in (pair.source or {}).items() if (at := keyed(name, key)) in rows}
        for pair in all_pairs(db)
    }


def unit(db: Database, family: str, name: str) -> Unit | None:
    """A unit by its name; None if there is none."""
    if FAMILIES[family].unit == "Node":
        row = node(db, name)
        return None if row is None else _node(name, row)
    if FAMILIES[family].unit == "graph":
        return _graph(db, *name.rsplit(":", 1))
    if FAMILIES[family].unit in _MODULES:
        found: Unit | None = _module_of(FAMILIES[family]).unit_named(db, name)
        return found
    native = function(db, name)
    kind = FAMILIES[family]
    own = None if native is None else _function(kind, name, names_of(native))
    return own if own is None or not isinstance(kind, BackendFamily) else _of_backend(db, kind.role, own)


def schema_of(db: Database, of: Unit) -> str:
    """The schema of a unit's function; for a function of a graph file, the schema of its operator."""
    if of.role == "graph":
        from gradmill.stages.graphs import signature

        return signature(db, of.name.rpartition(":")[0], of.entry)
    return function_schema(db, of.function)


def schemas_of(db: Database, members: Iterable[Unit]) -> list[str]:
    """The schemas of many units, in their order."""
    texts = schema_texts(db)
    return [texts.get(unit.function) or schema_of(db, unit) for unit in members]


def origin(db: Database, family: str, name: str) -> str:
    """A comment that names the entry of a unit: the beginning of the entry's line, without its number."""
    member = unit(db, family, name)
    if member is None or member.role not in ("native", "derivatives"):
        return ""
    described, key = is_described(db), HEADS[member.role]
    file = files_of(db, member.role).get(member.entry, "") if described else spec_set(db).files[member.role]
    return f"// {file}: - {key}: {' '.join(entry_operator(member.entry).split())}(…)\n"


def place_of_field(db: Database, family: str, name: str, field: str) -> tuple[str, int]:
    """The file and the line of a field of the definition that a unit prints, or of the definition."""
    member, names = unit(db, family, name), paths(db)
    assert member is not None and names is not None
    served = definition_of(db, member.function) if member.role != "derivatives" else None
    entry = served[1] if served is not None else member.entry
    lines = fields.item(db, "derivatives", entry) or {}
    key = keys_of(db, "derivatives").get(entry, "") if is_described(db) else "derivatives"
    line = lines.get(f"dispatch.{member.dispatch_key}.{field}") or lines.get(field) or lines.get("", 1)
    return names.specs.get(key, key), line


@table
def selected(db: Database, bucket: str) -> dict[str, list[tuple[str, Unit]]]:
    """The units from the functions of a bucket, each with its C++ name, by requested family."""
    kinds = ((name, FAMILIES[name]) for name in families(db))
    return {
        name: _selected(db, kind, bucket)
        for name, kind in kinds
        if kind.unit not in ("graph", "Node", *_MODULES) and not isinstance(kind, BackendFamily)
    }


def selected_of(db: Database, family: str, bucket: str) -> list[tuple[str, Unit]]:
    """The same of one family, whether requested or not."""
    found = selected.item(db, bucket, family)
    return _selected(db, FAMILIES[family], bucket) if found is None else found


def _selected(db: Database, kind: Family, bucket: str) -> list[tuple[str, Unit]]:
    facts = release(db)
    names, chosen = None, None
    if kind.unit == "kernel":
        names, chosen = set(db.names(kernels, bucket)), selection.selected(db, bucket)
    elif kind.selective:
        chosen = selection.registered(db, bucket)
    return [
        (head.cpp_name, _function(kind, name, head))
        for name, head in heads(db, bucket)
        if (names is None or name in names) and (chosen is None or name in chosen) and kind.selects(head, facts)
    ]


def units_in(db: Database, family: str, bucket: str) -> list[Unit]:
    """The units of a family from the functions of a bucket, in the order of the file."""
    if FAMILIES[family].unit in _MODULES:
        found: list[Unit] = _module_of(FAMILIES[family]).units_of_bucket(db, bucket)
        return found
    return [unit for _, unit in selected_of(db, family, bucket)]


def is_in_buckets(db: Database, family: str) -> bool:
    """Whether the units of a family are those that `units_in` has of all buckets: no description omits any."""
    kind = FAMILIES[family]
    if (kind.described and release(db).described) or isinstance(kind, BackendFamily) or kind.unit in ("graph", "Node"):
        return False
    return kind.unit not in _MODULES or hasattr(_module_of(kind), "units_of_bucket")


def _function(kind: Family, name: str, of: FunctionNames) -> Unit:
    return Unit(name, kind.titled(of), getattr(of, kind.shards_by), of.name, "native", entry_of(name), function=name)


def _graph(db: Database, file: str, name: str) -> Unit:
    from gradmill.stages.graphs import stem

    return Unit(f"{file}:{name}", name, stem(file), name, "graph", name, function="")


def backend_units(db: Database, kind: BackendFamily) -> list[Unit]:
    """A unit for each function that the backend has text for, with the dispatch key of its registration."""
    from gradmill.stages.backend import all_members  # only needed with a backend

    named = {name: head for bucket in db.names(buckets) for name, head in heads(db, bucket)}
    return [
        replace(_function(kind, each.function, named[each.function]), dispatch_key=each.key)
        for each in all_members(db, kind.role)
    ]


def _of_backend(db: Database, role: Role, unit: Unit) -> Unit | None:
    """A function of the backend; None if the backend has no text for it."""
    from gradmill.stages.backend import members

    member = members.item(db, role, bucket_of_function(unit.name), unit.name)
    return None if member is None else replace(unit, dispatch_key=member.key)


def _forms(db: Database, unit: Unit) -> set[str]:
    """The entries of the deprecated forms that a binding parses."""
    from gradmill.stages.python_names import called

    return {form for function_, form in called(db, unit.op) if function_ in unit.functions}


def units_of(db: Database, family: str, function_: str) -> list[str]:
    """The units of a family that may be made from a function: the one of its name, or what its kind of units says."""
    if FAMILIES[family].unit not in _MODULES:
        return [function_]
    found: list[str] = _module_of(FAMILIES[family]).units_of_function(db, function_)
    return found


def _module_of(kind: Family) -> ModuleType:
    """The module that has a kind of units. Few runs have such families."""
    return import_module(f"gradmill.stages.{_MODULES[kind.unit]}")


def _node(name: str, row: NodeRow) -> Unit:
    return Unit(
        name,
        row.node or "",
        row.operator,
        row.op,
        "derivatives",
        row.definition,
        row.dispatch_key,
        row.synthesized,
        row.function,
    )
