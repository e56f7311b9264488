"""Lowers the forward to statements: those of each step, and those that save values for the backward."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest

from gradmill.cpp.dispatcher import Signature
from gradmill.extensions.graphs.ir import Code, Do, Let, Stmt, Title, When, code, merged, separated, variable
from gradmill.extensions.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Value
from gradmill.extensions.graphs.passes.functionalize.program import (
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
from gradmill.extensions.graphs.passes.gradients import CallBlock
from gradmill.extensions.graphs.passes.keep.aliases import label
from gradmill.extensions.graphs.passes.needs import Row
from gradmill.extensions.graphs.passes.schedule import with_frees
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print import callees
from gradmill.extensions.graphs.print.expressions import (
    GIVEN,
    NUMBER_TYPES,
    all_of,
    call,
    computed,
    constant,
    lambda_of,
    linked,
    local,
    quoted,
    tensor,
    with_given,
    without_grad,
)
from gradmill.extensions.graphs.print.saved import base_of, needed, needs_text, saved_by_step, tensor_type
from gradmill.extensions.graphs.scalars import GUARDS
from gradmill.extensions.graphs.traits import BATCH_NORMS, COPY, CUT, RECORDED_WITH_DROPOUT, STRIDED
from gradmill.model.layers import entry_operator


def statements(plan: GraphPlan) -> list[Stmt]:
    """The statements of the forward; each value is saved right after the step that computes it."""
    saved = saved_by_step(plan)
    records = {_first(b.step): b for b in plan.backward.blocks if isinstance(b, CallBlock) and b.record}
    steps = [merged(saved.get(None, ()))]
    for index, step in enumerate(plan.functional.steps):
        where = f", {step.place.shown}" if step.place.shown else ""
        steps.append([Title(f"{_title(step)}{where}"), *_step(plan, index, step, records), *saved.get(index, ())])
    kept = names_in(tuple(each.value for each in plan.returned))
    return with_frees(map(merged, steps), {name for name in _tensors(plan) if name not in kept})


def _tensors(plan: GraphPlan) -> list[str]:
    """The tensors, and lists of these, that the forward computes."""
    computed = (each for s in plan.functional.steps if not isinstance(s, Number) for each in values_of(s).items())
    return [name for name, type_ in computed if type_.startswith("Tensor")]


def _first(step: Apply) -> str:
    """The first value that a call computes, which identifies the call."""
    return next(iter(step.values), "")


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


def _step(plan: GraphPlan, index: int, step: Step, records: Mapping[str, CallBlock]) -> list[Stmt]:
    if isinstance(step, Number) and step.op in GUARDS:
        return [Do(computed(step))]
    if isinstance(step, Number):
        return [Let(f"const {NUMBER_TYPES[step.result.type]}", (step.result.name,), computed(step))]
    if isinstance(step, Scatter):
        return [Let("at::Tensor", (step.result,), _scattered(plan, step)), *_gates(plan, [step.result])]
    if isinstance(step, Choose):
        then = code("graph::sharing($, $)", tensor(step.then), tensor(step.then))
        chosen = code("$ ? $ : $", all_of(step.flags), then, tensor(step.otherwise))
        return [Let("at::Tensor", (step.result,), chosen), *_gates(plan, [step.result])]
    if isinstance(step, ErrorIf):
        return [Do(code("TORCH_CHECK(!$, $)", variable(step.flag.name), quoted(step.message)))]
    if isinstance(step, Overlap):
        check = Do(_overlap(plan, step))
        return [When(all_of(step.flags), (check,))] if step.flags else [check]
    if isinstance(step, ErrorIfRequiresGrad):
        return [Do(code("TORCH_CHECK(!($), $)", needs_text(plan.needs.refusals[index]), quoted(step.message)))]
    return _apply(plan, step, records)


def _scattered(plan: GraphPlan, step: Scatter) -> Code:
    view = lambda_of(linked(code("base"), step.chain, plan.operators, local))
    base = tensor(step.base)
    if any(plan.operators[link.identity].called.operator in STRIDED for link in step.chain if link.identity):
        base = code("graph::whole($)", base)
    function = "scatter_same" if step.same else "scatter"
    value = code("graph::$($, $, $)", function, base, tensor(step.value), view)
    if _without_history(plan, step):
        value = code("graph::overwritten($, $)", tensor(step.base), without_grad(value))
    return code("$ ? $ : $.alias()", all_of(step.flags), value, tensor(step.base)) if step.flags else value


def _overlap(plan: GraphPlan, step: Overlap) -> Code:
    base, written, read = (
        linked(of, chain, plan.operators, local)
        for of, chain in ((tensor(step.base), step.common), (code("base"), step.written), (code("base"), step.read))
    )
    read = code("graph::assigned($, $)", read, written) if step.assigns else read
    check = "check_overlap" if step.every else "check_partial_overlap"
    return code("graph::$($, $, $)", check, base, lambda_of(written), lambda_of(read))


def _without_history(plan: GraphPlan, step: Apply | Scatter) -> bool:
    """Whether a step is one under no_grad in a forward that autograd records."""
    return plan.once == "" and not step.grad


def _apply(plan: GraphPlan, step: Apply, records: Mapping[str, CallBlock]) -> list[Stmt]:
    block, results = records.get(_first(step)), [each.name for each in step.results]
    if block is not None:
        return [*_recorded(plan, block), *_gates(plan, results, _has_history(step, block.record))]
    if plan.operators[step.identity].callee is not None:
        return [*_unrecorded(plan, step), *_gates(plan, results)]
    clones = dict(step.clones)
    copied = ((clone, code("graph::copied($)", tensor(step.arguments[name]))) for name, clone in clones.items())
    copies = [Let("at::Tensor", (clone,), value) for clone, value in copied]
    after = [
        Do(code("graph::check_out($, $, $)", variable(clones[name]), tensor(step.arguments[name]), _bool(grows)))
        for name, grows in step.sized.items()
    ]
    return [*copies, *_results(step, _computed(plan, step)), *_refused(plan, step), *after, *_gates(plan, results)]


def _refused(plan: GraphPlan, step: Apply) -> list[Stmt]:
    """The statements that refuse complex results that need a gradient, of an operator with formulas for real ones."""
    called = plan.operators[step.identity]
    if not called.real or plan.once == "":  # autograd refuses them itself, where it records the forward
        return []
    name, needs = quoted(called.original.operator.rpartition("::")[2].partition(".")[0]), plan.needs.values
    return [
        needed(needs[each.name], Do(code("graph::check_real($, $)", variable(each.name), name)))
        for each in step.results
        if each.name in needs and each.type == "Tensor" and each.dtype in ("", "complex64", "complex128")
    ]


def _computed(plan: GraphPlan, step: Apply) -> Code:
    """The expression for the results of a call that autograd does not record by itself."""
    arguments = {**step.arguments, **{name: Ref(clone) for name, clone in step.clones}}
    signature = plan.operators[step.identity].signature(of_clones=bool(step.clones))
    function = "copy" if signature.operator == COPY and plan.once == "" else None
    value = _in_region(step, _call(step, signature, arguments, function))
    if signature.operator in BATCH_NORMS:
        value = code("graph::of_batch($, [&] { return $; })", tensor(step.arguments["input"]), value)
    if step.shares and not step.results[0].type.endswith("]"):
        value = code("graph::sharing($, $)", value, tensor(step.shares[0]))
    if step.written is not None:
        value = code("graph::written($, $)", tensor(step.written), value)
    if _without_history(plan, step) and signature.operator not in CUT:
        value = without_grad(value)
        value = value if step.written is None else code("graph::overwritten($, $)", tensor(step.written), value)
    return value


def _bool(value: bool) -> str:
    return str(value).lower()


def _in_region(step: Apply, value: Code) -> Code:
    """A call within its region of autocast."""
    if not step.autocast:
        return value
    device, dtype = step.autocast
    region = f"{constant(Constant('Device', device))}, {constant(Constant('ScalarType', dtype))}"
    return code("graph::autocast($, [&] { return $; })", region, value)


def _gates(plan: GraphPlan, results: Iterable[str], histories: Iterable[Code] = ()) -> list[Stmt]:
    """The statements that decide which results of a step need a gradient, and what follows from that. `histories`: of a
    recorded call, the expressions for whether they do."""
    return [
        Do(code("needs[$] = $", str(row.place), _decided(row, history)))
        for result, history in zip_longest(results, histories)
        for row in plan.needs.decided.get(result, ())
    ]


def _decided(row: Row, history: Code | None) -> Code:
    """The expression for a gate, or for a row that follows from it."""
    if not row.gate:
        return code(needs_text(row.any_of))
    whether = history or code("($) && graph::differentiable($)", needs_text(row.any_of), variable(row.gate))
    if row.chosen is not None:
        either = needs_text(row.chosen.then), needs_text(row.chosen.otherwise)
        whether = code("$ ? $ : $", all_of(row.chosen.flags), *either)
    return code("saved.gate_$ = $", row.gate, whether)


def _has_history(step: Apply, record: str) -> list[Code]:
    """The expressions for whether the results of a recorded call have a history."""
    held = variable(f"saved.{record}")
    return [
        code("graph::has_history($$)", held, "" if result.type.endswith("]") else f", {i}")
        for i, result in enumerate(step.results)
    ]


def _call(step: Apply, signature: Signature, arguments: Mapping[str, Value], function: str | None = None) -> Code:
    """The call of a step; for `x[…] = value`, the copy."""
    if not step.assigns:
        return call(signature, arguments, function=function)
    value = code("graph::assigned($, $)", tensor(arguments["src"]), tensor(arguments["self"]))
    return call(signature, {**arguments, "src": GIVEN}, with_given(value), function)


def _results(step: Apply, value: Code) -> list[Stmt]:
    names = tuple(result.name for result in step.results)
    if not names:
        return [Do(value)]
    checked = [_check_length(r.name, r.length) for r in step.results if r.length is not None and r.type.endswith("]")]
    type_ = step.results[0].type
    const = "" if type_.startswith("Tensor") else "const "
    return [Let(f"{const}{result_type(type_)}" if len(names) == 1 else "auto", names, value), *checked]


def _check_length(name: str, length: int) -> Stmt:
    return Do(code("graph::check_unpacked($, $)", variable(name), str(length)))


def result_type(type_: str) -> str:
    """The C++ type of a result."""
    if type_ in ("Tensor", "Tensor?"):
        return "at::Tensor"
    return tensor_type(listed=True) if type_.startswith("Tensor") else NUMBER_TYPES.get(type_, "auto")


def _recorded(plan: GraphPlan, block: CallBlock) -> list[Stmt]:
    """The call of a composite operator, which the library's autograd records."""
    step, record = block.step, block.record
    signature = plan.operators[step.identity].signature(of_clones=bool(step.clones))
    inputs = _RecordedInputs(plan, step, signature, block.viewed)
    inside = inputs.inside
    end = f", {inputs.among(block.overwritten)}" if block.overwritten else ""
    end = f"{end or ', {}'}, true)" if step.autocast else f"{end})"
    begin = code("graph::record($, $, $, ", variable(f"saved.{record}"), inputs.tensors, inputs.needs)
    if plan.operators[step.identity].callee is not None:
        begin = code("$[&](std::vector<at::Tensor>& given)", begin)
        return callees.called(step, f"{record}_results", begin, callees.body(plan, step, inside, code("given")), end)
    smaller = None if _draws_nothing(step) else RECORDED_WITH_DROPOUT.get(signature.operator)
    value = _in_region(step, call(signature, {**step.arguments, **inside}, function=smaller))
    body = _on_clones(step, value, inside) if step.clones else code("return $;", value)
    results = code("$[&](std::vector<at::Tensor>& given) { $ }$", begin, body, end)
    names = [r.name for r in step.results] + [clone for _, clone in step.clones]
    if step.results and step.results[0].type.endswith("]"):
        length = step.results[0].length
        checked = [] if length is None else [_check_length(names[0], length)]
        return [Let("std::vector<at::Tensor>", (names[0],), results), *checked]
    if len(names) == 1:
        value = code("$[0]", results)
        value = code("graph::sharing($, $)", value, tensor(step.shares[0])) if step.shares else value
        return [Let("at::Tensor", (names[0],), value)]
    made = f"{record}_results"
    return [Let("std::vector<at::Tensor>", (made,), results), *callees.taken(made, names)]


_DRAWN = ("p", "dropout", "dropout_p")  # arguments that are 0 if an operator draws no random numbers after all
_TRAINED = ("train", "training")  # and those that are False then


def _draws_nothing(step: Apply) -> bool:
    """Whether the arguments of an operator that can draw random numbers say that it does not: dropout by 0."""
    given = step.arguments
    return any(given.get(name) in (Float(0.0), Int(0)) for name in _DRAWN) or any(
        given.get(name) == Bool(False) for name in _TRAINED
    )


def _unrecorded(plan: GraphPlan, step: Apply) -> list[Stmt]:
    """The call of a callee that no gradient needs."""
    inputs = _RecordedInputs(plan, step, plan.operators[step.identity].called, {})
    lines = callees.body(plan, step, {}, inputs.tensors if inputs.each else code("std::vector<at::Tensor>()"))
    begin = code("graph::without_grad([&]() -> variable_list")
    return callees.called(step, f"{_first(step)}_results", begin, lines, ")")


def _on_clones(step: Apply, value: Code, inside: dict[str, Value]) -> Code:
    """The body of a recorded call that writes to copies of some arguments; it returns its results, then the copies."""
    written = [tensor(inside[name]) for name, _ in step.clones]
    copied = separated((code("$ = graph::copied($); ", name, name) for name in written), "")
    form = "auto made = graph::flat($);" if step.results else "$; std::vector<at::Tensor> made;"
    pushed = separated((code(" made.push_back($);", name) for name in written), "")
    return code("$$$ return made;", copied, code(form, value), pushed)


class _RecordedInputs:
    """The tensor arguments of a call that may be recorded, in one list, and which of them need a gradient; the
    arguments' values `inside` of the call, by name.

    `viewed`: the arguments that are views, and what they may be of: what autograd saves of them has its version.
    """

    def __init__(
        self, plan: GraphPlan, step: Apply, signature: Signature, viewed: Mapping[str, tuple[Value, ...]]
    ) -> None:
        self._plan, self._viewed = plan, viewed
        self._values: list[Value] = []
        self._needs: list[str] = []
        self._whole: Code | None = None
        self.each: list[Code] = []
        self.inside: dict[str, Value] = {}
        for parameter in signature.parameters:
            value = step.arguments.get(parameter.name)
            is_tensor = "at::Tensor" in parameter.type or "TensorList" in parameter.type
            if is_tensor and isinstance(value, (Ref, Item, Many)):
                self.inside[parameter.name] = self._take(value, listed="List" in parameter.type)
            elif is_tensor:
                self._skip()

    @property
    def tensors(self) -> Code:
        """The C++ expression for the tensors."""
        return self._whole or code("{$}", separated(self.each))

    @property
    def needs(self) -> Code:
        """The C++ expression for whether each needs a gradient."""
        if self._whole:
            return code("std::vector<bool>($.size(), $)", tensor(self._values[0]), self._needs[0])
        return code("{$}", ", ".join(self._needs))

    def among(self, values: tuple[Value, ...]) -> str:
        """The C++ expression for whether each is one of `values`."""
        return f"{{{', '.join(_bool(each in values) for each in self._values)}}}"

    def _take(self, value: Value, *, listed: bool) -> Value:
        """Adds a value; returns the value that represents it inside the call. A whole list must be the only one."""
        if isinstance(value, Many):
            return Many(tuple(self._skip() if isinstance(each, Nothing) else self._one(each) for each in value.values))
        name = self._one(value)
        if listed:
            self._whole = self._versioned(value, code("graph::list_of($)", tensor(value)))
            return Ref("given")
        return name

    def _skip(self) -> Value:
        """Adds None, which has a place among the gradients."""
        self._values.append(Nothing())
        self.each.append(code("at::Tensor()"))
        self._needs.append("false")
        return Nothing()

    def _versioned(self, value: Value, text: Code) -> Code:
        for each in self._viewed.get(label(value), ()):
            text = code("graph::sharing($, $)", text, tensor(each))
        return text

    def _one(self, value: Value) -> Value:
        self._values.append(value)
        self.each.append(self._versioned(value, tensor(value)))
        self._needs.append(needs_text(self._plan.needs.values.get(base_of(value), ())))
        return Ref(f"given[{len(self.each) - 1}]")
