"""One operator with its compiled formulas, as functions of Python; and the values that pass to and from a library."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from gradmill.extensions.verify.child.calls import SEED, Function, Gradients, members_of, tensors, tracked, weighted
from gradmill.extensions.verify.child.operators import Device

Args = tuple[Any, ...]
Tangents = dict[str, list[Tensor | None]]  # of the outputs' members, by the output's name
# In messages of operators and formulas that lack something, and are not wrong.
_LACKING = ("not implemented", "not supported", "not differentiable")
_ABSENT = ("could not run 'aten::", "could not find schema")  # in those of a torch without the operator or its kernel

# Values that pass to and from a library, as `cpp/verify.h` declares them.
NONE, TENSOR, INT, FLOAT, BOOL, COMPLEX, STRING, LIST = range(8)
_NUMBERS = {int: INT, float: FLOAT, bool: BOOL, complex: COMPLEX}
_FORMATS = (torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d)

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_capsule_of = ctypes.pythonapi.PyCapsule_New
_capsule_of.restype, _capsule_of.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def lacks(text: str) -> bool:
    """Whether a message says that something is missing, and nothing is wrong."""
    return any(reason in text.lower() for reason in (*_LACKING, *_ABSENT))


def is_absent(text: str) -> bool:
    """Whether a message says that the installed torch lacks an operator which a formula calls, or its kernel."""
    return any(reason in text.lower() for reason in _ABSENT)


class FormulaError(Exception):
    """A formula raised an error. `output`: whose tangent it is for; "" for a backward formula."""

    def __init__(self, text: str, output: str = "") -> None:
        super().__init__(text)
        self.output = output


class Overwritten(FormulaError):
    """A formula wrote into one of the tensors that it was given: its name."""


class NotImplementedFormula(FormulaError):
    """The derivative is not implemented, which the formula, or one that it calls, reports."""


class Formulas:
    """An operator, and formulas of its derivatives. `subject`: a decoded `Subject`, with its `arguments` and, by name,
    its `in_place` variants; `function`: the operator, called with one value for each argument of its schema."""

    is_torchs = False

    def __init__(self, subject: dict[str, Any], function: Function) -> None:
        self.name: str = subject["name"]
        self.operator: str = subject["operator"].partition("::")[2]
        self.arguments: list[str] = subject["arguments"]
        self.inputs: list[str] = subject["inputs"]
        self.outputs: list[str] = subject["outputs"]
        self.differentiable: list[bool] = subject["differentiable"]
        self.read: list[bool] = subject["read"]
        self.not_implemented = frozenset(subject["not_implemented"])
        self.places = [self.arguments.index(name) for name in self.inputs]
        self.tangents: list[dict[str, Any]] = subject["tangents"]
        self.overwrites = "self_t" if subject["inplace"] else ""  # what a formula for tangents must write to
        self.has_backward = bool(subject["backward"])
        self.function = function
        self.in_place: list[tuple[str, Function]] = subject.get("in_place", [])
        self.calls = 0  # of the operator and its formulas

    def call(self, args: Args) -> tuple[list[Any], Args]:
        """The operator's outputs, without a graph, and the arguments as formulas see them: those that it writes to are
        saved by reference, but for the `self` of an in-place function."""
        self.calls += 1
        with torch._C._AutoDispatchBelowAutograd():
            result, after = self.function(args)
        pairs = zip(self.arguments, args, after)
        return self.listed(result), tuple(old if name == "self" else new for name, old, new in pairs)

    def listed(self, result: Any) -> list[Any]:
        """What the operator returns, as a list of its outputs."""
        return list(result) if isinstance(result, (tuple, list)) and len(self.outputs) > 1 else [result]

    def gradients(self, args: Args, results: Sequence[Any], cotangents: Gradients, needs: Sequence[bool]) -> Gradients:
        """The gradients of all members of the inputs, in their order, dense; None for an undefined one. `cotangents`:
        those of the differentiable outputs' members. FormulaError if the formula raises an error."""
        raise NotImplementedError

    def outputs_tangents(self, args: Args, results: Sequence[Any], tangents: Sequence[Any]) -> Tangents:
        """The tangents of outputs, by name; called in a dual level. `tangents`: one for each argument, None where there
        is none; the members of lists in `args` are dual tensors. FormulaError if a formula raises an error."""
        raise NotImplementedError


class CompiledFormulas(Formulas):
    """Formulas in a loaded library, which run on a device."""

    def __init__(self, subject: dict[str, Any], library: ctypes.CDLL, function: Function, device: Device) -> None:
        super().__init__(subject, function)
        self._device = device
        self._backward = getattr(library, subject["backward"]) if subject["backward"] else None
        self._forward = [getattr(library, each["symbol"]) for each in self.tangents]
        for function_ in filter(None, (self._backward, *self._forward)):
            function_.restype = ctypes.c_char_p

    def gradients(self, args: Args, results: Sequence[Any], cotangents: Gradients, needs: Sequence[bool]) -> Gradients:
        self.calls += 1
        args, results, cotangents = self._device.there((args, list(results), list(cotangents)))
        given = zip((*self.arguments, *self.outputs, "grad"), (*args, *results, cotangents))
        return self._called(self._backward, given, args, results, (cotangents, list(needs)))

    def outputs_tangents(self, args: Args, results: Sequence[Any], tangents: Sequence[Any]) -> Tangents:
        computed: Tangents = {}
        self.calls += 1
        undefined = {name for name, result in zip(self.outputs, results) if result is None}
        args, results, tangents = self._device.there((args, list(results), list(tangents)))
        for facts, function in zip(self.tangents, self._forward):
            read = [i for i, name in enumerate(self.arguments) if name in facts["inputs"]]
            moves = not read or any(tangents[i] is not None or isinstance(args[i], (list, tuple)) for i in read)
            if undefined.issuperset(facts["outputs"]) or not moves:  # as in a kernel
                computed |= {name: [None] for name in facts["outputs"]}
                continue
            own = [f"{name}_t" for name in self.arguments]
            given = [*zip(self.arguments, args), *zip(self.outputs, results), *zip(own, tangents)]
            given, names = [each for each in given if each[0] != self.overwrites], facts["outputs"]
            values = self._called(function, given, args, results, tangents, output=names[0])
            if len(names) == 1:
                computed[names[0]] = values
            else:
                computed |= {name: [value] for name, value in zip(names, values)}
        return computed

    def _called(
        self, function: Any, given: Iterable[tuple[str, Any]], *values: Sequence[Any], output: str = ""
    ) -> list[Tensor | None]:
        """What a function of the library returns. `given`: what it must not write to."""
        with _unwritten(given), Scope() as scope:
            out = Value()
            error = function(*map(scope.array, values), ctypes.byref(out))
            if error is None:
                return dense(self._device.back(tensors_of(out)))
            text = error.decode(errors="replace")
            raise (NotImplementedFormula if lacks(text) else FormulaError)(text, output)


class TorchFormulas(Formulas):
    """The formulas of the installed torch."""

    is_torchs = True

    def gradients(self, args: Args, results: Sequence[Any], cotangents: Gradients, needs: Sequence[bool]) -> Gradients:
        graph = torch.is_grad_enabled()
        needed = {place for place, flag in zip(self.places, needs) if flag}
        with torch.enable_grad(), _of_formula():
            passed = tuple(tracked(each) if i in needed else each for i, each in enumerate(args))
            slots = [each for place in self.places for each in members_of(passed[place])]
            wanted = [each for each in slots if each is not None and each.requires_grad]
            flags = zip(self._results(passed), self.differentiable)
            roots = [each for result, flag in flags if flag for each in members_of(result)]
            known = [(a, w) for a, w in zip(roots, cotangents) if a is not None and w is not None]
            if not known or not wanted:
                return [None] * len(slots)
            if not any(a.requires_grad for a, _ in known):
                raise NotImplementedFormula("torch has no derivative of it")
            found = weighted([a for a, _ in known], [w for _, w in known], wanted, graph=graph)
        rest = iter(dense(found))
        return [next(rest) if each is not None and each.requires_grad else None for each in slots]

    def _results(self, args: Args) -> list[Any]:
        torch.default_generator.manual_seed(SEED)
        return self.listed(self.function(args)[0])

    def outputs_tangents(self, args: Args, results: Sequence[Any], tangents: Sequence[Any]) -> Tangents:
        duals = [each if move is None else dual(each.detach().clone(), move) for each, move in zip(args, tangents)]
        wanted = {name for each in self.tangents for name in each["outputs"]}
        with _of_formula():
            return {
                name: [None if each is None else tangent(each) for each in members_of(output)]
                for name, output in zip(self.outputs, self._results(tuple(duals)))
                if name in wanted or len(self.outputs) == 1
            }


@contextmanager
def _of_formula() -> Iterator[None]:
    """Raises an error of torch as one of the formula; another one if torch has no such formula."""
    try:
        yield
    except (RuntimeError, NotImplementedError) as error:
        lacks = "not implemented" in str(error) or "not been implemented" in str(error)
        raise (NotImplementedFormula if lacks else FormulaError)(str(error)) from None


def dual(tensor: Tensor, move: Tensor) -> Tensor:
    """A tensor with a tangent."""
    made: Tensor = forward_ad.make_dual(tensor, move)  # type: ignore[no-untyped-call]
    return made


def primal(tensor: Tensor) -> Tensor:
    """A tensor without its tangent."""
    value: Tensor = forward_ad.unpack_dual(tensor).primal  # type: ignore[no-untyped-call]
    return value


def tangent(tensor: Tensor) -> Tensor | None:
    """The tangent of a tensor; None if it has none."""
    value: Tensor | None = forward_ad.unpack_dual(tensor).tangent  # type: ignore[no-untyped-call]
    return value


@contextmanager
def _unwritten(given: Iterable[tuple[str, Any]]) -> Iterator[None]:
    """Raises Overwritten if one of these tensors, also in lists, is written to meanwhile."""
    before = [(name, each, each._version) for name, value in given for each in tensors(value)]
    yield
    for name, tensor, version in before:
        if tensor._version != version:
            raise Overwritten(name)


def dense(tensors: Gradients) -> list[Tensor | None]:
    """The same with sparse tensors as dense ones."""
    return [each if each is None or each.layout == torch.strided else each.to_dense() for each in tensors]


class Value(ctypes.Structure):
    """One value: a tensor, a number, a string, or a list of values."""

    _fields_ = (
        ("kind", ctypes.c_int64),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("imaginary", ctypes.c_double),
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_int64),
    )


class Scope(ExitStack):
    """Makes values for one call, and keeps what they refer to."""

    def value(self, of: Any) -> Value:
        """A value of an argument. ValueError for one of a type that no formula takes."""
        if of is None or isinstance(of, (torch.Generator, torch.layout)):  # which no formula reads
            return Value(NONE)
        if isinstance(of, torch.dtype):
            of = torch.empty(0, dtype=of)
        if isinstance(of, Tensor):
            pointer = _pointer_of(torch._C._aoti.unsafe_alloc_void_ptr_from_tensor(of), None)
            self.callback(tensor_at, pointer)
            return Value(TENSOR, data=pointer)
        if type(of) in _NUMBERS:
            return Value(_NUMBERS[type(of)], of if isinstance(of, int) else 0, of.real, of.imag)
        if isinstance(of, (str, torch.device)):
            data = ctypes.create_string_buffer(str(of).encode())
            self.callback(id, data)
            return Value(STRING, data=ctypes.addressof(data), size=len(data) - 1)
        if isinstance(of, (list, tuple)):
            return Value(LIST, data=ctypes.addressof(self.array(of)), size=len(of))
        return Value(INT, integer=_FORMATS.index(of))

    def array(self, of: Sequence[Any]) -> ctypes.Array[Value]:
        """Values one after the other."""
        values = (Value * max(len(of), 1))(*map(self.value, of))
        self.callback(id, values)
        return values


def tensor_at(pointer: int) -> Tensor:
    """The tensor at an address, which is freed."""
    return torch._C._aoti.alloc_tensor_by_stealing_from_void_ptr(_capsule_of(pointer, None, None))


def tensors_of(value: Value) -> list[Tensor | None]:
    """The tensors of a result; None for an undefined one."""
    if value.kind == LIST:
        members = (Value * value.size).from_address(value.data) if value.size else ()
        return [each for member in members for each in tensors_of(member)]
    return [tensor_at(value.data) if value.kind == TENSOR else None]
