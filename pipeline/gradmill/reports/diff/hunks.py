"""Hunks of unified diffs, and what they are but for the names of the unit that they are of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff

from msgspec import Struct

from gradmill.model.regex import regex

_HEAD = "@@ -"
# The words of C++ that may be names, without those that only a name of a library may be: `std::`, `.size(`.
_WORD = regex(r"\0|\w*Backward\w*|(?<=_ops::)\w+|(?<![\w.>])[^\W\d]\w*+(?!::)|(?<=[.>])[^\W\d]\w*+(?!::|\()")
_NODE = regex(r"(\w*?Backward[A-Za-z]*\d+[A-Za-z]*)(\w*)")
_ARGUMENT = regex(r"(?<= )([^\W\d]\w*)(?=[=,)])")
_RESULTS = frozenset({"result", *(f"result{number}" for number in range(10))})  # outputs without a name


class Hunk(Struct, frozen=True):
    """A hunk of a unified diff. Its head counts lines in the text of the unit at one place, and names the piece there:
    `@@ -29,7 +29,7 @@ definition`."""

    head: str
    lines: tuple[str, ...]  # each begins with " ", "-" or "+"


def hunks(piece: str, before: str, after: str) -> Iterator[Hunk]:
    """The hunks between two texts, of which "" has no line."""
    old, new = (text.split("\n") if text else [] for text in (before, after))
    listed = list(unified_diff(old, new, lineterm=""))[2:]
    starts = [number for number, line in enumerate(listed) if line.startswith(_HEAD)]
    for start, end in zip(starts, [*starts[1:], len(listed)]):
        yield Hunk(f"{listed[start]} {piece}".rstrip(), tuple(listed[start + 1 : end]))


def own_names(op: str, title: str, schema: str) -> frozenset[str]:
    """The names that are a unit's own: its operator, its name in C++, its arguments and outputs."""
    operator = op.partition(" ")[0]
    base, _, overload = operator.partition(".")
    bases = {base, base.rstrip("_")}
    joined = {f"{each}_{overload}" for each in bases} if overload else set()
    kernel = title.rpartition("::")[2].rpartition(".")[2]
    return frozenset({operator, kernel, *bases, *joined, *_ARGUMENT.findall(schema)} - {""}) | _RESULTS


def without_names(hunk: Hunk, own: frozenset[str]) -> str:
    """The changed lines of a hunk, with a number for each of some names and for each Node. In a word such as
    `original_self`, a name is a part between underscores."""
    text = "\n".join(line for line in hunk.lines if line[0] != " ")
    dotted = next((name for name in own if "." in name), "\0")  # `add.Tensor`
    names = sorted(own, key=lambda name: (-len(name), name))
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        head, name, tail = _split(match[0], names)
        return f"{head}{numbers.setdefault(name, f'${len(numbers)}')}{tail}" if name else match[0]

    return _WORD.sub(numbered, text.replace(dotted, "\0"))


def _split(word: str, names: Iterable[str]) -> tuple[str, str, str]:
    """A word in three parts, of which the second is a name, or "" if it has none."""
    if word == "\0":
        return "", word, ""
    if "Backward" in word and (node := _NODE.fullmatch(word)):
        return "", node[1], node[2]
    name = next((name for name in names if f"_{name}_" in f"_{word}_"), "")
    if not name:
        return word, "", ""
    head, _, tail = f"_{word}_".partition(f"_{name}_")
    return f"{head}_"[1:], name, f"_{tail}"[:-1]
