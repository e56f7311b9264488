"""Functions that are printed together: the variants of an operator, a view with its variants. Part of the stage
`schemas`.

torchgen: `gen.get_grouped_native_functions`, `gen.get_grouped_by_view_native_functions`.
"""

from msgspec import Struct

from gradmill.model.units import Unit
from gradmill.model.views import ALONE, KINDS, VARIANTS, VIEW, Together, ViewGroup, ViewNames
from gradmill.query.database import Database
from gradmill.query.query import table, unkept
from gradmill.rules.native.dispatch import IMPLICIT
from gradmill.rules.native.groups import complete_groups
from gradmill.stages.schemas import bucket_of_function, buckets, entry_of, function, heads, in_order, views
from gradmill.stages.selection import is_selective


class Members(Struct, frozen=True, array_like=True):
    """The functions of a group, by identity, and names of the first: its operator and the base name of that."""

    functions: list[str]
    op: str
    base: str
    view: ViewNames | None = None


@table
def groups(db: Database, bucket: str) -> dict[str, Members]:
    """The groups of a bucket, by name. A view and its copy may also be variants of operators."""
    listed = heads(db, bucket)
    found: dict[str, Members] = {}
    for indices in complete_groups([head for _, head in listed]):
        if len(indices) > 1:
            head = listed[indices[0]][1]
            found[VARIANTS + listed[min(indices)][0]] = Members([listed[i][0] for i in indices], head.name, head.base)
    named = dict(listed)
    for view in views(db, bucket).groups:
        functions = [name for name in (view.view, view.copy, view.inplace) if name]
        found[VIEW + view.first] = Members(functions, named[view.view].name, named[view.view].base, view)
    grouped = {name for members in found.values() for name in members.functions}
    alone = {ALONE + name: Members([name], head.name, head.base) for name, head in listed if name not in grouped}
    return {**found, **alone}


def together(db: Database, name: str) -> Together | None:
    """The functions of a group, by its name; None if there is none, or one of its functions is invalid."""
    members = groups.item(db, bucket_of_function(_first(name)), name)
    if members is None:
        return None
    functions = tuple(own for each in members.functions if (own := function(db, each)) is not None)
    if len(functions) < len(members.functions):
        return None
    view = view_group_of(db, members.view) if members.view is not None else None
    return Together(
        functions if name.startswith(VARIANTS) else (),
        view,
        functions[0] if name.startswith(ALONE) else None,
        is_selective(db),
    )


@unkept
def all_units(db: Database) -> list[Unit]:
    """All groups, variants before views before single functions, each in the order of their first functions."""
    listed = [unit for bucket in db.names(buckets) for unit in units_of_bucket(db, bucket)]
    return sorted(
        in_order(db, listed, lambda unit: unit.function),
        key=lambda unit: [not unit.name.startswith(kind) for kind in KINDS],
    )


def units_of_bucket(db: Database, bucket: str) -> list[Unit]:
    """The groups of a bucket."""
    return [_unit(*each) for each in groups(db, bucket).items()]


def unit_named(db: Database, name: str) -> Unit | None:
    """A group as a unit; None if there is none."""
    members = groups.item(db, bucket_of_function(_first(name)), name)
    return None if members is None else _unit(name, members)


def units_of_function(db: Database, name: str) -> list[str]:
    """The names of the groups of a function."""
    return [group for group, members in groups(db, bucket_of_function(name)).items() if name in members.functions]


def _first(name: str) -> str:
    return name.partition(" ")[2]


def _unit(name: str, members: Members) -> Unit:
    """A group as a unit. Its entry is that of its first function."""
    first, functions = _first(name), tuple(members.functions)
    return Unit(
        name, members.op, members.base, members.op, "native", entry_of(first), function=first, functions=functions
    )


# ---- views, for the families that replay them


def view_group(db: Database, name: str) -> ViewGroup | None:
    """A view with its variants; None if the function is not a view."""
    group = next((each for each in views(db, bucket_of_function(name)).groups if each.view == name), None)
    return None if group is None else view_group_of(db, group)


def view_group_of(db: Database, group: ViewNames) -> ViewGroup | None:
    """A view group by the names of its functions; None if the view is invalid."""
    view = function(db, group.view)
    if view is None:
        return None
    inplace, copy = (function(db, each) if each else None for each in (group.inplace, group.copy))
    return ViewGroup(view, inplace, copy, IMPLICIT not in view.dispatch and not is_selective(db))


@unkept
def first_of_views(db: Database) -> dict[str, str]:
    """Views, each with the first of the functions that have its signature: the place of its group in upstream's
    order."""
    return {group.view: group.first for bucket in db.names(buckets) for group in views(db, bucket).groups}
