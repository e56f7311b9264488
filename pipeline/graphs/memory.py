"""Which results alias which arguments: the annotations of schemas, and a table of aliasing that schemas omit.

A composite operator may return an argument itself, or a view of it, without an annotation in its schema. A write to
such a result writes to the argument. A test calls all operators on small tensors and compares the results with the
table; the rows cite the kernels.
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
    untracked: bool = False  # whether autograd treats it as new memory, and so records no write to one for both


def _untracked(argument: str) -> Shares:
    return Shares(argument, untracked=True)


_COPY = Shares(copied=True)
_COPY_OR_ITSELF = Shares(copied=True, itself=True)
_NOTHING_TO_DO = Shares(copied=True, itself=True, whole=True)
_DROPS_NOTHING = Shares("input", copied=True, itself=True, whole=True)
_OF_VALUES = "filled_intlist floatlist intlist".split()
DROPOUTS = "dropout feature_dropout alpha_dropout feature_alpha_dropout".split()
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
    # autocast_mode.cpp: `to` of the dtype of the region, if the flags of the call ask for it
    "_autocast_to_full_precision": _NOTHING_TO_DO,
    "_autocast_to_reduced_precision": _NOTHING_TO_DO,
    # TensorShape.cpp, TensorFactories.cpp: a tensor without dimensions; lift_fresh without functorch
    **dict.fromkeys("mT mH matrix_H adjoint lift_fresh".split(), Shares(itself=True)),
    # ExpandUtils.h, sum_to: if the tensor has the shape already
    "sum_to_size": _NOTHING_TO_DO,
    # UnaryOps.cpp: a real tensor is its own conjugate
    "conj_physical": _NOTHING_TO_DO,
    # Dropout.cpp: not in training, p is 0, or no elements
    **dict.fromkeys(DROPOUTS, _DROPS_NOTHING),
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
    # TensorShape.cpp: views with version counters of their own, and without the marks of views
    **dict.fromkeys("unsafe_split unsafe_chunk unsafe_split_with_sizes _unsafe_view".split(), _untracked("self")),
    # the argument, if there is nothing to do: dequantize of a float tensor, to_sparse of a sparse one
    **dict.fromkeys("dequantize to_sparse lift _remove_batch_dim".split(), _untracked("self")),
    **dict.fromkeys("cumprod_backward to_dense_backward to_mkldnn_backward".split(), _untracked("grad")),
    **dict.fromkeys("_foobar _test_parallel_materialize".split(), _untracked("self")),
    **dict.fromkeys(["_test_optional_" + name for name in _OF_VALUES], _untracked("values")),
    "cummaxmin_backward": _untracked("input"),
    "histogramdd.TensorList_bins": _untracked("bins"),
    "set.source_Tensor": _untracked("source"),
    "_nested_compute_contiguous_strides_offsets": _untracked("nested_size"),
    "_saturate_weight_to_fp16": _untracked("weight"),
    "_to_cpu": _untracked("tensors"),
}


def shares(schema: Schema) -> Shares | None:
    """The argument that the result of an operator may alias, other than one that it writes to; None for new memory."""
    name = schema.name
    if any(argument.is_write for argument in schema.arguments):  # not `dropout_`, which always returns its argument
        return None
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
