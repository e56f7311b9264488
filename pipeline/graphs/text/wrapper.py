"""Generates the wrapper's code after the forward: history, copies into mutated inputs, recomputed views."""

from __future__ import annotations

from pipeline.graphs.backward.saved import label
from pipeline.graphs.functional.program import Link, OutputValue, Shared, Shown
from pipeline.graphs.model import Many, Nothing, Ref
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text.expressions.literals import quoted
from pipeline.graphs.text.expressions.values import linked, number
from pipeline.graphs.text.guards import numbers, where
from pipeline.graphs.text.saved import needs_text, owned, tensor_type

# ---- before the forward


def grad_mode(plan: GraphPlan) -> list[str]:
    """The check of a graph that enables gradients itself."""
    named = ", ".join(place.name for place in plan.tensors)
    function = plan.functional.function
    return [f"graph::check_grad_mode({quoted(function.name)}, {{{named}}});"] if function.enables_grad and named else []


# ---- after the forward


def history(plan: GraphPlan) -> dict[str, list[str]]:
    """The statements that give outputs the Node as their history, and the Node its SavedVariables.

    `late`: the SavedVariables of inputs, if metadata of inputs is mutated. That gives an input a new version, and any
    other one that is a view of the same tensor.
    """
    outputs = [
        f"graph::output(results.{each.name}, node, {needs_text(each.needs)});" for each in plan.returned if each.needs
    ]
    variables: list[str] = []
    late: list[str] = []
    into = late if plan.functional.bumped or plan.functional.metadata else variables
    kept = [saved for saved in plan.backward.tensors if saved.how in ("input", "output")]
    for place, saved in enumerate(kept):
        if saved.needs:
            source = f"results.{saved.name}" if saved.how == "output" else _input(saved.name, saved.value)
            output = ", /*is_output=*/true" if saved.how == "output" else ""
            keep = f"node->keep({place}, {source}{output});"
            always = frozenset(saved.needs) == plan.history
            lines = [keep] if always else [f"if ({needs_text(saved.needs)}) {{", f"  {keep}", "}"]
            (variables if saved.how == "output" else into).extend(lines)
    return {"outputs": outputs, "variables": variables, "late": late}


def _input(name: str, value: object) -> str:
    if isinstance(value, Ref):
        return f"graph::some({name})"
    return f"graph::item({value.name}, {value.index})"  # type: ignore[attr-defined]


def updates(plan: GraphPlan) -> list[str]:
    """The statements that copy new values into mutated inputs."""
    lines = []
    for update in plan.functional.updates:
        text = f"graph::some({update.input}).copy_(results.{label(update.value)})"
        mode = "silently" if update.silent else "without_grad"
        written = without = [f"graph::{mode}([&] {{ return {text}; }});"]
        if update.grad:
            always = set(update.conditions) <= set(update.grad)
            written = [f"{text};"] if always else where(plan, update.grad, [f"{text};"], without)
        lines += where(plan, update.conditions, written)
    return lines


class _Views:
    """Recomputes outputs that are views; each step of a chain is made once."""

    def __init__(self, plan: GraphPlan) -> None:
        self.plan = plan
        self.lines: list[str] = []
        self.late: list[str] = []  # statements after the metadata mutations of inputs
        self.names: dict[tuple[str, int], str] = {}

    def shown(self, shown: Shown) -> str:
        """The expression for an output; adds the statements that it needs."""
        plan = self.plan
        if shown.is_input and not isinstance(shown.base, Ref):
            text = f"graph::item({shown.base.name}, {shown.base.index})"  # type: ignore[union-attr]
        else:
            text = label(shown.base) if shown.is_input else f"results.{label(shown.base)}"
        optional = {
            n for g in plan.functional.function.inputs if g.type == "Tensor?" for n in [plan.functional.names[g.name]]
        }
        if text in optional:
            text = f"graph::some({text})"
        if shown.is_input and shown.listed and not shown.chain:
            text = f"{text}.vec()"
        skipped = self._metadata_links(shown)
        copies = {copied.step: copied for copied in shown.copies}
        for i, (link, which) in enumerate(zip(shown.chain, shown.which, strict=True)):
            later = shown.chain[i + 1].item is not None if i + 1 < len(shown.chain) else shown.listed
            if i >= skipped and not link.is_itself:
                late = bool(skipped) or i >= shown.early
                text = self._step(text, link, listed=link.item is None and later, which=which, late=late)
            if copied := copies.get(i + 1):
                text = f"({numbers(plan)(copied.flag)} ? {text} : results.{label(copied.value)})"
        return text

    def _metadata_links(self, shown: Shown) -> int:
        """The number of first links that are metadata mutations of the input itself; the view is made after them."""
        base = shown.base.name if shown.is_input and isinstance(shown.base, Ref) else ""
        done = tuple(link for name, link in self.plan.functional.metadata if name == base)
        return len(done) if done and shown.chain[: len(done)] == done else 0

    def _step(self, base: str, link: Link, *, listed: bool, which: int, late: bool) -> str:
        text = linked(base, (link,), self.plan.called, numbers(self.plan), modes=True)
        key = (text, which)
        if key not in self.names:
            name = f"view_{len(self.names) + 1}"
            type_ = tensor_type(listed=listed)
            (self.late if late else self.lines).append(f"const {type_} {name}_of_base = {text};")
            self.names[key] = f"{name}_of_base"
        return self.names[key]


def views_and_return(plan: GraphPlan) -> tuple[list[str], list[str], str]:
    """The statements that make output views before and after metadata mutations of inputs; the return statement."""
    views = _Views(plan)
    texts = [_output(plan, views, output) for output in plan.functional.outputs]
    if not texts:
        return views.lines, views.late, "return;"
    if len(texts) == 1:
        return views.lines, views.late, f"return {texts[0]};"
    return views.lines, views.late, f"return {{{', '.join(texts)}}};"


def _output(plan: GraphPlan, views: _Views, value: OutputValue) -> str:
    types = {plan.functional.names[each.name]: each.type for each in plan.functional.function.inputs}
    if isinstance(value, Shared):
        return f"std::vector<at::Tensor>{{{', '.join(views.shown(each) for each in value.items)}}}"
    if isinstance(value, Shown):
        return views.shown(value)
    if isinstance(value, Many):
        return f"{{{', '.join(number(v, numbers(plan)) for v in value.values)}}}"
    if isinstance(value, Ref) and value.name in types:
        return owned(value.name, types[value.name], None)
    return "std::nullopt" if isinstance(value, Nothing) else number(value, numbers(plan))
