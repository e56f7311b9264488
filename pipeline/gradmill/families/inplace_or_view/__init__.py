"""Family: `ADInplaceOrViewType_<k>.cpp`, the kernels that track versions and views. A unit is one function."""

from __future__ import annotations

from gradmill.families.family import DEFINITION, INCLUDE, OUTPUTS, REGISTRATION, Registered
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.sharded import Sharded
from gradmill.model.native import FunctionSummary
from gradmill.releases.model import Release

(TEMPLATE,) = FAMILY_ROWS["inplace_or_view"].templates


class InplaceOrView(Sharded):
    """Functions by C++ name. Each overload includes the header of its operator."""

    name, label = "inplace_or_view", "ADInplaceOrView kernels"
    unit, subject = "kernel", OUTPUTS
    rendered = (INCLUDE, DEFINITION, REGISTRATION)
    slots = {
        "ops_headers": INCLUDE,
        "inplace_or_view_method_definitions": DEFINITION,
        "inplace_or_view_wrapper_registrations": REGISTRATION,
    }
    homes = {"shard_id": "", "ops_headers": ""}
    registered = Registered(TEMPLATE, "inplace_or_view_wrapper_registrations")
    completes = "autograd does not see writes and views"
    kernel, shards_by, upstream_shards = "ADInplaceOrView", "base", 2

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """Whether a function has a generated kernel. A function that returns nothing has no version to increment."""
        counted = head.kind in ("inplace", "out") and not head.schema.endswith(" -> ()")
        return super().selects(head, release) and (counted or release.viewed(head.base) is not None)


INPLACE_OR_VIEW = InplaceOrView()
