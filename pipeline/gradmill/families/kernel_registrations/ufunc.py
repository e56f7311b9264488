"""Renders a ufunc's kernels: loops over elements that are written once, for scalars and vectors, on CPU and CUDA.

torchgen: `ufunc.ufunctor_arguments`, `ufunc.stub_arguments`, `ufunc.compute_ufunc_cuda_functors`,
`ufunc.compute_ufunc_cuda_dtype_body`, `ufunc.compute_ufunc_cpu_kernel`, `ufunc.compute_ufunc_cpu_dtype_body`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gradmill.cpp import structured
from gradmill.cpp.dispatcher import Parameter, declared, values
from gradmill.cpp.structured import impl_arguments
from gradmill.cpp.translate import Value, translate
from gradmill.cpp.types import Passing, argument_type
from gradmill.families.sections import Sections, Text
from gradmill.model.native import UfuncLoop
from gradmill.model.schema import Argument, is_tensor_like
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import Group

_TEXT = Text("kernel_registrations/ufuncs.cpp", phrases=True)
_CPU = "CPU"
_ELEMENT, _WIDE, _VECTOR = "scalar_t", "opmath_t", "at::vec::Vectorized<scalar_t>"
_FIELD = ("ufunc_inner_loop",)
_FUNCTOR = "CUDAFunctor"
# Functors for a tensor that is a number: which one that is, and what upstream takes its name to be.
_OF_NUMBERS = {"CUDAFunctorOnSelf": (1, "other"), "CUDAFunctorOnOther": (0, "self")}
_AFTER_CASE = "\n    "  # upstream's text ends with the indentation of its source

Inputs = tuple[Argument, ...]
Loops = Mapping[str, UfuncLoop]


class Functor(NamedTuple):
    """A functor for CUDA."""

    name: str
    kept: tuple[Parameter, ...]  # what it is constructed with
    dtypes: tuple[str, ...]
    text: str  # "" if it is written by hand


def ufunc(group: Group, key: str, release: Release) -> dict[str, str]:
    """The kernel for CPU and its loops, or that for CUDA, by section; none if the function is no ufunc. SpecError for
    loops that cannot be combined, and for arguments that a loop cannot take."""
    loops, kernel = group.primary.ufunc_inner_loop, group.kernel(key)
    if not loops or key not in release.ufunc_keys or kernel is None:
        return {}
    text, inputs, of_out = _TEXT.of(release), group.functional.func.inputs, group.primary.func.inputs
    taken, stub = impl_arguments(group.primary), [a for a in of_out if not is_tensor_like(a.type)]
    numbers = [a.name for a in of_out if a.type == "Scalar"]
    scope = [Value(name, type_, name) for name, type_ in structured.goals(taken, release)]
    functors = {} if key == _CPU else _functors(inputs, loops, release)
    passed = structured.goals(stub, release)
    cases = _loops(inputs, loops, numbers, release) if key == _CPU else _constructions(functors, scope, text)
    filled = {
        "name": group.functional.func.name.unqualified,
        "kernel": kernel.name,
        "passed": ", ".join(translate(scope, passed)),
        "types": ", ".join(type_ for _, type_ in passed),
        "stub": structured.declared(stub, release),
        "parameters": structured.declared(taken, release),
        "functors": "\n".join(each.text for each in functors.values() if each.text),
        "cases": "\n".join(text["case"].fill({"dtype": dtype, "body": body}) for dtype, body in cases.items()),
    }
    sections = ("cpu", "cpu_kernel") if key == _CPU else ("cuda",)
    return {name: text[name].fill(filled) + "\n" for name in sections}


def _type(argument: Argument, computed: str, release: Release) -> str:
    """The type of an argument of a loop: tensors and numbers are `computed`, others are values."""
    if argument.type in ("Tensor", "Scalar"):
        return computed
    if is_tensor_like(argument.type):
        raise SpecError("a ufunc takes tensors, not lists or optional ones", field=_FIELD)
    return argument_type(argument.type, Passing(release.base_types), mutable=False).passed


def _call(name: str, inputs: Inputs, scope: Iterable[Value], computed: str, release: Release) -> str:
    goals = [(a.name, _type(a, computed, release)) for a in inputs]
    return f"ufunc::{name}({', '.join(translate(scope, goals))})"


# ---- CPU


def _loops(inputs: Inputs, loops: Loops, numbers: list[str], release: Release) -> dict[str, str]:
    """The loops of each dtype, over scalars and over vectors, if there is one over these."""
    text, by_element = _TEXT.of(release), _first(loops, ("CPUScalar", "ScalarOnly", "Generic"))
    by_vector = _first(loops, ("CPUVector", "Generic"))
    tensors = [a.name for a in inputs if is_tensor_like(a.type)]
    cases = {}
    for dtype in by_element | by_vector:
        if dtype not in by_element:
            raise SpecError(f"{dtype} has a loop over vectors and none over scalars", field=_FIELD)
        sections, calls = ["number"], {}
        for kind, type_, mark, of in (("scalar", _ELEMENT, "_s_", by_element), ("vector", _VECTOR, "_v_", by_vector)):
            scope = [*(Value(n, type_, mark + n) for n in numbers), *(Value(n, type_, n) for n in tensors)]
            if dtype in of:
                calls[kind] = _call(name=of[dtype], inputs=inputs, scope=scope, computed=type_, release=release)
        sections += ["number_of_vectors"] if "vector" in calls else []
        cases[dtype] = text["vectors" if "vector" in calls else "scalars"].fill(
            {
                **calls,
                "numbers": "\n".join(text[section].fill({"name": n}) for section in sections for n in numbers),
                "elements": ", ".join(f"{_ELEMENT} {name}" for name in tensors),
                "vectors": ", ".join(f"{_VECTOR} {name}" for name in tensors),
            }
        )
    return cases


def _first(loops: Loops, keys: Iterable[str]) -> dict[str, str]:
    """The loop of each dtype: that of the first key which has one."""
    found: dict[str, str] = {}
    for loop in (loops[key] for key in keys if key in loops):
        found |= {dtype: loop.name for dtype in loop.dtypes if dtype not in found}
    return found


# ---- CUDA


def _functors(inputs: Inputs, loops: Loops, release: Release) -> dict[str, Functor]:
    """The functors by kind."""
    binary = sum(is_tensor_like(a.type) for a in inputs) == 2
    for kind in _OF_NUMBERS:
        if kind in loops and not binary:
            raise SpecError(f"{kind} on a function without two tensors", field=(*_FIELD, kind))
    kinds = (*_OF_NUMBERS, _FUNCTOR) if binary else (_FUNCTOR,)
    return {kind: _functor(kind, inputs, loops, release) for kind in kinds}


def _functor(kind: str, inputs: Inputs, loops: Loops, release: Release) -> Functor:
    tensors = [a for a in inputs if is_tensor_like(a.type)]
    number = tensors[_OF_NUMBERS[kind][0]] if kind in _OF_NUMBERS else None
    kept = tuple(Parameter(a.name, _type(a, _WIDE, release)) for a in inputs if a not in tensors or a is number)
    applied = tuple(Parameter(a.name, _type(a, _ELEMENT, release)) for a in tensors if a is not number)
    if kind in loops:
        return Functor(loops[kind].name, kept, loops[kind].dtypes, "")
    shared = [loops[key] for key in ("ScalarOnly", "Generic") if key in loops]
    names = sorted({loop.name for loop in shared})
    if len(names) != 1:
        problem = f"{kind} needs one loop, and there is {' and '.join(names) or 'none'}"
        raise SpecError(problem, "name it in Generic, and in ScalarOnly the same", field=_FIELD)
    scope, name = [Value(p.name, p.type, f"{p.name}_") for p in kept] + values(applied), f"{kind}_{names[0]}"
    filled = {
        "functor": name,
        "fields": "\n".join(f"{p.type} {p.name}_;" for p in kept),
        "kept": declared(kept),
        "initialized": ", ".join(f"{p.name}_({p.name})" for p in kept),
        "applied": declared(applied),
        "call": _call(name=names[0], inputs=inputs, scope=scope, computed=_WIDE, release=release),
    }
    dtypes = tuple(dict.fromkeys(dtype for loop in shared for dtype in loop.dtypes))
    return Functor(name, kept, dtypes, _TEXT.of(release)["functor"].fill(filled))


def _constructions(functors: Mapping[str, Functor], scope: list[Value], text: Sections) -> dict[str, str]:
    """What is done for each dtype: the choice of a functor by the operand that is a number, in the order of operands,
    then the functor for tensors."""
    cases = {}
    for dtype in dict.fromkeys(dtype for functor in functors.values() for dtype in functor.dtypes):
        kinds = [kind for kind in (*reversed(_OF_NUMBERS), _FUNCTOR) if kind in functors]
        chosen = {kind: functors[kind] for kind in kinds if dtype in functors[kind].dtypes}
        if _FUNCTOR not in chosen:
            raise SpecError(f"{dtype} has no {_FUNCTOR}", field=_FIELD)
        constructed = "".join(_construction(kind, functor, scope, text) for kind, functor in chosen.items())
        cases[dtype] = f"using opmath_t = at::opmath_type<scalar_t>;if (false) {{}}\n{constructed}{_AFTER_CASE}"
    return cases


def _construction(kind: str, functor: Functor, scope: list[Value], text: Sections) -> str:
    """A functor's construction. A number is read from its operand."""
    section, operand = "on_tensors", 0
    if kind in _OF_NUMBERS:
        place, tensor = _OF_NUMBERS[kind]
        section, operand = "on_number", place + 1
        scope = [*scope, Value(tensor, _WIDE, f"iter.scalar_value<opmath_t>({operand})")]
    arguments = ", ".join(translate(scope, [(p.name, p.type) for p in functor.kept]))
    return text[section].fill({"functor": functor.name, "arguments": arguments, "operand": operand})
