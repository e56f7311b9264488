"""The extensions: the only table that names them. Each has a door, `extension.py`, and is known by what that says.

An extension whose door is not there is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from msgspec import Struct

_NAMES = ("graphs", "type_stubs", "verify", "browse")  # folders of gradmill/extensions


class Readable(Protocol):
    """An input."""

    @property
    def path(self) -> str:
        """The path of the file, of which it may be a part."""
        ...

    def read(self) -> bytes:
        """Its bytes. OSError if they cannot be read."""
        ...


class Added(Protocol):
    """The files of one run that an extension reads, and how: its part of a configuration, a Struct."""

    @property
    def root(self) -> str:
        """The folder of the files, or the one file."""
        ...

    def files(self) -> Mapping[str, Readable]:
        """The files by name, sorted. A folder is listed on each call."""
        ...

    def has(self, path: str) -> bool:
        """Whether an absolute path is that of a file, or of one that would be if it were there."""
        ...

    def path(self, name: str) -> str:
        """The path of the file with a name."""
        ...

    def request(self, files: list[str]) -> Any:
        """The input that has the extension's name: a Struct with the field `files`, and how they are read."""
        ...


class Reads(Struct, frozen=True):
    """The files of its own that an extension reads. The extension's name is that of the variable that names them, of
    their stage, of the family of the units that are made from them, and of the folder by which messages and the
    manifest name them: `graphs/net.py`."""

    added: str  # from the values of all variables to `Added`; None if they name no files
    stage: tuple[str, ...]  # what the stage does, then which ones it needs
    # With queries about the files: `stage`, `all_names` (the functions, each after its file), `text_of`, `lines` (where
    # they begin) and `signature` (the schema of one).
    module: str
    uses: str  # with what a function uses: `operators_called`, and `formulas_used` (the functions that have these)


class TreeFolders(Struct, frozen=True):
    """The folder of a family's files in each tree, below the output folder."""

    checkout: str  # which is the root of a checkout
    csrc: str  # which is the folder `torch/csrc`
    aten: str = ""  # which is the folder of ATen's generated files


class FamilyRow(Struct, frozen=True):
    """A row of the table of families: what a configuration asks of each. A family is named as its row is."""

    templates: tuple[str, ...] = ()  # from which files are generated
    needs: str = ""  # the template that an error names if a spec set has none of the family's; "" if it needs none
    needs_file: str = ""  # the spec file without which it does
    reads: tuple[str, ...] = ()  # spec files that only this family and its like read
    # The subsets of PyTorch's scripts that write its files, with the prefixes of these files' names; "": all.
    subsets: Mapping[str, str | tuple[str, ...]] = {}
    # If it has subsets, and its `folder` is not ATen's.
    in_trees: TreeFolders = TreeFolders("torch/csrc/autograd/generated", "autograd/generated")
    folder: str = ""  # of its files below the output folder, if all families are in one
    source: str = ""  # the extension whose files its units are made from, if an extension has them
    by_default: bool = True  # whether it is generated without being named in `families=`
    of_operators: bool | None = None  # whether it is of builds where each operator has headers; None: of others, too
    module: str = ""  # of the family, if it is an extension's


class Extension(Struct, frozen=True):
    """What an extension adds: modules, or what is in one (`module:name`), as text, loaded when it is used."""

    commands: str = ""  # a module whose COMMANDS are rows of the table of commands
    queries: tuple[str, ...] = ()  # modules with queries, which no run of the core needs
    families: dict[str, FamilyRow] = {}  # rows of the table of families
    kinds: dict[str, str] = {}  # kinds of units: the module of each
    files: dict[str, tuple[str, str, str]] = {}  # rows of the table of spec files, by role
    # Tables whose items are each from one input: its label, in which {} is the table's key.
    ends: dict[str, str] = {}
    variables: str = ""  # a function that returns rows of the table of variables
    reads: Reads | None = None
    rules: str = ""  # those of its warnings, for the command `rule`
    shown: str = ""  # what `show` prints of its stages, by stage, as reports/show.py has it
    printed: str = ""  # the types of the JSON that its commands print, by name
    states: str = ""  # of a session with its stages up to date: what is known of units, by title, as a line
    garbage: str = ""  # of a cache and a folder's name in it: deletes what no run needs, yields what was `Collected`
    # A module with what is known of formulas: `can_verify`; `known` of a build, with `lines` by Node, `entry_states`
    # (else NOT_YET) and `problems`; `verification` of an entry, which another thread may call.
    verdicts: str = ""
    beside: str = ""  # of the command line's variables of `watch`: `start` after each pass, `stop` at the end


@cache
def extensions() -> dict[str, Extension]:
    """The doors of all extensions that are there, by name."""
    found = {}
    for name in _NAMES:
        module = f"gradmill.extensions.{name}.extension"
        try:
            found[name] = import_module(module).EXTENSION
        except ModuleNotFoundError as error:  # a removed folder may still have bytecode
            if not error.name or not module.startswith(error.name):
                raise
    return found


def loaded(field: str) -> Iterator[Any]:
    """What the extensions name in a field, loaded."""
    for extension in extensions().values():
        if name := getattr(extension, field):
            yield load(name)


def checker() -> Any:
    """The module that knows which formulas are verified; None without one."""
    return next(loaded("verdicts"), None)


def load(name: str) -> Any:
    """What `module:name` or `module` names."""
    module, _, inner = name.partition(":")
    return getattr(import_module(module), inner) if inner else import_module(module)


@cache
def readers() -> dict[str, Reads]:
    """The extensions with files of their own, by name."""
    return {name: each.reads for name, each in extensions().items() if each.reads is not None}
