"""Renders functionalization's kernels of a group, their registrations, and the functions that put views back."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import asdict

from gradmill.families.functionalize.mutations import Mutation
from gradmill.families.functionalize.plan import FunctionalizationPlan
from gradmill.families.functionalize.replays import View
from gradmill.families.functionalize.wrapping import KernelSignature
from gradmill.families.sections import Sections, Text
from gradmill.families.template import piece_of
from gradmill.releases.model import Release

_TEXT = Text("functionalize/functionalize.cpp", phrases=True)
_BASE, _MUTATED = "const at::Tensor & base", "const at::Tensor & mutated_view"
_MODE = "at::functionalization::InverseReturnMode inverse_return_mode"


def include(plan: FunctionalizationPlan, release: Release) -> str | None:
    """The `#include`s of the headers of the group's operators."""
    section = _TEXT.of(release)["include"]
    return piece_of(line for base in plan.bases for line in section.fill({"base": base}).split("\n"))


def definition(plan: FunctionalizationPlan, release: Release) -> str | None:
    """The kernels."""
    text = _TEXT.of(release)
    kernels = [*(_mutation(each, text) for each in plan.mutations), *(_view(each, text) for each in plan.views)]
    return piece_of(kernels)


def registration(plan: FunctionalizationPlan, release: Release) -> str | None:
    """The registrations of the kernels."""
    text = _TEXT.of(release)
    of_composed, generated = text["registration_of_composed"], text["registration"]
    return piece_of((of_composed if each.pointer else generated).fill(asdict(each)) for each in plan.registrations)


def inverse(plan: FunctionalizationPlan, release: Release) -> str | None:
    """The declaration of the function that puts a view back, if there is one."""
    if plan.inverse is None:
        return None
    text = _TEXT.of(release)
    index = [text["index"].fill({})] if plan.inverse.is_list else []
    own = [f"{p.type} {p.name}" for p in plan.inverse.parameters]
    parameters = ", ".join((_BASE, _MUTATED, _MODE, *index, *own))
    return text["inverse"].fill({"struct": plan.inverse.struct, "parameters": parameters})


def _kernel(kernel: KernelSignature, text: Sections, *, syncs: bool) -> dict[str, str]:
    """What all kernels print. `syncs`: whether pending writes to tensors are done first."""
    unwrapped = []
    for each in kernel.wrapped:
        sync = text["sync"].fill({"name": each.name}) if syncs else ""
        unwrapped.append(text["unwrap"].fill({**asdict(each), "sync": sync}))
    return {
        "returns": kernel.returns,
        "kernel": kernel.name,
        "parameters": ", ".join(
            ("c10::DispatchKeySet dispatchKeySet", *(f"{p.type} {p.name}" for p in kernel.parameters))
        ),
        "unwrap": "\n      ".join(unwrapped),
        "to_meta": "\n        ".join(text["to_meta"].fill({"name": each.name}) for each in kernel.wrapped),
    }


def _mutation(plan: Mutation, text: Sections) -> str:
    updates = [text["fresh"].fill({"number": i, "result": result}) for i, result in enumerate(plan.fresh)]
    updates += [text["written"].fill({"argument": argument, "result": result}) for argument, result in plan.written]
    return text["mutation"].fill(
        {
            **asdict(plan),
            **_kernel(plan.kernel, text, syncs=True),
            "runs_on_meta": str(plan.runs_on_meta).lower(),
            "all_functional": " && ".join(("true", *_are_functional(plan.mutated))),
            "any_functional": " || ".join(("false", *_are_functional(plan.others))),
            "any_xla": " || ".join(
                ("false", *(f"{name}.device().type() == c10::DeviceType::XLA" for name in plan.tensors))
            ),
            "assigned": f"{plan.result} tmp_output = " if plan.result else "",
            "updates": "\n".join(updates),
        }
    )


def _are_functional(names: Iterable[str]) -> list[str]:
    return [f"at::functionalization::impl::isFunctionalTensor({name})" for name in names]


def _view(plan: View, text: Sections) -> str:
    statements = [text["symbolic_input"].fill({"symbolic": each}) for each in plan.symbolic]
    values = {
        **asdict(plan),
        **_kernel(plan.kernel, text, syncs=False),
        "symbolic": text["symbolic"].fill({"statements": "\n      ".join(statements)}),
        "view_meta": _view_meta(plan, text),
    }
    return text["inplace_view" if plan.inplace else "view"].fill(values) + "\n"


def _view_meta(plan: View, text: Sections) -> str:
    """The object that replays the view; before 2.9, closures in it did."""
    index = ["mutated_view_idx"] if plan.is_list else []
    captures = [f"{name} = {value}" for name, value in zip(plan.others, plan.captured)]
    properties = {"is_list": str(plan.is_list).lower(), "is_as_strided": str(plan.is_as_strided).lower()}
    members = ("has_symbolic_inputs", *(("0",) if plan.is_list else ()), "reapply_views", "inverse_return_mode")
    return text["view_meta"].fill(
        {
            "captures": ", ".join(("reapply_views = reapply_views", *captures)),
            "inverse_captures": ", ".join(("inverse_return_mode = inverse_return_mode", *captures)),
            "view": plan.view,
            "copy": plan.copy,
            "replayed": ", ".join(("base", *plan.others)),
            "index": f"[{index[0]}]" if index else "",
            "inverse_arguments": ", ".join(("base", "mutated_view", "inverse_return_mode", *index, *plan.others)),
            "properties": "" if plan.inplace else text["properties"].fill(properties),
            "class": plan.view_meta,
            "members": ", ".join((*members, *plan.others)),
        }
    )
