"""Forward formulas: explicit ones, and the expansions of `auto_element_wise` and `auto_linear`.

torchgen: `load_derivatives.create_forward_derivative`, `load_derivatives.postprocess_forward_derivatives`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gradmill.cpp import identifiers
from gradmill.model.autograd import Derivative, DifferentiableInput, Formula, ForwardDerivative
from gradmill.model.keys import ENTRY_KEY, KEYS
from gradmill.model.native import NativeFunction
from gradmill.model.regex import regex
from gradmill.model.schema import has_symint, schema_kind
from gradmill.problems.names import closest
from gradmill.problems.problem import SpecError, all_of, nearest

if TYPE_CHECKING:
    from gradmill.rules.derivatives.backward import Differentiated

AUTO_ELEMENT_WISE = "auto_element_wise"
AUTO_LINEAR = "auto_linear"
NON_DIFFERENTIABLE = "non_differentiable"

_RESULT = regex(r"result(\d+)$")
_TENSOR_LISTS = ("at::TensorList", "const at::ITensorListRef &")


class Rows(Struct, frozen=True):
    """The rows of a definition by kind: backward formulas, forward formulas, inputs without a derivative."""

    backward: list[Derivative]
    forward: list[tuple[Formula, tuple[str, ...]]]  # with the schema types of the outputs
    non_differentiable: list[str]


def output_types(row: Formula, function: NativeFunction, argument_names: Sequence[str]) -> tuple[str, ...]:
    """Schema types of the outputs that a row names. Raises a SpecError for a row that names no output."""
    returns = function.func.returns
    types = tuple(r.type for r in returns if r.name in row.names)
    if types:
        return types
    if row.names == ("result",):
        if len(returns) != 1:
            problem = f"'result' of an op with {len(returns)} outputs"
            raise SpecError(problem, "write result0, result1 … or the outputs' names", at_key=True)
        return (returns[0].type,)
    for name in row.names:
        match = _RESULT.match(name)
        if match is None:
            continue
        if identifiers.small_int(match.group(1)) >= len(returns):
            raise SpecError(f"'{name}': the op has {len(returns)} output(s)", needle=name)
        types += (returns[identifiers.small_int(match.group(1))].type,)
    if not types and "result" in row.names:
        every = ", ".join(r.name or f"result{i}" for i, r in enumerate(returns))
        problem = "'result' stands for the output of an op alone, with no other name next to it"
        hint = f"write a row for 'result' alone, or name outputs: {every}" if len(returns) == 1 else f"outputs: {every}"
        raise SpecError(problem, hint, needle="result", at_key=True)
    if not types:
        wrong = row.names[0]
        keys = [key for key in KEYS["derivatives"] if key != ENTRY_KEY["derivatives"]]
        known = [*argument_names, *(r.name for r in returns if r.name), "result", *keys]
        if closest(wrong, (*known, NON_DIFFERENTIABLE)) == NON_DIFFERENTIABLE:
            raise misplaced_word(wrong, (row.formula,))
        problem = f"'{wrong}' is neither an input nor an output of the op"
        raise SpecError(problem, nearest(wrong, known) or f"inputs: {', '.join(argument_names)}", at_key=True)
    return types


def misplaced_word(key: str, inputs: Sequence[str]) -> SpecError:
    """The error for a key that should be the value `non_differentiable` of `inputs`."""
    rows = "; ".join(f"{name}: {NON_DIFFERENTIABLE}" for name in inputs)
    return SpecError(f"'{key}' is not a key", f"write it in place of a formula: {rows}", field=(key,), at_key=True)


def complete(
    row: Formula,
    types: tuple[str, ...],
    read: Rows,
    name: str,
    of: Differentiated,
    inputs: Sequence[DifferentiableInput],
) -> ForwardDerivative:
    """The forward derivative that a row defines. `inputs` are the differentiable inputs, `name` is the operator's."""
    is_foreach = of.function.func.name.base.startswith("_foreach_")
    tangents = _required(row.formula, "_t", inputs, is_foreach)
    formula = row.formula
    if formula == AUTO_ELEMENT_WISE:
        formula = _element_wise(row, read, of.function, inputs)
        tangents = tuple(a.name for a in of.arguments)
    elif formula == AUTO_LINEAR:
        formula = _linear(row, read, name, of, inputs)
        tangents = tuple(i.name for i in inputs)
    primals = _required(formula, "_p", inputs, is_foreach)
    return ForwardDerivative(
        formula=formula,
        var_names=row.names,
        var_types=types,
        required_inputs_fw_grad=tangents,
        required_inputs_primal=primals,
    )


def _required(formula: str, suffix: str, inputs: Sequence[DifferentiableInput], is_foreach: bool) -> tuple[str, ...]:
    """The inputs whose tangent or primal the formula uses, sorted. Ops on tensor lists handle theirs themselves."""
    names = [i.name for i in inputs if i.cpp_type not in _TENSOR_LISTS or is_foreach]
    ambiguous = [
        SpecError(
            f"'{name}' is ambiguous in a forward formula",
            f"write {name}_p for the primal or {name}_t for the tangent",
            needle=name,
        )
        for name in names
        if identifiers.uses(formula, name)
    ]
    if ambiguous:
        raise all_of(ambiguous)
    return tuple(sorted(name for name in names if identifiers.uses(formula, name + suffix)))


def _element_wise(row: Formula, read: Rows, function: NativeFunction, inputs: Sequence[DifferentiableInput]) -> str:
    """J is diagonal, so J t is (tᴴ J)ᴴ: the conjugate of the backward formula with grad and the input replaced."""
    problem, hint = "", "write the formula"
    if schema_kind(function.func) == "inplace":
        problem = "on an in-place op"
    elif len(inputs) != 1 or len(read.forward) > 1 or len(row.names) > 1:
        problem = "needs a single differentiable input and a single output"
    elif len(read.backward) != 1:
        problem, hint = "needs the backward formula of its input", f"add {inputs[0].name}: formula"
    if problem:
        raise SpecError(f"{AUTO_ELEMENT_WISE} {problem}", hint, needle=AUTO_ELEMENT_WISE)
    name = inputs[0].name
    formula = identifiers.replace(read.backward[0].original_formula, "grad", f"{name}_t.conj()")
    return f"({identifiers.replace(formula, name, f'{name}_p')}).conj()"


def _linear(row: Formula, read: Rows, name: str, of: Differentiated, inputs: Sequence[DifferentiableInput]) -> str:
    """f is linear, so J t is f(t): the op called with tangents in place of its differentiable inputs."""
    if len(read.forward) > 1 or len(row.names) > 1:
        raise SpecError(f"{AUTO_LINEAR} needs a single output", "write the formula", needle=AUTO_LINEAR)
    if not inputs:
        problem = f"{AUTO_LINEAR} on an op without differentiable inputs"
        raise SpecError(problem, "add input: formula", needle=AUTO_LINEAR)
    tangent = {i.name for i in inputs}
    passed = [f"{a.name}_t" if a.name in tangent else a.name for a in of.arguments]
    called = f"{name}_symint" if has_symint(of.function.func) else name
    if "function" in of.function.variants:
        return f"at::{called}({', '.join(passed)})"
    return f"{passed[0]}.{called}({', '.join(passed[1:])})"
