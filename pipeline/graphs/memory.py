"""Which results alias which arguments: the annotations of schemas, and a table of aliasing that schemas omit.

A composite operator may return an argument itself, or a view of it, without an annotation in its schema. A write to
such a result writes to the argument. The table comes from calling all operators of release 2.13 on small tensors, and
from the kernels that the rows cite.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.model.schema import Schema


class Shares(Struct, frozen=True):
    """The argument that a result may alias.

    For an argument that is a list, the result is either a list, each item of which aliases the item of the same index,
    or one tensor, which aliases only if the list has one item.
    """

    argument: str = "self"
    copied: bool = False  # whether it may be a copy: that depends on strides, dtypes or numbers at run time
    itself: bool = False  # whether it may be the argument itself
    whole: bool = False  # whether it is always the argument itself or a copy, never a view with other metadata


_COPY = Shares(copied=True)
_COPY_OR_ITSELF = Shares(copied=True, itself=True)
_NOTHING_TO_DO = Shares(copied=True, itself=True, whole=True)
_DROPS_NOTHING = Shares("input", copied=True, itself=True, whole=True)
_CASTS = "Byte Char Double Float Int Long Short Half".split()

# By an operator's name, with its overload if only that overload aliases.
_SHARES = {
    # TensorShape.cpp: the schemas annotate a view
    **dict.fromkeys("reshape reshape_as ravel _reshape_alias".split(), _COPY),
    # TensorProperties.cpp, TensorShape.cpp, TensorConversions.cpp: a view, or the argument if there is nothing to do
    **dict.fromkeys("contiguous flatten to".split(), _COPY_OR_ITSELF),
    # UnaryOps.cpp: a view, or the argument if there is nothing to do
    **dict.fromkeys("conj positive real resolve_conj resolve_neg".split(), Shares(itself=True)),
    # TensorConversions.cpp: `to` if the tensor has the dtype and device already; to_dense of a dense tensor
    **dict.fromkeys(["type_as", "to_dense", *(f"_cast_{name}" for name in _CASTS)], _NOTHING_TO_DO),
    # ExpandUtils.h, sum_to: if the tensor has the shape already
    "sum_to_size": _NOTHING_TO_DO,
    # UnaryOps.cpp: a real tensor is its own conjugate
    "conj_physical": _NOTHING_TO_DO,
    # Dropout.cpp: not in training, p is 0, or no elements
    **dict.fromkeys("dropout feature_dropout alpha_dropout feature_alpha_dropout".split(), _DROPS_NOTHING),
    # TensorTransformations.cpp: itself, or a view with more dimensions, of size one
    **dict.fromkeys("atleast_1d atleast_2d atleast_3d".split(), Shares(itself=True)),
    **dict.fromkeys([f"atleast_{n}d.Sequence" for n in (1, 2, 3)], Shares("tensors", itself=True)),
    # ExpandUtils.h, expand_outplace: itself, or expanded
    "broadcast_tensors": Shares("tensors", itself=True),
    # TensorShape.cpp, meshgrid: views, expanded
    "meshgrid": Shares("tensors"),
    # Linear.cpp, einsum: of one tensor its permutation or diagonal, if there is nothing to sum
    "einsum": Shares("tensors", copied=True),
    # Itertools.cpp: of one tensor that tensor
    "cartesian_prod": Shares("tensors", copied=True, itself=True),
    # utils/tensor_flatten.h
    "flatten_dense_tensors": Shares("tensors", copied=True),
    "unflatten_dense_tensors": Shares("flat"),
}


def shares(schema: Schema) -> Shares | None:
    """The argument that the result of an operator may alias; None if the result always has its own memory."""
    name = schema.name
    row = _SHARES.get(f"{name.base}.{name.overload}") or _SHARES.get(name.base)
    marked = _marked(schema)
    return row or (Shares(marked) if marked is not None else None)


def _marked(schema: Schema) -> str | None:
    """The argument that the result is a view of, by the annotations; None without such an annotation."""
    letters = {r.annotation for r in schema.returns if r.annotation is not None and not r.is_write}
    for argument in schema.arguments:
        annotation = argument.annotation
        if annotation is not None and not argument.is_write and annotation.partition(" ")[0] in letters:
            return argument.name
    return None
