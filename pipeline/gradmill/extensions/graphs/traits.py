"""What graphs know of operators by their names: the tables of all passes, and how an operator is named.

A name here is a whole identity: the namespace, the operator, the overload. So an operator of one's own is never taken
for another one: neither `toy::positive` nor an overload that a set adds, `aten::positive.scaled`, is
`aten::positive`. What the schemas, tags, formulas and dispatch of an operator say is in no table.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from gradmill.extensions.graphs.tables import read_table
from gradmill.model.native import NativeFunction


def name_of(function: NativeFunction) -> str:
    """The identity of an operator by which tables know it: `aten::mul.Tensor`."""
    return f"{function.namespace}::{str(function.func.name).rpartition('::')[2]}"


def unqualified(name: str) -> str:
    """The name of an operator of ATen in spec sets and in messages: `mul.Tensor`; that of any other one is whole."""
    return name.removeprefix("aten::")


def _aten(names: str) -> tuple[str, ...]:
    return tuple(f"aten::{name}" for name in names.split())


# Operators that passes call themselves.
AS_STRIDED = "aten::as_strided"
BROADCAST_TENSORS = "aten::broadcast_tensors"


# ---- memory


class Shares(Struct, frozen=True):
    """The argument that a result may alias.

    For an argument that is a list, the result is either a list, each item of which aliases the item of the same index,
    or one tensor, which aliases only if the list has one item.
    """

    argument: str
    copied: bool = False  # whether it may be a copy: that depends on strides, dtypes or numbers at run time
    itself: bool = False  # whether it may be the argument itself
    whole: bool = False  # whether it is always the argument itself or a copy, never a view with other metadata
    untracked: bool = False  # whether autograd treats it as new memory, and so records no write to one for both
    annotated: bool = False  # whether the schema says so: then autograd makes a view, where it records the call


# Results in the memory of an argument, without an annotation, or with one that says too little.
SHARES = {
    operator: Shares(argument, *(word in words for word in ("copied", "itself", "whole", "untracked")))
    for operator, (argument, *words) in read_table("aliases").items()
}


class Hidden(Struct, frozen=True):
    """Arguments that an operator writes to without an annotation in its schema."""

    arguments: tuple[str, ...] = ()
    switch: str = ""  # the argument that switches the write on, "" for an operator that always writes
    bumps: bool = False  # whether it bumps their versions


def _hidden(words: list[str]) -> Hidden:
    switch = "".join(word.removeprefix("if:") for word in words if word.startswith("if:"))
    arguments = tuple(word for word in words if word != "bumps" and not word.startswith("if:"))
    return Hidden(arguments, switch, "bumps" in words)


WRITES = {
    name: _hidden(words)
    for operator, words in read_table("writes").items()
    for name in (operator, f"{operator}.out")  # the generated variant calls the operator
}

# The overloads that refuse to write where arguments are in the same memory, with those that they check: `*` if these
# have to be apart in any case, and may not be the written tensor itself.
OVERLAPS = {
    name: {argument.removesuffix("*"): argument.endswith("*") for argument in arguments}
    for name, arguments in read_table("overlaps").items()
}

# Those that return their argument if they drop nothing. In place, too.
DROPOUTS = frozenset(
    _aten(
        "dropout dropout_ alpha_dropout alpha_dropout_ feature_dropout feature_dropout_ feature_alpha_dropout"
        " feature_alpha_dropout_"
    )
)
FILLS = frozenset(_aten("fill_.Scalar zero_"))  # in place, with one number for all elements
CUT = frozenset(_aten("detach detach_"))  # whose results have no history in any mode
DETACH_IN_PLACE = "aten::detach_"
STRIDED = frozenset(_aten("as_strided as_strided_"))

# Operators that a graph does not support, with the hint.
_NO_STORAGE = "a graph's values keep their own memory: make a new tensor"
_SETS = _aten(
    "set_ set_.source_Storage set_.source_Storage_storage_offset set_.source_Tensor set_.source_Tensor_storage_offset"
)
REFUSED = dict.fromkeys((*_SETS, *_aten("resize_ resize_as_")), _NO_STORAGE) | {
    "aten::set_data": _NO_STORAGE,
    "aten::data": "use detach()",
    "aten::requires_grad_": "the caller decides which inputs need a gradient",
    "aten::retain_grad": "gradients of values inside a graph are not kept: return the value",
    "aten::_backward": "the graph has its own backward: return the loss",
    "aten::record_stream": "a graph has no streams",
    "aten::_saturate_weight_to_fp16": "write w.clamp_(-65504, 65504)",
}


# ---- gradients

# Operators without a formula that copy an argument, perhaps with another shape and dtype.
COPIES = dict.fromkeys(_aten("copy copy_ copy.out"), "src")
COPY = "aten::copy"

# Composite operators whose gradient is the incoming one, summed to the shape and cast to the dtype of the input.
_TO = _aten("to.dtype_layout to.device to.dtype to.other")
CASTS = frozenset((*_TO, *_aten("contiguous expand_as broadcast_to type_as positive")))
TYPED_BY_ANOTHER = frozenset(_aten("type_as"))  # whose result has the dtype of another tensor


class Composite(Struct, frozen=True):
    """The gradients of a composite operator: the function of `graph.h`, and the arguments that it uses."""

    gradients: str  # the function: takes the incoming gradient, the saved arguments, and which inputs need a gradient
    inputs: tuple[str, ...]  # the inputs with gradients, in the order of the function's results
    saved: tuple[tuple[str, tuple[str, ...]], ...]  # each argument, with the inputs whose gradients use it


COMPOSITES = {
    "aten::linear": Composite(
        "linear_gradients", ("input", "weight", "bias"), (("input", ("weight",)), ("weight", ("input",)))
    ),
    "aten::matmul": Composite("matmul_gradients", ("self", "other"), (("self", ("other",)), ("other", ("self",)))),
}

# What batch_norm is decomposed into. It does not call these for an empty batch, which their kernels do not take: that
# of the backward divides by zero.
BATCH_NORMS = frozenset(_aten("native_batch_norm _native_batch_norm_legit _batch_norm_with_update"))

# Composite operators that a graph records: the function of `graph.h` that it calls to record them with dropout.
RECORDED_WITH_DROPOUT = {"aten::scaled_dot_product_attention": "attention"}

# Operators that make a tensor from numbers alone, always with the same values.
FACTORIES = frozenset(_aten("zeros ones full arange arange.start arange.start_step scalar_tensor eye eye.m linspace"))


# ---- regions of autocast

PRODUCTS = frozenset(read_table("products"))  # made of one that autocast casts down: they take several dtypes
# Made of others, and what these are cast to is not what a cast of all arguments gives: recurrent networks, and a loss
# that autocast has a kernel for on the CPU alone.
REGIONS = frozenset((*read_table("regions"), "aten::cross_entropy_loss"))


# ---- a memory budget


class Again(Struct, frozen=True):
    """A function of `graph.h` that computes the first result of an operator again."""

    function: str
    arguments: tuple[str, ...]  # those of the operator that it takes
    switch: str = ""  # the argument of the operator that must be True
    result: int | None = None  # the further result of the operator that it takes after the first argument


_OF_BATCH_NORM = ("input", "weight", "bias", "momentum", "eps")
_NORMALIZED = Again("batch_normalized", _OF_BATCH_NORM, "training")
AGAIN = {
    "aten::native_dropout": Again("dropped", ("input", "p"), "train", 1),
    "aten::_native_batch_norm_legit": _NORMALIZED,
    "aten::_native_batch_norm_legit.no_stats": _NORMALIZED,
    "aten::_native_batch_norm_legit_functional": _NORMALIZED,
    "aten::_batch_norm_with_update": Again("batch_normalized_on_device", _OF_BATCH_NORM),
}
# Operators that are not tagged `pointwise`, and take little more time than a copy.
CHEAP = frozenset(
    _TO
    + _aten(
        """
        _to_copy type_as contiguous reshape flatten.using_ints _unsafe_view expand_as clone cat stack hardswish
        hardswish_ glu tril tril_ triu triu_ index_select embedding gather constant_pad_nd flip roll repeat _softmax
        _log_softmax native_layer_norm native_group_norm
        """
    )
)
# What a call takes for a byte of its result, next to an addition of two tensors. Measured on a CPU.
TIME: Mapping[str, int] = {
    **dict.fromkeys(_aten("tanh tanh_"), 20),
    **dict.fromkeys(_aten("mish mish_"), 12),
    **dict.fromkeys((name for name, again in AGAIN.items() if again is _NORMALIZED), 12),
    **dict.fromkeys(_aten("gelu gelu_ softplus"), 8),
    **dict.fromkeys(_aten("exp exp_ erf erf_ log log_ sin sin_ cos cos_ _softmax _log_softmax"), 6),
    **dict.fromkeys(_aten("silu silu_ sigmoid sigmoid_ rsqrt rsqrt_ native_layer_norm native_group_norm cat"), 3),
}
# How much smaller results after the first one are: a mask of bytes, indices. Of others, they are statistics.
FURTHER = {"aten::native_dropout": 4, "aten::max_pool2d_with_indices": 1}

# Views after which a reshape copies.
REORDERING = frozenset(
    _aten(
        "transpose.int permute t mT movedim.intlist movedim.int swapaxes swapdims expand select.int slice.Tensor narrow"
        " narrow.Tensor"
    )
)
RESHAPES = frozenset(_aten("reshape contiguous flatten.using_ints"))
PERHAPS_ITSELF = frozenset((*_TO, *_aten("type_as _unsafe_view")))  # their argument, if it has these sizes and dtype


# ---- arguments

# Operators that accept numbers for their tensors (should_allow_numbers_as_tensors): all overloads of these.
TAKE_NUMBERS = frozenset(
    name
    for each in _aten("add sub mul div divide multiply subtract true_divide floor_divide copy")
    for name in (each, f"{each}_")
) | {*_aten("to _to_copy")}
