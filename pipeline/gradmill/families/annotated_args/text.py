"""The required arguments of each overload of a Python name, as plan and as text: a row for each.

torchgen: `gen_annotated_fn_args.gen_annotated_args`, `python.argument_type_str`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.families.annotated_args import MODULES, ROWS
from gradmill.families.bindings.parser_types import parser_type
from gradmill.model.bindings import Binding
from gradmill.model.regex import regex
from gradmill.model.schema import Argument, Schema
from gradmill.releases.model import Release

# Functions that upstream's tests cannot call with keyword arguments.
_POSITIONAL_ONLY = ("diagonal", "round_", "round", "scatter_")
_SIZED = regex(r"(.+)\[(\d+)\]\??")
_SIZES = regex(r"(?<!bool)\[\d+\]")


class Row(Struct, frozen=True, gc=False, array_like=True):
    """A required argument."""

    keyword_only: bool
    name: str
    type: str
    size: int = 0  # of a list with a fixed size

    def fields(self) -> dict[str, str | int]:
        """The argument as the file writes it."""
        size: dict[str, str | int] = {"size": self.size} if self.size else {}
        return {"is_kwarg_only": str(self.keyword_only), "name": self.name, "simple_type": self.type, **size}

    def __str__(self) -> str:
        """The argument as reports show it."""
        size = f"[{self.size}]" if self.size else ""
        return f"{'keyword ' if self.keyword_only else ''}{self.type}{size} {self.name}"


class AnnotatedArgs(Struct, frozen=True, gc=False, array_like=True):
    """The required arguments of a name, by overload."""

    name: str
    overloads: tuple[tuple[Row, ...], ...]


def plan(binding: Binding, release: Release) -> AnnotatedArgs:
    """The plan of a name. Raises SpecError for a type that the parser of arguments does not know."""
    module = MODULES.get(binding.module, "")
    functions = [overload.function for overload in binding.overloads] if module else []
    return AnnotatedArgs(f"{module}.{binding.name}", tuple(_required(function.func) for function in functions))


def _required(schema: Schema) -> tuple[Row, ...]:
    keywords = schema.kwarg_only if schema.name.unqualified not in _POSITIONAL_ONLY else ()
    rows = [_row(a, keyword_only=False) for a in schema.positional if a.default is None]
    return (*rows, *(_row(a, keyword_only=True) for a in keywords if a.default is None))


def _row(argument: Argument, *, keyword_only: bool) -> Row:
    sized = _SIZED.fullmatch(argument.type)
    size = int(sized[2]) if sized is not None and sized[1] != "bool" else 0
    return Row(keyword_only, argument.name, parser_type(_SIZES.sub("[]", argument.type)), size)


def render(binding: Binding, release: Release) -> dict[str, str]:
    """The rows."""
    of = plan(binding, release)
    return {ROWS: "".join(f"    {of.name}: {[row.fields() for row in each]!r},\n" for each in of.overloads)}
