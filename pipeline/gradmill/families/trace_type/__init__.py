"""Family: `TraceType_<k>.cpp`, the kernels that record calls in a trace. A unit is one function."""

from __future__ import annotations

from gradmill.families.family import DEFINITION, INCLUDE, REGISTRATION, Registered
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.sharded import Sharded
from gradmill.releases.model import Release

(TEMPLATE,) = FAMILY_ROWS["trace_type"].templates


class TraceType(Sharded):
    """Functions in the order of parsing. Each overload includes the header of its operator."""

    name, label = "trace_type", "TraceType kernels"
    rendered = (INCLUDE, DEFINITION, REGISTRATION)
    slots = {
        "ops_headers": INCLUDE,
        "trace_method_definitions": DEFINITION,
        "trace_wrapper_registrations": REGISTRATION,
    }
    homes = {"shard_id": "", "ops_headers": ""}
    registered = Registered(TEMPLATE, "trace_wrapper_registrations")
    kernel, shards_by = "TraceType", "base"

    def shard_count(self, release: Release) -> int:
        return release.trace_shards


TRACE_TYPE = TraceType()
