"""The C++ by which a kernel gives its results a history, as text: what comes before the call, and after it."""

from __future__ import annotations

from pipeline.families.sections import Text
from pipeline.families.template import Template, Value
from pipeline.families.variable_type.plan.forward import Flag
from pipeline.families.variable_type.plan.node import History, Original, OutSetup, Setup, Tracking
from pipeline.families.variable_type.plan.saving import Save
from pipeline.releases.model import Release

KERNEL = Text("variable_type/kernel.cpp")


def before_call(plan: Tracking, flags: tuple[Flag, ...], release: Release) -> list[str]:
    """Whether a gradient is wanted, whether there are tangents, what must not require one, and the Node."""
    text = KERNEL.of(release)
    condition = f"_any_requires_grad &= ({plan.condition});" if plan.condition is not None else ""
    found = [text["requires_grad"].fill({"inputs": plan.inputs, "condition": condition})]
    found += [piece for flag in flags for piece in _flag(flag, text)]
    found += [f"check_inplace({name}, _any_requires_grad);" for name in plan.overwritten]
    if plan.original is not None:
        found += _original(plan.original, text)
    if plan.out is not None:
        found += _out_setup(plan.out, text)
    if plan.setup is not None:
        found += _setup(plan.setup, plan.name, text)
    return found


def history(plan: Tracking, release: Release) -> list[str]:
    """Who gets the Node, and which outputs must not be complex."""
    text = KERNEL.of(release)
    refused = [f'throw_error_for_complex_autograd({name}, "{plan.base}");' for name in plan.real_only]
    return [_history(plan.history, text), *refused]


def after_all(plan: Tracking, release: Release) -> list[str]:
    """Saved outputs, and the hooks that are told of a new Node."""
    text = KERNEL.of(release)
    saves = _saves(plan.saves, text)
    rebases = plan.history.rebases
    if plan.history.by_member:
        found = [text["each_grad_fn"].fill({"first": "", "statements": saves})] if saves else []
        grad_fns = "_rebased_fns" if rebases else "grad_fns"
        return [*found, text["creation_hooks_by_member"].fill({"grad_fns": grad_fns})]
    found = [text["guarded"].fill({"condition": "grad_fn", "statements": saves})] if saves else []
    return [*found, text["creation_hooks"].fill({"grad_fn": "_rebased_fn" if rebases else "grad_fn"})]


def _flag(flag: Flag, text: dict[str, Template]) -> list[str]:
    values = {"flag": flag.name, "condition": flag.condition}
    if not flag.by_member:
        return [text["flag"].fill(values)]
    return [*(text["same_size"].fill({"list": name}) for name in flag.sizes), text["flag_by_member"].fill(values)]


def _original(plan: Original, text: dict[str, Template]) -> list[str]:
    suffix, index = ("_by_member", "[i]") if plan.by_member else ("", "")
    found = [text[f"original{suffix}"].fill({})]
    if plan.flags:
        found.append(text[f"clone{suffix}"].fill({"condition": " || ".join(f"{flag}{index}" for flag in plan.flags)}))
    return found


def _out_setup(plan: OutSetup, text: dict[str, Template]) -> list[str]:
    refusal = text["none_requires_grad"]
    checks = [refusal.fill({"checked": names, "base": plan.base}) for names in (plan.inputs, plan.outputs)]
    return [text["grad_fn"].fill({"node": "Node"}), *checks]


def _setup(plan: Setup, name: str, text: dict[str, Template]) -> list[str]:
    found = [f'check_no_requires_grad({given}, "{given}", "{name}");' for given in plan.unwanted]
    values: dict[str, Value] = {"node": plan.node, "constructor": plan.constructor, "edges": plan.edges}
    saves = _saves(plan.saves, text)
    if plan.by_member:
        declared, made = text["grad_fns"].fill(values), text["new_nodes"].fill(values)
        saves = [text["each_grad_fn"].fill({"first": "", "statements": saves})] if saves else []
    else:
        declared, made = text["grad_fn"].fill(values), text["new_node"].fill(values)
        saves += [f"grad_fn->{given}_size_ = {given}.size();" for given in plan.sizes]
    return [*found, declared, text["setup"].fill({"statements": [made, *saves]})]


def _saves(saves: tuple[Save, ...], text: dict[str, Template]) -> list[str]:
    found = []
    for save in saves:
        value = text["optional_string"].fill({"value": save.value}).rstrip("\n") if save.optional_string else save.value
        statements = [f"grad_fn->{save.field} = {value};"]
        if save.original is not None:
            old, own = save.original
            statements.insert(0, f"if (!{old}.has_value()) {old} = {own}.clone();")
        if save.guard is None:
            found += statements
        else:
            found.append(text["guarded"].fill({"condition": save.guard, "statements": statements}))
    return found


def _history(plan: History, text: dict[str, Template]) -> str:
    verb = "rebase" if plan.rebases else "set"
    if not plan.by_member:
        return text[f"{verb}_history"].fill({"outputs": plan.outputs})
    first = text["members_of_history"].fill({"outputs": plan.outputs})
    statements = text[f"{verb}_history_by_member"].fill({})
    declared = text["rebased_fns"].fill({}) if plan.rebases else ""
    return declared + text["each_grad_fn"].fill({"first": first, "statements": statements})
