"""The head of a function, without its arguments: for groups, matching and lookups.

torchgen: `model.FunctionSchema.signature`, `model.FunctionSchema.view_signature`.
"""

from __future__ import annotations

from msgspec.structs import asdict

from gradmill.cpp.bindings import cpp_name
from gradmill.grammar.signature import signatures
from gradmill.model.native import FunctionNames, FunctionSummary, NativeFunction, ViewKind
from gradmill.model.schema import is_tensor_like, schema_kind
from gradmill.rules.native.dispatch import IMPLICIT, IMPLICIT_NESTED


def is_view(function: NativeFunction) -> bool:
    """True for ops with outputs that alias inputs, and for ops that change the metadata of self in place."""
    schema = function.func
    if any(r.annotation is not None and not r.is_write for r in schema.returns):
        return True
    if "inplace_view" in function.tags and str(schema.name) not in ("resize_", "resize_as_"):
        return True
    return any(a.annotation is not None and a.annotation.endswith("-> *") for a in schema.arguments)


def names_of(parsed: NativeFunction) -> FunctionNames:
    """The names of a function: its schema, its operator, its C++ function, its base name, its namespace."""
    schema = parsed.func
    return FunctionNames(
        schema=str(schema),
        name=str(schema.name),
        cpp_name=cpp_name(schema),
        base=schema.name.base,
        namespace=parsed.namespace,
    )


def within(namespace: str, text: str) -> str:
    """A name or a schema, qualified unless its namespace is PyTorch's."""
    return text if namespace == "aten" else f"{namespace}::{text}"


def qualified(head: FunctionSummary) -> str:
    """The operator, qualified unless its namespace is PyTorch's."""
    return within(head.namespace, head.name)


def head_of(parsed: NativeFunction, *, layered: bool) -> FunctionSummary:
    """The head of a function: the part that groups, matching and lookups depend on. `layered`: whether its entry is of
    a layer. Variants in layers never cross namespaces; in a file of PyTorch's own they do, as FunctionSchema has none.
    """
    schema = parsed.func
    name = schema.name
    namespace = parsed.namespace if layered else "aten"
    signature, plain = (within(namespace, text) for text in signatures(schema))
    view_kind: ViewKind = "non_aliasing" if not is_view(parsed) else "aliasing_inplace" if name.inplace else "aliasing"
    return FunctionSummary(
        **asdict(names_of(parsed)),
        unqualified=name.unqualified,
        kind=schema_kind(schema),
        view_kind=view_kind,
        signature=signature,
        undefaulted=None if plain == signature else plain,
        delegate=parsed.structured_delegate,
        structured=parsed.structured,
        generated="generated" in parsed.tags,
        core="core" in parsed.tags,
        inplace_view="inplace_view" in parsed.tags,
        view_copy="view_copy" in parsed.tags,
        manual_cpp_binding=parsed.manual_cpp_binding,
        implicit=IMPLICIT in parsed.dispatch,
        implicit_nested=IMPLICIT_NESTED in parsed.dispatch,
        autogen_out=any("out" in name for name in parsed.autogen),
        returns_tensors=any(is_tensor_like(r.type) for r in schema.returns),
        callable="function" in parsed.variants,
        has_options=schema.options_index is not None,
        method="method" in parsed.variants,
        python_module=parsed.python_module,
        abstract=parsed.is_abstract,
    )
