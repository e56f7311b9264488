"""The headers that a set's formulas are compiled with, read again when they change."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pipeline.front.config import Config
from pipeline.problems.problem import SpecError
from pipeline.query.files import Stat, read_file, stat_of
from pipeline.reports.editor.headers import Helper, helpers
from pipeline.specs.text import decode_text

# Where the header with PyTorch's helpers is, from a folder above the spec files on.
_MANUAL = (
    "torch/include/torch/csrc/autograd/FunctionsManual.h",
    "include/torch/csrc/autograd/FunctionsManual.h",
    "torch/csrc/autograd/FunctionsManual.h",
)
_ABOVE = 6  # folders that are looked at


class Headers:
    """The headers of one set."""

    def __init__(self, config: Config) -> None:
        self._paths = list(dict.fromkeys(_paths(config)))
        self._read: dict[str, tuple[Stat | None, list[Helper]]] = {}

    @property
    def helpers(self) -> dict[str, list[Helper]]:
        """What they declare, by name."""
        found: dict[str, list[Helper]] = {}
        for path in self._paths:
            for helper in self._of(path):
                found.setdefault(helper.name, []).append(helper)
        return found

    def _of(self, path: str) -> list[Helper]:
        stat = stat_of(path)
        if path not in self._read or self._read[path][0] != stat:
            try:
                self._read[path] = stat, list(helpers(path, decode_text(read_file(path) or b"")))
            except SpecError:
                self._read[path] = stat, []
        return self._read[path][1]


def _paths(config: Config) -> Iterator[str]:
    specs = config.specs
    own = [at.path for name, at in specs.templates.items() if name.endswith("_helpers.h") and not at.member]
    yield from (os.path.realpath(path) for path in own if os.path.isfile(path))
    for at in specs.files.values():
        folder = os.path.dirname(os.path.realpath(at.path))
        for _ in range(_ABOVE):
            found = [os.path.join(folder, name) for name in _MANUAL]
            yield from [path for path in found if os.path.isfile(path)][:1]
            folder = os.path.dirname(folder)
