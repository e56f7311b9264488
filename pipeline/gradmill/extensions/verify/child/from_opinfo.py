"""Samples that torch has of its own operators: what its descriptions of Python functions (OpInfo) make them call."""

from __future__ import annotations

import os
import warnings
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import NoneType
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gradmill.extensions.verify.child.calls import Values, mapped, tensors

Recorded = list[tuple[str, Values]]  # where a call is from, and its values

SAMPLES = 40  # of a function and a dtype
SMALL, LARGEST = 400, 10_000  # elements of all tensors of a call: larger ones are kept where there are no small ones
KEPT, LARGE = 24, 2  # calls kept with the same modes, real or complex; large ones
_DTYPES = (torch.float64, torch.complex128)
_PLAIN = (Tensor, bool, int, float, complex, str, NoneType, torch.dtype, torch.device)  # what torch.save keeps

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


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the calls of one overload, below autograd, that are small and differ in what their arguments are: shapes
    and dtypes of tensors, other values."""

    def __init__(self, name: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.source = ""
        self._name = name
        self._calls: dict[tuple[Any, ...], tuple[str, Values]] = {}
        self._counts: Counter[tuple[Any, ...]] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func.name() == self._name:
            self._keep(complete(func._schema, args, kwargs or {}))
        return func(*args, **(kwargs or {}))

    def found(self) -> Recorded:
        """The small calls, or else large ones."""
        calls = list(self._calls.values())
        return [each for each in calls if _size(each[1]) <= SMALL] or calls

    def _keep(self, values: Values) -> None:
        is_small, key = _size(values) <= SMALL, signature(values)
        is_complex = any(each.is_complex() for each in tensors(values))
        mode = (is_small, is_complex, *(each for each in values if isinstance(each, str)))
        is_kept = self._counts[mode] < (KEPT if is_small else LARGE) and _size(values) <= LARGEST
        if is_kept and key not in self._calls and can_be_kept(values):
            self._counts[mode] += 1
            self._calls[key] = (self.source, mapped(torch.clone, values))


def _size(values: Values) -> int:
    return sum(each.numel() for each in tensors(values))


def complete(schema: torch._C.FunctionSchema, args: Sequence[Any], keyword: Mapping[str, Any]) -> Values:
    """One value for each argument of a schema: torch leaves out defaults."""
    given = list(args)
    rest = [keyword.get(each.name, each.default_value) for each in schema.arguments[len(given) :]]
    return tuple(list(each) if isinstance(each, tuple) else each for each in (*given, *rest))


def can_be_kept(value: Any) -> bool:
    """Whether a value, or all in a list, is on the CPU, dense and in double precision, if it has a precision."""
    if isinstance(value, list | tuple):
        return all(map(can_be_kept, value))
    if not isinstance(value, Tensor):
        return isinstance(value, _PLAIN)
    if type(value) not in (Tensor, torch.nn.Parameter) or value.layout != torch.strided or value.is_quantized:
        return False
    known = value.dtype in _DTYPES or not (value.is_floating_point() or value.is_complex())
    return known and value.device.type == "cpu"


def signature(value: Any) -> Any:
    """What makes a value another kind of argument."""
    if isinstance(value, Tensor):
        return (tuple(value.shape), value.dtype)
    return tuple(map(signature, value)) if isinstance(value, list | tuple) else (type(value).__name__, repr(value))


def recorded(name: str, folder: Path | None) -> Recorded:
    """The calls of the overload `name`, `aten::add.Tensor`, in torch's samples; [] if torch has none, or no samples.

    They are read from `folder`. If it does not have them, the functions with the operator's name are run.
    """
    if folder is None:
        return run(name)
    path = folder / f"samples-{torch.__version__}" / f"{name.replace('::', '.')}.pt"
    try:
        return [(source, tuple(values)) for source, values in torch.load(path, weights_only=True)]
    except Exception:  # it is missing or damaged: it is recorded again
        calls = run(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            torch.save([[source, list(values)] for source, values in calls], file)
        os.replace(file.name, path)
        return calls


def run(name: str) -> Recorded:
    """What the functions that may call an overload call it with."""
    recorder, wanted = Recorder(name), _wanted(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in _infos():
            for dtype in _DTYPES if _names(info) & wanted else ():
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


def bare_name(name: str) -> str:
    """A name without namespace, overload and what surrounds it: `softmax` of `aten::_softmax` and
    `nn.functional.softmax`."""
    if "::" in name:
        name = name.rsplit("::", maxsplit=1)[-1].split(".", maxsplit=1)[0]
    name = name.removeprefix("nn.functional.").replace(".", "_").strip("_")
    return name.removeprefix("native_").removeprefix("slow_")


def _wanted(name: str) -> frozenset[str]:
    """The functions whose samples may call an operator: its name begins with theirs, as `softmax_backward_data`."""
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
                inputs = [each for each in tensors([sample.input, list(sample.args)]) if each.requires_grad]
                if outputs and inputs:
                    recorder.source = f"the backward of {source}"
                    torch.autograd.grad(outputs, inputs, list(map(torch.ones_like, outputs)), allow_unused=True)
                if info.inplace_variant is not None and number < 2:
                    recorder.source = source
                    with torch.no_grad():
                        info.inplace_variant(mapped(torch.clone, sample.input), *sample.args, **sample.kwargs)
    except Exception:  # noqa: S110 - a function that does not run here has no samples
        pass
