"""Which operators have samples: `python -m tests.campaigns samples`.

For each definition of the installed torch, counts the samples that `gradmill verify` checks it on, by
where they are from, and lists those without. Each operator is asked in a copy of the process, because one that
does not check what it is given may end it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import torch
import yaml
from never_wrong.campaign import in_order, options

from gradmill.extensions.verify.child import from_opinfo
from gradmill.extensions.verify.child.operators import function_of, has_kernel
from gradmill.extensions.verify.child.samples import samples

LIMIT = 12
TORCH, MADE = "torch's", "made"


class Answer(NamedTuple):
    """What one operator has: plain samples by their source, variants by their kind; and the seconds of CPU."""

    counts: Counter[str]
    seconds: float
    status: int


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("names", nargs="*", help="only these operators, as add.Tensor")
    parser.add_argument("--folder", type=Path, help="keeps torch's own samples for next time")
    parser.add_argument("--made", action="store_true", help="without torch's own samples")
    wanted, begin = parser.parse_args(words), time.monotonic()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = wanted.folder or Path(temporary)
        if wanted.made:
            from_opinfo.run = lambda name: []
            folder = Path(temporary)
        names, end = in_order(wanted.names or definitions(), wanted)[: wanted.count], begin + wanted.minutes * 60
        asked_of = takewhile(lambda name: time.monotonic() < end, names)
        answers = {name: asked(name, folder) for name in asked_of if overload(name) is not None}
        return report(answers, names)


def definitions() -> list[str]:
    """The names of the functions that the installed torch has definitions for."""
    spec = find_spec("torchgen")
    assert spec is not None and spec.origin is not None
    path = Path(spec.origin).parent / "packaged" / "autograd" / "derivatives.yaml"
    rows = yaml.load(path.read_text(), yaml.CSafeLoader)
    return [row["name"].split("(")[0] for row in rows]


def overload(name: str) -> Any:
    base, _, variant = name.partition(".")
    return getattr(getattr(torch.ops.aten, base, None), variant or "default", None)


def asked(name: str, folder: Path) -> Answer:
    """What `samples` gives for an operator, in a copy of this process."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        start = time.process_time()
        counts = Counter(kinds(name, folder))
        lines = [f"{count} {kind}" for kind, count in counts.items()] + [str(time.process_time() - start)]
        os.write(writing, "\n".join(lines).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        *lines, seconds = file.read().split("\n")
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    found = Counter({kind: int(count) for count, _, kind in (line.partition(" ") for line in lines)})
    return Answer(found, float(seconds or 0), status)


def kinds(name: str, folder: Path) -> Iterator[str]:
    operator = overload(name)
    function = function_of(operator.name(), operator._schema, {})
    for sample in samples(function, operator._schema, folder=folder, limit=LIMIT):
        if sample.kind != "plain" or sample.point:
            yield sample.kind if sample.kind != "plain" else "arguments"
        else:
            yield TORCH if sample.source.startswith(TORCH) else MADE


def report(answers: dict[str, Answer], names: list[str]) -> int:
    """Prints the counts. The exit status: 1 if an operator ended its process."""
    runs = {name: answer for name, answer in answers.items() if has_kernel(f"aten::{name}")}
    have = {name for name, answer in runs.items() if answer.counts[TORCH] or answer.counts[MADE]}
    for what, number in (
        ("definitions", len(names)),
        ("operators that have a kernel for the CPU", len(runs)),
        ("  with a plain sample", len(have)),
        ("  with one of torch's", sum(answer.counts[TORCH] > 0 for answer in runs.values())),
        ("  with one made from the schema", sum(answer.counts[MADE] > 0 for answer in runs.values())),
    ):
        print(f"{what:45} {number}")
    total = sum((answer.counts for answer in answers.values()), Counter[str]())
    print("samples:", ", ".join(f"{count} {kind}" for kind, count in sorted(total.items())))
    slowest = sorted(answers, key=lambda name: -answers[name].seconds)[:8]
    print("slowest:", ", ".join(f"{name} {answers[name].seconds:.2f} s" for name in slowest))
    print("without:", " ".join(sorted(runs.keys() - have)))
    print("not made:", " ".join(sorted(name for name in have if not runs[name].counts[MADE])))
    ended = [f"{name} ({answer.status})" for name, answer in answers.items() if answer.status]
    print("ended their process:", " ".join(ended))
    return int(bool(ended))
