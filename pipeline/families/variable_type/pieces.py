"""What the pieces of a function are called."""

from __future__ import annotations


def definition_of(key: str) -> str:
    """The name of the piece that is the kernel for a dispatch key."""
    return f"definition {key}"


def registration_of(key: str) -> str:
    """The name of the piece that registers it."""
    return f"registration {key}"
