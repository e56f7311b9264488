"""What autocast casts the arguments of operators to: on the CPU found by calling them, on CUDA by torch's header."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import torch
from cpp import toolchain
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gradmill.releases import minor, resolve
from graphs.every_operator import arguments_of, called, in_children, operators, tensors, writes

_TRIES, _MIXED, _REGIONS = 8, 300, 20
_LOWER, _FULL = torch.bfloat16, torch.float32


class _Called(Exception):
    """The operator itself is called: its arguments are cast by now."""


class _Casts(TorchDispatchMode):
    """Collects the dtypes that tensors are cast to before any other call."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[torch.dtype] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not torch.ops.aten._to_copy.default:
            raise _Called
        self.found.add(kwargs["dtype"])
        return func(*args, **kwargs)


MACROS = {"lower": "LOWER_PRECISION_FP", "full": "FP32", "computes": "FP32_SET_OPT_DTYPE", "widest": "PROMOTE"}
OF_VMAP = {"aten::_add_batch_dim", "aten::_remove_batch_dim"}  # of tensors that nothing outside of a vmap compares
OF_CUDA = {"cudnn_convolution": ["lower"], "cudnn_convolution_transpose": ["lower"]}  # registered for CUDA alone


def known_to_autocast() -> list[Any]:
    """The overloads with a kernel for autocast on the CPU."""
    return [each for each in operators() if _has_kernel(each, "AutocastCPU")]


def on_cpu(every: list[Any], folder: Path) -> dict[str, list[str]]:
    """What autocast on the CPU does to the arguments of overloads, by calls; each with one word."""
    found = in_children(every, folder, _kind, str)
    return {name.removeprefix("aten::"): [kind] for name, kind in found.items()}


def listed() -> list[Any]:
    """The overloads that the header of autocast lists for devices other than the CPU."""
    kinds = _of_header() | OF_CUDA
    return [each for each in operators() if each.name().removeprefix("aten::") in kinds]


def on_cuda(every: list[Any], folder: Path) -> dict[str, list[str]]:
    """What autocast does on CUDA, by that header, without what lately came; each with one word."""
    kinds = _of_header() | OF_CUDA
    later = resolve(minor(torch.__version__)).autocast_full
    names = {each.name().removeprefix("aten::") for each in every} - later
    return {name: kinds[name] for name in names}


def _of_header() -> dict[str, list[str]]:
    header = (toolchain.torch_folder() / "include/ATen/autocast_mode.h").read_text()
    found = {}
    for kind, macro in MACROS.items():
        for name, overload in re.findall(r"_\((\w+)(?:, (\w+))?\)", _macro(header, macro)):
            found[name + (overload and f".{overload}")] = [kind]
    # Other overloads are called for these, which compute in float32.
    others = re.findall(r'"([\w.]+)"', _macro(header, "DIFFERENT_REDISPATCH_SIGNATURE"))
    return found | {name: ["full"] for name in others}


def _macro(header: str, name: str) -> str:
    return header.split(f"#define AT_FORALL_{name}(_)")[1].split("\n\n", maxsplit=1)[0]


def _has_kernel(operator: Any, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), key))


def _kind(operator: Any) -> str:
    """The kind of `read/exported/autocast.py` that an overload has, by the casts; "" if it casts nothing."""
    for number in range(_TRIES):
        if _LOWER in _casts(operator, number, [_FULL]):
            return "lower"
        if _FULL in _casts(operator, number, [_LOWER]):
            return "full"
        if _FULL in _casts(operator, number, [_LOWER, _FULL]):
            return "widest"
    return ""


def made_of_others() -> list[Any]:
    """The overloads that autocast on the CPU does not know, and that call others."""
    return [
        each
        for each in operators()
        if each.name() not in OF_VMAP
        and _has_kernel(each, "CompositeImplicitAutograd")
        and not _has_kernel(each, "AutocastCPU")
        and not any(writes(a) or a.name == "dtype" for a in each._schema.arguments)
    ]


def products(every: list[Any], folder: Path) -> dict[str, list[str]]:
    """The operators that take arguments of two dtypes only in a region, as if all of them were of the lower one; each
    without further words."""
    found = in_children(every, folder, _lowered, set[bool])
    return {name.removeprefix("aten::"): [] for name, same in found.items() if same == {True}}


def _lowered(operator: Any) -> set[bool]:
    """Whether the calls that succeed only in a region give what they do with arguments of the lower dtype."""
    found = set()
    for number in range(_MIXED):
        given = arguments_of(operator, number, _FULL)
        if given is None:
            break
        mixed = _typed(given, [_FULL, _LOWER] if number % 2 else [_LOWER, _FULL])
        if _result(operator, mixed) is None and (inside := _result(operator, mixed, region=True)):
            lower = _result(operator, _typed(given, [_LOWER]))
            found.add(lower is not None and all(map(_same, inside, lower)))
    return found


def regions(every: list[Any], folder: Path) -> dict[str, list[str]]:
    """The operators that give something else in a region than with arguments of the dtype of their first result; each
    without further words. `torch.export` may not know that dtype of recurrent networks: it traces their parts."""
    found = in_children(every, folder, _depends, set[bool])
    return {name.removeprefix("aten::"): [] for name, depends in found.items() if True in depends}


def _depends(operator: Any) -> set[bool]:
    found = set()
    for given in _samples(operator):
        for dtype in (_FULL, _LOWER):
            typed = _typed(given, [dtype])
            inside = _result(operator, typed, region=True)
            if inside:
                known = inside[0].dtype in (_FULL, _LOWER) and not recurrent(operator)
                outside = _result(operator, _typed(typed, [inside[0].dtype]) if known else typed)
                found.add(outside is None or not all(map(_same, inside, outside)))
    return found


def _samples(operator: Any) -> Iterator[dict[str, Any]]:
    """Arguments of an operator in float32."""
    if made := recurrent(operator):
        yield made
    for number in range(_REGIONS):
        given = arguments_of(operator, number, _FULL)
        if given is None:
            return
        yield given


def recurrent(operator: Any) -> dict[str, Any]:
    """Arguments of a recurrent network's operator, or of one of its cells; {} of any other."""
    name, overload = operator._schema.name.removeprefix("aten::"), operator._schema.overload_name
    kind = re.fullmatch(r"(lstm|gru|rnn_tanh|rnn_relu)(_cell)?", name)
    if kind is None or overload not in ("", "input", "data"):
        return {}
    torch.manual_seed(1)
    gates, lstm = {"lstm": 4, "gru": 3}.get(kind[1], 1) * 5, kind[1] == "lstm"
    weights = [torch.randn(gates, 5), torch.randn(gates, 5), torch.randn(gates), torch.randn(gates)]
    states = [torch.randn(3, 5) for _ in range(1 + lstm)]
    if kind[2]:
        given = dict(zip(("w_ih", "w_hh", "b_ih", "b_hh"), weights))
        return {"input": torch.randn(3, 5), "hx": states if lstm else states[0], **given}
    states = [each[None] for each in states]
    given = {"hx": states if lstm else states[0], "params": weights, "has_biases": True, "num_layers": 1}
    given |= {"dropout": 0.0, "train": True, "bidirectional": False}
    if overload == "data":
        return {"data": torch.randn(6, 5), "batch_sizes": torch.tensor([3, 3]), **given}
    return {"input": torch.randn(2, 3, 5), "batch_first": False, **given}


def _result(operator: Any, given: dict[str, Any], *, region: bool = False) -> list[Tensor] | None:
    """The tensors that a call returns, None if it fails."""
    torch.manual_seed(0)
    with torch.autocast("cpu", _LOWER, enabled=region), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return tensors(called(operator, given))
        except Exception:
            return None


def _same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are equal, of any dtype and layout."""
    if (one.dtype, one.layout, one.shape) != (other.dtype, other.layout, other.shape):
        return False
    kind = torch.complex128 if one.is_complex() else one.dtype  # complex32 has no comparison
    return torch.allclose(one.to_dense().to(kind), other.to_dense().to(kind), rtol=0, atol=0, equal_nan=True)


def _typed(given: dict[str, Any], dtypes: list[torch.dtype]) -> dict[str, Any]:
    """Arguments whose floating-point tensors have `dtypes` in turn."""
    turns = cycle(dtypes)

    def typed(value: Any) -> Any:
        if isinstance(value, list):
            return [typed(each) for each in value]
        floating = isinstance(value, Tensor) and value.is_floating_point()
        return value.to(next(turns)) if floating else value

    return {name: typed(value) for name, value in given.items()}


def _casts(operator: Any, number: int, dtypes: list[torch.dtype]) -> set[torch.dtype]:
    """The dtypes that arguments are cast to, which have `dtypes` in turn."""
    given = _typed(arguments_of(operator, number, _FULL) or {}, dtypes)
    with torch.autocast("cpu", _LOWER), torch.no_grad(), warnings.catch_warnings(), _Casts() as casts:
        warnings.simplefilter("ignore")
        with suppress(Exception):  # of any kind: arguments are cast before an operator checks them
            called(operator, given)
    return casts.found
