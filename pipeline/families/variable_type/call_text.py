"""Renders the call that a kernel makes, with the checks of debug builds around it."""

from __future__ import annotations

from msgspec.structs import asdict

from pipeline.families.sections import Sections, Text
from pipeline.families.template import GAP
from pipeline.families.variable_type.plan.call import KernelCall, Result, Unpacked
from pipeline.releases.model import JIT_DECOMPOSITION, STORAGE_USE_COUNT, Release

_TEXT = Text("variable_type/call.cpp")


def unpack(argument: Unpacked) -> str:
    """The line that unpacks an argument."""
    reference = "" if argument.is_list else "&"
    if argument.as_it_is:
        return f"auto{reference} {argument.name}_ = {argument.name};"
    return f'auto{reference} {argument.name}_ = unpack({argument.name}, "{argument.name}", {argument.position});'


def call(plan: KernelCall, release: Release) -> list[str]:
    """The call, between its checks."""
    text = _TEXT.of(release)
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
