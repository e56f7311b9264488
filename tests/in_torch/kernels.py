"""Which of our kernels the dispatcher has, and which ran."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import torch

Kernel = tuple[str, str]  # family and function

_LINE = re.compile(r"^(\w+)(?:\[alias\])?: registered at (\S+?):\d+ ::.*$", re.MULTILINE)
_REGISTERED = re.compile(r"TORCH_FN\((VariableType|ADInplaceOrView)::(\w+)\)")
_BLOCK = re.compile(r"^TORCH_LIBRARY_IMPL\(aten, (\w+), m\) \{$(.*?)^\}$", re.MULTILINE | re.DOTALL)
_VIEW = re.compile(r"^[^\s}].* (\w+)\(c10::DispatchKeySet ks,[^{}]*\{$(?=(?:\n(?!\}).*)*?\bas_view\()", re.MULTILINE)
_INACTIVE = "(inactive)"


class Counted(NamedTuple):
    """The library in this process."""

    path: Path
    library: ctypes.CDLL

    def counts(self) -> dict[Kernel, int]:
        """How often each kernel was counted, since the start."""
        rows = [line.split() for line in self.library.gradmill_counts().decode().splitlines()]
        return {(family, kernel): int(count) for family, kernel, count in rows}

    def registered(self) -> Counter[str]:
        """How many operators have ours, by dispatch key, where nothing of torch's is before it."""
        counts: Counter[str] = Counter()
        for operator in torch._C._dispatch_get_all_op_names():
            if operator.startswith("aten::"):
                counts.update(self._active(torch._C._dispatch_dump(operator)))
        return counts

    def _active(self, dump: str) -> list[str]:
        """The keys of an operator at which ours is called."""
        lines = [match for match in _LINE.finditer(dump) if _INACTIVE not in match.group(0)]
        folder = self.path.parent
        return [match.group(1) for match in lines if Path(match.group(2)).is_relative_to(folder)]


class Expected(NamedTuple):
    """What the generated files register."""

    kernels: set[Kernel]
    keys: Counter[str]  # operators, by dispatch key

    def at_the_toy(self) -> Expected:
        """The same where those of Autograd are registered for the toy device, and no others: see at_the_toy.cpp."""
        keys = Counter(dict.fromkeys(self.keys, 0))
        keys["AutogradPrivateUse1"] = self.keys["Autograd"]
        keys["ADInplaceOrView"] = self.keys["ADInplaceOrView"]
        return Expected(self.kernels, keys)

    @classmethod
    def of(cls, files: Iterable[Path]) -> Expected:
        expected = cls(set(), Counter())
        for path in files:
            text = path.read_text()
            views = set(_VIEW.findall(text))
            for family, kernel in _REGISTERED.findall(text):
                expected.kernels.add(("views" if family == "ADInplaceOrView" and kernel in views else family, kernel))
            for block in _BLOCK.finditer(text):
                expected.keys[block.group(1)] += block.group(2).count("m.impl(")
        return expected


def load(path: Path) -> Counted:
    """Puts our kernels in the place of torch's."""
    path = path.resolve()
    torch.ops.load_library(str(path))
    library = ctypes.CDLL(str(path))
    library.gradmill_counts.restype = ctypes.c_char_p
    return Counted(path, library)
