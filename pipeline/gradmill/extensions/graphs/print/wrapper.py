"""Lowers the wrapper: what comes before the forward, history, copies into mutated inputs, recomputed views."""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.extensions.graphs.ir import Code, Do, Let, Return, Stmt, When, code, separated
from gradmill.extensions.graphs.model import Item, Many, Nothing, Ref, Value
from gradmill.extensions.graphs.passes.functionalize.program import Link, OutputValue, Shared, Shown
from gradmill.extensions.graphs.passes.keep.aliases import label
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print import guards
from gradmill.extensions.graphs.print.expressions import linked, number, quoted, without_grad
from gradmill.extensions.graphs.print.guards import RETURN, numbers, result, where
from gradmill.extensions.graphs.print.saved import needed, needs_text, owned, tensor_type


def before_forward(plan: GraphPlan) -> list[Stmt]:
    """The statements up to the call of the forward: a variant, guards, checks, which inputs need a gradient."""
    inputs, more = ", ".join(plan.tensors), len(plan.needs.rows)
    needs = f"{quoted(plan.functional.function.name)}, {{{inputs}}}{f', {more}' if more else ''}"
    return [
        *_grad_mode(plan),
        *guards.dispatch(plan),
        *guards.guards(plan),
        Let("auto", ("needs",), code("graph::needs_of($)", needs)),
        Do(code("$_saved saved", plan.name)),
        *rows(plan),
        *guards.checks(plan, late=False),
    ]


def _grad_mode(plan: GraphPlan) -> list[Stmt]:
    """The check of a graph that enables gradients itself."""
    named = ", ".join(plan.tensors)
    function = plan.functional.function
    check = Do(code("graph::check_grad_mode($, {$})", quoted(function.name), named))
    return [check] if function.enables_grad and named else []


def rows(plan: GraphPlan) -> list[Stmt]:
    """The statement that computes the rows, of the forward or of the backward."""
    return [Do(code("$_rows(needs, saved)", plan.name))] if plan.needs.rows else []


def run_forward(plan: GraphPlan, *, has_results: bool) -> Stmt:
    """The statement that runs the forward."""
    inputs = plan.functional.inputs.items()
    passed = {name: f"graph::some({name})" if input_.type == "Tensor?" else name for name, input_ in inputs}
    if plan.is_recorded:  # what autograd saves has to stay as it is
        passed |= {changed: f"graph::unchanged({passed[changed]})" for changed in plan.functional.changed}
    given = "".join(f"{text}, " for text in passed.values())
    recorded = f", {needs_text(plan.history)}" if plan.is_recorded else ""
    call = code("graph::run([&] { return $_forward($needs, saved); }$)", plan.name, given, recorded)
    return Let("const auto", ("results",), call) if has_results else Do(call)


def after_forward(plan: GraphPlan) -> list[Stmt]:
    """The statements after the call of the forward: history, updates of inputs, views, the return."""
    early, late, returned = _views_and_return(plan)
    attached, of_inputs = _history(plan)
    return [
        *guards.checks(plan, late=True),
        *attached,
        *_updates(plan),
        *early,
        *guards.bumps(plan),
        *guards.metadata(plan),
        *late,
        *([When(code("node"), of_inputs)] if of_inputs else []),
        returned,
    ]


def _history(plan: GraphPlan) -> tuple[list[Stmt], tuple[Stmt, ...]]:
    """The statements that give outputs a new Node as their history, and the Node its SavedVariables.

    The second ones are for inputs, if metadata of inputs is mutated. That gives an input a new version, and any other
    one that is a view of the same tensor.
    """
    outputs = [
        Do(code("graph::output($, node, $)", result(each.name), needs_text(each.needs)))
        for each in plan.returned
        if each.needs
    ]
    variables: list[Stmt] = []
    late: list[Stmt] = []
    into = late if plan.functional.bumped or plan.functional.metadata else variables
    for place, saved in enumerate(plan.backward.kept):
        if saved.needs:
            source = result(saved.name) if saved.how == "output" else _input(saved.name, saved.value)
            output = ", /*is_output=*/true" if saved.how == "output" else ""
            keep = Do(code("node->keep($, $$)", str(place), source, output))
            statement = keep if frozenset(saved.needs) == plan.history else needed(saved.needs, keep)
            (variables if saved.how == "output" else into).append(statement)
    if not plan.history:
        return [], ()
    made = _made(plan)
    outside = [Do(code("graph::NodePointer<graph::GraphNode> node"))] if late else []
    node = Do(code("node = $", made)) if late else Let("auto", ("node",), made)
    return [*outside, When(code(needs_text(plan.history)), (node, *outputs, *variables))], tuple(late)


def _made(plan: GraphPlan) -> Code:
    """The expression for a new Node: why its backward cannot be differentiated comes last, if it cannot."""
    why = [] if plan.once == "" else [quoted(plan.once) if plan.once else "graph::ONCE"]
    inputs = f"{{{', '.join(plan.tensors)}}}"
    counts = (str(len(plan.tensors) + len(plan.needs.rows)), str(len(plan.backward.kept)))
    passed = [quoted(plan.name), f"{plan.name}_backward", "std::move(saved)", inputs, *counts, *why]
    return code("graph::make_node($)", ", ".join(passed))


def _input(name: str, value: Value) -> Code:
    if isinstance(value, Item):
        return code("graph::item($, $)", value.name, str(value.index))
    return code("graph::some($)", name)


def _updates(plan: GraphPlan) -> list[Stmt]:
    """The statements that copy new values into mutated inputs."""
    statements: list[Stmt] = []
    for update in plan.functional.updates:
        copied = code("graph::some($).copy_($)", update.input, result(label(update.value)))
        silent = code("graph::silently([&] { return $; })", copied) if update.silent else without_grad(copied)
        written: Sequence[Stmt] = [Do(silent)]
        if update.grad:
            always = set(update.conditions) <= set(update.grad)
            recorded = [Do(copied)]
            written = recorded if always else where(plan, update.grad, recorded, written)
        statements += where(plan, update.conditions, written)
    return statements


class _Views:
    """Recomputes outputs that are views; each step of a chain is made once."""

    def __init__(self, plan: GraphPlan) -> None:
        self.plan = plan
        self.early: list[Stmt] = []
        self.late: list[Stmt] = []  # statements after the metadata mutations of inputs
        self.views: dict[tuple[Code, int], Code] = {}

    def shown(self, shown: Shown) -> Code:
        """The expression for an output; adds the statements that it needs."""
        value = self._base(shown)
        skipped = self._metadata_links(shown)
        copies = {copied.step: copied for copied in shown.copies}
        for i, (link, which) in enumerate(zip(shown.chain, shown.which, strict=True)):
            later = shown.chain[i + 1].item is not None if i + 1 < len(shown.chain) else shown.listed
            if i >= skipped and not link.is_itself:
                late = bool(skipped) or i >= shown.early
                value = self._step(value, link, listed=link.item is None and later, which=which, late=late)
            if copied := copies.get(i + 1):
                copy = result(label(copied.value))
                value = code("($ ? $ : $)", numbers(self.plan)(copied.flag), value, copy)
        return value

    def _base(self, shown: Shown) -> Code:
        base = shown.base
        if not shown.is_input:
            return result(label(base))
        if isinstance(base, Item):
            return _input("", base)
        name = label(base)
        if self.plan.functional.inputs[name].type == "Tensor?":
            return _input(name, base)
        return code("$.vec()" if shown.listed and not shown.chain else "$", name)

    def _metadata_links(self, shown: Shown) -> int:
        """The number of first links that are metadata mutations of the input itself; the view is made after them."""
        base = shown.base.name if shown.is_input and isinstance(shown.base, Ref) else ""
        done = tuple(link for name, link in self.plan.functional.metadata if name == base)
        return len(done) if done and shown.chain[: len(done)] == done else 0

    def _step(self, base: Code, link: Link, *, listed: bool, which: int, late: bool) -> Code:
        value = linked(base, (link,), self.plan.operators, numbers(self.plan), modes=True)
        key = (value, which)
        if key not in self.views:
            name = f"view_{len(self.views) + 1}_of_base"
            made = Let(f"const {tensor_type(listed=listed)}", (name,), value)
            (self.late if late else self.early).append(made)
            self.views[key] = code(name)
        return self.views[key]


def _views_and_return(plan: GraphPlan) -> tuple[list[Stmt], list[Stmt], Stmt]:
    """The statements that make output views before and after metadata mutations of inputs; the return statement."""
    views = _Views(plan)
    values = [_output(plan, views, output) for output in plan.functional.outputs]
    if not values:
        return views.early, views.late, RETURN
    returned = values[0] if len(values) == 1 else code("{$}", separated(values))
    return views.early, views.late, Return(returned)


def _output(plan: GraphPlan, views: _Views, value: OutputValue) -> Code:
    inputs = plan.functional.inputs
    if isinstance(value, Shared):
        return code("std::vector<at::Tensor>{$}", separated(map(views.shown, value.items)))
    if isinstance(value, Shown):
        return views.shown(value)
    if isinstance(value, Many):
        return code("{$}", separated(number(v, numbers(plan)) for v in value.values))
    if isinstance(value, Ref) and value.name in inputs:
        return owned(code(value.name), inputs[value.name].type, None)
    return code("std::nullopt") if isinstance(value, Nothing) else number(value, numbers(plan))
