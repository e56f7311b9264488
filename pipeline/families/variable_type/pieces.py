"""What the pieces of a function are called."""

from __future__ import annotations

from pipeline.families.sharded import DEFINITION, REGISTRATION


def definition_of(key: str) -> str:
    """The name of the piece that is the kernel for a dispatch key."""
    return f"{DEFINITION} {key}"


def registration_of(key: str) -> str:
    """The name of the piece that registers it."""
    return f"{REGISTRATION} {key}"
