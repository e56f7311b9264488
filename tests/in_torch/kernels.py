"""Which of our kernels the dispatcher has, and which ran."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import torch

Kernel = tuple[str, str]  # family and function

FAMILIES = {"Autograd": "VariableType", "ADInplaceOrView": "ADInplaceOrView"}
_LINE = re.compile(r"^(\w+)(?:\[alias\])?: registered at (\S+?):\d+ ::.*$", re.MULTILINE)
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
        found: Counter[str] = Counter()
        for operator in torch._C._dispatch_get_all_op_names():
            if operator.startswith("aten::"):
                found.update(self._active(torch._C._dispatch_dump(operator)))
        return found

    def _active(self, dump: str) -> list[str]:
        """The keys of an operator at which ours is called."""
        lines = [match for match in _LINE.finditer(dump) if _INACTIVE not in match.group(0)]
        return [match.group(1) for match in lines if _is_ours(match.group(2))]


def _is_ours(source: str) -> bool:
    return Path(source).is_absolute()


def load(path: Path) -> Counted:
    """Puts our kernels in the place of torch's."""
    torch.ops.load_library(str(path))
    library = ctypes.CDLL(str(path))
    library.gradmill_counts.restype = ctypes.c_char_p
    return Counted(path, library)
