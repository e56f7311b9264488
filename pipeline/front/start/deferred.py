"""Modules that doit imports and that a plain run never looks into: imported when somebody does.

They take half of the time that doit needs to start. Each has a stand-in in `sys.modules` until then, which gives what
the module gives; it has nothing but what doit takes from a module by name, and only functions and classes that are
called.
"""

from __future__ import annotations

import os
import sys
import typing
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType, SimpleNamespace
from typing import Any

# What is imported from each by name; whatever else is asked for is looked up in the module itself.
_TAKEN = {
    "configparser": ("ConfigParser",),
    "dbm": ("whichdb",),
    "gettext": ("gettext", "ngettext"),  # by getopt
    "hashlib": (),
    "json": (),
    "multiprocessing": ("Process", "Queue"),
    "pdb": (),
    "pickle": ("dumps",),
    "pprint": (),
    "queue": (),
    "string": ("Template",),
    "subprocess": (),
    "textwrap": (),
    "traceback": (),
    "urllib.parse": ("quote_from_bytes",),  # by pathlib
}
_METADATA = "importlib.metadata"

# What msgspec takes from a package of this name, or from `typing` where there is none: they are the same there.
_TYPING_EXTENSIONS = ("get_type_hints", "NotRequired", "Required")

_KINDS = {
    "isbuiltin": BuiltinFunctionType,
    "isclass": type,
    "isfunction": FunctionType,
    "isgenerator": GeneratorType,
    "ismethod": MethodType,
}
_STARS = 0x04 | 0x08  # of a function's code: it takes `*args`, or `**named`


class _StandIn(ModuleType):
    """A module that has not been imported yet."""

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":
            raise AttributeError(name)  # no package: those have one
        value = self.__dict__[name] = getattr(_imported(self), name)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if sys.modules.get(self.__name__) is not self:  # a module inside of a package that was imported meanwhile
            setattr(_imported(self), name, value)


def defer() -> None:
    """Puts stand-ins in the place of modules that nobody has imported yet."""
    for name, taken in _TAKEN.items():
        _put(name, taken)
    platform = _put("platform", ()) if hasattr(os, "uname") else None
    if platform is not None:
        platform.__dict__["system"] = lambda: os.uname().sysname  # all that uuid asks, which msgspec imports


def defer_typing() -> None:
    """The same for what msgspec looks for first: others may ask whether that is installed."""
    if "typing_extensions" not in sys.modules:
        module = sys.modules["typing_extensions"] = _StandIn("typing_extensions")
        module.__dict__.update({name: getattr(typing, name) for name in _TYPING_EXTENSIONS})


def defer_inspection() -> None:
    """The same for `inspect`, of which a run of all tasks asks three things: of what kind something is, what the
    parameters of a function are called, and in which line it begins."""
    module = _put("inspect", ())
    if module is None:
        return
    module.__dict__.update({name: lambda found, kind=kind: isinstance(found, kind) for name, kind in _KINDS.items()})

    def signature(called: Any) -> Any:
        names = _parameters(called)
        if names is None:
            return _imported(module).signature(called)
        return SimpleNamespace(parameters=dict.fromkeys(names))

    def getsourcelines(found: Any) -> Any:
        is_plain = isinstance(found, FunctionType) and not hasattr(found, "__wrapped__")
        return ([], found.__code__.co_firstlineno) if is_plain else _imported(module).getsourcelines(found)

    module.__dict__.update({"signature": signature, "getsourcelines": getsourcelines})


def defer_metadata() -> None:
    """The same for the search for plugins in all that is installed, where no plugin but gradmill's can be needed: those
    are in doit's configuration."""
    module = _put(_METADATA, ())
    if module is None:
        return

    def entry_points(**given: Any) -> Any:
        return [] if given.get("group", "").startswith("doit.") else _imported(module).entry_points(**given)

    module.__dict__["entry_points"] = entry_points


def _parameters(called: Any) -> tuple[str, ...] | None:
    """The names of what something that can be called takes, None where it takes more to know that."""
    if isinstance(called, (FunctionType, MethodType)):
        function = getattr(called, "__func__", called)
    else:
        function = vars(type(called)).get("__call__")
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
        return None
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return None if code.co_flags & _STARS else names[function is not called :]


def _put(name: str, taken: tuple[str, ...]) -> ModuleType | None:
    """Puts a stand-in; None where the module is there, or is not where the standard library is."""
    place = os.path.join(os.path.dirname(os.__file__), *name.split("."))
    is_package = os.path.isdir(place)
    if name in sys.modules or not (is_package or os.path.isfile(f"{place}.py")):
        return None
    module = sys.modules[name] = _StandIn(name)
    module.__dict__.update({each: _later(module, each) for each in taken})
    if is_package:
        module.__dict__["__path__"] = [place]
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(__import__(parent), last, module)
    return module


def _later(module: ModuleType, name: str) -> Callable[..., Any]:
    def later(*args: Any, **named: Any) -> Any:
        return getattr(_imported(module), name)(*args, **named)

    return later


def _imported(module: ModuleType) -> ModuleType:
    """The module that a stand-in stands for."""
    name = module.__name__
    if sys.modules.get(name) is module:
        del sys.modules[name]
        __import__(name)
        inside = {each: value for each, value in vars(module).items() if isinstance(value, ModuleType)}
        sys.modules[name].__dict__.update(inside)
    return sys.modules[name]
