"""A process that traces calls of operators, with the generated kernels of TraceType or with torch's, and writes down
the graphs, and what they give: `torch.jit.trace` records through these kernels and through nothing else.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch_seed import seed_torch

from in_torch.described import op_db

Function = Callable[..., Any]
_DTYPE = torch.float64
_PLACE = re.compile(r" # \S+:\d+:\d+$", re.MULTILINE)  # of the Python line that a node is from


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path)
    parser.add_argument("--generated", default="?", help="where its sources are")
    parser.add_argument("--names", type=Path, required=True, help="the operators to trace, as a list in JSON")
    parser.add_argument("--samples", type=int, default=2, help="of an operator")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    warnings.simplefilter("ignore")
    names = set(json.loads(options.names.read_text()))
    if options.library:
        torch.ops.load_library(options.library.resolve())
    result = {
        what: answer for info in op_db if _names_of(info) & names for what, answer in _traced(info, options.samples)
    }
    traced_by = sorted(ours(names, options.generated))
    options.out.write_text(json.dumps({"ours": traced_by, "traces": result}, indent=1, sort_keys=True))


def _names_of(info: Any) -> set[str]:
    return {info.aten_name, info.name.rpartition(".")[2]}


def ours(names: set[str], generated: str) -> Iterator[str]:
    """The operators that a kernel of the sources in a folder traces: the dispatcher says where each is registered."""
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::") and name[6:].partition(".")[0] in names:
            lines = torch._C._dispatch_dump(name).splitlines()
            tracers = [line for line in lines if line.startswith("Tracer:")]  # an earlier one is not active any more
            if tracers and f"registered at {generated}/TraceType_" in tracers[0]:
                yield name[6:]


def _traced(info: Any, limit: int) -> Iterator[tuple[str, str]]:
    """What each sample gives, by name: as it is called, in place, and into tensors that are there."""
    title = f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name
    if _DTYPE not in info.dtypes:
        return
    seed_torch(zlib.crc32(title.encode()))
    for number, sample in zip(range(limit), info.sample_inputs("cpu", _DTYPE, requires_grad=False)):
        leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        for kind, function in _variants(info):
            for outplace in (False, True):
                yield f"{title}, {number}, {kind}, {outplace}", _trace(function, leaves, spec, outplace)


def _variants(info: Any) -> Iterator[tuple[str, Function]]:
    yield "call", info.op
    if info.inplace_variant is not None:
        yield "in place", lambda first, *args, **kwargs: info.inplace_variant(first.clone(), *args, **kwargs)
    if info.supports_out:
        yield "out", lambda *args, **kwargs: _into(info.op, args, kwargs)


def _into(op: Function, args: Any, kwargs: Any) -> Any:
    result = op(*args, **kwargs)
    out = pytree.tree_map(lambda x: torch.empty_like(x) if isinstance(x, Tensor) else x, result)
    return op(*args, **kwargs, out=tuple(out) if isinstance(result, tuple) else out)


def _trace(function: Function, leaves: list[Any], spec: Any, outplace: bool) -> str:
    """The graph, and the results of running it, as text; of what cannot be traced, the kind of its error."""
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    tensors = tuple(leaves[i].clone() for i in places)

    def of_tensors(*values: Tensor) -> tuple[Tensor, ...]:
        now = list(leaves)
        for place, tensor in zip(places, values):
            now[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(now, spec)
        return tuple(x for x in pytree.tree_leaves(function(first, *args, **kwargs)) if isinstance(x, Tensor))

    try:
        traced = torch.jit.trace(of_tensors, tensors, check_trace=False, _force_outplace=outplace)
    except Exception as error:
        return type(error).__name__
    return _PLACE.sub("", str(traced.inlined_graph)) + _results(traced, tensors)


def _results(traced: Any, tensors: tuple[Tensor, ...]) -> str:
    seed_torch(0)
    try:
        return "\n".join(f"{x.dtype} {tuple(x.shape)} {x.tolist()}" for x in traced(*(t.clone() for t in tensors)))
    except Exception as error:
        return type(error).__name__


if __name__ == "__main__":
    main()
