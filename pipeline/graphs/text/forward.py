"""Generates the forward: one C++ statement for each step, and those that save values for the backward."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.cpp.dispatcher import Signature
from pipeline.graphs.backward.program import CallBlock
from pipeline.graphs.backward.saved import label
from pipeline.graphs.functional.program import (
    Apply,
    Choose,
    ErrorIf,
    ErrorIfRequiresGrad,
    Number,
    Overlap,
    Scatter,
    Step,
    names_in,
    values_of,
)
from pipeline.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Value
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.scalars import GUARDS
from pipeline.graphs.text import callees
from pipeline.graphs.text.expressions.literals import NUMBER_TYPES, constant, plain, quoted
from pipeline.graphs.text.expressions.values import call, computed, linked, tensor
from pipeline.graphs.text.lifetimes import forward_with_drops
from pipeline.graphs.text.saved import base_of, needs_text, saved_by_step, tensor_type
from pipeline.graphs.traits import BATCH_NORMS, COPY, CUT, RECORDED_WITH_DROPOUT, STRIDED
from pipeline.model.layers import entry_operator


def statements(plan: GraphPlan) -> list[str]:
    """The statements of the forward; each value is saved right after the step that computes it."""
    saved = saved_by_step(plan)
    records = {_first(b.step): b for b in plan.backward.blocks if isinstance(b, CallBlock) and b.record}
    steps = [joined(list(saved.get(None, ())))]
    for index, step in enumerate(plan.functional.steps):
        where = f", {step.place.shown}" if step.place.shown else ""
        lines = [f"// {_title(step)}{where}", *_step(plan, index, step, records), *saved.get(index, ())]
        steps.append(joined(lines))
    kept = names_in(tuple(each.value for each in plan.returned))
    return forward_with_drops(steps, [name for name in _tensors(plan) if name not in kept])


def _tensors(plan: GraphPlan) -> list[str]:
    """The tensors, and lists of these, that the forward computes."""
    computed = (each for s in plan.functional.steps if not isinstance(s, Number) for each in values_of(s).items())
    return [name for name, type_ in computed if type_.startswith("Tensor")]


def _first(step: Apply) -> str:
    """The first value that a call computes, which identifies the call."""
    return next(iter(step.values), "")


def joined(lines: list[str]) -> list[str]:
    """The statements, with consecutive `if` blocks of the same condition merged."""
    merged: list[str] = []
    condition = ""
    for line in lines:
        if line.startswith("if ("):
            if merged and merged[-1] == "}" and line == condition:
                merged.pop()
                continue
            condition = line
        merged.append(line)
    return merged


def _title(step: Step) -> str:
    if isinstance(step, Apply):
        name = entry_operator(step.identity)
        return f"{name}{', in place' if step.written is not None or step.clones else ''}"
    return _TITLES[type(step)]


_TITLES: dict[type, str] = {
    Number: "a number",
    Scatter: "written into a view",
    Choose: "a view or a copy",
    ErrorIfRequiresGrad: "refused by autograd",
    ErrorIf: "one tensor by two names",
    Overlap: "read and written",
}


def _step(plan: GraphPlan, index: int, step: Step, records: Mapping[str, CallBlock]) -> list[str]:
    if isinstance(step, Number) and step.op in GUARDS:
        return [f"{computed(step)};"]
    if isinstance(step, Number):
        return [f"const {NUMBER_TYPES[step.result.type]} {step.result.name} = {computed(step)};"]
    if isinstance(step, Scatter):
        view = lambda_of(linked("base", step.chain, plan.called, lambda name: name))
        base = tensor(step.base)
        if any(plan.called[link.identity].operator in STRIDED for link in step.chain if link.identity):
            base = f"graph::whole({base})"
        text = f"graph::{'scatter_same' if step.same else 'scatter'}({base}, {tensor(step.value)}, {view})"
        if _without_history(plan, step):
            text = f"graph::overwritten({tensor(step.base)}, {without_grad(text)})"
        if step.flags:
            text = f"{' && '.join(step.flags)} ? {text} : {tensor(step.base)}.alias()"
        return [f"at::Tensor {step.result} = {text};"]
    if isinstance(step, Choose):
        flags = " && ".join(step.flags)
        then = f"graph::sharing({tensor(step.then)}, {tensor(step.then)})"
        return [f"at::Tensor {step.result} = {flags} ? {then} : {tensor(step.otherwise)};"]
    if isinstance(step, ErrorIf):
        return [f"TORCH_CHECK(!{step.flag}, {quoted(step.message)});"]
    if isinstance(step, Overlap):
        check = "check_overlap" if step.every else "check_partial_overlap"
        base, written, read = (
            linked(of, chain, plan.called, plain)
            for of, chain in ((tensor(step.base), step.common), ("base", step.written), ("base", step.read))
        )
        if step.assigns:
            read = f"graph::assigned({read}, {written})"
        return [f"graph::{check}({base}, {lambda_of(written)}, {lambda_of(read)});"]
    if isinstance(step, ErrorIfRequiresGrad):
        return [f"TORCH_CHECK(!({needs_text(plan.refusals[index])}), {quoted(step.message)});"]
    return _apply(plan, step, records)


def _without_history(plan: GraphPlan, step: Apply | Scatter) -> bool:
    """Whether a step is one under no_grad in a forward that autograd records."""
    return plan.once == "" and not step.grad


def without_grad(text: str) -> str:
    """A call that autograd does not record."""
    return f"graph::without_grad([&] {{ return {text}; }})"


def lambda_of(body: str) -> str:
    """The C++ lambda that returns the expression `body` of its parameter `base`."""
    return f"[&](const at::Tensor& base) {{ return {body}; }}"


def _apply(plan: GraphPlan, step: Apply, records: Mapping[str, CallBlock]) -> list[str]:
    block = records.get(_first(step))
    if block is not None:
        return [*_recorded(plan, block), *_gates(plan, step, block.record)]
    if step.identity in plan.callees:
        return [*_unrecorded(plan, step), *_gates(plan, step)]
    clones = dict(step.clones)
    lines = [f"at::Tensor {clone} = graph::copied({tensor(step.arguments[name])});" for name, clone in clones.items()]
    arguments = {**step.arguments, **{name: Ref(clone) for name, clone in clones.items()}}
    signature = (plan.original if clones else plan.called)[step.identity]
    text = _in_region(step, _assignment(signature, arguments) if step.assigns else call(signature, arguments))
    if signature.operator == COPY and plan.once == "":
        text = text.replace("at::_ops::copy::call(", "graph::copy(", 1)
    if signature.operator in BATCH_NORMS:
        text = f"graph::of_batch({tensor(step.arguments['input'])}, [&] {{ return {text}; }})"
    if step.shares and not step.results[0].type.endswith("]"):
        text = f"graph::sharing({text}, {tensor(step.shares[0])})"
    if step.written is not None:
        text = f"graph::written({tensor(step.written)}, {text})"
    if _without_history(plan, step) and signature.operator not in CUT:
        text = without_grad(text)
        text = text if step.written is None else f"graph::overwritten({tensor(step.written)}, {text})"
    after = [
        f"graph::check_out({clones[name]}, {tensor(step.arguments[name])}, {str(grows).lower()});"
        for name, grows in step.sized.items()
    ]
    return [*lines, *_results(step, text), *after, *_gates(plan, step)]


def _in_region(step: Apply, text: str) -> str:
    """A call within its region of autocast."""
    if not step.autocast:
        return text
    device, dtype = step.autocast
    region = f"{constant(Constant('Device', device))}, {constant(Constant('ScalarType', dtype))}"
    return f"graph::autocast({region}, [&] {{ return {text}; }})"


def _gates(plan: GraphPlan, step: Apply, record: str = "") -> list[str]:
    """The statements that decide which results of a call need a gradient. `record`: the name of a recorded call."""
    lines = []
    for i, result in enumerate(step.results):
        gate = plan.gates.get(result.name)
        if gate is not None:
            whether = f"({needs_text(gate.needs)}) && graph::differentiable({result.name})"
            if record:
                whether = f"graph::has_history(saved.{record}{'' if result.type.endswith(']') else f', {i}'})"
            lines.append(f"needs[{gate.place}] = saved.gate_{result.name} = {whether};")
    return [*lines, f"{plan.name}_unite(needs);"] if lines and plan.unions else lines


def _assignment(signature: Signature, arguments: Mapping[str, Value]) -> str:
    """The copy for `x[…] = value`."""
    value = f"graph::assigned({tensor(arguments['src'])}, {tensor(arguments['self'])})"
    return call(signature, {**arguments, "src": Ref("\0")}, lambda name: value if name == "\0" else plain(name))


def _results(step: Apply, text: str) -> list[str]:
    names = [result.name for result in step.results]
    checked = [
        f"graph::check_unpacked({r.name}, {r.length});"
        for r in step.results
        if r.length is not None and r.type.endswith("]")
    ]
    if not names:
        return [f"{text};"]
    if len(names) == 1:
        type_ = step.results[0].type
        const = "" if type_.startswith("Tensor") else "const "
        return [f"{const}{result_type(type_)} {names[0]} = {text};", *checked]
    return [f"auto [{', '.join(names)}] = {text};", *checked]


def result_type(type_: str) -> str:
    """The C++ type of a result."""
    if type_ in ("Tensor", "Tensor?"):
        return "at::Tensor"
    return tensor_type(listed=True) if type_.startswith("Tensor") else NUMBER_TYPES.get(type_, "auto")


def _recorded(plan: GraphPlan, block: CallBlock) -> list[str]:
    """The call of a composite operator, which the library's autograd records."""
    step, record = block.step, block.record
    signature = (plan.original if step.clones else plan.called)[step.identity]
    inputs, inside = _recorded_inputs(plan, step, signature, block.viewed)
    end = f", {inputs.among(block.overwritten)}" if block.overwritten else ""
    end = f"{end or ', {}'}, true)" if step.autocast else f"{end})"
    if step.identity in plan.callees:
        head = f"graph::record(saved.{record}, {inputs.tensors}, {inputs.needs}, [&](std::vector<at::Tensor>& given)"
        return callees.called(step, f"{record}_results", head, callees.body(plan, step, inside, "given"), end)
    text = _in_region(step, call(signature, {**step.arguments, **inside}))
    smaller = RECORDED_WITH_DROPOUT.get(signature.operator)
    if smaller and not _draws_nothing(step):
        text = text.replace(f"at::_ops::{signature.struct}::call(", f"graph::{smaller}(", 1)
    body = _on_clones(step, text, inside) if step.clones else f"return {text};"
    inner = f"[&](std::vector<at::Tensor>& given) {{ {body} }}"
    listed = f"graph::record(saved.{record}, {inputs.tensors}, {inputs.needs}, {inner}{end}"
    names = [r.name for r in step.results] + [clone for _, clone in step.clones]
    if step.results and step.results[0].type.endswith("]"):
        length = step.results[0].length
        checked = [] if length is None else [f"graph::check_unpacked({names[0]}, {length});"]
        return [f"std::vector<at::Tensor> {names[0]} = {listed};", *checked]
    if len(names) == 1:
        one = f"graph::sharing({listed}[0], {tensor(step.shares[0])})" if step.shares else f"{listed}[0]"
        return [f"at::Tensor {names[0]} = {one};"]
    lines = [f"std::vector<at::Tensor> {record}_results = {listed};"]
    return lines + [f"at::Tensor {name} = std::move({record}_results[{i}]);" for i, name in enumerate(names)]


_DRAWN = ("p", "dropout", "dropout_p")  # arguments that are 0 if an operator draws no random numbers after all
_TRAINED = ("train", "training")  # and those that are False then


def _draws_nothing(step: Apply) -> bool:
    """Whether the arguments of an operator that can draw random numbers say that it does not: dropout by 0."""
    given = step.arguments
    return any(given.get(name) in (Float(0.0), Int(0)) for name in _DRAWN) or any(
        given.get(name) == Bool(False) for name in _TRAINED
    )


def _unrecorded(plan: GraphPlan, step: Apply) -> list[str]:
    """The call of a callee that no gradient needs."""
    inputs, _ = _recorded_inputs(plan, step, plan.called[step.identity], {})
    lines = callees.body(plan, step, {}, inputs.tensors if inputs.any else "std::vector<at::Tensor>()")
    return callees.called(step, f"{_first(step)}_results", "graph::without_grad([&]() -> variable_list", lines, ")")


_TENSORS = (Ref, Item, Many)


def _recorded_inputs(
    plan: GraphPlan, step: Apply, signature: Signature, viewed: Mapping[str, tuple[Value, ...]]
) -> tuple[_RecordedInputs, dict[str, Value]]:
    """The tensor arguments of a call that may be recorded, and the arguments' values inside of the call, by name.

    `viewed`: the arguments that are views, and what they may be of: what autograd saves of them has its version.
    """
    inputs, inside = _RecordedInputs(plan, viewed), {}
    for parameter in signature.parameters:
        value = step.arguments.get(parameter.name)
        if "at::Tensor" not in parameter.type and "TensorList" not in parameter.type:
            continue
        if isinstance(value, _TENSORS):
            inside[parameter.name] = inputs.take(value, listed="List" in parameter.type)
        else:
            inputs.skip()
    return inputs, inside


def _on_clones(step: Apply, text: str, inside: dict[str, Value]) -> str:
    """The body of a recorded call that writes to copies of some arguments; it returns its results, then the copies."""
    written = [tensor(inside[name]) for name, _ in step.clones]
    copied = "".join(f"{name} = graph::copied({name}); " for name in written)
    made = f"auto made = graph::flat({text});" if step.results else f"{text}; std::vector<at::Tensor> made;"
    return f"{copied}{made}{''.join(f' made.push_back({name});' for name in written)} return made;"


class _RecordedInputs:
    """The tensor arguments of a recorded call, in one list, and which of them need a gradient."""

    def __init__(self, plan: GraphPlan, viewed: Mapping[str, tuple[Value, ...]]) -> None:
        self._plan, self._viewed = plan, viewed
        self._values: list[Value] = []
        self._tensors: list[str] = []
        self._needs: list[str] = []
        self._whole = ""

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self._tensors)

    @property
    def tensors(self) -> str:
        """The C++ expression for the tensors."""
        return self._whole or f"{{{', '.join(self._tensors)}}}"

    @property
    def needs(self) -> str:
        """The C++ expression for whether each needs a gradient."""
        if self._whole:
            return f"std::vector<bool>({tensor(self._values[0])}.size(), {self._needs[0]})"
        return f"{{{', '.join(self._needs)}}}"

    def among(self, values: tuple[Value, ...]) -> str:
        """The C++ expression for whether each is one of `values`."""
        return f"{{{', '.join(str(each in values).lower() for each in self._values)}}}"

    def take(self, value: Value, *, listed: bool) -> Value:
        """Adds a value; returns the value that represents it inside the call. A whole list must be the only one."""
        if isinstance(value, Many):
            return Many(tuple(self.skip() if isinstance(each, Nothing) else self._one(each) for each in value.values))
        name = self._one(value)
        if listed:
            self._whole = self._versioned(value, f"graph::list_of({tensor(value)})")
            return Ref("given")
        return name

    def skip(self) -> Value:
        """Adds None, which has a place among the gradients."""
        self._values.append(Nothing())
        self._tensors.append("at::Tensor()")
        self._needs.append("false")
        return Nothing()

    def _versioned(self, value: Value, text: str) -> str:
        for each in self._viewed.get(label(value), ()):
            text = f"graph::sharing({text}, {tensor(each)})"
        return text

    def _one(self, value: Value) -> Value:
        self._values.append(value)
        self._tensors.append(self._versioned(value, tensor(value)))
        self._needs.append(needs_text(self._plan.needs.get(base_of(value), ())))
        return Ref(f"given[{len(self._tensors) - 1}]")
