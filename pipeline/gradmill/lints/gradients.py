"""What a formula has to give, and may use: a gradient for each input of its key, from the gradients of the
differentiable outputs; a tangent from the tangent of each input.

torchgen: `gen_autograd_functions.process_function`, `gen_variable_type.emit_fw_derivatives`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from gradmill.cpp import identifiers
from gradmill.cpp.conversions import members
from gradmill.cpp.expression import Node
from gradmill.lints.formula_text import FormulaText
from gradmill.model.autograd import Formula, Info
from gradmill.model.native import NativeFunction
from gradmill.model.regex import regex
from gradmill.model.schema import is_tensor_like
from gradmill.problems.problem import SpecError
from gradmill.rules.derivatives.backward import gradient_indices
from gradmill.rules.derivatives.forward import AUTO_ELEMENT_WISE, AUTO_LINEAR, NON_DIFFERENTIABLE

_TENSORS = ("Tensor", "Tensor?")
_LISTS = ("Tensor[]", "Tensor?[]")
_GRADIENT = regex(r"\bgrads?(?:_\w+)?\b")
_NO_GRADIENT = regex(r"\s*+(?:at::)?+zeros\w*+\(|.*\bnot_implemented", re.DOTALL)  # zero, or missing
_NOT_IMPLEMENTED = ("not_implemented", "not_implemented_list")
_OPERATOR = regex(r'"(?=\w++(?:\.\w++)?+[":]|\w*_\w*+\s)(\w++)')  # a text that begins with an operator, or is one
_WORDS = regex(r"\w+")
# Functions and methods whose result is a product of their tensors.
_PRODUCTS = frozenset("mul multiply div divide true_divide mm bmm mv matmul dot vdot inner outer".split())


def check_value(text: FormulaText, value: Node, wanted: Sequence[str], what: str) -> Iterator[SpecError]:
    """A suspicion about the value of a formula, unless it has one member for each of the types in `wanted`; `what` are
    `input` or `output`, which the formula is for. Nothing is reported about unknown types."""
    if value.kind == "braces" and not value.name and len(wanted) > 1:
        problem = "values in braces are not a tuple"
        hint = f"write std::make_tuple({text.of(value)[1:-1].strip()})"
        yield text.error(value.start, problem, hint, "gradient-type")
    if not value.type:
        return
    given, count = members(value.type) or [value.type], len(wanted)
    if len(given) == count and all(map(_fits, given, wanted)):
        return
    of = f"{count} {what}s" if count > 1 else f"one {what}"
    shown = f"({', '.join(each or '…' for each in given)})"
    number = f"{len(given)} value{'' if len(given) == 1 else 's'}"
    problem, hint = f"the formula of {of} gives {number}, {shown}", f"give a tuple of {count} tensors"
    if members(value.type) is None and count > 1:
        problem = f"the formula of {of} gives one value, of type {value.type}"
    elif members(value.type) is None:
        problem, hint = f"the formula of an {what} of type {wanted[0]} gives {value.type}", "give one tensor"
        hint = "give a list, with a tensor for each member" if wanted[0] in _LISTS else hint
    elif count == 1:
        hint = f"write std::get<0>({text.of(value)})" if value.kind == "call" else "give one tensor"
    elif len(given) == count:
        problem, hint = f"the formula of ({', '.join(wanted)}) gives {shown}", "give a value of the same type for each"
    yield text.error(value.start, problem, hint, "gradient-type")


def _fits(given: str, wanted: str) -> bool:
    """Whether a value may be the gradient of an input, or the tangent of an output; "" is any type."""
    return not given or (given == "Tensor" if wanted in _TENSORS else given == "Tensor[]" or wanted not in _LISTS)


def out_of_bounds(info: Info, function: NativeFunction, rows: Mapping[tuple[str, ...], Formula]) -> list[SpecError]:
    """Suspicions about `grads[i]`: a Node gets gradients of differentiable outputs alone."""
    returns = function.func.returns
    differs = info.output_differentiability or [is_tensor_like(each.type) for each in returns]
    outputs = [each for each, is_one in zip(returns, differs) if is_one]
    if len(differs) != len(returns) or any(each.type not in _TENSORS for each in outputs):
        return []  # a list has as many gradients as members
    are, named = ("is", f", of '{outputs[0].name}'") if len(outputs) == 1 else ("are", "")
    return [
        SpecError(
            f"grads[{i}] is out of bounds: {len(outputs)} of {len(returns)} outputs {are} differentiable",
            f"write 'grad', the only gradient{named}" if len(outputs) == 1 else "the others have no gradient",
            field=(rows[derivative.var_names].key,),
            needle=f"grads[{i}]",
            rule="gradient-bounds",
        )
        for derivative in info.derivatives
        for i in sorted({*gradient_indices(derivative.formula)})
        if i >= len(outputs)
    ]


def dropped_tangents(info: Info, rows: Mapping[tuple[str, ...], Formula]) -> list[SpecError]:
    """Suspicions about inputs with a gradient whose tangent no forward formula uses, at the first of these."""
    forward = [rows[each.var_names] for each in info.forward_derivatives]
    texts = [row.formula for row in forward]
    if any(text in (AUTO_ELEMENT_WISE, AUTO_LINEAR) or _NOT_IMPLEMENTED[0] in text for text in texts) or not texts:
        return []
    types = {each.name: each.type for each in info.args_with_derivatives}
    formulas = [(name, each.original_formula) for each in info.derivatives for name in each.var_names]
    return [
        SpecError(
            f"the tangent of '{name}' is dropped: it has a gradient, but no forward formula uses '{name}_t'",
            f"add what '{name}_t' contributes",
            field=(forward[0].key,),
            rule="dropped-tangent",
        )
        for name, formula in formulas
        if _GRADIENT.search(formula) and not _NO_GRADIENT.match(formula)
        if not any(identifiers.uses(text, each) for text in texts for each in _tangents(name, types[name]))
    ]


def tangents_of_factors(
    info: Info, function: NativeFunction, row: Formula, formulas: Sequence[Sequence[Node]]
) -> list[SpecError]:
    """Suspicions about inputs that are neither differentiable nor declared not to be, and are an operand or a factor in
    a formula: forward mode takes their tangents as zero. `formulas` are the typed nodes, `row` is the forward formula
    where they are reported."""
    listed = {*(each.name for each in info.args_with_derivatives), *info.non_differentiable_arg_names}
    own = [each for each in function.func.inputs if each.type in _TENSORS and not each.is_write]
    names = {each.name for each in own if each.name not in listed}
    used = {part.name for nodes in formulas for node in nodes for part in _operands(node) if part.kind == "name"}
    return [
        SpecError(
            f"the tangent of '{name}' is dropped: it has no formula",
            f"add {name}: formula, or {name}: {NON_DIFFERENTIABLE}",
            field=(row.key,),
            rule="dropped-tangent",
        )
        for name in sorted(names & used)
    ]


def _operands(node: Node) -> Sequence[Node]:
    """The operands of arithmetic, and of a function that computes a product."""
    if node.kind == "binary" and node.name in ("+", "-", "*", "/"):
        return node.parts
    if node.kind == "call" and node.name.rpartition("::")[2] in _PRODUCTS:
        return [*node.parts[0].parts[:1], *node.parts[1:]]
    return ()


def _tangents(name: str, type_: str) -> list[str]:
    """The names under which a formula may use the tangent of an input."""
    own = [name] if type_ in _LISTS else []  # a helper gets both from the members
    return [f"{name}_t", *own, *(["original_self_t"] if name == "self" else [])]


def nonlinear(
    info: Info, row: Formula, backward: Mapping[tuple[str, ...], Sequence[Node]], results: Collection[str]
) -> list[SpecError]:
    """A suspicion about `auto_linear` for a function whose gradient depends on an input that it should be linear in.

    `backward` are the typed nodes of the backward formulas, `results` the names of outputs.
    """
    inputs = {each.name for each in info.args_with_derivatives} | {*results}
    saved = {each.var_names: {s.name for s in each.saved_inputs + each.saved_outputs} for each in info.derivatives}
    for names, nodes in backward.items():
        value, depends = _factor(nodes, inputs), "is a product with"
        if not value:  # of the input itself, a helper may need no more than its shape
            value, depends = _used(nodes, inputs.difference(names) & saved[names]), "depends on"
        if value:
            problem = f"the operator is not linear: the gradient of '{names[0]}' {depends} '{value}'"
            hint = f"write {AUTO_ELEMENT_WISE} if each element depends on one element of the input, or the formula"
            if len(info.args_with_derivatives) > 1:
                hint = f"write the formula, of {' and '.join(f'{each.name}_t' for each in info.args_with_derivatives)}"
            return [SpecError(problem, hint, field=(row.key,), needle=AUTO_LINEAR, rule="not-linear")]
    return []


def _factor(nodes: Sequence[Node], inputs: Collection[str]) -> str:
    """The name of an input or output that a product has as a factor; "" if there is none."""
    values: dict[int, str] = {}  # of nodes that are computed from the elements of one, without a gradient
    gradients: set[int] = set()
    for node in nodes:
        parts = node.parts
        if node.kind == "name":
            if node.name in inputs and node.type == "Tensor":
                values[id(node)] = node.name
            elif _GRADIENT.fullmatch(node.name):
                gradients.add(id(node))
            continue
        if node.kind == "call":
            parts = [*parts[0].parts[:1], *parts[1:]]  # a method's object, and the arguments
        value = next((values[id(part)] for part in parts if id(part) in values), "")
        called = node.name.rpartition("::")[2]
        if value and (node.name in ("*", "/") if node.kind == "binary" else called in _PRODUCTS):
            return value
        if any(id(part) in gradients for part in parts):
            gradients.add(id(node))
        elif value and node.type in ("Tensor", "") and not _is_shape(called):
            values[id(node)] = value
    return ""


def _used(nodes: Sequence[Node], inputs: Collection[str]) -> str:
    """The name of an input or output whose elements a value may be computed from; "" if there is none."""
    for node in nodes:
        operands = node.parts
        if node.kind == "call":
            is_value = node.type in ("Tensor", "Tensor[]", "") or members(node.type) is not None
            of_shape = _is_shape(node.name.rpartition("::")[2])
            operands = [*node.parts[0].parts[:1], *node.parts[1:]] if is_value and not of_shape else []
        for part in operands if node.kind != "member" else ():
            if part.kind == "name" and part.name in inputs and part.type == "Tensor":
                return part.name
    return ""


def _is_shape(called: str) -> bool:
    """Whether a function takes no more than the shape and the options of a tensor."""
    return called.endswith(("_like", "_as")) or called.startswith("new_")


def other_operators(formula: FormulaText, nodes: Sequence[Node], operator: str) -> Iterator[SpecError]:
    """Suspicions about `not_implemented` with the name of another operator, unless one name is a part of the other."""
    for node in nodes:
        if node.kind != "call" or node.parts[0].name not in _NOT_IMPLEMENTED or len(node.parts) == 1:
            continue
        text = node.parts[1]
        named = _OPERATOR.match(text.name) if text.kind == "string" else None
        if named is None or any(_related(word, operator) for word in _WORDS.findall(text.name)):
            continue
        right = f'"{operator}"'
        problem = f"the error names '{named[1]}', and the operator is '{operator}'"
        fix = (text.name, right) if text.name == f'"{named[1]}"' else None
        yield formula.error(text.start, problem, f"write {right}", "other-operator", fix)


def _related(word: str, operator: str) -> bool:
    """Whether a word names the operator, a variant of it, or what it is a part of: `zeta` for `special_zeta`."""
    word, operator = word.strip("_"), operator.strip("_")
    return word == operator or operator.endswith(f"_{word}") or operator.startswith(f"{word}_")
