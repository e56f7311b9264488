"""Renders the kernels of a function and their registrations, by dispatch key."""

from __future__ import annotations

from pipeline.cpp.kernel_names import DEFAULT_KEY
from pipeline.families.variable_type.call_text import call, unpack
from pipeline.families.variable_type.files import definition_of, registration_of
from pipeline.families.variable_type.forward_text import forward
from pipeline.families.variable_type.node_text import KERNEL, after_all, before_call, history
from pipeline.families.variable_type.plan.kernel import FunctionPlan, Kernel
from pipeline.releases.model import Release


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
