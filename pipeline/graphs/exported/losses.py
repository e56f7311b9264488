"""The cross entropy in an autocast region of a device that leaves it to the operators that it is made of.

Facts: cross_entropy_loss in ATen/native/LossNLL.cpp of the release. It asks for a softmax in the dtype of its argument,
so autocast does not change that; the loss of the result is computed in float32.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.graphs.model import Bool, Constant, Float, Int
from pipeline.graphs.resolve.builder import GraphBuilder
from pipeline.graphs.resolve.operands import Known, Operand

NAME = "aten::cross_entropy_loss"
_PARTS = ("target", "weight", "reduction", "ignore_index")


def add_cross_entropy(
    builder: GraphBuilder, arguments: Mapping[str, Operand], sizes: tuple[int, ...], dtype: str, target: str, hint: str
) -> Operand | None:
    """Adds the calls; the loss. `sizes` and `dtype` are those of the argument, `target` is the dtype of the classes.

    None if it has probabilities in place of classes, smooths them, or is of another dtype than autocast casts up.
    """
    smoothing = arguments.get("label_smoothing")
    smooths = isinstance(smoothing, Known) and smoothing.value not in (Float(0.0), Int(0), Bool(False))
    if smooths or target != "int64" or dtype not in ("float16", "bfloat16"):
        return None
    dim = Known(Int(1 if len(sizes) > 1 else 0), "int")
    softmax = builder.call("aten::log_softmax", [arguments["self"], dim], overload="int", hint=f"{hint}_log_softmax")
    builder.set_facts([(sizes, dtype)])
    full = Known(Constant("ScalarType", "float32"), "ScalarType")
    cast = builder.call("aten::to", [softmax, full], overload="dtype", hint=f"{hint}_log_softmax_cast")
    builder.set_facts([(sizes, "float32")])
    given = {name: arguments[name] for name in _PARTS if name in arguments}
    return builder.call("aten::nll_loss_nd", [cast], given, hint=hint)
