"""The names of the pieces of a function."""

from __future__ import annotations

from pipeline.families.family import DEFINITION, REGISTRATION


def definition_of(key: str) -> str:
    """The name of the piece with the kernel for a dispatch key."""
    return f"{DEFINITION} {key}"


def registration_of(key: str) -> str:
    """The name of the piece that registers this kernel."""
    return f"{REGISTRATION} {key}"
