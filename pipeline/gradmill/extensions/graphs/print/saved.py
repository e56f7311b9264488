"""Generates the statements of the forward that save values for the backward."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from gradmill.cpp import identifiers
from gradmill.extensions.graphs.ir import Code, Save, Stmt, When, code, separated, variable
from gradmill.extensions.graphs.model import Item, Ref, Value
from gradmill.extensions.graphs.passes.functionalize.program import Apply, Step, values_of
from gradmill.extensions.graphs.passes.gradients import Attribute, Metadata, Tensor
from gradmill.extensions.graphs.passes.keep.aliases import label
from gradmill.extensions.graphs.passes.needs import AnyOf
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print.expressions import NONE, Named, argument, local, tensor

_REFERENCES = ("int[]", "float[]", "str", "int[]?", "float[]?", "str?")  # inputs that refer to the caller's memory
_NAME = re.compile(r"((?<![\w.:])(?<!->)[^\W\d]\w*)")
_COPIED = ("at::IntArrayRef", "c10::SymIntArrayRef", "at::ArrayRef<at::Scalar>")
MEMBER_TYPES = {
    "like": "graph::Like",
    "layout": "graph::Layout",
    "length": "size_t",
    "likes": "std::vector<graph::Like>",
    "record": "graph::Recorded",
}


def needs_text(needs: AnyOf | frozenset[int]) -> str:
    """The C++ condition that one of some inputs needs a gradient."""
    return " || ".join(f"needs[{place}]" for place in sorted(needs)) or "false"


def needed(needs: AnyOf | frozenset[int], then: Stmt) -> Stmt:
    """A statement that runs if one of some inputs needs a gradient."""
    return When(code(needs_text(needs)), (then,))


def base_of(value: Value) -> str:
    """The name of a value; for an item of a list, the name of the list."""
    return str(getattr(value, "name", ""))


def tensor_type(*, listed: bool) -> str:
    """The C++ type of a tensor, or of a list of tensors."""
    return "std::vector<at::Tensor>" if listed else "at::Tensor"


def gradient_name(value: Value) -> str:
    """The name of the variable with a value's gradient."""
    return f"grad_of_{label(value) if isinstance(value, Ref) else base_of(value)}"


def gradient(value: Value) -> Code:
    """The variable with a value's gradient."""
    return variable(gradient_name(value))


def _typed(value: Code, passed: str) -> Code:
    """The argument with an explicit type if its C++ expression has none."""
    return code("$($)", passed.removeprefix("const ").removesuffix(" &"), value) if value == NONE else value


def expression_over(plan: GraphPlan, step: Apply, expression: str, type_: str, named: Named = local) -> Code:
    """The value of an expression of a formula over the operator's arguments and results."""
    bound = {
        parameter.name: _typed(argument(step.arguments[parameter.name], parameter.type, named), parameter.type)
        for parameter in plan.operators[step.identity].called.parameters
        if parameter.name in step.arguments and identifiers.uses(expression, parameter.name)
    }
    bound |= {
        name: variable(result)
        for name, result in zip(plan.operators[step.identity].results, step.values)
        if identifiers.uses(expression, name)
    }
    if list(bound) == [expression] and type_ not in (*_COPIED, "c10::string_view"):
        return bound[expression]
    text = f"{expression}.vec()" if type_ in _COPIED else expression
    text = f"std::string({text})" if type_ == "c10::string_view" else text
    if all(value.is_primary for value in bound.values()) or sum(map(text.count, bound)) == 1:
        return separated((bound.get(word, word) for word in _NAME.split(text)), "")
    parameters = ", ".join(f"const auto& {name}" for name in bound)
    return code("[]($) { return $; }($)", parameters, text, separated(bound.values()))


def saved_by_step(plan: GraphPlan) -> Mapping[int | None, list[Stmt]]:
    """The statements that save values of steps that are left, by the index of the step; by None for inputs."""
    steps, backward = plan.functional.steps, plan.backward
    makers: dict[str, int | None] = dict.fromkeys(plan.functional.names.values())
    for index, step in enumerate(steps):
        makers |= dict.fromkeys(values_of(step), index)
    statements: defaultdict[int | None, list[Stmt]] = defaultdict(list)
    for each in backward.tensors:
        if base_of(each.value) in makers:
            statements[makers[base_of(each.value)]] += _tensor(each)
    for metadata in backward.metadata:
        if base_of(metadata.value) in makers:
            statements[makers[base_of(metadata.value)]] += _metadata(metadata)
    for name, type_ in backward.numbers.items():
        if name in makers:
            statements[makers[name]].append(Save(name, owned(variable(name), type_, makers[name])))
    for attribute in backward.attributes:
        statements[attribute.step] += _attribute(plan, attribute, steps[attribute.step])
    return statements


def owned(value: Code, type_: str, maker: int | None) -> Code:
    """The expression for a saved number: a copy if it is an input that refers to the caller's memory."""
    return code("graph::owned($)", value) if maker is None and type_ in _REFERENCES else value


def _guarded(needs: AnyOf, name: str, value: Code) -> list[Stmt]:
    return [needed(needs, Save(name, value))] if needs else []


def _tensor(saved: Tensor) -> list[Stmt]:
    if saved.how in ("input", "output"):
        return []
    value = tensor(saved.value)
    forms = {
        "copy": lambda: code("$.defined() ? $.clone() : at::Tensor()", value, value),
        "list": lambda: code("saved.watched(graph::list_of($))", value),
        "apart": lambda: code("graph::apart($, {$})", value, separated(map(tensor, saved.shares))),
        "part": lambda: code("graph::compact($)", value),
    }
    return _guarded(saved.needs, saved.name, forms.get(saved.how, lambda: value)())


def _metadata(metadata: Metadata) -> list[Stmt]:
    value = tensor(metadata.value)
    if metadata.kind == "record":
        return []
    if metadata.kind == "length":
        return [Save(metadata.name, code("$.size()", value))]
    if metadata.kind == "likes":
        value = code("graph::likes($)", value)
    elif metadata.kind == "like" and isinstance(metadata.value, Item):
        value = code("graph::Like($, $)", variable(metadata.value.name), str(metadata.value.index))
    return _guarded(metadata.needs, metadata.name, value)


def _attribute(plan: GraphPlan, saved: Attribute, step: Step) -> list[Stmt]:
    assert isinstance(step, Apply)
    value = expression_over(plan, step, saved.attribute.expr, saved.attribute.type)
    return _guarded(saved.needs, saved.name, value)
