"""The names of the class that replays a view on another base.

torchgen: `gen_view_funcs.view_func_name`.
"""

from __future__ import annotations


def view_func(name: str) -> str:
    """The name of the class: `SelectIntViewFunc` for `select.int`, `_ReshapeAliasViewFunc` for `_reshape_alias`."""
    words = f"{name.replace('.', '_')}_view_func"
    return ("_" if words.startswith("_") else "") + "".join(word.title() for word in words.split("_"))


def view_func_macro(name: str) -> str:
    """The macro that is defined if the class exists: `SELECT_INT_VIEW_FUNC_AVAILABLE`."""
    return f"{name.replace('.', '_')}_view_func_available".upper()
