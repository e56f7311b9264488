"""Modules of the standard library that doit imports and that most runs never use: loaded when one is used.

Such a module is the real one, whose code has not been executed yet. `importlib.util.LazyLoader` offers the same, but
executes a module when it is imported a second time: doit imports `json` four times, and uses it for one reporter.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType
from typing import Any

# Only modules of which `import` is all that doit, and what it imports, executes: `from json import loads` uses one.
LAZY = frozenset(
    """
    csv hashlib importlib.metadata._adapters ipaddress json linecache multiprocessing.reduction pdb pprint subprocess
    tempfile tokenize traceback zipfile
    """.split()
)


class Unused(ModuleType):
    """A module whose code is executed when an attribute is used. Each `import` looks at its spec, which is no use."""

    def __getattribute__(self, name: str) -> Any:
        if name != "__spec__":
            spec = self.__spec__
            assert spec is not None and spec.loader is not None
            self.__class__ = ModuleType  # type: ignore[assignment]
            spec.loader.exec_module(self)
        return ModuleType.__getattribute__(self, name)


class _Loader(LazyLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        module.__class__ = Unused


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name in LAZY else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def import_lazily() -> None:
    """From now on, importing one of these modules does not execute it. For processes with one thread: two threads must
    not use a module for the first time at once."""
    sys.meta_path.insert(0, _Finder)
