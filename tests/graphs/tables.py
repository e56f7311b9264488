"""Derives what graphs know of operators from calls of those of the installed torch.

python -m tests.graphs.tables    writes the tables of `pipeline/gradmill/extensions/graphs/tables`
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from gradmill.extensions.graphs.tables import FOLDER
from gradmill.extensions.graphs.traits import REFUSED
from graphs import casting, overlapping
from graphs.every_operator import DTYPES, Facts, add, arguments_of, copied, differentiable, in_children, operators

Rows = dict[str, list[str]]  # the words of each operator, by `add_.Tensor`

_TRIES, _MORE = 80, 300  # `_MORE` of an operator with results in the memory of an argument
_DTYPES = [*DTYPES, torch.float16, torch.uint8, torch.int8, torch.int16, torch.int32]
_FACTORS = {"momentum", "exponential_average_factor"}  # by which an operator updates statistics


def silent() -> list[Any]:
    """The overloads that write to no argument, by their schemas."""
    return [each for each in operators() if not any(map(overlapping.writes, each._schema.arguments))]


def aliases(every: list[Any], folder: Path) -> Rows:
    """The rows of operators whose results are in the memory of an argument, other than by their schemas alone."""
    return _rows(every, folder, _alias)


def writes(every: list[Any], folder: Path) -> Rows:
    """The rows of operators that write to arguments without an annotation."""
    return _rows(every, folder, _hidden)


def _rows(every: list[Any], folder: Path, of: Callable[[Any, Facts], list[str]]) -> Rows:
    found = in_children(every, folder, _facts, Facts)
    rows = {each.name().removeprefix("aten::"): of(each, found[each.name()]) for each in every}
    return {name: words for name, words in rows.items() if words and f"aten::{name}" not in REFUSED}


def _facts(operator: Any) -> Facts:
    one = Facts()
    for number in range(_MORE):
        given = arguments_of(operator, number, _DTYPES[number % len(_DTYPES)])
        if given is None or (number >= _TRIES and not (one.itself or one.viewed)):
            break
        before = copied(given, leaves=None)
        if add(operator, given, one) and (one.itself or one.viewed):
            one.differentiable |= differentiable(operator, before)
    return one


def _alias(operator: Any, one: Facts) -> list[str]:
    """The argument that results may be in the memory of, and how; [] if there is none, or the schema says it all."""
    shared = sorted(one.itself | one.viewed)
    if not shared:
        return []
    (name,) = shared
    given = next(a for a in operator._schema.arguments if a.name == name)
    copies, itself = name in one.apart, name in one.itself
    whole = name not in one.viewed and "List" not in str(given.type)
    words = ["copied"] * copies + ["itself"] * itself + ["whole"] * (whole and itself)
    if given.alias_info is not None:
        return [name, *words] if words else []
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), "CompositeImplicitAutograd")
    # Autograd follows composite operators; one that always returns its argument does something else to it.
    tracked = composite and name not in one.untracked and (copies or name in one.viewed)
    if not tracked or one.differentiable - {name}:
        return [name, "untracked"]
    return [name, *words]


def _hidden(operator: Any, one: Facts) -> list[str]:
    """The arguments that an operator writes to, "if:" the one that switches that on, and whether it bumps versions.

    What cannot be called, since its kernels are for GPUs, updates statistics if it takes a factor for that.
    """
    names = [a.name for a in operator._schema.arguments]
    written = [name for name in names if name in one.written]
    if not one.calls and _FACTORS & {*names}:
        written = [name for name in names if name.startswith("running_")]
    if not written:
        return []
    flags = [a.name for a in operator._schema.arguments if str(a.type) == "bool" and a.name not in one.switches]
    return [*written, *(f"if:{name}" for name in flags), *["bumps"] * bool(one.bumped)]


def text(rows: Rows) -> str:
    """The text of a table."""
    return "".join(f"{' '.join([name, *words])}\n" for name, words in sorted(rows.items()))


TABLES = {
    "aliases": (aliases, silent),
    "writes": (writes, silent),
    "autocast_cpu": (casting.on_cpu, casting.known_to_autocast),
    "autocast_cuda": (casting.on_cuda, casting.listed),
    "products": (casting.products, casting.made_of_others),
    "regions": (casting.regions, casting.made_of_others),
    "overlaps": (overlapping.refused, overlapping.writing),
}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for table, (derive, operators_of) in TABLES.items():
            (FOLDER / f"{table}.txt").write_text(text(derive(operators_of(), Path(folder))))
