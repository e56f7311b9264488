"""Renders the kernel that traces an operation: it adds a node to the graph.

torchgen: `lazy_ir.GenLazyNativeFuncDefinition`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.backend_kernels import declarator, parameters_of, to_dispatcher
from gradmill.cpp.dispatcher import declared
from gradmill.families.lazy.ir import VALUE, IrArgument, IrSchema
from gradmill.families.lazy.node_text import symbol
from gradmill.families.sections import Sections, Text
from gradmill.model.native import NativeFunction
from gradmill.model.schema import has_symint, is_tensor_like, schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import EXPLICIT_NON_FUNCTIONAL

_TEXT = Text("lazy/kernels.cpp", phrases=True)
_ELSEWHERE = "move the operator to supported, and write its kernel"


class Traced(Struct, frozen=True):
    """A function with a generated kernel."""

    function: NativeFunction
    schema: IrSchema
    class_name: str
    kernel: str
    symint: bool


def kernel(of: Traced, release: Release) -> str:
    """The definition of a kernel. Raises a SpecError for an operation that no kernel can trace."""
    text, schema = _TEXT.of(release), of.schema
    name = f"{of.class_name}::{of.kernel}"
    return text["kernel"].fill(
        {
            "declarator": declarator(of.function, name, release, symint=of.symint),
            "fallback": _fallback(of, text, release),
            "devices": ", ".join(_devices(schema)),
            "values": "\n        ".join(filter(None, (_value(a, text) for a in schema.values))),
            "node": schema.node,
            "inputs": ", ".join(_input(a, of, text) for a in schema.arguments),
            "shapes": _shapes(of, text),
            "result": _result(of, text),
        }
    )


def _fallback(of: Traced, text: Sections, release: Release) -> str:
    """The call of the eager kernel, if the user forces it."""
    name = of.function.func.name
    called = {"name": name.unqualified, "overload": name.overload}
    return text["fallback"].fill(
        {
            "symbol": symbol(of.schema, release),
            "called": text["overload" if name.overload else "operator"].fill(called),
            "arguments": ",\n                ".join(to_dispatcher(of.function, release, symint=of.symint)),
        }
    )


def _devices(schema: IrSchema) -> list[str]:
    """The arguments that the device is taken from."""
    devices = [*schema.tensors, *(a.name for a in schema.members if a.type == "Device?")]
    if not devices:
        problem = f"'{schema.name}' takes no tensor and no device: its kernel would not know the device"
        raise SpecError(problem, _ELSEWHERE, field=("func",))
    return devices


def _value(argument: IrArgument, text: Sections) -> str:
    """The declaration of what an operand is made from; "" for a SymInt."""
    if argument.is_scalar:
        section = "optional_scalar" if argument.form == "optional" else "scalar"
    elif argument.is_symint:
        return ""
    elif argument.form == "base":
        section = "tensors" if argument.is_tensor_list else "tensor"
    elif argument.form == "optional" and argument.type in ("Tensor?", "Tensor[]?"):
        section = "optional_tensor"
    else:
        raise _not_traced(argument)
    return text[section].fill({"name": argument.name})


def _input(argument: IrArgument, of: Traced, text: Sections) -> str:
    """The argument that is passed to the node's constructor."""
    return text[_input_form(argument, of)].fill({"name": argument.name, "element": argument.element})


def _input_form(argument: IrArgument, of: Traced) -> str:
    """The section with the form of such an argument."""
    optional = "optional_" if argument.form == "optional" else ""
    if argument.is_value:
        if argument.form not in ("base", "optional"):
            raise _not_traced(argument)
        if argument.is_scalar:
            return "scalar_input"
        if argument.is_tensor_list and not optional:
            return "tensors_input"
        return f"{optional}symint_input" if argument.is_symint else f"{optional}tensor_input"
    if argument.type.startswith("SymInt[") and argument.type.endswith("]"):
        return "symints_input" if of.symint else "vector_input"
    return f"{optional}vector_input" if argument.element else "input"


def _not_traced(argument: IrArgument) -> SpecError:
    problem = f"argument '{argument.name}' has the type '{argument.type}', which no generated kernel can take"
    return SpecError(problem, _ELSEWHERE, field=("func",), needle=argument.type)


def _shapes(of: Traced, text: Sections) -> str:
    """The statements that compute the shapes of the results."""
    computed = _by_meta(of, text) if has_meta(of.function) else _by_function(of, text)
    arguments = ", ".join(a.name for a in of.schema.arguments)
    values = {"count": str(of.schema.returns), "arguments": arguments, "schema": f"aten::{of.function.func}"}
    return computed + text["checked_shapes"].fill(values)


def has_meta(function: NativeFunction) -> bool:
    """Whether the shapes of a function's results are those of its meta kernel, or of a view's copy."""
    return function.part_of_structured_group or _is_view_copy(function)


def _is_view_copy(function: NativeFunction) -> bool:
    return "view_copy" in function.tags


def _by_meta(of: Traced, text: Sections) -> str:
    function, schema = of.function, of.function.func
    tensors = [a.name for a in schema.arguments if is_tensor_like(a.type)]
    passed = [f"{a.name}_meta" if is_tensor_like(a.type) else a.name for a in schema.arguments]
    if _is_view_copy(function) and EXPLICIT_NON_FUNCTIONAL not in function.dispatch:
        problem = f"'{schema.name}' is tagged view_copy and has no kernel for {EXPLICIT_NON_FUNCTIONAL}"
        raise SpecError(problem, "give it one", field=("func",))
    namespace = EXPLICIT_NON_FUNCTIONAL.lower() if _is_view_copy(function) else "meta"
    called = schema.name.unqualified + ("_symint" if of.symint and has_symint(schema) else "")
    count = of.schema.returns
    each = ",".join(text["shape_of_one"].fill({"index": str(i)}) for i in range(count))
    return text["by_meta"].fill(
        {
            "conversions": "\n        ".join(text["to_meta"].fill({"name": name}) for name in tensors),
            "function": f"at::{namespace}::{called}",
            "arguments": ", ".join(passed),
            "shapes": text["shapes"].fill({"each": each}) if count > 1 else text["shape"].fill({}),
        }
    )


def _by_function(of: Traced, text: Sections) -> str:
    arguments = ", ".join(a.name for a in of.schema.arguments)
    return text["by_function"].fill({"kernel": of.kernel, "arguments": arguments})


def shape_function(function: NativeFunction, kernel: str, release: Release, *, symint: bool) -> str:
    """The declaration of the function that computes the shapes of a kernel's results; "" if its meta kernel does."""
    if has_meta(function):
        return ""
    parameters = declared(parameters_of(function, release, symint=symint))
    return _TEXT.of(release)["shape_function"].fill({"kernel": kernel, "parameters": parameters})


def _result(of: Traced, text: Sections) -> str:
    """The statements that return the results."""
    schema, count = of.schema, of.schema.returns
    values = {"count": str(count), "value": VALUE, "name": schema.tensors[0] if schema.tensors else ""}
    if schema_kind(of.function.func) in ("inplace", "out", "scratch"):
        if count != 1:
            problem = f"'{schema.name}' writes to its arguments and returns {count} values, not one"
            raise SpecError(problem, _ELSEWHERE, field=("func",))
        return text["written"].fill(values)
    if count > 1 and not schema.tensors:
        raise SpecError(f"'{schema.name}' returns several values and takes no tensor", _ELSEWHERE, field=("func",))
    return text["results" if count > 1 else "one_result"].fill(values)
