"""Subscripts: `x[0]`, `x[1:, ..., None]`, `x[mask]`; of tensors, and of Python's tuples and lists.

As in PyTorch, a tensor's subscript is a chain of views, `select`, `slice` and `unsqueeze`, and one `index` if it has
tensors or lists. Dimensions after `...` are counted from the end, so the result does not depend on the rank. How many a
tensor has that comes before, or from the end after, is known at run time: a mask may have several. Rules:
torch/csrc/autograd/python_variable_indexing.cpp, ATen/TensorIndexing.h.
"""

from __future__ import annotations

import ast

from msgspec import Struct

from gradmill.extensions.graphs.model import Ref
from gradmill.extensions.graphs.read.python.expressions import Expressions
from gradmill.extensions.graphs.read.resolve.operands import (
    NONE,
    Operand,
    Several,
    TypedValue,
    described,
    index_in,
    is_tensor,
    item_of,
    items_of,
    of_dtype,
    of_number,
)
from gradmill.problems.problem import SpecError

_END = 2**63 - 1


class Slice(Struct, frozen=True):
    """`start:end:step`."""

    start: Operand
    end: Operand
    step: Operand

    @property
    def is_full(self) -> bool:
        """Whether it is `:`."""
        return self.start == self.end == self.step == NONE


class Dots(Struct, frozen=True):
    """`...`."""


Index = Slice | Dots | Operand


def read(reader: Expressions, node: ast.Subscript, hint: str) -> Operand:
    """The value of a subscript. Raises a SpecError for an index that the value does not take."""
    shape = node.value
    if isinstance(shape, ast.Attribute) and shape.attr == "shape" and not reader.path(shape):
        tensor, indexes = reader.read(shape.value), indices(reader, node)
        index = indexes[0]
        if is_tensor(tensor) and isinstance(index, TypedValue) and index.type == "int" and len(indexes) == 1:
            return reader.builder.scalar("size", [tensor, index], hint or "size")
        value: Operand = reader.builder.scalar("sizes", [tensor], "shape")
    else:
        value, indexes = reader.read(shape), indices(reader, node)
    if not is_tensor(value):
        return _of_list(reader, value, indexes, hint)
    view, tensors = viewed(reader, value, indexes, hint if not _has_tensor(indexes) else "")
    if not tensors:
        return reader.builder.call("aten::alias", [value], hint=hint) if view is value else view
    flag = check(reader, tensors)
    picked = reader.builder.call("aten::index", [view, Several(tuple(tensors), is_list=True)], hint=hint)
    if isinstance(flag, TypedValue) and isinstance(flag.value, Ref):
        reader.builder.annotate(selects=flag.value.name)
    return picked


def check(reader: Expressions, tensors: list[Operand]) -> Operand:
    """Adds a check of the tensors of a subscript, by sizes at run time: a bool, whether the subscript is a view."""
    listed = tuple(NONE if isinstance(each, TypedValue) and each.type == "gap" else each for each in tensors)
    return reader.builder.scalar("selects", [Several(listed, is_list=True)])


def indices(reader: Expressions, node: ast.Subscript) -> list[Index]:
    """The indices of a subscript."""
    inside = node.slice
    return [_one(reader, item) for item in (inside.elts if isinstance(inside, ast.Tuple) else [inside])]


def _one(reader: Expressions, node: ast.expr) -> Index:
    if isinstance(node, ast.Slice):
        ends = [reader.read(end) if end is not None else NONE for end in (node.lower, node.upper, node.step)]
        return Slice(*ends)
    if isinstance(node, ast.Constant) and node.value is ...:
        return Dots()
    return reader.read(node)


def _of_list(reader: Expressions, value: Operand, indexes: list[Index], hint: str) -> Operand:
    """One item, or a slice, of a tuple, a list or a shape."""
    if len(indexes) != 1:
        raise SpecError(f"{described(value)} takes one index, not {len(indexes)}")
    at = indexes[0]
    if isinstance(at, Slice) and isinstance(value, Several):
        ends = [index_in(end) if end != NONE else None for end in (at.start, at.end, at.step)]
        return Several(value.items[slice(*ends)], is_list=value.is_list)
    is_shape = isinstance(value, TypedValue) and value.type == "int[]"
    if isinstance(at, Slice) and is_shape and at.step in (NONE, of_number(1)):
        start = at.start if at.start != NONE else of_number(0)
        end = at.end if at.end != NONE else of_number(_END)
        return reader.builder.scalar("slice", [value, start, end], hint)
    index = index_in(at) if isinstance(at, (TypedValue, Several)) else None
    if index is None:
        raise SpecError(f"{described(value)} does not take this index", "write a constant whole number")
    if isinstance(value, Several):
        if not -len(value.items) <= index < len(value.items):
            raise SpecError(f"item {index} of {len(value.items)} is out of range")
        return value.items[index]
    if isinstance(value, TypedValue) and items_of(value, 0) is not None:
        return item_of(value, index)
    raise SpecError(f"{described(value)} cannot be subscripted")


def _has_tensor(indexes: list[Index]) -> bool:
    return any(_picks(index) for index in indexes)


def _picks(index: Index) -> bool:
    """Whether an index selects values and makes no view: a tensor, a list."""
    return not isinstance(index, (Slice, Dots)) and (is_tensor(index) or isinstance(index, Several))


def viewed(
    reader: Expressions, value: Operand, indexes: list[Index], hint: str = "", *, assigned: bool = False
) -> tuple[Operand, list[Operand]]:
    """The view that a subscript makes, and the remaining arguments of `index`: tensors, and None in between.

    `assigned`: whether the subscript is the target of an assignment.
    """
    dots = [at for at, index in enumerate(indexes) if isinstance(index, Dots)]
    if len(dots) > 1:
        raise SpecError("a subscript has '...' twice", "write it once")
    view, dim = value, 0
    tensors: list[Operand] = []
    gap = -1  # the place of '...' among the tensors, if one comes after it
    alone = len(indexes) == 1 and not assigned  # `x[:]` is another tensor, but an assignment to it writes to x itself
    for at, index in enumerate(indexes):
        if isinstance(index, Dots):
            if _has_tensor(indexes[at + 1 :]):
                tensors += [NONE] * (dim - len(tensors))
                gap = len(tensors)
            dim = -sum(later != NONE for later in indexes[at + 1 :])  # None consumes no dimension
            continue
        last = not any(map(_makes, indexes[at + 1 :]))
        from_end = bool(dots) and dots[0] < at
        between = indexes[at + 1 :] if from_end else indexes[:at]
        masks = [_as_tensor(reader, each) for each in between if isinstance(each, TypedValue) and _picks(each)]
        named = hint if last else ""
        view, dim = _applied(reader, view, index, dim, masks, named, alone=alone, from_end=from_end)
        if gap >= 0 and (isinstance(index, Slice) or index == NONE):
            tensors.append(NONE)
        elif _picks(index):
            tensors += [NONE] * (dim - 1 - len(tensors) if gap < 0 else 0)
            tensors.append(_as_tensor(reader, index))
    if gap >= 0:
        tensors.insert(gap, reader.builder.scalar("gap", [view, Several(tuple(tensors), is_list=True)]))
    return view, tensors


def _makes(index: Index) -> bool:
    return not isinstance(index, Dots) and not (isinstance(index, Slice) and index.is_full)


def _applied(
    reader: Expressions,
    view: Operand,
    index: Index,
    dim: int,
    masks: list[Operand],
    hint: str,
    *,
    alone: bool,
    from_end: bool,
) -> tuple[Operand, int]:
    """A view with one more index applied, and the dimension of the next index.

    `dim`: the dimension of the index, from the end if `from_end`, where each tensor counts as one; `masks`: those
    tensors between it and that end, of which a mask has as many as it has itself.
    """

    def call(operator: str, dim: int, *more: Operand) -> Operand:
        at: Operand = of_number(dim)
        if masks:
            at = reader.builder.scalar("beyond", [at, Several(tuple(masks), is_list=True)], "dim")
        return reader.builder.call(f"aten::{operator}", [view, at, *more], hint=hint)

    if isinstance(index, Slice):
        if index.is_full and not alone:
            return view, dim + 1
        start = index.start if index.start != NONE else of_number(0)
        end = index.end if index.end != NONE else of_number(_END)
        step = index.step if index.step != NONE else of_number(1)
        return call("slice", dim, start, end, step), dim + 1
    if index == NONE:
        return call("unsqueeze", dim - 1 if from_end else dim), dim if from_end else dim + 1
    if isinstance(index, TypedValue) and index.type == "int":
        return call("select", dim, index), dim + 1 if from_end else dim
    if isinstance(index, (TypedValue, Several)) and _picks(index):
        return view, dim + 1
    assert not isinstance(index, Dots)
    raise SpecError(f"{described(index)} cannot index a tensor", "write whole numbers, slices, '...', None and tensors")


def _as_tensor(reader: Expressions, index: Index) -> Operand:
    """The tensor for `index`: a list of integers becomes a new tensor."""
    if isinstance(index, TypedValue):
        return index
    assert isinstance(index, Several)
    if not index.items or not all(isinstance(item, TypedValue) and item.type == "int" for item in index.items):
        raise SpecError(f"{described(index)} cannot index a tensor", "write whole numbers, or a Tensor of int64")
    items = [reader.builder.call("aten::scalar_tensor", [item], {"dtype": of_dtype("int64")}) for item in index.items]
    return reader.builder.call("aten::stack", [Several(tuple(items), is_list=True)])
