"""The derivatives that serve a function, looked up among those of its bucket.

torchgen: `autograd.match_differentiability_info`.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.model.native import FunctionSummary

Keys = Mapping[str, Mapping[str, bool]]  # by function: its dispatch keys


class Finder:
    """Looks up derivatives: exact match, functional signature, mutable variant, foreach."""

    def __init__(
        self, heads: Mapping[str, FunctionSummary], own: Keys, synthesized: Keys, borrowed: Mapping[str, str]
    ) -> None:
        """`own`: the functions with derivatives; `synthesized`: those with synthesized ones; `borrowed`: in-place
        foreach functions, each with the one that has its derivatives."""
        self._own = {name: list(keys) for name, keys in own.items() if keys}
        self._synthesized = {name: list(keys) for name, keys in synthesized.items()}
        self._borrowed = borrowed
        self._functional: dict[str, str] = {}
        self._others: dict[str, str] = {}
        for name in self._own:
            head = heads[name]
            (self._functional if head.kind == "functional" else self._others)[head.plain_signature] = name

    def find(self, name: str, head: FunctionSummary) -> dict[str, str] | None:
        """The functions whose derivatives serve a function, by dispatch key; None if none do."""
        if head.generated and head.kind == "out":
            return None
        exact = self._own.get(name) or self._synthesized.get(name)
        if exact is not None:
            return dict.fromkeys(exact, name)
        if not head.is_foreach and head.plain_signature in self._functional:
            return self._shared(self._functional[head.plain_signature])
        if head.generated and head.plain_signature in self._others:
            return self._shared(self._others[head.plain_signature])
        reference = self._borrowed.get(name)
        return None if reference is None else {DEFAULT_KEY: reference}

    def _shared(self, name: str) -> dict[str, str]:
        return dict.fromkeys(self._own[name], name)
