"""Samples that torch has of its own operators: what its descriptions of Python functions (OpInfo) make them call."""

from __future__ import annotations

import os
import tempfile
import warnings
import zlib
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from gradmill.extensions.verify.child.calls import Values, mapped, tensors
from gradmill.extensions.verify.child.recording import Recorder, bare_name

Recorded = list[tuple[str, Values]]  # where a call is from, and its values

SAMPLES = 40  # of a function and a dtype
_DTYPES = (torch.float64, torch.complex128)

# Functions whose samples call an operator that has another name.
_CALLERS = {
    "col2im": ("unfold",),
    "convolution": ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    "euclidean_dist": ("cdist",),
    "fft": ("fft_fft", "fft_fft2", "fft_rfft", "fft_rfft2", "fft_rfftn", "fft_irfft", "fft_irfft2", "stft", "istft"),
    "index": ("getitem",),
    "nll_loss2d": ("cross_entropy",),
    "reflection": ("pad",),
    "replication": ("pad",),
    "trilinear": ("bilinear",),
    "unique2": ("unique",),
    "upsample": ("interpolate",),
}


def recorded(name: str, folder: Path | None) -> Recorded:
    """The calls of the overload `name`, `aten::add.Tensor`, in torch's samples; [] if torch has none, or no samples.

    They are read from `folder`. If it does not have them, the functions with the operator's name are run.
    """
    if folder is not None and (kept := _read(folder, name)) is not None:
        return kept
    calls = run(_wanted(name)).get(name, [])
    if folder is not None:
        _write(folder, name, calls)
    return calls


def run(wanted: frozenset[str]) -> dict[str, Recorded]:
    """What the functions with these names call, of each overload."""
    recorder = Recorder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in _infos():
            names = _names(info)
            if names & wanted:
                recorder.names = names
                for dtype in _DTYPES:
                    _run(info, dtype, recorder)
    return recorder.found()


def _infos() -> list[Any]:
    try:
        with patch("dataclasses.asdict", vars):  # copies all of each description, for half a second
            from torch.testing._internal import common_utils
            from torch.testing._internal.common_methods_invocations import op_db
            from torch.testing._internal.opinfo import core
    except Exception:  # they are not part of torch's interface, and need libraries that it does not
        return []
    for module in (common_utils, core):  # looks through the stack for a running test, which takes half of the time
        setattr(module, "extract_test_fn", lambda: None)  # noqa: B010
    return list(op_db)


def _names(info: Any) -> frozenset[str]:
    variants = (getattr(info, each) for each in ("method_variant", "inplace_variant", "operator_variant"))
    names = [info.name, info.aten_name, info.aten_backward_name, *(each.name for each in info.aliases)]
    names += [getattr(each, "__name__", "") for each in variants]
    return frozenset(bare_name(each) for each in names if each)


def _wanted(name: str) -> frozenset[str]:
    pieces = bare_name(name).split("_")
    starts = ["_".join(pieces[:end]) for end in range(1, len(pieces) + 1)]
    return frozenset(starts).union(*(_CALLERS.get(each, ()) for each in starts))


def _run(info: Any, dtype: torch.dtype, recorder: Recorder) -> None:
    """Runs a function forward and backward on its samples, and its in-place variant on the first."""
    if dtype not in info.dtypes:
        return
    torch.default_generator.manual_seed(zlib.crc32(info.name.encode()))
    try:
        for number, sample in enumerate(islice(info.sample_inputs("cpu", dtype, requires_grad=True), SAMPLES)):
            source = f"torch's sample of {info.name}, {number}"
            with recorder:
                recorder.source = source
                results = tensors(info.op(sample.input, *sample.args, **sample.kwargs))
                outputs = [each for each in results if each.requires_grad]
                recorder.source = f"the backward of {source}"
                _backward(outputs, sample)
                recorder.source = source
                if info.inplace_variant is not None and number < 2:
                    _in_place(info.inplace_variant, sample)
    except Exception:  # noqa: S110 - a function that does not run here has no samples
        pass


def _backward(outputs: list[Tensor], sample: Any) -> None:
    inputs = [each for each in tensors([sample.input, list(sample.args)]) if each.requires_grad]
    if outputs and inputs:
        torch.autograd.grad(outputs, inputs, [torch.ones_like(each) for each in outputs], allow_unused=True)


def _in_place(function: Any, sample: Any) -> None:
    with torch.no_grad():
        function(mapped(torch.clone, sample.input), *sample.args, **sample.kwargs)


def _home(folder: Path) -> Path:
    return folder / f"samples-{torch.__version__}"


def _read(folder: Path, name: str) -> Recorded | None:
    path = _home(folder) / f"{name.replace('::', '.')}.pt"
    try:
        kept = torch.load(path, weights_only=True)
        return [(source, tuple(values)) for source, values in kept]
    except Exception:  # it is missing or damaged: it is recorded again
        return None


def _write(folder: Path, name: str, calls: Recorded) -> None:
    """Keeps calls in a file that is whole or missing."""
    home = _home(folder)
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{name.replace('::', '.')}.pt"
    handle, temporary = tempfile.mkstemp(dir=home)
    with os.fdopen(handle, "wb") as file:
        torch.save([[source, list(values)] for source, values in calls], file)
    os.replace(temporary, path)
