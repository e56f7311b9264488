"""Every key of the YAML files with every kind of value, every type in every place of a schema: gradmill and torchgen
must reach one verdict, and write the same bytes.

python -m tests.campaigns kinds [--count N] [--seed N] [--minutes M] [--only WORD]
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from project import CORE, KERNEL_TEMPLATES, ROOT

from .campaign import options, run
from .mutations import judge
from .oracle import Oracle
from .specset import DERIVATIVES, NATIVE, TAGS
from .values import BASE_TYPES, EXCEPT, KEYS, KINDS, MEANT, PLACES, SUFFIXES, probe_entry, types_in, with_key
from .verdicts import Verdict

BASE = ROOT / "tests" / "bad" / "base"
HOSTS = {
    NATIVE: ("add.Tensor(", "add_.Tensor(", "add.out(", "exp(", "exp_(", "transpose(", "transpose_copy(", "sort(",
    "square(", "_foreach_exp("),
    TAGS: ("inplace_view", "core"),
    DERIVATIVES: ("add.Tensor(", "exp(", "sort(", "transpose(", "chunks(", "noise("),
}  # fmt: skip

_DERIVATIVE = "- name: {schema}\n  self: f(grad, x)\n"


class Probe(NamedTuple):
    """One edit of the base: what it is called, the files that it changes and their texts."""

    name: str
    texts: dict[str, str]


def probes() -> Iterator[Probe]:
    """All of them, in an order that never changes."""
    texts = {name: (BASE / name).read_text() for name in (NATIVE, DERIVATIVES, TAGS)}
    for file, keys in KEYS.items():
        for host in HOSTS[file]:
            for key in keys:
                for value in (*MEANT.get(key, ()), *(kind for kind in KINDS if (key, kind) not in EXCEPT)):
                    yield Probe(f"{file}: {host} {key}: {value!r}", {file: _with(texts[file], host, key, value)})
        for value in (*KINDS, "{name: a}", "{func: a}", "{tag: a}"):
            yield Probe(f"{file}: as an entry: {value!r}", {file: f"{texts[file]}\n- {value}\n"})
            yield Probe(f"{file}: as a file: {value!r}", {file: f"{value}\n"})
    for base in BASE_TYPES:
        for suffix in SUFFIXES:
            for schema, more in PLACES:
                yield from _typed(texts, base, suffix, schema, more)


def _with(text: str, host: str, key: str, value: str) -> str:
    """The text, in which the entry of `host` has the value for the key, in the place of what it has."""
    start = re.search(rf"(?m)^- \w+: {re.escape(host)}", text)
    assert start is not None, host
    end = text.find("\n- ", start.start()) + 1 or len(text)
    return text[: start.start()] + with_key(text[start.start() : end], key, value) + text[end:]


def _typed(texts: dict[str, str], base: str, suffix: str, schema: str, more: str) -> Iterator[Probe]:
    func = types_in(schema, base, suffix)
    native = {NATIVE: texts[NATIVE] + probe_entry(func, more)}
    name = f"type: {func} {more}"
    yield Probe(name, native)
    if "T x" in schema or "-> T" in schema:
        derivative = _DERIVATIVE.format(schema=func).replace("x)", "x)" if " x" in func else "result)")
        yield Probe(f"{name} with a derivative", {**native, DERIVATIVES: f"{texts[DERIVATIVES]}\n{derivative}"})


class Judge:
    """A folder for the set, and torchgen's process."""

    def __init__(self, folder: Path, torchgen: Oracle) -> None:
        self._specs, self._scratch, self._torchgen = folder / "set", folder / "scratch", torchgen
        shutil.copytree(BASE, self._specs)
        for name in (*KERNEL_TEMPLATES, "variable_factories.h"):
            shutil.copyfile(CORE / "templates" / name, self._specs / "templates" / name)

    def judge(self, probe: Probe) -> Verdict:
        """What both say of one probe."""
        for name in (NATIVE, DERIVATIVES, TAGS):
            (self._specs / name).write_text(probe.texts.get(name) or (BASE / name).read_text())
        return judge(self._specs, self._scratch, self._torchgen)


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("--only", default="", metavar="WORD", help="those whose name has the word")
    wanted = parser.parse_args(words)
    chosen = [probe for probe in probes() if wanted.only in probe.name]
    if wanted.count is not None:
        chosen = Random(wanted.seed).sample(chosen, min(wanted.count, len(chosen)))
    with tempfile.TemporaryDirectory(prefix="gradmill-") as folder, Oracle() as torchgen:
        judge_ = Judge(Path(folder), torchgen)
        return run((judge_.judge(probe).trial(probe.name) for probe in chosen), wanted)
