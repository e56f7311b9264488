"""In whose memory results are: what schemas mark, and a table of what they do not say.

An operator that is made of others may give an argument itself, or a view of it, with no mark in its schema. Whoever
writes to such a result writes to the argument. Found by calling all operators of release 2.13 on small tensors, and by
reading the kernels that stand beside the rows.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.model.schema import Schema


class Shares(Struct, frozen=True):
    """In whose memory a result may be.

    Of a list an operator gives a list, each item in the memory of the one in its place, or one tensor: that shares
    memory only where the list has one item.
    """

    argument: str = "self"
    copied: bool = False  # whether it may be a copy: it depends on strides, dtypes or numbers at run time
    itself: bool = False  # whether it may be the argument itself
    whole: bool = False  # whether it is the argument itself or a copy, and nothing that looks otherwise


_COPY = Shares(copied=True)
_COPY_OR_ITSELF = Shares(copied=True, itself=True)
_NOTHING_TO_DO = Shares(copied=True, itself=True, whole=True)
_DROPS_NOTHING = Shares("input", copied=True, itself=True, whole=True)
_CASTS = "Byte Char Double Float Int Long Short Half".split()

# By an operator's name, with its overload where there is one of that name.
_SHARES = {
    # TensorShape.cpp: the schemas mark a view
    **dict.fromkeys("reshape reshape_as ravel _reshape_alias".split(), _COPY),
    # TensorProperties.cpp, TensorShape.cpp, TensorConversions.cpp: the same, or nothing to do
    **dict.fromkeys("contiguous flatten to".split(), _COPY_OR_ITSELF),
    # UnaryOps.cpp: the same, or nothing to do
    **dict.fromkeys("conj positive real resolve_conj resolve_neg".split(), Shares(itself=True)),
    # TensorConversions.cpp: `to`, which has nothing to do where the dtype and device are that; a
    # tensor that is dense
    **dict.fromkeys(["type_as", "to_dense", *(f"_cast_{name}" for name in _CASTS)], _NOTHING_TO_DO),
    # ExpandUtils.h, sum_to: the shape is that
    "sum_to_size": _NOTHING_TO_DO,
    # UnaryOps.cpp: what is not complex is its own conjugate
    "conj_physical": _NOTHING_TO_DO,
    # Dropout.cpp: not in training, p is 0, or no elements
    **dict.fromkeys("dropout feature_dropout alpha_dropout feature_alpha_dropout".split(), _DROPS_NOTHING),
    # TensorTransformations.cpp: itself, or with dimensions of one more
    **dict.fromkeys("atleast_1d atleast_2d atleast_3d".split(), Shares(itself=True)),
    **dict.fromkeys([f"atleast_{n}d.Sequence" for n in (1, 2, 3)], Shares("tensors", itself=True)),
    # ExpandUtils.h, expand_outplace: itself, or expanded
    "broadcast_tensors": Shares("tensors", itself=True),
    # TensorShape.cpp, meshgrid: views, expanded
    "meshgrid": Shares("tensors"),
    # Linear.cpp, einsum: of one tensor a permuted one, or a diagonal, where there is nothing to sum
    "einsum": Shares("tensors", copied=True),
    # Itertools.cpp: of one tensor that one
    "cartesian_prod": Shares("tensors", copied=True, itself=True),
    # utils/tensor_flatten.h
    "flatten_dense_tensors": Shares("tensors", copied=True),
    "unflatten_dense_tensors": Shares("flat"),
}


def shares(schema: Schema) -> Shares | None:
    """In whose memory the result of an operator may be; None where it has memory of its own."""
    name = schema.name
    row = _SHARES.get(f"{name.base}.{name.overload}") or _SHARES.get(name.base)
    marked = _marked(schema)
    return row or (Shares(marked) if marked is not None else None)


def _marked(schema: Schema) -> str | None:
    """The argument that the result is a view of, by the annotations; None where it is of none."""
    letters = {r.annotation for r in schema.returns if r.annotation is not None and not r.is_write}
    for argument in schema.arguments:
        annotation = argument.annotation
        if annotation is not None and not argument.is_write and annotation.partition(" ")[0] in letters:
            return argument.name
    return None
