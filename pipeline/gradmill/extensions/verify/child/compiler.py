"""Torch's compiler, which no check needs: torch imports it, for a second, to keep it off functions of its own; and
sympy, to see that a number is not of it."""

from __future__ import annotations

import importlib
import operator
import sys
from types import ModuleType
from typing import Any

_SHAPES: dict[str, Any] = {  # of sizes that are plain integers
    "expect_true": bool,
    "guard_or_false": bool,
    "guarding_hint_or_throw": int,
    "has_guarding_hint": lambda size: True,
    "is_nested_int": lambda size: False,
    "statically_known_true": bool,
    "sym_and": lambda *flags: all(flags),
    "sym_eq": operator.eq,
    "sym_or": lambda *flags: any(flags),
}
KNOWN: dict[str, dict[str, Any]] = {
    "torch._dynamo": {"disable": lambda function, *_, **__: function},
    "torch._inductor": {},
    "torch.fx.experimental.symbolic_shapes": {**_SHAPES, "__path__": None},
    "torch._inductor.utils": {"GPU_TYPES": [], "__path__": None},  # a list that the descriptions of operators read
    "sympy": {"Basic": type("Basic", (), {})},
}


class StandIn(ModuleType):
    """A module in the place of another one, which is imported when something is read that is not `known`."""

    def __init__(self, name: str, known: dict[str, Any]) -> None:
        super().__init__(name)
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # asked of any module; the path, to import one below it
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def leave_out() -> None:
    """Puts stand-ins in the place of the compiler's modules, as long as nothing but these needs them."""
    for name, known in KNOWN.items():
        if name not in sys.modules:
            sys.modules[name] = StandIn(name, known)
