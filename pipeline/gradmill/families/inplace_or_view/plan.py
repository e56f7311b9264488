"""The plan of a kernel that tracks versions and views: all facts that its text needs.

In-place functions and out variants increment the version of each tensor that they write to. A view records its base and
how to replay it from the base.

torchgen: `gen_inplace_or_view_type.emit_inplace_or_view_body`, `gen_inplace_or_view_type.emit_view_body`,
`gen_inplace_or_view_type.get_view_info`.
"""

from msgspec import Struct

from gradmill.cpp.bindings import cpp_name, return_names
from gradmill.cpp.dispatcher import Parameter, Signature, declared_results, returned_results, signature_of
from gradmill.cpp.view_funcs import view_func
from gradmill.model.native import NativeFunction
from gradmill.model.nodes import Outputs
from gradmill.model.schema import Schema, is_tensor_like, modifies
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

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


class Captured(Struct, frozen=True, gc=False, array_like=True):
    """An argument that replays the view. References would dangle after the call, so what they refer to is copied."""

    name: str
    copy: str


class Replay(Struct, frozen=True, gc=False, array_like=True):
    """How to replay a view that as_strided cannot express."""

    always: bool  # whether as_strided never can
    view_func: str
    is_list: bool  # whether the call returns several views, each with an index
    arguments: tuple[str, ...]  # of the ViewFunc
    captured: tuple[Captured, ...]  # the arguments of the inverse after base and view


class View(Struct, frozen=True, gc=False, array_like=True):
    """A call that returns views."""

    base: str  # the argument that the results are views of
    results: str  # the variables that take the views
    replay: Replay | None  # None if the views have no gradients


class InplaceOrViewPlan(Struct, frozen=True, gc=False, array_like=True):
    """The kernel of one function."""

    signature: Signature
    written: tuple[str, ...]  # the arguments that it writes to and returns
    view: View | None  # None if it modifies its arguments
    returned: str


def plan(outputs: Outputs, release: Release) -> InplaceOrViewPlan:
    """The plan of a kernel. Raises SpecError for a view that cannot be replayed."""
    schema = outputs.function.func
    signature, returned = signature_of(outputs.function, release), returned_results(schema)
    if modifies(schema):
        return InplaceOrViewPlan(signature, return_names(schema), None, returned)
    base = release.viewed(schema.name.base)
    assert base is not None
    replay = _replay(outputs, signature, release) if outputs.differentiable else None
    return InplaceOrViewPlan(signature, (), View(base, declared_results(schema), replay), returned)


def _replay(outputs: Outputs, signature: Signature, release: Release) -> Replay:
    schema = outputs.function.func
    is_list = _returns_list(schema, outputs.differentiable)
    return Replay(
        always=cpp_name(schema) in release.metadata_views,
        view_func=view_func(str(schema.name)),
        is_list=is_list,
        arguments=tuple(p.name for p in signature.parameters if p.name != "self"),
        captured=tuple([_captured(p, outputs.function) for p in signature.parameters][1:]),
    )


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


def _captured(parameter: Parameter, function: NativeFunction) -> Captured:
    if parameter.name == "self":
        return Captured("input_base", "")
    if parameter.type not in _COPIES:
        argument = next(a for a in function.func.arguments if a.name == parameter.name)
        raise SpecError(
            f"view '{function.func.name}' takes '{argument}', which cannot be saved to replay the view",
            "views take int, SymInt, lists and optionals of these, bool, Tensor, Tensor?",
            needle=str(argument),
        )
    return Captured(parameter.name, _COPIES[parameter.type])
