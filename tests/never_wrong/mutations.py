"""Mutated spec sets, right and wrong ones: gradmill and torchgen must come to one verdict, and to the same bytes.

python -m tests.campaigns sets [--python | --aten [--flags] [--only TYPE]] [--count N]

With --python, the files by which Python sees operators, from schemas, tags and deprecated forms. With
--aten, those that torchgen.gen writes, and with --flags with random arguments of it; with --only those of one type,
which its argument --generate names.
"""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from project import files_in

from gradmill.cli.commands.torchgen import TYPES

from . import bound
from .aten_sets import JudgeOfAten
from .builds import clean_build
from .campaign import Trial, options, run
from .edits import edit
from .groups import group_added
from .oracle import Oracle
from .specset import (
    DERIVATIVES,
    FILES,
    NATIVE,
    TAGS,
    Specs,
    make_folder,
    read_specs,
    subset,
    torch_folder,
    torch_version,
)
from .values import function_of_types, key_with_value
from .verdicts import Verdict, compared

SETS = 500
FAMILIES = 14  # operators of a set: few, so that torchgen is quick, and of all kinds, over many sets

ODD_VALUES = (
    "null", "~", "yes", "no", "1", "0x10", "1e3", "2020-01-01", "''", '""', "[]", "{}", "[a, b]", "{a: b}", "!!str 1",
    "&a x", "*a", "|\n    text", ">\n    text", "- a", "'quoted'", "a: b", "%", "@x", "=", "<<", "{<<: {a: b}}",
)  # fmt: skip
HEADS = (
    "---\n",
    "\ufeff",
    "%YAML 1.1\n---\n",
    "# x\n",
    "\n\n",
    "  x: y\n",
    "x\n",
    "--- !!seq\n",
    " # x\n",
    "{}\n",
    " - x\n",
)
_WORD = re.compile(r"\w+")

Mutation = Callable[[Specs, Random], None]
OfLine = Callable[[str, int, Random], list[str]]  # of a line and a place in it: the lines that it becomes


def _pick(specs: Specs, random: Random) -> tuple[list[str], int]:
    names = [name for name, entries in specs.entries.items() for _ in range(1 if name == TAGS else 8) if entries]
    entries = specs.entries[random.choice(names)]
    return entries, random.randrange(len(entries))


def _lines(name: str, change: OfLine) -> Mutation:
    """A mutation of one line of one entry."""

    def mutate(specs: Specs, random: Random) -> None:
        entries, at = _pick(specs, random)
        lines = entries[at].split("\n")
        number = random.choice([i for i, line in enumerate(lines) if line.strip()])
        line = lines[number]
        lines[number : number + 1] = change(line, random.randrange(len(line)), random)
        entries[at] = "\n".join(lines)

    mutate.__name__ = name
    return mutate


def _key_odd(line: str, at: int, random: Random) -> list[str]:
    head, colon, value = line.partition(":")
    key = random.choice(["nam", "func", "name", "self", "result", "dispatch", "variants", "1", "null", "grad", "tag"])
    return [f"{head[: len(head) - len(head.lstrip(' -'))]}{key}{colon}{value}"]


def _word_misspelt(line: str, at: int, random: Random) -> list[str]:
    words = list(_WORD.finditer(line))
    if not words:
        return [line]
    word = random.choice(words)
    new = random.choice([word[0] + "x", word[0][1:], word[0].swapcase(), word[0] + "_", "_" + word[0]])
    return [line[: word.start()] + new + line[word.end() :]]


_LETTERS = "aZ_0 .,:;()[]{}?!*&#-+'\"|>%@`\\/é"
_OF_LINES: dict[str, OfLine] = {
    "line_removed": lambda line, at, random: [],
    "line_repeated": lambda line, at, random: [line, line],
    "line_indented": lambda line, at, random: [random.choice([" ", "  ", "    ", "\t"]) + line],
    "line_dedented": lambda line, at, random: [line.removeprefix("  ")],
    "character_removed": lambda line, at, random: [line[:at] + line[at + 1 :]],
    "character_put_in": lambda line, at, random: [line[:at] + random.choice(_LETTERS) + line[at:]],
    "characters_swapped": lambda line, at, random: [line[:at] + line[at : at + 2][::-1] + line[at + 2 :]],
    "line_cut_short": lambda line, at, random: [line[:at]],
    "value_odd": lambda line, at, random: [f"{line.partition(': ')[0]}: {random.choice(ODD_VALUES)}"],
    "key_odd": _key_odd,
    "word_misspelt": _word_misspelt,
}


def word_of_elsewhere(specs: Specs, random: Random) -> None:
    """A word replaced by one that stands somewhere else in the set."""
    entries, at = _pick(specs, random)
    others, other = _pick(specs, random)
    here, there = list(_WORD.finditer(entries[at])), _WORD.findall(others[other])
    if here and there:
        word = random.choice(here)
        entries[at] = entries[at][: word.start()] + random.choice(there) + entries[at][word.end() :]


def line_of_elsewhere(specs: Specs, random: Random) -> None:
    """A line that stands in another entry too."""
    name = random.choice([NATIVE, DERIVATIVES])
    first, second = random.choices(range(len(specs.entries[name])), k=2)
    taken = [line for line in specs.entries[name][first].split("\n")[1:] if line.strip()]
    lines = specs.entries[name][second].split("\n")
    if taken:
        lines.insert(1, random.choice(taken))
        specs.entries[name][second] = "\n".join(lines)


def entry_of_elsewhere(specs: Specs, random: Random) -> None:
    """An entry removed, repeated, or put into the other file."""
    entries, at = _pick(specs, random)
    entry = entries[at] if entries[at].endswith("\n") else entries[at] + "\n"
    what = random.randrange(3)
    if what == 0:
        del entries[at]
    else:
        target = entries if what == 1 else specs.entries[random.choice([NATIVE, DERIVATIVES])]
        target.insert(random.randint(0, max(len(target) - 1, 0)), entry)


def head_changed(specs: Specs, random: Random) -> None:
    """Something in front of the first entry of a file."""
    name = random.choice(FILES)
    specs.heads[name] = random.choice(HEADS) + specs.heads[name]


def end_changed(specs: Specs, random: Random) -> None:
    """Something after the last entry of a file."""
    texts = ["...\n", "---\n", "\n# x", "-\n", "- \n", "- null\n", "- []\n", "- {}\n", "- x\n", "x: y\n", "\n  x: y\n"]
    entries = specs.entries[random.choice(FILES)]
    if entries:
        entries[-1] = entries[-1].rstrip("\n") + "\n" + random.choice(texts)


def line_ends_changed(specs: Specs, random: Random) -> None:
    """The line ends of Windows, of old Macs, or of Unicode."""
    name, end = random.choice(FILES), random.choice(["\r\n", "\r\n", "\r", "\u2028", "\x85"])
    if end.startswith("\r"):
        specs.heads[name] = specs.heads[name].replace("\n", end)
        specs.entries[name] = [entry.replace("\n", end) for entry in specs.entries[name]]
    else:
        specs.heads[name] = f"# x{end}# y\n{specs.heads[name]}"


def merge_key(specs: Specs, random: Random) -> None:
    """A YAML merge, or an alias, in an entry."""
    entries, at = _pick(specs, random)
    text = random.choice(
        ["  <<: {variants: function}", "  <<: {result: auto_linear}", "  result: &r auto_linear", "  <<: []"]
    )
    first, _, rest = entries[at].partition("\n")
    entries[at] = f"{first}\n{text}\n{rest}"


def annotation_changed(specs: Specs, random: Random) -> None:
    """The alias annotations or the returns of a schema."""
    at = random.randrange(len(specs.native))
    first, newline, rest = specs.native[at].partition("\n")
    changes = [
        ("Tensor self", "Tensor(a!) self"), ("Tensor self", "Tensor(a) self"), ("Tensor(a!)", "Tensor(b!)"),
        ("Tensor(a)", "Tensor"), ("-> Tensor", "-> Tensor(a)"), ("-> Tensor", "-> Tensor[]"), ("-> Tensor", "-> ()"),
        ("-> Tensor", "-> (Tensor, Tensor)"), ("-> Tensor", "-> (Tensor a, Tensor b)"), ("-> Tensor", "-> Scalar"),
        ("(Tensor self", "(Tensor self, *"), ("*, ", ""), ("_(", "("), ("(", ".x("), (".out", ".o"),
        ("(a)", "(a -> *)"),
    ]  # fmt: skip
    fitting = [(old, new) for old, new in changes if old in first]
    if fitting:
        first = first.replace(*random.choice(fitting), 1)
    specs.native[at] = first + newline + rest


def an_edit(specs: Specs, random: Random) -> None:
    """An edit of one of the kinds that chains have."""
    edit(specs, random)


# Of all files of a set, deprecated forms as well.
OF_TEXT: tuple[Mutation, ...] = (
    *(_lines(name, change) for name, change in _OF_LINES.items()),
    *(annotation_changed for _ in range(3)),
    word_of_elsewhere,
    word_of_elsewhere,
    line_of_elsewhere,
    line_of_elsewhere,
    entry_of_elsewhere,
    head_changed,
    end_changed,
    line_ends_changed,
    merge_key,
)
MUTATIONS: tuple[Mutation, ...] = (
    *(an_edit for _ in range(14)),
    *OF_TEXT,
    *(key_with_value for _ in range(4)),
    function_of_types,
    *(group_added for _ in range(3)),
)


def mutated(base: Specs, seed: int, *, python: bool = False) -> tuple[Specs, list[str]]:
    """A small spec set with one to three mutations, and their names. Every seed gives another."""
    random = Random(seed)
    specs = bound.base(base, random) if python else subset(base, random, FAMILIES)
    made = []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        mutation = random.choice([*bound.MUTATIONS, *OF_TEXT] if python else MUTATIONS)
        if all(specs.entries.values()):
            mutation(specs, random)
            made.append(mutation.__name__)
    return specs, made


def judge(specs: Path, scratch: Path, torchgen: Oracle, *, python: bool = False) -> Verdict:
    """Runs both programs on the set in the folder `specs`."""
    shutil.rmtree(scratch, ignore_errors=True)
    error = torchgen.run(specs, scratch / "torchgen", python=python)
    files = clean_build(specs, scratch / "gradmill", **({"families": bound.FAMILIES} if python else {}))
    expected = {} if error else files_in(scratch / "torchgen")
    made = {name: data for name, data in files.files.items() if name in expected or name.endswith((".h", ".cpp"))}
    return compared(error, files, made, expected)


class Judge:
    """The folders and torchgen's process for a number of mutated sets."""

    def __init__(self, folder: Path, torchgen: Oracle, *, python: bool = False) -> None:
        self._base = read_specs(torch_folder(), bound.FILES_OF_PYTHON if python else FILES)
        self._folder = make_folder(folder / "set", torch_folder(), torch_version())
        if python:
            bound.add_templates(self._folder / "templates", torch_folder())
        self._scratch = folder / "scratch"
        self._torchgen = torchgen
        self._python = python

    def judge(self, seed: int) -> tuple[Verdict, list[str]]:
        """The verdict on the mutated set of a seed, and its mutations."""
        specs, made = mutated(self._base, seed, python=self._python)
        return self.judge_specs(specs), made

    def judge_specs(self, specs: Specs) -> Verdict:
        """The verdict on any set."""
        specs.write(self._folder)
        return judge(self._folder, self._scratch, self._torchgen, python=self._python)


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, SETS)
    parser.add_argument("--python", action="store_true", help="what Python bindings are made from")
    parser.add_argument("--aten", action="store_true", help="what torchgen.gen writes")
    parser.add_argument("--flags", action="store_true", help="with --aten: with random arguments of torchgen.gen")
    parser.add_argument("--only", choices=TYPES, default="", help="with --aten: with --generate TYPE")
    wanted = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name, Oracle() as torchgen:
        place = Path(name)
        judge_: JudgeOfAten | Judge = (
            JudgeOfAten(place, torchgen, flags=wanted.flags, only=wanted.only)
            if wanted.aten
            else Judge(place, torchgen, python=wanted.python)
        )

        def trial(seed: int) -> Trial:
            verdict, made = judge_.judge(seed)
            return verdict.trial(f"seed {seed} ({', '.join(made)})")

        return run(map(trial, itertools.count(wanted.seed)), wanted)
