"""The class that makes a view again from another base. Rules: torchgen.packaged.autograd.gen_view_funcs."""

from __future__ import annotations


def view_func(name: str) -> str:
    """The class: `SelectIntViewFunc` of `select.int`, `_ReshapeAliasViewFunc` of `_reshape_alias`."""
    words = f"{name.replace('.', '_')}_view_func"
    return ("_" if words.startswith("_") else "") + "".join(word.title() for word in words.split("_"))


def view_func_macro(name: str) -> str:
    """The macro that says that the class is there: `SELECT_INT_VIEW_FUNC_AVAILABLE`."""
    return f"{name.replace('.', '_')}_view_func_available".upper()
