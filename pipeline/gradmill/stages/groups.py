"""Groups of functions: variants, from which operators, declared kernels and registrations derive; and what is printed
together. Part of the stage `schemas`.

torchgen: `gen.get_grouped_native_functions`, `gen.get_grouped_by_view_native_functions`.
"""

from collections import Counter

from msgspec import Struct

from gradmill.model.units import Unit
from gradmill.model.views import UNGROUPED, VARIANTS, VIEW, FunctionGroup, ViewGroup, ViewNames
from gradmill.query.database import Database
from gradmill.query.query import table, unkept
from gradmill.rules.native.dispatch import IMPLICIT
from gradmill.rules.native.groups import complete_groups, group_variants
from gradmill.stages.schemas import (
    all_functions,
    bucket_of_function,
    buckets,
    entry_of,
    function,
    heads,
    in_order,
    views,
)
from gradmill.stages.selection import is_selective


class Members(Struct, frozen=True, array_like=True):
    """The functions that a unit is of, by identity."""

    functions: list[str]
    operator: str  # the base name of the first
    op: str  # its name with the overload
    first: str  # the function whose entry the unit has
    before: str  # the function whose place in the file it has

    def unit(self, name: str) -> Unit:
        """The unit of a name."""
        functions, entry = tuple(self.functions), entry_of(self.first)
        return Unit(
            name=name,
            title=self.op,
            shard_key=self.operator,
            overload=self.op,
            role="native",
            entry=entry,
            function=self.first,
            functions=functions,
        )


class Variants(Members, frozen=True, array_like=True):
    """The functional, the out, the in-place and the mutable variant of an operator, or one function."""

    positions: list[int]  # of each function among those of the operator


class Printed(Members, frozen=True, array_like=True):
    """Functions that are printed together."""

    view: ViewNames | None = None


@table
def groups(db: Database, bucket: str) -> dict[str, Variants]:
    """The groups of a bucket, by their first function. Most functions without an out variant are alone."""
    listed = heads(db, bucket)
    plain = [head for _, head in listed]
    before = {i: min(group.values()) for group in group_variants(plain)[0] for i in group.values()}
    positions, counts = [], Counter[str]()
    for head in plain:
        positions.append(counts[head.base])
        counts[head.base] += 1
    found = {}
    for indices in complete_groups(plain):
        name, head = listed[indices[0]]
        found[name] = Variants(
            functions=[listed[i][0] for i in indices],
            operator=head.base,
            op=head.name,
            first=name,
            before=listed[before[indices[0]]][0],
            positions=[positions[i] for i in indices],
        )
    return found


@table
def printed(db: Database, bucket: str) -> dict[str, Printed]:
    """The functions of a bucket that are printed together, by kind and first function. A view and its copy may also be
    variants of operators."""
    found: dict[str, Printed] = {}
    for group in groups(db, bucket).values():
        if len(group.functions) > 1:
            first = group.functions[group.positions.index(min(group.positions))]
            found[VARIANTS + first] = Printed(
                functions=group.functions, operator=group.operator, op=group.op, first=first, before=first
            )
    listed = heads(db, bucket)
    named = dict(listed)
    for view in views(db, bucket).groups:
        functions, head = [name for name in (view.view, view.copy, view.inplace) if name], named[view.view]
        found[VIEW + view.first] = Printed(
            functions=functions, operator=head.base, op=head.name, first=view.first, before=view.first, view=view
        )
    grouped = {name for members in found.values() for name in members.functions}
    alone = ((name, head) for name, head in listed if name not in grouped)
    return found | {
        UNGROUPED + name: Printed(functions=[name], operator=head.base, op=head.name, first=name, before=name)
        for name, head in alone
    }


def together(db: Database, name: str) -> FunctionGroup | None:
    """The functions that are printed together, by the name of their unit; None if there are none, or one is invalid."""
    members = printed.item(db, bucket_of_printed(name), name)
    functions = all_functions(db, members.functions) if members is not None else None
    if members is None or functions is None:
        return None
    view = view_group_of(db, members.view) if members.view is not None else None
    return FunctionGroup(
        functions if name.startswith(VARIANTS) else (),
        view,
        functions[0] if name.startswith(UNGROUPED) else None,
        is_selective(db),
    )


def bucket_of_printed(name: str) -> str:
    """The bucket of functions that are printed together, by the name of their unit."""
    return bucket_of_function(name.partition(" ")[2])


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


def by_view_groups(db: Database, units: list[Unit]) -> list[Unit]:
    """Units of views in upstream's order: that of the first functions with their signatures."""
    first = first_of_views(db)
    return in_order(db, units, lambda unit: first.get(unit.name, unit.name))


@unkept
def first_of_views(db: Database) -> dict[str, str]:
    """Views, each with the first of the functions that have its signature."""
    return {group.view: group.first for bucket in db.names(buckets) for group in views(db, bucket).groups}
