"""What schemas do not say of operators' memory, as tables. Facts of PyTorch's kernels."""

from __future__ import annotations

from pipeline.graphs.model import Bool, Call, Float

# Views of their argument, or copies: it depends on strides, dtypes or devices at run time.
MAYBE_COPIES = frozenset("reshape reshape_as contiguous to flatten ravel _reshape_alias".split())

# Of these, what gives its argument itself where there is nothing to do.
MAYBE_ITSELF = frozenset("contiguous flatten to".split())

# What cannot stand in a graph, and what to do instead.
_NO_STORAGE = "a graph's values keep their own memory: make a new tensor"
REFUSED = {
    "set_": _NO_STORAGE,
    "resize_": _NO_STORAGE,
    "resize_as_": _NO_STORAGE,
    "set_data": _NO_STORAGE,
    "data": "use detach()",
    "requires_grad_": "which inputs need a gradient is the caller's to say",
    "detach_": "use detach()",
    "retain_grad": "gradients of values inside of a graph are not held: return the value",
    "_backward": "backward is what the graph is made for: return the loss",
    "record_stream": "a graph has no streams",
}


def returns_argument(call: Call) -> bool:
    """Whether a call returns its argument itself, which its schema does not say: dropout that drops nothing."""
    if call.op not in ("aten::dropout", "aten::feature_dropout", "aten::alpha_dropout", "aten::feature_alpha_dropout"):
        return False
    return call.arguments.get("train") == Bool(False) or call.arguments.get("p") in (Float(0.0),)
