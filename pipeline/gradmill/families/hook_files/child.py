"""The process that the hooks of a description run in. It is started with this file's text, and imports nothing else of
gradmill: lines of JSON on the standard input are calls, those on the standard output their values.

The hooks get what they are called with, and nothing else: modules of the standard library, those of their own folder as
they were read, no environment, no file, no other process.
"""

import importlib
import importlib.abc
import importlib.util
import json
import os
import sys
import sysconfig
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from traceback import walk_tb
from types import ModuleType, SimpleNamespace
from typing import Any

MAIN, TAG = "hooks", "a struct"
NAMED = {"unit": ("family", "piece"), "select": ("", "family")}  # arguments that name something
LIBRARY = tuple({*filter(None, sys.path), *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))})
FILES = {"open", "os.listdir", "os.scandir"}
REFUSED = ("socket.", "subprocess.", "os.", "shutil.", "urllib.", "ctypes.", "winreg.", "ftplib.", "http.", "sqlite3.")
ALLOWED = {"os.putenv", "os.unsetenv"}


class Modules(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):  # type: ignore[misc]
    """The modules of the hooks' folder, from their texts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname in self.texts else None

    def get_filename(self, fullname: str) -> str:
        return f"{fullname}.py"

    def get_data(self, path: str) -> bytes:
        return self.texts[path.removesuffix(".py")].encode()


class Name(str):
    """The name of a family or of a piece. ValueError if it is compared with a text that no such thing is called."""

    kind: str
    known: frozenset[str]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and other not in self.known:
            from difflib import get_close_matches  # only errors need it

            near = "".join(f": did you mean '{each}'?" for each in get_close_matches(other, sorted(self.known), 1))
            raise ValueError(f"no {self.kind} is called '{other}'{near}")
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def attributes(values: dict[str, Any]) -> Any:
    """A function, an argument, …: what has attributes, which docs/vendors.md lists; a dict otherwise."""
    return SimpleNamespace(**values) if values.pop(TAG, None) else values


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """The audit hook, once this process is ready. PermissionError for what is no import of Python's library."""
    if event in FILES and isinstance(arguments[0], (str, bytes)):
        inside = os.path.abspath(os.fsdecode(arguments[0])).startswith(LIBRARY)
        if inside and (event != "open" or not set(str(arguments[1] or "r")) & set("wax+")):
            return
    elif event in FILES or event in ALLOWED or not event.startswith(REFUSED):
        return
    raise PermissionError(f"a hook reads and writes nothing but its arguments and result ({event})")


def failure(error: BaseException, modules: Mapping[str, str]) -> dict[str, Any]:
    """An exception as data: the last line of the hooks that it was raised from; 0 for none."""
    at = (MAIN, 0)
    for frame, line in walk_tb(error.__traceback__):
        name = frame.f_code.co_filename.removesuffix(".py")
        at = (name, line) if name in modules else at
    if isinstance(error, SyntaxError) and error.filename is not None:
        at = (error.filename.removesuffix(".py"), error.lineno or 1)
    return {"error": f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, "at": at}


def called(hooks: ModuleType, name: str, arguments: list[Any]) -> Any:
    """The value of a hook; TypeError if it is of another type than the hook must return."""
    value = getattr(hooks, name)(*arguments)
    if name == "unit" and not isinstance(value, str):
        raise TypeError(f"unit must return text, not {type(value).__name__}")
    if name == "files":
        value = dict(value)
        if not all(isinstance(each, str) for pair in value.items() for each in pair):
            raise TypeError("files must return a mapping from names to texts")
    return bool(value) if name == "select" else value


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    calls = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what hooks print is for people
    modules, known = json.loads(calls.readline())
    names = {kind: type("Name", (Name,), {"kind": kind, "known": frozenset(of)}) for kind, of in known.items()}
    sys.meta_path.insert(0, Modules(modules))
    sys.dont_write_bytecode = True
    os.environ.clear()
    sys.addaudithook(refuse)
    for line in calls:
        name, arguments = json.loads(line, object_hook=attributes)
        for place, kind in enumerate(NAMED.get(name, ())):
            arguments[place] = names[kind](arguments[place]) if kind else arguments[place]
        if name in ("unit", "files"):  # the last is the release
            arguments[-1] = tuple(arguments[-1])
        try:
            value = called(importlib.import_module(MAIN), name, arguments)
            answer = json.dumps({"value": value}, ensure_ascii=False)
            answer.encode()  # an error for half a surrogate pair, which no file can have
        except BaseException as error:  # also SystemExit: it is the hooks' error
            answer = json.dumps(failure(error, modules), ensure_ascii=False)
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main()
