"""Renders the classes of nodes: of operations, and the backend's own, for operations that no native function declares.

torchgen: `lazy_ir.GenLazyIR`, `lazy_ir.GenTSLazyIR`, `lazy_ir.generate_non_native_lazy_ir_nodes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradmill.families.lazy.ir import CREATE, LOWER, NON_NATIVE, REUSE, SHAPE, IrArgument, IrSchema, chosen, ir_schema
from gradmill.families.sections import Sections, Text
from gradmill.families.template import Value
from gradmill.model.backends import OwnNode
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_TEXT, FILES = Text("lazy/nodes.cpp", phrases=True), Text("lazy/files.cpp", phrases=True)
# Symbols that PyTorch does not declare.
_NOT_INTERNED = ("sigmoid_backward",)

Numbered = list[tuple[int, str]]


def symbol(schema: IrSchema, release: Release) -> str:
    """The C++ of an operator's symbol."""
    name = "symbol_by_name" if schema.operator in _NOT_INTERNED else "symbol"
    return _TEXT.of(release)[name].fill({"operator": schema.operator})


def node(schema: IrSchema, release: Release) -> str:
    """The class. Raises a SpecError for an argument that no node can have."""
    text = _TEXT.of(release)
    shapes = [text["shapes"].fill({})] if "ShapePrecompute" in schema.properties else []
    optionals = [a.name for a in schema.values if a.form == "optional"]
    parameters = [f"const {a.cpp}& {a.name}" for a in schema.arguments]
    values = {
        "name": schema.node,
        "kind": schema.kind or symbol(schema, release),
        "parameters": ", ".join(parameters),
        "operator": schema.operator,
        "outputs": schema.returns,
        "compared": " &&\n        ".join(_compared(schema, text)),
        **_lowered(schema, text),
    }
    return text["node"].fill(
        {
            **values,
            "parameters": ", ".join([*parameters, *shapes]),
            "base": _base(schema, text),
            "initializers": "".join(_initializer(a, text) for a in schema.members),
            "flags": "\n    ".join(text["flag"].fill({"name": each}) for each in optionals),
            "shown": "\n    ".join(_shown(a, text) for a in schema.members),
            "create": _of_property(schema, CREATE, text, values),
            "reuse": _of_property(schema, REUSE, text, values),
            "lower": _of_property(schema, LOWER, text, values),
            "members": "\n  ".join(_member(a, text) for a in schema.members),
            "has_flags": "\n  ".join(text["has_flag"].fill({"name": each}) for each in optionals),
        }
    )


def _base(schema: IrSchema, text: Sections) -> str:
    """The call of the base class's constructor."""
    for a in schema.values:
        if a.form == "list":
            problem = f"argument '{a.name}' has the type '{a.type}', which no lazy node can have"
            hint = "move the operator to supported, and write its kernel"
            raise SpecError(problem, hint, field=("func",), needle=a.type)
    operands = [text["or_null"].fill({"name": a.name}) if a.form == "optional" else a.name for a in schema.values]
    return text["base"].fill(
        {
            "name": schema.node,
            "operands": ", ".join(operands),
            "shape": _shape(schema, text),
            "outputs": str(schema.returns),
            "hashed": ", ".join(a.name for a in schema.members),
        }
    )


def _shape(schema: IrSchema, text: Sections) -> str:
    """The argument of that call that is the shape."""
    cached = "ShapeCache" in schema.properties
    operands = [f"operand({i})" if cached else a.name for i, a in enumerate(schema.values)]
    arguments = ", ".join([*operands, *(a.name for a in schema.members)])
    return _of_property(schema, SHAPE, text, {"operator": schema.name, "arguments": arguments})


def _is_optional_string(argument: IrArgument) -> bool:
    return argument.type == "str?"


def _initializer(argument: IrArgument, text: Sections) -> str:
    section = "optional_string_initializer" if _is_optional_string(argument) else "initializer"
    return text[section].fill({"name": argument.name})


def _shown(argument: IrArgument, text: Sections) -> str:
    """The statement that prints a member."""
    if argument.form != "optional":
        return text["shown"].fill({"name": argument.name})
    value = '"torch.Generator()"' if argument.is_generator else f"{argument.name}.value()"
    return text["optional_shown"].fill({"name": argument.name, "value": value})


def _member(argument: IrArgument, text: Sections) -> str:
    if argument.type == "str":
        return text["string_member"].fill({"name": argument.name})
    if _is_optional_string(argument):
        return text["optional_string_member"].fill({"name": argument.name})
    return f"{argument.cpp} {argument.name};"


def _compared(schema: IrSchema, text: Sections) -> list[str]:
    """The comparisons of a node with arguments: of operands, then of members."""
    sections = [("operand", a) for a in schema.values] + [("member", a) for a in schema.members]
    return [
        text[f"same_optional_{kind}" if a.form == "optional" else f"same_{kind}"].fill({"name": a.name})
        for kind, a in sections
    ]


def _lowered(schema: IrSchema, text: Sections) -> dict[str, Value]:
    """The arguments of the function that lowers a node to TorchScript."""

    def value(argument: IrArgument) -> str:
        if not argument.is_value:
            return argument.name
        return text["optional_lowered" if argument.form == "optional" else "lowered"].fill({"name": argument.name})

    arguments = [value(a) if a.is_value else f'"{a.name}", {a.name}' for a in schema.positional]
    keyword = [f'"{a.name}", {value(a)}' for a in sorted(schema.keyword, key=lambda a: not a.is_value)]
    return {
        "count": len(arguments),
        "keyword_count": len(keyword),
        "arguments": "\n    ".join(text["argument"].fill({"value": each}) for each in arguments),
        "keyword_arguments": "\n    ".join(text["keyword_argument"].fill({"value": each}) for each in keyword),
    }


def _of_property(schema: IrSchema, group: tuple[str, ...], text: Sections, values: Mapping[str, Value]) -> str:
    """The section of the property of a group that the node has; "" if it has none."""
    section = next((each for each in schema.properties if each in group), "")
    return text[section].fill(values) if section else ""


def own_nodes(nodes: Sequence[OwnNode], release: Release) -> tuple[Numbered, list[tuple[int, SpecError]]]:
    """The classes of the nodes, and the errors of the others, each with its number."""
    texts: Numbered = []
    errors: list[tuple[int, SpecError]] = []
    for number, own in enumerate(nodes):
        try:
            texts.append((number, _class(own, release)))
        except SpecError as error:
            errors.append((number, error))
    return texts, errors


def _class(own: OwnNode, release: Release) -> str:
    properties = chosen(NON_NATIVE, own.properties)
    return node(ir_schema(own.schema, release, symint=True, kind=own.kind, properties=properties), release)
