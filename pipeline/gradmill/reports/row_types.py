"""The types of the rows that `show` prints: the stages' data by field name, as `show.plain` returns it."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from msgspec import Raw, Struct, defstruct

from gradmill.families.bindings import BINDINGS
from gradmill.families.bindings.plan import BindingPlan
from gradmill.families.declarations import DECLARATIONS
from gradmill.families.file import File
from gradmill.model.autograd import Definition, ForwardDerivative, Info
from gradmill.model.native import NativeFunction, ViewKind
from gradmill.model.schema import Schema, SchemaKind
from gradmill.reports.declarations import DeclaredOperator
from gradmill.rules.matching.differentiability import DifferentiableOutput, Strategy


@cache  # one class per type: a JSON Schema cannot have two of one name
def plain(type_: Any) -> Any:
    """The type that `show.plain` returns for a value of `type_`."""
    if type_ is Raw:
        return Any
    if type_ in (bytes, memoryview):
        return str
    if isinstance(type_, type) and issubclass(type_, Struct):
        return row(type_.__name__, type_)
    arguments = tuple(map(plain, get_args(type_)))
    if isinstance(type_, UnionType):
        return Union[arguments]  # noqa: UP007
    origin = get_origin(type_)
    return origin[arguments] if origin in (tuple, list, dict) else type_


def row(name: str, type_: type[Struct] | None = None, **fields: Any) -> type[Struct]:
    """A Struct type with the fields of `type_` and `fields`, which override them. All fields are required."""
    own = {} if type_ is None else {field: plain(each) for field, each in fields_of(type_).items()}
    return defstruct(name, list({**own, **fields}.items()), forbid_unknown_fields=True)


def fields_of(type_: type[Struct]) -> dict[str, Any]:
    """The fields of a Struct and their types."""
    hints = get_type_hints(type_)
    return {name: hints[name] for name in type_.__struct_fields__}


_INFO: dict[str, Any] = {"op": str | None, "args_with_derivatives": list[str]}
_NAMED = row("Named", Info, **_INFO)
_SERVING = row("Serving", Info, dispatch_key=str, entry=str, **_INFO)

# The types of the lines of `show STAGE`.
ROWS: dict[str, tuple[Any, ...]] = {
    "specs": (row("Entry", file=str, entry=str, line=int, text=str, value=Any, digest=str),),
    "schemas": (
        row(
            "DeclaredFunction",
            NativeFunction,
            func=str,
            kind=SchemaKind,
            view_kind=ViewKind,
            signature=str,
            schema=plain(Schema),
        ),
    ),
    "derivatives": (row("DefinitionOfEntry", Definition, entry=str),),
    "infos": (_SERVING,),
    "foreach": (_SERVING, row("Borrowed", func=str, borrows=str)),
    "match": (
        row(
            "Matched",
            func=str,
            info=dict[str, _NAMED] | None,  # type: ignore[valid-type]
            fw_derivatives=dict[str, tuple[plain(ForwardDerivative), ...]] | None,  # type: ignore[misc]
        ),
    ),
    "differentiability": (
        row(
            "Differentiated",
            func=str,
            dispatch_strategy=Strategy,
            differentiable_outputs=dict[str, tuple[plain(DifferentiableOutput), ...]],  # type: ignore[misc]
        ),
    ),
    DECLARATIONS.name: (DeclaredOperator,),
    BINDINGS.name: (
        row(
            "PythonBinding",
            BindingPlan,
            binding=str,
            functions=list[str],
            deprecated=list[row("Deprecated", entry=str, schema=str, calls=str, arguments=list[str])],  # type: ignore[misc]
        ),
    ),
    "emit": (row("Printed", unit=str, family=str, func=str, dispatch_key=str, entry=str, pieces=dict[str, str]),),
    "shard": (row("GeneratedFile", File, path=str),),
}
