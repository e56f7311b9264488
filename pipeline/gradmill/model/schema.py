"""Operator schemas as data: the content of one `func:` line of native_functions.yaml.

Types and alias annotations are kept as canonical text (`Tensor?[]`, `a! -> a|b`): the grammar accepts only text that
prints back unchanged, so the text is the value.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

SchemaKind = Literal["functional", "inplace", "out", "mutable", "scratch"]


class OperatorName(Struct, frozen=True, gc=False, array_like=True):
    """`add_.Tensor`: base name `add`, in-place, overload `Tensor`."""

    base: str
    overload: str = ""
    inplace: bool = False
    dunder: bool = False  # __and__, __iand__
    functional: bool = False  # the `_functional` suffix of a generated functional variant of a mutable op
    namespace: str = ""

    @property
    def unqualified(self) -> str:
        """The name without its overload: `add_`, `__iand__`, `native_batch_norm_functional`."""
        if self.dunder:
            name = f"__{'i' if self.inplace else ''}{self.base}__"
        else:
            name = self.base + ("_" if self.inplace else "_functional" if self.functional else "")
        return f"{self.namespace}::{name}" if self.namespace else name

    def __str__(self) -> str:
        return f"{self.unqualified}.{self.overload}" if self.overload else self.unqualified


class Argument(Struct, frozen=True, gc=False, array_like=True):
    """One argument: `Tensor(a!) self`, `int[2] dim=0`."""

    name: str
    type: str
    default: str | None = None
    annotation: str | None = None

    @property
    def is_write(self) -> bool:
        """Whether the function writes to the argument: its annotation has a `!`."""
        return self.annotation is not None and "!" in self.annotation

    def __str__(self) -> str:
        type_ = self.type if self.annotation is None else annotated(self.type, self.annotation)
        text = f"{type_} {self.name}"
        return f"{text}={self.default}" if self.default else text


class Return(Struct, frozen=True, gc=False, array_like=True):
    """One return: `Tensor(a!)`, `Tensor values`."""

    type: str
    name: str | None = None
    annotation: str | None = None

    @property
    def is_write(self) -> bool:
        """Whether the return is an argument that the function writes to: its annotation has a `!`."""
        return self.annotation is not None and "!" in self.annotation

    def __str__(self) -> str:
        type_ = self.type if self.annotation is None else annotated(self.type, self.annotation)
        return type_ if self.name is None else f"{type_} {self.name}"


class Schema(Struct, frozen=True, gc=False, array_like=True):
    """A parsed schema. `out` arguments (mutable keyword-only ones) are kept apart from the other keyword-only ones."""

    name: OperatorName
    positional: tuple[Argument, ...] = ()
    kwarg_only: tuple[Argument, ...] = ()
    out: tuple[Argument, ...] = ()
    returns: tuple[Return, ...] = ()
    self_index: int | None = None  # place of `self` in `positional`
    options_index: int | None = None  # place of dtype, layout, device, pin_memory in `kwarg_only`

    @property
    def self_argument(self) -> Argument | None:
        """The positional argument `self`; None if the schema has none."""
        return None if self.self_index is None else self.positional[self.self_index]

    @property
    def after_self(self) -> tuple[Argument, ...]:
        """The positional arguments after `self`; all of them if the schema has no `self`."""
        return self.positional if self.self_index is None else self.positional[self.self_index + 1 :]

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """All arguments but the out ones."""
        return self.positional + self.kwarg_only

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments, in schema order."""
        return self.positional + self.kwarg_only + self.out

    def __str__(self) -> str:
        parts = [str(a) for a in self.positional]
        if self.kwarg_only or self.out:
            parts += ["*", *(str(a) for a in self.kwarg_only + self.out)]
        return f"{self.name}({', '.join(parts)}) -> {returns_text([str(r) for r in self.returns])}"


def annotated(type_: str, annotation: str) -> str:
    """The type with an alias annotation: `Tensor(a!)?` for `Tensor?` and `a!`."""
    return type_.replace("Tensor", f"Tensor({annotation})")


def returns_text(returns: list[str]) -> str:
    """The right-hand side of a schema: one return without parentheses, none or several with them."""
    return returns[0] if len(returns) == 1 else f"({', '.join(returns)})"


def schema_kind(schema: Schema) -> SchemaKind:
    """Functional, in-place, out, mutable (writes to a positional argument after self) or scratch (out with scratch)."""
    if schema.name.inplace:
        return "inplace"
    if schema.out:
        return "scratch" if any(a.name.startswith("_scratch_") for a in schema.out) else "out"
    return "mutable" if any_written(schema.after_self) else "functional"


def modifies(schema: Schema) -> bool:
    """Whether the function is in-place or has out arguments; it then returns the arguments that it writes to."""
    return schema_kind(schema) in ("inplace", "out")


def any_written(values: Sequence[Argument] | Sequence[Return]) -> bool:
    """Whether the function writes to one of the arguments or returns."""
    return any("!" in v.annotation for v in values if v.annotation is not None)


def is_tensor_like(type_: str) -> bool:
    """Whether the type is Tensor, or a list or optional of Tensor."""
    return type_.startswith("Tensor")


def has_symint(schema: Schema) -> bool:
    """Whether an input (not an out argument) is a SymInt, or a list or optional of it."""
    return any(a.type.startswith("SymInt") for a in schema.inputs)


def is_list(type_: str) -> bool:
    """Whether the type is `X[]` or `X[N]`; an optional list (`X[]?`) is an optional, not a list."""
    return type_.endswith("]")
