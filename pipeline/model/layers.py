"""Layers of a spec set as the stages know them: which files have entries, and what is done to these before all else."""

from typing import Literal

from msgspec import Struct

from pipeline.problems.problem import Role

Words = str | tuple[str, ...]  # one, or a list of them

LAYER_MARK = " @"  # between an entry's operator and the layer that it is from


class Versions(Struct, frozen=True, forbid_unknown_fields=True):
    """Entries that hold for some releases only.

    `keys`: the keys of an entry that say for which; it holds where one of them says so. `all`: the key of the file
    that lists all releases, for those who say `all_version` or `newest`. `missing`: what an entry without any key is.
    """

    keys: Words
    all: str = ""
    missing: Literal["held", "dropped", "error"] = "held"

    @property
    def named(self) -> tuple[str, ...]:
        """`keys` as a tuple, also if the description gives one word."""
        return listed(self.keys)


class Rewrite(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """A change of a schema of the base: in the `func` of the function, `from` becomes `to`."""

    func: str
    from_: str
    to: str


class Source(Struct, frozen=True, array_like=True):
    """One spec file of a set that is described: `key` names it among the inputs, and starts with its role."""

    key: str
    file: str  # as others are told
    layer: str = ""  # "" for the base
    namespace: str = ""  # of the functions that name none
    lists: tuple[str, ...] = ()  # the keys whose lists are the entries; none: the file is a list
    drop: tuple[str, ...] = ()  # keys that say nothing to autograd
    keep: tuple[str, ...] = ()  # where there are any, only these keys are looked at
    versions: Versions | None = None
    diffs: tuple[str, ...] = ()  # keys of the diffs that change the text
    rewrites: tuple[Rewrite, ...] = ()
    exclude: tuple[str, ...] = ()  # operators whose entries are left out
    at: tuple[str, ...] = ()  # where the description has it

    @property
    def role(self) -> Role:
        """The file's role in the set: the part of `key` before its colon."""
        return role_of(self.key)


def listed(words: Words) -> tuple[str, ...]:
    """A list of one where there is one."""
    return (words,) if isinstance(words, str) else words


def role_of(key: str) -> Role:
    """The role of a spec file, by its key."""
    role: Role = key.partition(":")[0]  # type: ignore[assignment]
    return role


def entry_operator(entry: str) -> str:
    """The operator that an entry is about, by its identity."""
    return entry.partition(LAYER_MARK)[0].partition("#")[0]


def layer_of(entry: str) -> str:
    """The layer that an entry is from, by its identity; "" for the base."""
    return entry.rpartition(LAYER_MARK)[2].partition("#")[0] if LAYER_MARK in entry else ""
