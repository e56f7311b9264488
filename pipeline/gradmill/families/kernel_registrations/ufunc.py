"""The plan of a ufunc's kernel: loops over elements that are written once, for scalars and vectors, on CPU and CUDA.

torchgen: `ufunc.ufunctor_arguments`, `ufunc.stub_arguments`, `ufunc.compute_ufunc_cuda_functors`,
`ufunc.compute_ufunc_cuda_dtype_body`, `ufunc.compute_ufunc_cpu_kernel`, `ufunc.compute_ufunc_cpu_dtype_body`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gradmill.cpp.dispatcher import Parameter, values
from gradmill.cpp.structured import impl_arguments, structured_type
from gradmill.cpp.translate import Value, translate
from gradmill.cpp.types import Passing, argument_type
from gradmill.model.native import UfuncLoop
from gradmill.model.schema import Argument, is_tensor_like
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import Group

CPU = "CPU"
ELEMENT, WIDE, VECTOR = "scalar_t", "opmath_t", "at::vec::Vectorized<scalar_t>"
_FIELD = ("ufunc_inner_loop",)
_FUNCTOR = "CUDAFunctor"
# Functors for a tensor that is a number: which one that is, and what upstream takes its name to be.
_OF_NUMBERS = {"CUDAFunctorOnSelf": (1, "other"), "CUDAFunctorOnOther": (0, "self")}


class Functor(Struct, frozen=True, gc=False, array_like=True):
    """A functor for CUDA: what it is constructed with, what it is applied to, and the loop that it calls then."""

    name: str
    kept: tuple[Parameter, ...]
    applied: tuple[Parameter, ...]
    call: str  # "" if the functor is written by hand


class Construction(Struct, frozen=True, gc=False, array_like=True):
    """A functor with the arguments that it is constructed with."""

    functor: str
    arguments: str
    operand: int = 0  # the number of the operand that must be a number; 0: none


class DtypeCase(Struct, frozen=True, gc=False, array_like=True):
    """What is done for a dtype: loops on CPU, or functors on CUDA, the last one for tensors."""

    dtype: str
    scalar: str = ""
    vector: str = ""  # "" if there is no loop over vectors
    functors: tuple[Construction, ...] = ()


class Ufunc(Struct, frozen=True, gc=False, array_like=True):
    """The kernel of a key."""

    key: str
    name: str  # of the operator
    kernel: str
    parameters: tuple[Parameter, ...]  # of the implementation
    stub: tuple[Parameter, ...]  # of the function that is called by dtype
    passed: str  # the arguments with which the implementation calls it
    numbers: tuple[str, ...]  # the arguments that the loops take as elements
    tensors: tuple[str, ...]
    functors: tuple[Functor, ...]
    cases: tuple[DtypeCase, ...]


def ufunc(group: Group, key: str, release: Release) -> Ufunc | None:
    """The plan of a ufunc's kernel; None if the function is not one. SpecError for loops that cannot be combined, and
    for arguments that a loop cannot take."""
    loops, kernel = group.primary.ufunc_inner_loop, group.kernel(key)
    if not loops or key not in release.ufunc_keys or kernel is None:
        return None
    inputs = group.functional.func.inputs
    parameters = _structured(impl_arguments(group.primary), release)
    stub = _structured((a for a in group.primary.func.inputs if not is_tensor_like(a.type)), release)
    numbers = tuple(a.name for a in group.primary.func.inputs if a.type == "Scalar")
    functors = {} if key == CPU else _functors(inputs, loops, release)
    scope = values(parameters)
    return Ufunc(
        key=key,
        name=group.functional.func.name.unqualified,
        kernel=kernel.name,
        parameters=parameters,
        stub=stub,
        passed=", ".join(translate(scope, [(p.name, p.type) for p in stub])),
        numbers=numbers,
        tensors=tuple(a.name for a in inputs if is_tensor_like(a.type)),
        functors=tuple(functor for functor, _ in functors.values()),
        cases=_loops(inputs, loops, numbers, release) if key == CPU else _constructions(functors, scope),
    )


def _structured(arguments: Iterable[Argument], release: Release) -> tuple[Parameter, ...]:
    return tuple(Parameter(a.name, structured_type(a.type, release)) for a in arguments)


def _type(argument: Argument, computed: str, release: Release) -> str:
    """The type of an argument of a loop: tensors and numbers are `computed`, others are values."""
    if argument.type in ("Tensor", "Scalar"):
        return computed
    if is_tensor_like(argument.type):
        raise SpecError("a ufunc takes tensors, not lists or optional ones", field=_FIELD)
    return argument_type(argument.type, Passing(release.base_types), mutable=False).passed


def _call(name: str, inputs: tuple[Argument, ...], scope: list[Value], computed: str, release: Release) -> str:
    goals = [(a.name, _type(a, computed, release)) for a in inputs]
    return f"ufunc::{name}({', '.join(translate(scope, goals))})"


# ---- CPU


def _loops(
    inputs: tuple[Argument, ...], loops: dict[str, UfuncLoop], numbers: tuple[str, ...], release: Release
) -> tuple[DtypeCase, ...]:
    scalar = _first(loops, ("CPUScalar", "ScalarOnly", "Generic"))
    vector = _first(loops, ("CPUVector", "Generic"))
    tensors = [a.name for a in inputs if is_tensor_like(a.type)]
    scalars = _elements(numbers, "_s_", ELEMENT) + _elements(tensors, "", ELEMENT)
    vectors = _elements(numbers, "_v_", VECTOR) + _elements(tensors, "", VECTOR)
    cases = []
    for dtype in scalar | vector:
        if dtype not in scalar:
            raise SpecError(f"{dtype} has a loop over vectors and none over scalars", field=_FIELD)
        by_vectors = (
            _call(name=vector[dtype], inputs=inputs, scope=vectors, computed=VECTOR, release=release)
            if dtype in vector
            else ""
        )
        cases.append(
            DtypeCase(
                dtype,
                _call(name=scalar[dtype], inputs=inputs, scope=scalars, computed=ELEMENT, release=release),
                by_vectors,
            )
        )
    return tuple(cases)


def _first(loops: dict[str, UfuncLoop], keys: Iterable[str]) -> dict[str, str]:
    """The loop of each dtype: that of the first key which has one."""
    found: dict[str, str] = {}
    for loop in (loops[key] for key in keys if key in loops):
        found |= {dtype: loop.name for dtype in loop.dtypes if dtype not in found}
    return found


def _elements(names: Iterable[str], mark: str, type_: str) -> list[Value]:
    return [Value(name, type_, f"{mark}{name}") for name in names]


# ---- CUDA

Functors = dict[str, tuple[Functor, tuple[str, ...]]]  # by kind, each with the dtypes that it is for


def _functors(inputs: tuple[Argument, ...], loops: dict[str, UfuncLoop], release: Release) -> Functors:
    binary = sum(is_tensor_like(a.type) for a in inputs) == 2
    for kind in _OF_NUMBERS:
        if kind in loops and not binary:
            raise SpecError(f"{kind} on a function without two tensors", field=(*_FIELD, kind))
    kinds = (*_OF_NUMBERS, _FUNCTOR) if binary else (_FUNCTOR,)
    return {kind: _functor(kind, inputs, loops, release) for kind in kinds}


def _functor(
    kind: str, inputs: tuple[Argument, ...], loops: dict[str, UfuncLoop], release: Release
) -> tuple[Functor, tuple[str, ...]]:
    tensors = [a for a in inputs if is_tensor_like(a.type)]
    number = tensors[_OF_NUMBERS[kind][0]] if kind in _OF_NUMBERS else None
    kept = tuple(Parameter(a.name, _type(a, WIDE, release)) for a in inputs if a not in tensors or a is number)
    applied = tuple(Parameter(a.name, _type(a, ELEMENT, release)) for a in tensors if a is not number)
    if kind in loops:
        return Functor(loops[kind].name, kept, applied, ""), loops[kind].dtypes
    shared = [loops[key] for key in ("ScalarOnly", "Generic") if key in loops]
    names = sorted({loop.name for loop in shared})
    if len(names) != 1:
        problem = f"{kind} needs one loop, and there is {' and '.join(names) or 'none'}"
        raise SpecError(problem, "name it in Generic, and in ScalarOnly the same", field=_FIELD)
    scope = [Value(p.name, p.type, f"{p.name}_") for p in kept] + values(applied)
    call = _call(name=names[0], inputs=inputs, scope=scope, computed=WIDE, release=release)
    dtypes = tuple(dict.fromkeys(dtype for loop in shared for dtype in loop.dtypes))
    return Functor(f"{kind}_{names[0]}", kept, applied, call), dtypes


def _constructions(functors: Functors, scope: list[Value]) -> tuple[DtypeCase, ...]:
    """What is done for each dtype: functors for numbers in the order of their operands, then the one for tensors."""
    cases = []
    for dtype in dict.fromkeys(dtype for _, dtypes in functors.values() for dtype in dtypes):
        kinds = [kind for kind in (*reversed(_OF_NUMBERS), _FUNCTOR) if kind in functors and dtype in functors[kind][1]]
        if _FUNCTOR not in kinds:
            raise SpecError(f"{dtype} has no {_FUNCTOR}", field=_FIELD)
        cases.append(DtypeCase(dtype, functors=tuple(_construction(kind, functors[kind][0], scope) for kind in kinds)))
    return tuple(cases)


def _construction(kind: str, functor: Functor, scope: list[Value]) -> Construction:
    """A functor's construction. A number is read from its operand."""
    operand = 0
    if kind in _OF_NUMBERS:
        place, tensor = _OF_NUMBERS[kind]
        operand = place + 1
        scope = [*scope, Value(tensor, WIDE, f"iter.scalar_value<opmath_t>({operand})")]
    arguments = translate(scope, [(p.name, p.type) for p in functor.kept])
    return Construction(functor.name, ", ".join(arguments), operand)
