"""What the forward keeps for the backward, as C++: each where it is first there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from pipeline.cpp import identifiers
from pipeline.graphs.backward.program import Attribute, Mark, Tensor
from pipeline.graphs.functional.program import Apply, Choose, Number, Scatter, Step
from pipeline.graphs.model import Value
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text.expressions.literals import Named, plain
from pipeline.graphs.text.expressions.values import argument, tensor

_CALLERS = ("int[]", "float[]", "str", "int[]?", "float[]?", "str?")  # inputs of these types are views
_COPIED = ("at::IntArrayRef", "c10::SymIntArrayRef", "at::ArrayRef<at::Scalar>")
MEMBER_TYPES = {
    "like": "graph::Like",
    "layout": "graph::Layout",
    "length": "size_t",
    "likes": "std::vector<graph::Like>",
    "record": "graph::Recorded",
}


def needs_text(needs: tuple[int, ...] | frozenset[int]) -> str:
    """Whether one of some inputs needs a gradient."""
    return " || ".join(f"needs[{place}]" for place in sorted(needs)) or "false"


def base_of(value: Value) -> str:
    """The name of a value, of the list that it is an item of."""
    return str(getattr(value, "name", ""))


def _typed(text: str, passed: str) -> str:
    """An argument that says its type: what is none of something does not."""
    return f"{passed.removeprefix('const ').removesuffix(' &')}({text})" if text == "::std::nullopt" else text


def assign(plan: GraphPlan, step: Apply, expression: str, to: str, type_: str, named: Named = plain) -> str:
    """A statement that computes what a formula asks for; the operator's arguments have the names that it knows."""
    bound = {
        parameter.name: _typed(argument(step.arguments[parameter.name], parameter.type, named), parameter.type)
        for parameter in plan.called[step.identity].parameters
        if parameter.name in step.arguments and identifiers.uses(expression, parameter.name)
    }
    bound |= {name: result for name, result in _result_names(plan, step) if identifiers.uses(expression, name)}
    text = f"{expression}.vec()" if type_ in _COPIED else expression
    text = f"std::string({text})" if type_ == "c10::string_view" else text
    parameters = ", ".join(f"const auto& {name}" for name in bound)
    return f"{to} = []({parameters}) {{ return {text}; }}({', '.join(bound.values())});"


def _result_names(plan: GraphPlan, step: Apply) -> list[tuple[str, str]]:
    names = plan.results.get(step.identity, ())
    results = [result.name for result in step.results] or [clone for _, clone in step.clones]
    return list(zip(names, results))


def held_by_step(plan: GraphPlan) -> Mapping[int | None, list[str]]:
    """What is held of what each step made, by the step's place; of inputs, by None. A step that is missing holds
    nothing."""
    steps, backward = plan.functional.steps, plan.backward
    makers: dict[str, int | None] = dict.fromkeys(plan.functional.names.values())
    for index, step in enumerate(steps):
        makers |= dict.fromkeys(_values_of(step), index)
    statements: defaultdict[int | None, list[str]] = defaultdict(list)
    for each in backward.tensors:
        if base_of(each.value) in makers:
            statements[makers[base_of(each.value)]] += _tensor(each)
    for mark in backward.marks:
        if base_of(mark.value) in makers:
            statements[makers[base_of(mark.value)]] += _mark(mark)
    for number in backward.numbers:
        if number.name in makers:
            maker = makers[number.name]
            statements[maker].append(f"saved.{number.name} = {owned(number.name, number.type, maker)};")
    for attribute in backward.attributes:
        statements[attribute.step] += _attribute(plan, attribute, steps[attribute.step])
    return statements


def owned(name: str, type_: str, maker: int | None) -> str:
    """A number for keeps: inputs refer to what is the caller's."""
    return f"graph::owned({name})" if maker is None and type_ in _CALLERS else name


def _values_of(step: Step) -> set[str]:
    if isinstance(step, Apply):
        return {r.name for r in step.results} | {clone for _, clone in step.clones}
    if isinstance(step, Number):
        return {step.result.name}
    return {step.result} if isinstance(step, (Scatter, Choose)) else set()


def _guarded(needs: tuple[int, ...], statement: str) -> list[str]:
    return [f"if ({needs_text(needs)}) {{", f"  {statement}", "}"] if needs else []


def _tensor(held: Tensor) -> list[str]:
    if held.how in ("input", "output"):
        return []
    text = tensor(held.value)
    copied = f"{text}.clone()" if held.how == "copy" else f"graph::list_of({text})" if held.how == "list" else text
    if held.how == "apart":
        copied = f"graph::apart({text}, {{{', '.join(map(tensor, held.shares))}}})"
    if held.how == "copy":
        copied = f"{text}.defined() ? {copied} : at::Tensor()"
    return _guarded(held.needs, f"saved.{held.name} = {copied};")


def _mark(mark: Mark) -> list[str]:
    text = tensor(mark.value)
    if mark.kind == "record":
        return []
    if mark.kind == "length":
        return [f"saved.{mark.name} = {text}.size();"]
    if mark.kind == "likes":
        return _guarded(mark.needs, f"saved.{mark.name} = graph::likes({text});")
    struct = {"like": "graph::Like", "layout": "graph::Layout"}[mark.kind]
    return _guarded(mark.needs, f"saved.{mark.name} = {struct}({text});")


def _attribute(plan: GraphPlan, held: Attribute, step: Step) -> list[str]:
    assert isinstance(step, Apply)
    return _guarded(held.needs, assign(plan, step, held.attribute.expr, f"saved.{held.name}", held.attribute.type))
