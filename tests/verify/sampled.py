"""Which operators have samples: `python -m tests.campaigns samples`.

For each definition of the installed torch: where the samples are from that `gradmill verify` checks it on. Those
without are listed. Each operator is asked in a copy of the process, which it may end if it does not check arguments.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import yaml
from forked import forked
from never_wrong.campaign import Trial, in_order, options, run

from gradmill.extensions.verify.child import from_opinfo
from gradmill.extensions.verify.child.operators import function_of, has_kernel
from gradmill.extensions.verify.child.samples import samples

LIMIT = 12
TORCH, MADE = "torch's", "made"


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("names", nargs="*", help="only these operators, as add.Tensor")
    parser.add_argument("--folder", type=Path, help="keeps torch's own samples for next time")
    parser.add_argument("--made", action="store_true", help="without torch's own samples")
    wanted = parser.parse_args(words)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = wanted.folder or Path(temporary)
        if wanted.made:
            from_opinfo.run = lambda name: []
            folder = Path(temporary)
        names = [name for name in in_order(wanted.names or definitions(), wanted) if overload(name) is not None]
        return run((asked(name, folder.resolve()) for name in names), wanted)


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


def asked(name: str, folder: Path) -> Trial:
    """From where an operator's samples are. It is asked in a copy of this process, which it must not end."""
    ended = forked(lambda: print(*kinds(name, folder), sep="\n") or 0, ["samples"], folder)
    found = ended.stdout.split("\n")
    of = next((source for source in (TORCH, MADE) if source in found), "without samples")
    kind = of if has_kernel(f"aten::{name}") else "without a kernel for the CPU"
    if kind == "without samples":
        print(f"without samples: {name}")
    return Trial(kind, f"it ends its process: {ended.status}" if ended.status else "", name)


def kinds(name: str, folder: Path) -> Iterator[str]:
    operator = overload(name)
    function = function_of(operator.name(), operator._schema, {})
    for sample in samples(function, operator._schema, folder=folder, limit=LIMIT):
        if sample.kind != "plain" or sample.point:
            yield sample.kind if sample.kind != "plain" else "arguments"
        else:
            yield TORCH if sample.source.startswith(TORCH) else MADE
