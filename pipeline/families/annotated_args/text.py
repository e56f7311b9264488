"""Renders the required arguments of a Python name: a row for each overload."""

from __future__ import annotations

from pipeline.families.annotated_args.plan import AnnotatedArgs
from pipeline.releases.model import Release


def rows(plan: AnnotatedArgs, release: Release) -> str:
    """The rows."""
    return "".join(f"    {plan.name}: {[row.fields() for row in overload]!r},\n" for overload in plan.overloads)
