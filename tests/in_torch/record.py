"""A process that makes a part of the calls, with the library or without, and writes down what came out. Of the toy
device: first without on the CPU, then with it on the toy."""

from __future__ import annotations

import argparse
import warnings
from argparse import Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from in_torch import kernels, toy
from in_torch.calls import Call, answers, run
from in_torch.more_cases import More
from in_torch.own_cases import Cases
from in_torch.samples import Samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--samples", type=int, default=4, help="of an operator")
    parser.add_argument("--nodes", type=Path, help="what is known of the Nodes of the spec set, to call its own cases")
    parser.add_argument("--quick", action="store_true", help="do not compare with numeric derivatives")
    parser.add_argument("--only", nargs="+", help="names of operators")
    parser.add_argument("--device", type=Path, help="a library that has the toy device, which is asked after the CPU")
    parser.add_argument("--stock", type=Path, help="where the answers of the CPU go then")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=True)  # new memory is filled, too
    warnings.simplefilter("ignore")
    device = "cpu"
    if options.device is not None:
        toy.know(options.device)
        torch.save(dict(_records(_sources(options, device), None, device, quick=options.quick)), options.stock)
        device = toy.DEVICE
    counted = kernels.load(options.library) if options.library else None
    torch.save(dict(_records(_sources(options, device), counted, device, quick=options.quick)), options.out)


def _sources(options: Namespace, device: str) -> list[Samples | Cases | More]:
    result: list[Samples | Cases | More] = [Samples(options.samples, options.only, options.part, options.of, device)]
    if options.nodes is not None:
        result += [Cases(options.nodes, options.part, options.of, device), More(options.part, device)]
    return result


def _records(
    sources: list[Samples | Cases | More], counted: kernels.Counted | None, device: str, *, quick: bool
) -> Iterator[tuple[str, Any]]:
    """For each operator what was answered, by sample and question, and which kernels its calls ran; last, all."""
    for name, calls in chain.from_iterable(source.operators() for source in sources):
        result: dict[str, Any] = {}
        ran: set[kernels.Kernel] = set()
        for call in calls:
            before = counted.counts() if counted else {}
            with nullcontext() if device == "cpu" else torch.device(device):
                run(call)
                after = counted.counts() if counted else {}
                result.update(
                    {f"{call.name}, {question}": values for question, values in answers(_asked(call, quick=quick))}
                )
            ran |= {kernel for kernel, count in after.items() if count != before.get(kernel)}
        yield name, {"answers": result, "ran": ran}
    if counted:
        yield "", {"answers": {}, "ran": set(counted.counts()), "registered": counted.registered()}


def _asked(call: Call, *, quick: bool) -> Call:
    return call._replace(checked=False) if quick else call


if __name__ == "__main__":
    main()
