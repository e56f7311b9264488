"""Layers of a spec set as the stages read them: the files with entries, and the changes to apply to the entries."""

from typing import Annotated, Any, Literal, cast

from msgspec import Meta, Struct

from gradmill.problems.problem import Role

Words = str | tuple[str, ...]  # one, or a list of them

LAYER_MARK = " @"  # between an entry's operator and its layer


class Versions(Struct, frozen=True, forbid_unknown_fields=True):
    """How entries name the releases that they are valid for.

    `keys`: the keys of an entry that name releases; one that names the release is enough. `all`: the key of the file
    that lists all releases, for entries with `all_version` or `newest`. `missing`: what to do with an entry that has
    none of the keys.
    """

    keys: Words
    all: str = ""
    missing: Literal["held", "dropped", "error"] = "held"


def form(problem: str, hint: str, **limits: Any) -> Meta:
    """The form of a value within the limits of `Meta`: reports say of others that they have the problem."""
    return Meta(extra={"problem": problem, "hint": hint}, **limits)


TEXT = form("matches everywhere", "write the text to replace", min_length=1)


class Rewrite(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """A change of a schema of the base: in `func` of the function, the text `from` becomes `to`."""

    func: str
    from_: Annotated[str, TEXT]
    to: str


class HookFile(Struct, frozen=True, array_like=True):
    """The Python file of hooks of a description. `modules`: by name, the keys of the files that it consists of, itself
    first; `lines`: the hooks that it defines, each with its line."""

    modules: dict[str, str]
    lines: dict[str, int]


class SpecSource(Struct, frozen=True, array_like=True):
    """One spec file of a described set. `key` names it among the inputs, and starts with its role."""

    key: str
    file: str  # name in reports: the path within the set
    layer: str = ""  # "" for the base
    namespace: str = ""  # of functions without one
    lists: tuple[str, ...] = ()  # the keys with lists of entries; if empty, the file is a list
    drop: tuple[str, ...] = ()  # keys of entries to ignore
    keep: tuple[str, ...] = ()  # if not empty, all other keys of entries are ignored
    versions: Versions | None = None
    diffs: tuple[str, ...] = ()  # keys of the diffs that change the text
    rewrites: tuple[Rewrite, ...] = ()
    at: tuple[str, ...] = ()  # path of its key in the description

    @property
    def version_keys(self) -> tuple[str, ...]:
        """The keys of entries that name their releases."""
        return listed(self.versions.keys) if self.versions is not None else ()


def listed(words: Words) -> tuple[str, ...]:
    """The words as a tuple, also if the description gives one word."""
    return (words,) if isinstance(words, str) else words


def role_of(key: str) -> Role:
    """The role of a spec file: the part of its key before the colon."""
    return cast(Role, key.partition(":")[0])


def entry_operator(entry: str) -> str:
    """The operator of an entry, from the entry's identity."""
    return entry.partition(LAYER_MARK)[0].partition("#")[0]


def layer_of(entry: str) -> str:
    """The layer of an entry, from the entry's identity; "" for the base."""
    return entry.rpartition(LAYER_MARK)[2].partition("#")[0] if LAYER_MARK in entry else ""
