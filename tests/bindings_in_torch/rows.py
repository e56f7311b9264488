"""A call as data."""

from __future__ import annotations

from typing import Any, NamedTuple

from bindings_in_torch.answers import Answer, answer
from bindings_in_torch.arguments import made
from bindings_in_torch.tables import Pair


class Row(NamedTuple):
    """A binding, what is special about the call, and descriptions of the arguments."""

    binding: str
    what: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}

    def __str__(self) -> str:
        return f"{self.binding}, {self.what}"

    def ask(self, pair: Pair) -> tuple[Answer, Answer]:
        """What our binding gives, and what torch's gives."""
        ours, torchs = (answer(function, made(self.args), made(self.kwargs)) for function in (pair.ours, pair.torchs))
        return ours, torchs
