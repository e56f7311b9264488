"""Verifies the formulas of one library: reads a job as JSON from standard input, and prints the libraries and
modules that its file of reference functions loaded, then a line for each verdict."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import torch
from torch.autograd import forward_ad

from gradmill.extensions.verify.child import operators
from gradmill.extensions.verify.child.formulas import CompiledFormulas, TorchFormulas, dual
from gradmill.extensions.verify.child.samples import samples
from gradmill.extensions.verify.child.verdict import Verdict

Job = dict[str, Any]
_SECONDS = 60  # of CPU time, for one sample
_WAITING = 600  # seconds of a clock: a sample that computes nothing waits for something


def main() -> None:
    warnings.simplefilter("ignore")
    _warm_up()
    job = json.load(sys.stdin)
    signal.alarm(_WAITING)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # operators print, too
    torch.set_num_threads(1)
    library = operators.load(job["library"])
    before = operators.loaded()
    known = operators.reference(job["python"])
    _write(answers, sorted(operators.loaded() - before))
    for subject in job["subjects"]:
        _write(answers, _verdict(subject, job, library, known, partial(_begin, answers)))


def _warm_up() -> None:
    """Makes torch import what it imports at first use, its compiler among it, while the formulas compile. No gradient
    is computed: autograd's engine runs only on devices that it knows when it starts, and the author's file may load
    one."""
    importlib.import_module("torch._dynamo")
    with forward_ad.dual_level():
        dual(torch.ones(()), torch.ones(()))


def _begin(answers: TextIO, number: int) -> None:
    """Prints the number of a sample, whose checks may take so much CPU time, however busy the machine is."""
    signal.alarm(_WAITING)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + _SECONDS, hard))
    _write(answers, number)


def _write(answers: TextIO, row: object) -> None:
    answers.write(json.dumps(row) + "\n")
    answers.flush()


def _verdict(
    subject: Job, job: Job, library: ctypes.CDLL, known: operators.Reference, begin: Callable[[int], None]
) -> dict[str, Any]:
    """The verdict on one subject of a job."""
    name, device = subject["operator"], operators.Device(known.get("device"))
    try:
        schema = torch._C.parse_schema(f"{name.partition('::')[0]}::{subject['schema']}")
        function = operators.function_of(name, schema, known)
        function = operators.real_only(function) if subject["real_only"] else function
        subject["arguments"] = [each.name for each in schema.arguments]
        subject["in_place"] = operators.in_place_functions(name, subject["variants"], known)
        formulas = CompiledFormulas(subject, library, function, device)
    except (LookupError, RuntimeError) as error:
        return {"name": subject["name"], "unchecked": str(error)}
    if operators.is_torchs(name, known) and not device.name and not operators.has_kernel(name):
        return {"name": subject["name"], "unchecked": "torch has no kernel of the operator for the CPU"}
    on_cpu = operators.torchs_function(name, schema, known)
    forks = not device.name
    verdict = Verdict(formulas, TorchFormulas(subject, on_cpu) if on_cpu else None, forks=forks)
    listed = samples(function, schema, folder=Path(job["folder"]), forks=forks)
    with nullcontext() if on_cpu is None else operators.own_formula(name):
        ending = {int(number): how for number, how in subject["without"].items()}
        verdict.check(islice(listed, subject["last"]), ending, begin)
        return verdict.result()


if __name__ == "__main__":
    main()
    os._exit(0)  # all is written: it takes most of a second to take torch apart
