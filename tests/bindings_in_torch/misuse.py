"""Calls that are wrong for every binding: no argument, an unknown keyword, a wrong type, None, too many arguments.

Most of them end in an error whose message has all signatures of the binding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bindings_in_torch.arguments import Made, make, tensor
from bindings_in_torch.rows import Row
from bindings_in_torch.tables import Pair


class Stranger:
    """An object of no type that any binding takes."""

    def __repr__(self) -> str:
        return "Stranger()"


_X = tensor(2, 2)
_ANY = make(Stranger)
# Without arguments, some functions compute: that is compared, too.
WAYS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "nothing": ((), {}),
    "unknown keyword": ((), {"gradmill": 1}),
    "unknown keyword after a tensor": ((_X,), {"gradmill": 1}),
    "a wrong type": ((_ANY,), {}),
    "a wrong type second": ((_X, _ANY), {}),
    "a wrong type as out": ((_X,), {"out": _ANY}),
    "None": ((None,), {}),
    "None second": ((_X, None), {}),
    "the same argument twice": ((_X,), {"input": _X}),
    "too many": ((_X,) * 40, {}),
}


def rows(pair: Pair) -> Iterator[Row]:
    """All ways for a binding. A method is called with its tensor first, and once with what is none."""
    first: tuple[Made, ...] = (_X,) if pair.method else ()
    for way, (args, kwargs) in WAYS.items():
        yield Row(pair.name, way, (*first, *args), kwargs)
    if pair.method:
        yield Row(pair.name, "no tensor", (3,))
