"""Which functions the tracer records.

torchgen: `gen_trace_type.should_trace`.
"""

from __future__ import annotations

from gradmill.model.schema import Schema, is_tensor_like
from gradmill.releases.model import Release


def is_recorded(schema: Schema, release: Release) -> bool:
    """Whether the tracer records calls of a function."""
    return (
        schema.name.base not in release.unrecorded
        and any(is_tensor_like(r.type) for r in schema.returns)
        and not any(a.type in release.unrecorded_types for a in schema.arguments)
    )
