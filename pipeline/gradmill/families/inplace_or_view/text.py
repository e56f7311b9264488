"""The text of a kernel that tracks versions and views: the `#include` of its operator's header, the kernel, its
registration.

In-place functions and out variants increment the version of each tensor that they write to. A view records its base and
how to replay it from the base.

torchgen: `gen_inplace_or_view_type.emit_inplace_or_view_body`, `gen_inplace_or_view_type.emit_view_body`,
`gen_inplace_or_view_type.get_view_info`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import cpp_name, return_names
from gradmill.cpp.dispatcher import Parameter, Signature, declared_results, returned_results, signature_of
from gradmill.cpp.view_funcs import view_func
from gradmill.families.family import DEFINITION, INCLUDE, REGISTRATION
from gradmill.families.sections import Sections, Text
from gradmill.model.native import NativeFunction
from gradmill.model.nodes import Outputs
from gradmill.model.schema import Schema, is_tensor_like, modifies
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_TEXT = Text("inplace_or_view/inplace_or_view.cpp")
_AFTER = "ks & c10::after_ADInplaceOrView_keyset"
_INDEX = "view_idx"
# Types of arguments that a closure may capture by value -> the section that copies them first; "": no copy.
_COPIES = {
    "int64_t": "",
    "::std::optional<int64_t>": "copy_of_optional",
    "c10::SymInt": "",
    "::std::optional<c10::SymInt>": "",
    "bool": "",
    "at::IntArrayRef": "copy_of_list",
    "c10::SymIntArrayRef": "copy_of_list",
    "const at::Tensor &": "",
    "const ::std::optional<at::Tensor> &": "",
}
_NAMES = {"": "{}", "copy_of_list": "{}_vec", "copy_of_optional": "{}_val"}  # of what is captured, by section


def render(outputs: Outputs, release: Release) -> dict[str, str]:
    """All pieces of a kernel. Raises SpecError for a view that cannot be replayed."""
    text, schema, signature = _TEXT.of(release), outputs.function.func, signature_of(outputs.function, release)
    call = {"struct": signature.struct, "arguments": signature.passed(_AFTER)}
    if modifies(schema):
        counted = (text["increment_version"].fill({"name": name}) for name in return_names(schema))
        body = [text["modify"].fill(call), *counted]
    else:
        body = [text["call"].fill(call), _as_view(outputs, signature, release, text)]
    returned = returned_results(schema)
    kernel = {
        "returns": signature.returns,
        "kernel": signature.kernel,
        "parameters": signature.declared,
        "body": [*body, f"return {returned};" if returned else ""],
    }
    return {
        INCLUDE: text["include"].fill({"header": signature.header}),
        DEFINITION: text["definition"].fill(kernel),
        REGISTRATION: text["registration"].fill({"operator": signature.operator, "kernel": signature.kernel}),
    }


def _as_view(outputs: Outputs, signature: Signature, release: Release, text: Sections) -> str:
    """The statements that mark the results as views."""
    schema = outputs.function.func
    base = release.viewed(schema.name.base)
    assert base is not None
    values = {"base": base, "results": declared_results(schema)}
    if not outputs.differentiable:
        return text["not_differentiable"].fill(values)
    is_list = _returns_list(schema, outputs.differentiable)
    replay = _replay(outputs.function, signature, release, text, index=[_INDEX] if is_list else [])
    return text["list_of_views" if is_list else "one_view"].fill({**values, "replay": replay})


def _returns_list(schema: Schema, differentiable: tuple[str, ...]) -> bool:
    """Whether the one output with a gradient is a list of tensors."""
    if len(differentiable) > 1:
        raise SpecError(
            f"view '{schema.name}' has {len(differentiable)} outputs with gradients",
            "let it return one Tensor or Tensor[]",
        )
    type_ = schema.returns[return_names(schema).index(differentiable[0])].type
    if not is_tensor_like(type_):
        raise SpecError(f"view '{schema.name}' returns {type_}", "let it return Tensor or Tensor[]")
    return "[" in type_


def _replay(
    function: NativeFunction, signature: Signature, release: Release, text: Sections, *, index: list[str]
) -> str:
    """How to replay a view, in case as_strided cannot express it. `index`: the argument for one of several views."""
    schema = function.func
    captured = [_captured(p, function) for p in signature.parameters][1:]
    arguments = [*(p.name for p in signature.parameters if p.name != "self"), *index]
    construction = text["view_func"].fill({"view_func": view_func(str(schema.name)), "arguments": arguments})
    copies = [text[copy].fill({"name": name}) for name, copy in captured if copy]
    return text["replay"].fill(
        {
            "always": "true" if cpp_name(schema) in release.metadata_views else "false",
            "view_func": [*copies, construction],
            "struct": signature.struct,
            "captured": [*index, *(_NAMES[copy].format(name) for name, copy in captured)],
        }
    )


def _captured(parameter: Parameter, function: NativeFunction) -> tuple[str, str]:
    """The name of an argument that replays the view, and the section that copies what it refers to: references would
    dangle after the call."""
    if parameter.name == "self":
        return "input_base", ""
    if parameter.type not in _COPIES:
        argument = next(a for a in function.func.arguments if a.name == parameter.name)
        raise SpecError(
            f"view '{function.func.name}' takes '{argument}', which cannot be saved to replay the view",
            "views take int, SymInt, lists and optionals of these, bool, Tensor, Tensor?",
            needle=str(argument),
        )
    return parameter.name, _COPIES[parameter.type]
