"""Renders one ViewFunc: the `#include` of its operator's header, the declaration, the definition."""

from __future__ import annotations

from msgspec.structs import asdict

from gradmill.families.sections import Sections, Text
from gradmill.families.view_funcs.plan import State, ViewFuncPlan
from gradmill.releases.model import Release

_TEXT = Text("view_funcs/view_funcs.cpp")
_INDEX = "view_idx"
_COUNTS = {"one": "1", "list": "{}.size()", "optional": "({}.has_value() ? 1 : 0)"}


def include(plan: ViewFuncPlan, release: Release) -> str:
    """The `#include` of the operator's header."""
    return _TEXT.of(release)["include"].fill({"header": plan.header})


def declaration(plan: ViewFuncPlan, release: Release) -> str:
    """The class."""
    text = _TEXT.of(release)
    index = [f"int64_t {_INDEX}"] if plan.is_list else []
    initializers = [*plan.initializers, *([(_INDEX, _INDEX)] if plan.is_list else [])]
    joined = ", ".join(f"{name}({expression})" for name, expression in initializers)
    constructor = text["constructor"].fill(
        {
            **asdict(plan),
            "parameters": [*(f"{p.type} {p.name}" for p in plan.parameters), *index],
            "initializers": f": {joined}" if joined else "",
        }
    )
    return text["declaration"].fill(
        {
            **asdict(plan),
            "constructor": constructor,
            "clone_and_set": text["clone_and_set"].fill({}),
            "members": [*(f"{m.type} {m.name};" for m in plan.members), *(f"{member};" for member in index)],
        }
    )


def definition(plan: ViewFuncPlan, release: Release) -> str:
    """The member functions."""
    text, names = _TEXT.of(release), [p.name for p in plan.parameters]
    return text["definition"].fill(
        {
            **asdict(plan),
            "arguments": names,
            "index": f"[{_INDEX}]" if plan.is_list else "",
            "clone_arguments": [*names, *([_INDEX] if plan.is_list else [])],
            "num_symints": _count(plan.symints),
            "get_symints": _get(plan.symints, "symints", "c10::SymInt", text),
            "set_symints": _set(plan.symints, "symints", text),
            "num_tensors": _count(plan.tensors),
            "get_tensors": _get(plan.tensors, "tensors", "at::Tensor", text),
            "set_tensors": _set(plan.tensors, "tensors", text),
        }
    )


def _count(states: tuple[State, ...]) -> str:
    return " + ".join(_COUNTS[s.shape].format(s.name) for s in states) or "0"


def _get(states: tuple[State, ...], held: str, type_: str, text: Sections) -> list[str]:
    """The body of a getter, which collects all values in one vector."""
    reserve = [f"{held}.reserve({_count(states)});"] if states else []
    insertions = [text[f"get_{s.shape}"].fill({"held": held, "name": s.name}) for s in states]
    return [f"::std::vector<{type_}> {held};", *reserve, *insertions, f"return {held};"]


def _set(states: tuple[State, ...], held: str, text: Sections) -> list[str]:
    """The body of a setter, which assigns the values of one vector; the values of the next argument begin at `i`."""
    statements = ["auto i = 0;"] if states else []
    for state in states:
        statements.append(text[f"set_{state.shape}"].fill({"held": held, "name": state.name}))
        if state is not states[-1]:
            statements.append(f"i += {_COUNTS[state.shape].format(state.name)};")
    return statements
