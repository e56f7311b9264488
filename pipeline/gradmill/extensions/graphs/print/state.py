"""Generates the header of a model's state: a struct for its parameters, one for its buffers, one for its constants, the
table of their names, and the model's function with these as arguments.

`state_dict()` has the parameters and the buffers. Constants are what `ExportedProgram.constants` has: tensors that the
model creates, and buffers that `state_dict()` does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from gradmill.extensions.graphs.model import Constant, Function, Input
from gradmill.extensions.graphs.passes.functionalize.names import identifier, in_ascii, namespace_of
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print import guards
from gradmill.extensions.graphs.print.expressions import constant, quoted
from gradmill.extensions.graphs.print.function import TEXT
from gradmill.releases.model import Release

STATE = ".state.h"  # the ending of the header
_ROLES = {
    "parameters": "The parameters of the model, in the order of the operator's arguments.",
    "buffers": "The buffers of the model that state_dict() has, in the order of the operator's arguments.",
    "constants": "What ExportedProgram.constants has: constants, and buffers that state_dict() does not have.",
}
_RESERVED = re.compile(r"__+|^_+(?=[A-Z])")  # in C++: two underscores, or one before a capital letter


class _Member(Struct, frozen=True):
    """A tensor of the state: the input, and its name in the struct."""

    input: Input
    name: str


def has_state(function: Function) -> bool:
    """Whether a function is a model with tensors that a program has to load."""
    return any(_role(each) for each in function.inputs)


def state_header(plan: GraphPlan, stem: str, comment: str, release: Release) -> str:
    """The header of the state of a model, of the file `stem`; `comment` is its first line."""
    text, members = TEXT.of(release), _members(plan)
    structs = [_struct(plan, role, own, release) for role, own in members.items()]
    arguments = _arguments(plan, members)
    filled = {
        "comment": comment,
        "namespace": namespace_of(stem),
        "header": f"{stem}.h",
        "structs": "\n".join(structs),
        "type": guards.result_type(plan),
        "name": plan.name,
        "parameters": ",\n".join(_parameters(plan, arguments)),
        "arguments": ",\n".join(_passed(plan, members, arguments)),
    }
    return text["state_header"].fill(filled)


def _role(input_: Input) -> str:
    """The struct that has an input; "" if it is the user's."""
    if input_.kind == "buffer":
        return "buffers" if input_.stored else "constants"
    return {"parameter": "parameters", "constant": "constants"}.get(input_.kind, "")


def _members(plan: GraphPlan) -> dict[str, list[_Member]]:
    """The members of each struct that has any, by role."""
    inputs = plan.functional.function.inputs
    listed = {role: [each for each in inputs if _role(each) == role] for role in _ROLES}
    return {role: _named(own, _type(plan, role)) for role, own in listed.items() if own}


def _named(inputs: Sequence[Input], struct: str) -> list[_Member]:
    """The inputs with the names of members: `layers_0_weight` for `layers.0.weight`, with a number if that is taken."""
    taken = {struct}
    members = []
    for input_ in inputs:
        name = plain = _member_name(input_.source)
        number = 2
        while name in taken:
            name = f"{plain}_{number}"
            number += 1
        taken.add(name)
        members.append(_Member(input_, name))
    return members


def _member_name(source: str) -> str:
    plain = _RESERVED.sub(lambda match: "_" if match.start() else "", in_ascii(source))
    return identifier(f"_{plain}" if plain[:1].isdigit() else plain or "value")


def _type(plan: GraphPlan, role: str) -> str:
    return f"{plan.name}_{role}"


def _struct(plan: GraphPlan, role: str, members: Iterable[_Member], release: Release) -> str:
    declared, entries = [], []
    for each in members:
        facts, tied = each.input.facts, each.input.tied
        assert facts is not None
        notes = [f"{facts.dtype} {list(facts.sizes)}"]
        notes += ["frozen"] if role == "parameters" and not facts.requires_grad else []
        notes += [f"the same tensor as {tied}"] if tied else []
        declared.append(f"at::Tensor {each.name}; // {each.input.source}: {', '.join(notes)}")
        sizes, strides = (f"{{{', '.join(map(str, numbers))}}}" for numbers in (facts.sizes, facts.strides))
        dtype = constant(Constant("ScalarType", facts.dtype))
        trained = str(role == "parameters" and facts.requires_grad).lower()
        arguments = [quoted(each.input.source), f"state.{each.name}", dtype, sizes, strides, trained]
        entries.append(f"entries.add({', '.join(arguments + ([quoted(tied)] if tied else []))});")
    filled = {"doc": _ROLES[role], "type": _type(plan, role), "members": declared, "entries": entries}
    return TEXT.of(release)["state_struct"].fill(filled)


def _arguments(plan: GraphPlan, members: Iterable[str]) -> dict[str, str]:
    """The parameters of the function for structs, by role: names that no other parameter has."""
    others = {name for name, input_ in plan.functional.inputs.items() if not _role(input_)}
    names = {}
    for role in members:
        names[role] = role
        while names[role] in others:
            names[role] += "_"
    return names


def _parameters(plan: GraphPlan, arguments: dict[str, str]) -> list[str]:
    inputs = zip(plan.functional.function.inputs, guards.parameters(plan), strict=True)
    structs = [f"const {_type(plan, role)}& {name}" for role, name in arguments.items()]
    return [*structs, *(declared for input_, declared in inputs if not _role(input_))]


def _passed(plan: GraphPlan, members: dict[str, list[_Member]], arguments: dict[str, str]) -> list[str]:
    owned = {each.input.name: f"{arguments[role]}.{each.name}" for role, own in members.items() for each in own}
    return [owned.get(input_.name, name) for name, input_ in plan.functional.inputs.items()]
