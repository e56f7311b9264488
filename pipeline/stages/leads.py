"""The first functions of groups: files print groups in the order of these. Part of the stage `schemas`.

torchgen: `gen.get_grouped_native_functions`, `gen.get_grouped_by_view_native_functions`.
"""

from msgspec import Struct

from pipeline.model.groups import Group, Lead
from pipeline.model.schema import SchemaKind, schema_kind
from pipeline.model.native import NativeFunction
from pipeline.model.views import ViewNames
from pipeline.query.database import Database
from pipeline.query.query import table
from pipeline.rules.native.groups import complete_groups
from pipeline.stages.schemas import bucket_of_function, function, heads, views
from pipeline.stages.selection import is_selective
from pipeline.stages.views import view_group_of


class LeadNames(Struct, frozen=True, array_like=True):
    """The groups that a function is the first of, by the identities of their functions; none if it is alone."""

    group: list[str]
    view: ViewNames | None


@table
def lead_names(db: Database, bucket: str) -> dict[str, LeadNames]:
    """The functions of a bucket that are first of a group, or in none."""
    listed = heads(db, bucket)
    found: dict[str, LeadNames] = {}
    grouped: set[str] = set()
    for indices in complete_groups([head for _, head in listed]):
        if len(indices) > 1:
            names = [listed[i][0] for i in indices]
            found[listed[min(indices)][0]] = LeadNames(names, None)
            grouped.update(names)
    for view in views(db, bucket).groups:
        found[view.first] = LeadNames(found[view.first].group if view.first in found else [], view)
        grouped.update((view.view, view.inplace, view.copy))
    return {**found, **{name: LeadNames([], None) for name, _ in listed if name not in grouped}}


def lead(db: Database, name: str) -> Lead | None:
    """A function with the groups that it is the first of; None if it is in groups and the first of none."""
    names = lead_names.item(db, bucket_of_function(name), name)
    own = function(db, name) if names is not None else None
    if names is None or own is None:
        return None
    kinds: dict[SchemaKind, NativeFunction] = {}
    for each in names.group:
        member = function(db, each)
        if member is not None:
            kinds[schema_kind(member.func)] = member
    group = None
    if "functional" in kinds and "out" in kinds:
        group = Group(kinds["functional"], kinds["out"], kinds.get("inplace"), kinds.get("mutable"))
    view = view_group_of(db, names.view) if names.view is not None else None
    return Lead(own, group, view, not names.group and names.view is None, is_selective(db))
