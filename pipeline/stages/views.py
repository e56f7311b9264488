"""Views with their variants, as the families that replay views need them. Part of the stage `schemas`.

torchgen: `gen.get_grouped_by_view_native_functions`.
"""

from pipeline.model.views import ViewGroup, ViewNames
from pipeline.query.database import Database
from pipeline.query.query import unkept
from pipeline.rules.native.dispatch import IMPLICIT
from pipeline.stages.schemas import bucket_of_function, buckets, function, views
from pipeline.stages.selection import is_selective


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
