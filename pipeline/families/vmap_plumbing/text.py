"""Renders the function by which vmap calls the batching rule of one operator."""

from __future__ import annotations

from pipeline.families.sections import Sections, Text
from pipeline.families.vmap_plumbing.plan import PlumbingPlan, Value
from pipeline.releases.model import Release

_TEXT = Text("vmap_plumbing/plumbing.cpp")
_SCRIPTS = {
    "functional": "gen_vmap_plumbing",
    "inplace": "gen_vmap_inplace_plumbing",
    "no_returns": "gen_vmap_plumbing_no_returns",
}


def definition(plan: PlumbingPlan | None, release: Release) -> str:
    """The function; "" for an operator without one."""
    if plan is None:
        return ""
    text, signature = _TEXT.of(release), plan.signature
    batched = [f"!isBatchedAtLevel({a.name}, cur_level)" for a in plan.arguments if a.is_tensor_like]
    return text["plumbing"].fill(
        {
            "returns": signature.returns,
            "struct": signature.struct,
            "parameters": [f"{p.type} {p.name}" for p in signature.parameters],
            "arguments": [p.name for p in signature.parameters],
            "rule": _SCRIPTS[plan.form],
            "unbatched": " && ".join(batched),
            "unwraps": _unwraps(plan, text),
            "call": _call(plan),
        }
    )


def _unwraps(plan: PlumbingPlan, text: Sections) -> list[str]:
    """The statements that split tensors into values and batch dimensions: those of optional tensors come last."""
    return [
        text[f"unwrap_{kind}"].fill({"name": a.name})
        for kind in ("tensor", "optional")
        for a in plan.arguments
        if a.kind == kind
    ]


def _call(plan: PlumbingPlan) -> list[str]:
    """The call of the batching rule, and what the function returns."""
    passed = [f"{a.name}_value, {a.name}_bdim" if a.kind in ("tensor", "optional") else a.name for a in plan.arguments]
    call = f"batch_rule({', '.join(passed)});"
    if plan.form == "functional":
        return [f"auto results = {call}", _returned(plan.returns)]
    return [call, f"return {plan.arguments[0].name};"] if plan.form == "inplace" else [call]


def _returned(returns: tuple[Value, ...]) -> str:
    results, at = [], 0
    for each in returns:
        if each.kind in ("tensor", "list"):
            make = "makeBatched" if each.kind == "tensor" else "makeBatchedVector"
            results.append(f"{make}(std::get<{at}>(results), std::get<{at + 1}>(results), cur_level)")
            at += 2
        else:
            results.append(f"std::get<{at}>(results)")
            at += 1
    return f"return {results[0]};" if len(results) == 1 else f"return std::make_tuple({', '.join(results)});"
