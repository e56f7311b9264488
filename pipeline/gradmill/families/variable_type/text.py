"""Renders the kernels of a function and their registrations, by dispatch key: the call that a kernel makes, with the
checks of debug builds around it, and forward mode."""

from __future__ import annotations

from msgspec.structs import asdict

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.families.sections import Sections, Text
from gradmill.families.template import GAP
from gradmill.families.variable_type.files import definition_of, registration_of
from gradmill.families.variable_type.node_text import KERNEL, after_all, before_call, history
from gradmill.families.variable_type.plan.call import KernelCall, Result, Unpacked
from gradmill.families.variable_type.plan.forward import Operand, Refusal, TangentFormula
from gradmill.families.variable_type.plan.kernel import FunctionPlan, Kernel
from gradmill.releases.model import JIT_DECOMPOSITION, STORAGE_USE_COUNT, Release

_CALL, _FORWARD = Text("variable_type/call.cpp"), Text("variable_type/forward.cpp")


def render(plan: FunctionPlan, release: Release) -> dict[str, str]:
    """The pieces of a function, by name."""
    text = KERNEL.of(release)
    if not plan.kernels:
        return {registration_of(DEFAULT_KEY): text["fallback"].fill({"operator": plan.operator})}
    pieces = {}
    for kernel in plan.kernels:
        named = {"operator": plan.operator, "name": kernel.name}
        pieces[definition_of(kernel.dispatch_key)] = definition(kernel, release)
        pieces[registration_of(kernel.dispatch_key)] = text["registration"].fill(named)
    return pieces


def definition(kernel: Kernel, release: Release) -> str:
    """One kernel."""
    return KERNEL.of(release)["kernel"].fill(
        {
            "returns": kernel.returns,
            "name": kernel.name,
            "parameters": ", ".join(("c10::DispatchKeySet ks", *kernel.parameters)),
            "body": _body(kernel, release),
        }
    )


def _body(kernel: Kernel, release: Release) -> list[str]:
    tracking = kernel.tracking
    body = [unpack(argument) for argument in kernel.unpacked]
    if tracking is not None:
        body += before_call(tracking, kernel.flags, release)
    body += call(kernel.call, release)
    if tracking is not None:
        body += history(tracking, release)
    body += forward(kernel.forward, release)
    if tracking is not None:
        body += after_all(tracking, release)
    if kernel.resets_accumulator:
        body.append("reset_grad_accumulator(self);")
    if kernel.result:
        body.append(f"return {kernel.result};")
    return body


# ---- the call


def unpack(argument: Unpacked) -> str:
    """The line that unpacks an argument."""
    reference = "" if argument.is_list else "&"
    return f'auto{reference} {argument.name}_ = unpack({argument.name}, "{argument.name}", {argument.position});'


def call(plan: KernelCall, release: Release) -> list[str]:
    """The call, between its checks."""
    text = _CALL.of(release)
    called = _call(plan, text, release)
    if not plan.checked:
        return [called]
    before = [text[f"before_{kind}"].fill({"name": name}) for name, kind in plan.checked]
    after = [text[f"after_{kind}"].fill({"name": name}) for name, kind in plan.checked]
    after += [check for result in plan.returned for check in _checks(result, plan.kernel, text, release)]
    debug_only = text["debug_only"]
    return [debug_only.fill({"statements": before}), called, debug_only.fill({"statements": after})]


def _call(plan: KernelCall, text: Sections, release: Release) -> str:
    below = "AutoDispatchBelowAutograd" if plan.below_autograd else "AutoDispatchBelowADInplaceOrView"
    arguments = ", ".join(("ks & c10::after_autograd_keyset", *plan.arguments))
    values = {"guard": f"at::{below} guard;", "call": f"{plan.function}({arguments})"}
    if not plan.results:
        return text["call"].fill(values)
    several = len(plan.results) > 1
    values["results"] = f"[{', '.join(plan.results)}]" if several else plan.results[0]
    values["value"] = "std::move(_tmp)" if plan.moves else "_tmp"
    decomposition = plan.decomposition
    if decomposition is None:
        return text["call_for_results"].fill(values)
    if JIT_DECOMPOSITION in release.left_out:
        return text["call_not_decomposed"].fill(values)
    values |= {**asdict(decomposition), "arguments": ", ".join(decomposition.arguments)}
    return text["call_or_decompose"].fill(values)


def _checks(result: Result, kernel: str, text: Sections, release: Release) -> list[str]:
    checks = []
    if result.aliased:
        checks.append(text["same_storage"].fill({"name": result.aliased, "other": result.name}))
    if result.own_storage:
        check = text["own_storage"].fill({"name": result.name, "kernel": kernel})
        checks.append(GAP if STORAGE_USE_COUNT in release.left_out else check)
    if result.own_tensor:
        checks.append(text["own_tensor"].fill({"name": result.name, "kernel": kernel}))
    return checks


# ---- forward mode


def forward(plan: tuple[TangentFormula, ...] | Refusal, release: Release) -> list[str]:
    """The code that computes all tangents of outputs and then sets them; or the refusal."""
    text = _FORWARD.of(release)
    if isinstance(plan, Refusal):
        return [_refusal(plan, text)]
    setters = [setter for formula in plan for setter in _setters(formula, text)]
    return [*(_formula(formula, text) for formula in plan), "\n".join(setters)]


def _refusal(plan: Refusal, text: Sections) -> str:
    why = text["why_out" if plan.is_out else "why_missing"].fill({}).rstrip("\n")
    return text["refusal"].fill({**asdict(plan), "why": why})


def _formula(plan: TangentFormula, text: Sections) -> str:
    operands = [_operand(operand, text) for operand in plan.operands]
    if plan.clones_tangent:
        operands.append(text["cloned_tangent"].fill({}))
    return text["formula_by_member" if plan.by_member else "formula"].fill(
        {**asdict(plan), "outputs": "_".join(plan.outputs), "operands": operands}
    )


def _operand(operand: Operand, text: Sections) -> str:
    values = asdict(operand)
    lines = text["tangent"].fill(values) if operand.zeros else ""
    if operand.wraps:
        lines += text["wrapped_number"].fill(values)
    return lines + text["primal"].fill(values) if operand.primal else lines


def _setters(plan: TangentFormula, text: Sections) -> list[str]:
    if plan.several:
        return [
            text["set_one_of"].fill({"outputs": "_".join(plan.outputs), "output": output, "index": i})
            for i, output in enumerate(plan.outputs)
        ]
    section = "set_list" if plan.is_list else "set_by_member" if plan.by_member else "set"
    return [text[section].fill({"output": plan.outputs[0], "inplace": "true" if plan.inplace else "false"})]
