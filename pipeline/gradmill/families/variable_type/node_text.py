"""Renders how a kernel gives its results a history: the code before the call, and after it.

torchgen: `gen_variable_type.emit_check_inplace`.
"""

from __future__ import annotations

from gradmill.families.sections import Sections, Text
from gradmill.families.template import Value
from gradmill.families.variable_type.plan.forward import Flag
from gradmill.families.variable_type.plan.node import History, Original, OutSetup, Setup, Tracking
from gradmill.families.variable_type.plan.saving import Save
from gradmill.releases.model import Release

KERNEL = Text("variable_type/kernel.cpp")


def before_call(plan: Tracking, flags: tuple[Flag, ...], release: Release) -> list[str]:
    """The code that tests for required gradients and tangents, rejects unsupported ones, and creates the Node."""
    text = KERNEL.of(release)
    condition = f"_any_requires_grad &= ({plan.condition});" if plan.condition is not None else ""
    statements = [text["requires_grad"].fill({"inputs": plan.inputs, "condition": condition})]
    statements += [piece for flag in flags for piece in _flag(flag, text)]
    statements += [f"check_inplace({name}, _any_requires_grad);" for name in plan.overwritten]
    if plan.original is not None:
        statements += _original(plan.original, text)
    if plan.out is not None:
        statements += _out_setup(plan.out, text)
    if plan.setup is not None:
        statements += _setup(plan.setup, plan.name, text)
    return statements


def history(plan: Tracking, release: Release) -> list[str]:
    """The code that sets the Node of outputs, and rejects complex outputs."""
    text = KERNEL.of(release)
    refused = [f'throw_error_for_complex_autograd({name}, "{plan.base}");' for name in plan.real_only]
    return [_history(plan.history, text), *refused]


def after_all(plan: Tracking, release: Release) -> list[str]:
    """The code that saves outputs and runs the hooks for a new Node."""
    text = KERNEL.of(release)
    saves = _saves(plan.saves, text)
    rebases = plan.history.rebases
    if plan.history.by_member:
        statements = [text["each_grad_fn"].fill({"first": "", "statements": saves})] if saves else []
        grad_fns = "_rebased_fns" if rebases else "grad_fns"
        return [*statements, text["creation_hooks_by_member"].fill({"grad_fns": grad_fns})]
    statements = [text["guarded"].fill({"condition": "grad_fn", "statements": saves})] if saves else []
    return [*statements, text["creation_hooks"].fill({"grad_fn": "_rebased_fn" if rebases else "grad_fn"})]


def _flag(flag: Flag, text: Sections) -> list[str]:
    values = {"flag": flag.name, "condition": flag.condition}
    if not flag.by_member:
        return [text["flag"].fill(values)]
    return [*(text["same_size"].fill({"list": name}) for name in flag.sizes), text["flag_by_member"].fill(values)]


def _original(plan: Original, text: Sections) -> list[str]:
    suffix, index = ("_by_member", "[i]") if plan.by_member else ("", "")
    statements = [text[f"original{suffix}"].fill({})]
    if plan.flags:
        statements.append(
            text[f"clone{suffix}"].fill({"condition": " || ".join(f"{flag}{index}" for flag in plan.flags)})
        )
    return statements


def _out_setup(plan: OutSetup, text: Sections) -> list[str]:
    refusal = text["none_requires_grad"]
    checks = [refusal.fill({"checked": names, "base": plan.base}) for names in (plan.inputs, plan.outputs)]
    return [text["grad_fn"].fill({"node": "Node"}), *checks]


def _setup(plan: Setup, name: str, text: Sections) -> list[str]:
    checks = [f'check_no_requires_grad({unwanted}, "{unwanted}", "{name}");' for unwanted in plan.unwanted]
    values: dict[str, Value] = {"node": plan.node, "constructor": plan.constructor, "edges": plan.edges}
    saves = _saves(plan.saves, text)
    if plan.by_member:
        declared, created = text["grad_fns"].fill(values), text["new_nodes"].fill(values)
        saves = [text["each_grad_fn"].fill({"first": "", "statements": saves})] if saves else []
    else:
        declared, created = text["grad_fn"].fill(values), text["new_node"].fill(values)
        saves += [f"grad_fn->{size}_size_ = {size}.size();" for size in plan.sizes]
    return [*checks, declared, text["setup"].fill({"statements": [created, *saves]})]


def _saves(saves: tuple[Save, ...], text: Sections) -> list[str]:
    lines = []
    for save in saves:
        value = text["optional_string"].fill({"value": save.value}).rstrip("\n") if save.optional_string else save.value
        statements = [f"grad_fn->{save.field} = {value};"]
        if save.original is not None:
            old, own = save.original
            statements.insert(0, f"if (!{old}.has_value()) {old} = {own}.clone();")
        if save.guard is None:
            lines += statements
        else:
            lines.append(text["guarded"].fill({"condition": save.guard, "statements": statements}))
    return lines


def _history(plan: History, text: Sections) -> str:
    verb = "rebase" if plan.rebases else "set"
    if not plan.by_member:
        return text[f"{verb}_history"].fill({"outputs": plan.outputs})
    first = text["members_of_history"].fill({"outputs": plan.outputs})
    statements = text[f"{verb}_history_by_member"].fill({})
    declared = text["rebased_fns"].fill({}) if plan.rebases else ""
    return declared + text["each_grad_fn"].fill({"first": first, "statements": statements})
