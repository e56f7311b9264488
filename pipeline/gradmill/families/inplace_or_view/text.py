"""Renders one kernel for versions and views: the `#include` of its operator's header, the kernel, its registration."""

from __future__ import annotations

from gradmill.families.inplace_or_view.plan import InplaceOrViewPlan, Replay, View
from gradmill.families.sections import Sections, Text
from gradmill.releases.model import Release

_TEXT = Text("inplace_or_view/inplace_or_view.cpp")
_AFTER = "ks & c10::after_ADInplaceOrView_keyset"
_INDEX = "view_idx"
_NAMES = {"": "{}", "copy_of_list": "{}_vec", "copy_of_optional": "{}_val"}


def include(plan: InplaceOrViewPlan, release: Release) -> str:
    """The `#include` of the operator's header."""
    return _TEXT.of(release)["include"].fill({"header": plan.signature.header})


def registration(plan: InplaceOrViewPlan, release: Release) -> str:
    """The registration of the kernel."""
    signature = plan.signature
    return _TEXT.of(release)["registration"].fill({"operator": signature.operator, "kernel": signature.kernel})


def definition(plan: InplaceOrViewPlan, release: Release) -> str:
    """The kernel."""
    text, signature = _TEXT.of(release), plan.signature
    call = {"struct": signature.struct, "arguments": signature.passed(_AFTER)}
    if plan.view is None:
        body = [text["modify"].fill(call), *(text["increment_version"].fill({"name": name}) for name in plan.written)]
    else:
        body = [text["call"].fill(call), _as_view(plan.view, signature.struct, text)]
    returned = f"return {plan.returned};" if plan.returned else ""
    return text["definition"].fill(
        {
            "returns": signature.returns,
            "kernel": signature.kernel,
            "parameters": signature.declared,
            "body": [*body, returned],
        }
    )


def _as_view(view: View, struct: str, text: Sections) -> str:
    """The statements that mark the results as views."""
    values = {"base": view.base, "results": view.results}
    if view.replay is None:
        return text["not_differentiable"].fill(values)
    section = "list_of_views" if view.replay.is_list else "one_view"
    return text[section].fill({**values, "replay": _replay(view.replay, struct, text)})


def _replay(replay: Replay, struct: str, text: Sections) -> str:
    index = [_INDEX] if replay.is_list else []
    copies = [text[c.copy].fill({"name": c.name}) for c in replay.captured if c.copy]
    construction = text["view_func"].fill({"view_func": replay.view_func, "arguments": [*replay.arguments, *index]})
    return text["replay"].fill(
        {
            "always": "true" if replay.always else "false",
            "view_func": [*copies, construction],
            "struct": struct,
            "captured": [*index, *(_NAMES[c.copy].format(c.name) for c in replay.captured)],
        }
    )
