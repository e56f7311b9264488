"""The name of the class that replays a view in functionalization. Rule: torchgen.api.functionalization."""

from __future__ import annotations


def view_meta(name: str) -> str:
    """The name of the class: `select_int_ViewMeta` for `select.int`."""
    return f"{name.replace('.', '_')}_ViewMeta"
