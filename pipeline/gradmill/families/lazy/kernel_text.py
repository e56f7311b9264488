"""Renders the kernel that traces an operation: it adds a node to the graph.

torchgen: `lazy_ir.GenLazyNativeFuncDefinition`.
"""

from __future__ import annotations

from gradmill.cpp.backend_kernels import declarator, parameters_of, to_dispatcher
from gradmill.cpp.dispatcher import declared
from gradmill.families.lazy.ir import VALUE, IrArgument, IrSchema
from gradmill.families.lazy.node_text import symbol
from gradmill.families.sections import Sections, Text
from gradmill.model.backends import BackendFunction
from gradmill.model.native import NativeFunction
from gradmill.model.schema import has_symint, is_tensor_like, schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import EXPLICIT_NON_FUNCTIONAL

_TEXT = Text("lazy/kernels.cpp", phrases=True)
_ELSEWHERE = "move the operator to supported, and write its kernel"


def kernel(of: BackendFunction, schema: IrSchema, release: Release, *, symint: bool) -> str:
    """The definition of a kernel. Raises a SpecError for an operation that no kernel can trace."""
    text, function, name = _TEXT.of(release), of.function, of.function.func.name
    called = text["overload" if name.overload else "operator"]
    arguments = ",\n                ".join(to_dispatcher(function, release, symint=symint))
    fallback = {  # the call of the eager kernel, if the user forces it
        "symbol": symbol(schema, release),
        "called": called.fill({"name": name.unqualified, "overload": name.overload}),
        "arguments": arguments,
    }
    return text["kernel"].fill(
        {
            "declarator": declarator(function, f"{of.backend.class_name}::{of.member.kernel}", release, symint=symint),
            "fallback": text["fallback"].fill(fallback),
            "devices": ", ".join(_devices(schema)),
            "values": "\n        ".join(filter(None, (_value(a, text) for a in schema.values))),
            "node": schema.node,
            "inputs": ", ".join(_input(a, text, symint=symint) for a in schema.arguments),
            "shapes": _shapes(of, schema, text, symint=symint),
            "result": _result(function, schema, text),
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


def _input(argument: IrArgument, text: Sections, *, symint: bool) -> str:
    """The argument that is passed to the node's constructor."""
    if argument.is_value and argument.form not in ("base", "optional"):
        raise _not_traced(argument)
    optional = "optional_" if argument.form == "optional" else ""
    if argument.is_scalar and argument.is_value:
        section = "scalar_input"
    elif argument.is_value and argument.is_tensor_list and not optional:
        section = "tensors_input"
    elif argument.is_value:
        section = f"{optional}symint_input" if argument.is_symint else f"{optional}tensor_input"
    elif argument.type.startswith("SymInt[") and argument.type.endswith("]"):
        section = "symints_input" if symint else "vector_input"
    else:
        section = f"{optional}vector_input" if argument.element else "input"
    return text[section].fill({"name": argument.name, "element": argument.element})


def _not_traced(argument: IrArgument) -> SpecError:
    problem = f"argument '{argument.name}' has the type '{argument.type}', which no generated kernel can take"
    return SpecError(problem, _ELSEWHERE, field=("func",), needle=argument.type)


def _shapes(of: BackendFunction, schema: IrSchema, text: Sections, *, symint: bool) -> str:
    """The statements that compute the shapes of the results."""
    arguments = ", ".join(a.name for a in schema.arguments)
    if has_meta(of.function):
        computed = _by_meta(of.function, text, symint=symint)
    else:
        computed = text["by_function"].fill({"kernel": of.member.kernel, "arguments": arguments})
    values = {"count": str(schema.returns), "arguments": arguments, "schema": f"aten::{of.function.func}"}
    return computed + text["checked_shapes"].fill(values)


def has_meta(function: NativeFunction) -> bool:
    """Whether the shapes of a function's results are those of its meta kernel, or of a view's copy."""
    return function.part_of_structured_group or _is_view_copy(function)


def _is_view_copy(function: NativeFunction) -> bool:
    return "view_copy" in function.tags


def _by_meta(function: NativeFunction, text: Sections, *, symint: bool) -> str:
    schema, count = function.func, len(function.func.returns)
    tensors = [a.name for a in schema.arguments if is_tensor_like(a.type)]
    passed = [f"{a.name}_meta" if is_tensor_like(a.type) else a.name for a in schema.arguments]
    if _is_view_copy(function) and EXPLICIT_NON_FUNCTIONAL not in function.dispatch:
        problem = f"'{schema.name}' is tagged view_copy and has no kernel for {EXPLICIT_NON_FUNCTIONAL}"
        raise SpecError(problem, "give it one", field=("func",))
    namespace = EXPLICIT_NON_FUNCTIONAL.lower() if _is_view_copy(function) else "meta"
    called = schema.name.unqualified + ("_symint" if symint and has_symint(schema) else "")
    each = ",".join(text["shape_of_one"].fill({"index": i}) for i in range(count))
    return text["by_meta"].fill(
        {
            "conversions": "\n        ".join(text["to_meta"].fill({"name": name}) for name in tensors),
            "function": f"at::{namespace}::{called}",
            "arguments": ", ".join(passed),
            "shapes": text["shapes"].fill({"each": each}) if count > 1 else text["shape"].fill({}),
        }
    )


def shape_function(function: NativeFunction, kernel: str, release: Release, *, symint: bool) -> str:
    """The declaration of the function that computes the shapes of a kernel's results; "" if its meta kernel does."""
    if has_meta(function):
        return ""
    parameters = declared(parameters_of(function, release, symint=symint))
    return _TEXT.of(release)["shape_function"].fill({"kernel": kernel, "parameters": parameters})


def _result(function: NativeFunction, schema: IrSchema, text: Sections) -> str:
    """The statements that return the results."""
    count = schema.returns
    values = {"count": str(count), "value": VALUE, "name": schema.tensors[0] if schema.tensors else ""}
    if schema_kind(function.func) in ("inplace", "out", "scratch"):
        if count != 1:
            problem = f"'{schema.name}' writes to its arguments and returns {count} values, not one"
            raise SpecError(problem, _ELSEWHERE, field=("func",))
        return text["written"].fill(values)
    if count > 1 and not schema.tensors:
        raise SpecError(f"'{schema.name}' returns several values and takes no tensor", _ELSEWHERE, field=("func",))
    return text["results" if count > 1 else "one_result"].fill(values)
