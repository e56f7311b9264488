"""The operators of the installed torch, or functions of Python in their place, called with one value an argument."""

from __future__ import annotations

import ctypes
import os
import runpy
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch._library.utils import lookup_op

from gradmill.extensions.verify.child.calls import Function, Values, mapped, tensors

Reference = dict[str, Any]  # the functions of a file, by name


class Device:
    """The device that a file of reference functions names, as in `device = "cuda"`; the CPU, where nothing is moved, if
    it names none. Operators and formulas run on a vendor's device; samples, and what is computed of them, stay on the
    CPU."""

    def __init__(self, name: object) -> None:
        self.name = name if isinstance(name, str) else ""

    def there(self, value: Any) -> Any:
        """A value with its tensors on the device. They require a gradient if the original ones do."""
        return mapped(self._there, value) if self.name else value

    def back(self, value: Any) -> Any:
        """A value with its tensors on the CPU."""
        return mapped(lambda tensor: tensor.to("cpu"), value) if self.name else value

    def _there(self, tensor: Tensor) -> Tensor:
        moved = tensor.to(self.name)
        return moved.requires_grad_() if tensor.requires_grad and not moved.requires_grad else moved


def reference(path: str) -> Reference:
    """What the file of reference functions defines; nothing without a file. It may import modules in its folder. Ends
    the process if it fails, with the place of the error."""
    if not path:
        return {}
    sys.path.insert(0, os.path.dirname(path))
    try:
        return runpy.run_path(path)
    except SyntaxError as error:
        sys.exit(f"{error.filename}:{error.lineno}: {error.msg}")
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        sys.exit(f"{at.filename}:{at.lineno}: {type(error).__name__}: {error}")


def loaded() -> set[str]:
    """The paths of the shared libraries in this process, which runs on Linux, and of the modules that are in no folder
    of installed packages."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        fields = [line.rstrip("\n").split(maxsplit=5) for line in file]
    installed = tuple(f"{folder}{os.sep}" for folder in sysconfig.get_paths().values())
    modules = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    own = {path for path in modules if path and not path.startswith(installed)}
    return own | {each[5] for each in fields if len(each) == 6 and ".so" in each[5]}


def overload(operator: str) -> Any:
    """The overload of `aten::add.Tensor`. LookupError if the installed torch has none."""
    try:
        return lookup_op(operator)
    except (AttributeError, RuntimeError):
        raise LookupError(f"the installed torch has no operator {operator}") from None


def has_kernel(operator: str) -> bool:
    """Whether the installed torch has a kernel of an operator for tensors of the CPU."""
    has: bool = torch._C._dispatch_has_computed_kernel_for_dispatch_key(overload(operator).name(), "CPU")
    return has


@contextmanager
def own_formula(operator: str) -> Iterator[None]:
    """Has torch use its own formula of an operator, which it does not where it has no kernel for the CPU, but composes
    the operator of others: the composition becomes its kernel for the CPU."""
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    if not _has(operator, key.name) or _has(operator, "CPU") or _has(operator, "CompositeExplicitAutograd"):
        yield
        return
    namespace, _, name = operator.partition("::")
    library = torch.library.Library(namespace, "IMPL")  # type: ignore[no-untyped-call]
    composed = partial(overload(operator)._op_dk, key)
    library.impl(name, composed, "CPU")  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        library._destroy()  # type: ignore[no-untyped-call]


def _has(operator: str, key: str) -> bool:
    found: bool = torch._C._dispatch_has_kernel_for_dispatch_key(overload(operator).name(), key)
    return found


def function_of(operator: str, schema: torch.FunctionSchema, known: Reference) -> Function:
    """The operator as a function of its arguments: the one of the reference file, or torch's. It returns the result,
    and the arguments with copies of those that are written to; such a copy is the result if there is no other.
    LookupError if there is neither operator nor function."""
    name = operator.partition("::")[2].partition(".")[0]
    called, device = known[name] if callable(known.get(name)) else overload(operator), Device(known.get("device"))
    arguments, written = schema.arguments, _written(schema)

    def function(args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        values = list(args)
        for place in written:
            values[place] = mapped(Tensor.clone, values[place])
        passed = device.there(values)
        positional = [value for value, each in zip(passed, arguments) if not each.kwarg_only]
        named = {each.name: value for value, each in zip(passed, arguments) if each.kwarg_only}
        result = device.back(called(*positional, **named))
        for place in written:
            values[place] = device.back(passed[place])
        return values[written[0]] if result is None and written else result, tuple(values)

    return function


def _written(schema: torch.FunctionSchema) -> list[int]:
    """The places of the arguments that an operator writes to."""
    arguments = enumerate(schema.arguments)
    return [i for i, each in arguments if each.alias_info is not None and each.alias_info.is_write]


def real_only(function: Function) -> Function:
    """An operator whose kernel refuses gradients of complex outputs, as one that refuses such a call."""

    def called(values: Values) -> tuple[Any, Values]:
        found = function(values)
        if any(each.is_complex() for each in tensors([found[0]])):
            raise TypeError("its kernel refuses gradients of complex outputs")
        return found

    return called


def in_place_functions(operator: str, variants: Iterable[str], known: Reference) -> list[tuple[str, Function]]:
    """Those of an operator and its variants that write their result into `self`, with their names, as `function_of`
    gives them; those that the installed torch lacks are left out."""
    namespace, _, own = operator.partition("::")
    found = []
    for name in (own, *variants):
        with suppress(LookupError):
            schema = overload(f"{namespace}::{name}")._schema
            written = [schema.arguments[place].name for place in _written(schema)]
            if written[:1] == ["self"] and len(schema.returns) == 1:
                found.append((name.partition(".")[0], function_of(f"{namespace}::{name}", schema, known)))
    return found


def torchs_function(operator: str, schema: torch.FunctionSchema, known: Reference) -> Function | None:
    """Torch's operator on the CPU, with whose own formulas others are compared, also those that run on a device. None
    where a function of the reference file stands for the operator, or torch has no kernel of it for the CPU."""
    return function_of(operator, schema, {}) if is_torchs(operator, known) and has_kernel(operator) else None


def is_torchs(operator: str, known: Reference) -> bool:
    """Whether the installed torch's operator is called, which has a formula of its own."""
    return not callable(known.get(operator.partition("::")[2].partition(".")[0]))


def load(path: str) -> ctypes.CDLL:
    """The library of formulas at `path`, which is not linked with libtorch: with what that exports, and with the
    addresses of the functions that it hides. OSError if it cannot be loaded."""
    found = next(each for each in loaded() if os.path.basename(each) == "libtorch_cpu.so")
    torch = ctypes.CDLL(found, mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(path)
    base = ctypes.c_size_t.from_address(torch._handle).value  # the first member of glibc's `link_map`
    count = ctypes.c_size_t.in_dll(library, "gradmill_hidden").value
    table = (ctypes.c_size_t * (1 + count)).in_dll(library, "gradmill_hidden")
    for place in range(1, 1 + count):
        table[place] += base
    return library
