"""The forward as C++: one statement a step, and what is kept for the backward."""

from __future__ import annotations

from pipeline.cpp import identifiers
from pipeline.graphs.backward.program import Attribute, Mark, Tensor
from pipeline.graphs.functional.program import Apply, Choose, Number, Refuse, Scatter, Step
from pipeline.graphs.model import Many, Place, Ref, Value
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text.numbers import computed
from pipeline.graphs.text.values import NUMBER_TYPES, Named, argument, call, linked, plain, tensor

MEMBER_TYPES = {"like": "graph::Like", "layout": "graph::Layout", "length": "size_t", "likes": "std::vector<graph::Like>", "record": "graph::Recorded"}


def needs_text(needs: tuple[int, ...] | frozenset[int]) -> str:
    """Whether one of some inputs needs a gradient."""
    return " || ".join(f"needs[{place}]" for place in sorted(needs)) or "false"


def statements(plan: GraphPlan) -> list[str]:
    """The statements of the forward, each kept value where it is first there."""
    lines = _kept(plan, None)
    for index, step in enumerate(plan.functional.steps):
        lines += [*_placed(step.place, _title(step)), *_step(plan, index, step)]
        lines += _kept(plan, index)
    return lines


def _placed(place: Place, title: str) -> list[str]:
    where = f"line {place.line}" if place.line else place.node
    return [f"// {title}{', ' + where if where else ''}"]


def _title(step: Step) -> str:
    if isinstance(step, Apply):
        if step.view:
            return "a view"
        return "written in place" if step.written is not None or step.clones else "computed"
    return {Number: "a number", Scatter: "written into a view", Choose: "a view or a copy", Refuse: "refused by autograd"}[type(step)]


def _step(plan: GraphPlan, index: int, step: Step) -> list[str]:
    if isinstance(step, Number):
        return [f"const {NUMBER_TYPES[step.result.type]} {step.result.name} = {computed(step)};"]
    if isinstance(step, Scatter):
        view = lambda_of(linked("base", step.chain, plan.called, lambda name: name))
        base = tensor(step.base)
        if any("as_strided" in plan.called[link.identity].struct for link in step.chain if link.identity):
            base = f"graph::whole({base})"
        text = f"graph::scatter({base}, {tensor(step.value)}, {view})"
        if step.flags:
            text = f"{' && '.join(step.flags)} ? {text} : {tensor(step.base)}"
        return [f"const at::Tensor {step.result} = {text};"]
    if isinstance(step, Choose):
        flags = " && ".join(step.flags)
        return [f"const at::Tensor {step.result} = {flags} ? {tensor(step.then)} : {tensor(step.otherwise)};"]
    if isinstance(step, Refuse):
        return [f'TORCH_CHECK(!({needs_text(plan.refusals[step.message])}), "{step.message}");']
    return _apply(plan, step)


def lambda_of(body: str) -> str:
    """A function of a base."""
    return f"[&](const at::Tensor& base) {{ return {body}; }}"


def _apply(plan: GraphPlan, step: Apply) -> list[str]:
    record = next((b.record for b in plan.backward.blocks if getattr(b, "record", "") and b.step == step), "")
    clones = dict(step.clones)
    lines = [f"at::Tensor {clone} = {tensor(step.arguments[name])}.clone();" for name, clone in clones.items()]
    arguments = {**step.arguments, **{name: Ref(clone) for name, clone in clones.items()}}
    signature = (plan.original if clones else plan.called)[step.identity]
    if record:
        return [*lines, *_recorded(plan, step, arguments, record)]
    if clones:  # some are declared to be written to
        arguments = dict(arguments)
    text = call(signature, arguments)
    if step.written is not None:
        text = f"graph::written({tensor(step.written)}, {text})"
    return [*lines, *_results(step, text)]


def _results(step: Apply, text: str) -> list[str]:
    names = [result.name for result in step.results]
    checked = [f"TORCH_CHECK({r.name}.size() == {r.length}, \"a list of {r.length} is taken apart\");" for r in step.results if r.length is not None and r.type.endswith("]")]
    if not names:
        return [f"{text};"]
    if len(names) == 1:
        return [f"const {result_type(step.results[0].type)} {names[0]} = {text};", *checked]
    return [f"const auto [{', '.join(names)}] = {text};", *checked]


def result_type(type_: str) -> str:
    """The C++ type of a result."""
    if type_ in ("Tensor", "Tensor?"):
        return "at::Tensor"
    return "std::vector<at::Tensor>" if type_.startswith("Tensor") else NUMBER_TYPES.get(type_, "auto")


def _recorded(plan: GraphPlan, step: Apply, arguments: dict[str, Value], record: str) -> list[str]:
    """A call of an operator that is made of others: the library's autograd records it."""
    given, needs, inside = [], [], {}
    signature = (plan.original if step.clones else plan.called)[step.identity]
    for parameter in signature.parameters:
        value = arguments.get(parameter.name)
        if "at::Tensor" not in parameter.type and "TensorList" not in parameter.type or value is None:
            continue
        if isinstance(value, Many):
            inside[parameter.name] = Many(tuple(Ref(f"given[{len(given) + i}]") for i, _ in enumerate(value.values)))
            given += [tensor(v) for v in value.values]
            needs += [needs_text(_needs(plan, v)) for v in value.values]
        elif hasattr(value, "name"):
            inside[parameter.name] = Ref(f"given[{len(given)}]")
            given.append(tensor(value))
            needs.append(needs_text(_needs(plan, value)))
    text = call(signature, {**arguments, **inside})
    listed = f"graph::record(saved.{record}, {{{', '.join(given)}}}, {{{', '.join(needs)}}}, [&](const std::vector<at::Tensor>& given) {{ return {text}; }})"
    if len(step.results) == 1 and step.results[0].type.endswith("]"):
        return [f"const std::vector<at::Tensor> {step.results[0].name} = {listed};"]
    if len(step.results) == 1:
        return [f"const at::Tensor {step.results[0].name} = {listed}[0];"]
    first = f"{record}_results"
    return [f"const std::vector<at::Tensor> {first} = {listed};"] + [
        f"const at::Tensor {r.name} = {first}[{i}];" for i, r in enumerate(step.results)
    ]


def _needs(plan: GraphPlan, value: Value) -> tuple[int, ...]:
    return plan.needs.get(getattr(value, "name", ""), ())


# ---- what is kept


def _kept(plan: GraphPlan, index: int | None) -> list[str]:
    """What is kept of what a step made; of inputs, before the first."""
    steps = plan.functional.steps
    made = _made(steps[index]) if index is not None else {given for given in plan.functional.names.values()}
    lines = [line for each in plan.backward.tensors if base_of(each.value) in made for line in _tensor(each)]
    lines += [line for mark in plan.backward.marks if base_of(mark.value) in made for line in _mark(mark)]
    lines += [f"saved.{n.name} = {owned(n.name, n.type, index)};" for n in plan.backward.numbers if n.name in made]
    if index is not None:
        lines += [line for a in plan.backward.attributes if a.step == index for line in _attribute(plan, a, steps[index])]
    return lines


def owned(name: str, type_: str, index: int | None) -> str:
    """A number for keeps: inputs refer to what is the caller's."""
    if index is None and type_.endswith("]"):
        return f"{name}.vec()"
    return f"std::string({name})" if type_ == "str" else name


def base_of(value: Value) -> str:
    """The name of a value, of the list that it is an item of."""
    return str(getattr(value, "name", ""))


def _made(step: Step) -> set[str]:
    if isinstance(step, Apply):
        return {r.name for r in step.results} | {clone for _, clone in step.clones}
    if isinstance(step, Number):
        return {step.result.name}
    return {step.result} if isinstance(step, (Scatter, Choose)) else set()


def _guarded(needs: tuple[int, ...], statement: str) -> list[str]:
    return [f"if ({needs_text(needs)}) {{", f"  {statement}", "}"] if needs else []


def _tensor(kept: Tensor) -> list[str]:
    if kept.how in ("input", "output"):
        return []
    text = tensor(kept.value)
    copied = f"{text}.clone()" if kept.how == "copy" else f"graph::list_of({text})" if kept.how == "list" else text
    if kept.how == "copy":
        copied = f"{text}.defined() ? {copied} : at::Tensor()"
    return _guarded(kept.needs, f"saved.{kept.name} = {copied};")


def _mark(mark: Mark) -> list[str]:
    text = tensor(mark.value)
    if mark.kind == "record":
        return []
    if mark.kind == "length":
        return [f"saved.{mark.name} = {text}.size();"]
    if mark.kind == "likes":
        return _guarded(mark.needs, f"saved.{mark.name} = graph::likes({text});")
    made = {"like": "graph::Like", "layout": "graph::Layout"}[mark.kind]
    return _guarded(mark.needs, f"saved.{mark.name} = {made}({text});")


def _attribute(plan: GraphPlan, kept: Attribute, step: Step) -> list[str]:
    assert isinstance(step, Apply)
    return _guarded(kept.needs, assign(plan, step, kept.attribute.expr, f"saved.{kept.name}", kept.attribute.type))


_COPIED = ("at::IntArrayRef", "c10::SymIntArrayRef", "at::ArrayRef<at::Scalar>")


def assign(plan: GraphPlan, step: Apply, expression: str, to: str, type_: str, named: Named = plain) -> str:
    """A statement that computes what a formula asks for, where the operator's arguments have the names that it knows."""
    bound = {
        parameter.name: argument(step.arguments[parameter.name], parameter.type, named)
        for parameter in plan.called[step.identity].parameters
        if parameter.name in step.arguments and identifiers.uses(expression, parameter.name)
    }
    bound |= {name: made for name, made in _result_names(plan, step) if identifiers.uses(expression, name)}
    text = f"{expression}.vec()" if type_ in _COPIED else expression
    text = f"std::string({text})" if type_ == "c10::string_view" else text
    taken = ", ".join(f"const auto& {name}" for name in bound)
    return f"{to} = []({taken}) {{ return {text}; }}({', '.join(bound.values())});"


def _result_names(plan: GraphPlan, step: Apply) -> list[tuple[str, str]]:
    names = plan.results.get(step.identity, ())
    made = [result.name for result in step.results] or [clone for _, clone in step.clones]
    return list(zip(names, made))
