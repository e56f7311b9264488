"""Loads modules on first use, if doit or msgspec imports them and most runs never use them.

A lazy module is the real module before its code is executed. `importlib.util.LazyLoader` does the same, but executes
a module on its second import: doit imports `json` four times, and uses it for one reporter.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType
from typing import Any

# Only modules that are loaded with a plain `import`: `from json import loads` already uses a module.
LAZY = frozenset(
    """
    copy csv email fnmatch hashlib importlib.metadata._adapters ipaddress json linecache msgspec.inspect msgspec.toml
    msgspec.yaml multiprocessing.reduction ntpath pdb pprint subprocess tempfile textwrap token tokenize traceback
    zipfile
    """.split()
)


class Unused(ModuleType):
    """A module that executes its code on the first access to an attribute other than those of its file."""

    def __getattribute__(self, name: str) -> Any:
        if name not in ("__spec__", "__file__"):
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
    """Makes the imports of these modules lazy. Only for processes with one thread: two threads must not use a module
    for the first time at once."""
    sys.meta_path.insert(0, _Finder)


# A module, and a package without which it works if that is not installed: msgspec then uses the names of `typing`, and
# getopt reports errors in English. Loading both packages takes 7 ms.
_OPTIONAL = {"msgspec": "typing_extensions", "getopt": "gettext"}


def import_without_optional() -> None:
    """Imports these modules as if the packages were not installed, unless they are loaded already."""
    for module, package in _OPTIONAL.items():
        if package not in sys.modules:
            sys.modules[package] = None  # type: ignore[assignment]  # Python takes it for a missing one
            try:
                import_module(module)
            finally:
                del sys.modules[package]


# Modules from which doit takes names while it is imported, and the names: most runs call none of them. Loading these
# modules takes 5 ms.
CALLED = {
    "configparser": ["ConfigParser"],
    "importlib.metadata": ["entry_points"],
    "multiprocessing": ["Process", "Queue"],
    "pickle": ["dumps"],
    "queue": ["Queue"],
    "string": ["Template"],
    "urllib.parse": ["quote_from_bytes"],
}


def import_doit() -> None:
    """Imports doit. The names in `CALLED` are functions there that load the module when they are called, unless it is
    loaded already."""
    stand_ins = [_StandIn(name) for name in CALLED if name not in sys.modules]
    sys.modules |= {module.__name__: module for module in stand_ins}
    try:
        import_module("doit.doit_cmd")
    finally:
        for module in stand_ins:
            module.leave()


class _StandIn(ModuleType):
    """A module as doit sees it: its names in `CALLED` are functions; the others are those of the real module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python itself asks, while doit is imported
            raise AttributeError(name)
        return partial(self.call, name) if name in CALLED[self.__name__] else getattr(self.real(), name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Calls a function of the real module."""
        return getattr(self.real(), name)(*args, **kwargs)

    def real(self) -> ModuleType:
        """The real module, which takes the place of this one."""
        self.leave()
        return import_module(self.__name__)

    def leave(self) -> None:
        """Makes the next import of the module load the real one."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
