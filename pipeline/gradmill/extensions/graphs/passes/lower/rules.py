"""The decompositions of composite operators for tensors of known shapes.

A rule has a condition on the sizes, and an expression in the language of graphs over the operator's arguments. The
expression may also name `rows` and `columns`, the product of all sizes of the first tensor but the last, and the last,
and `sizes`, the sizes of the result. Facts: ATen/native/Linear.cpp, LinearAlgebra.cpp (matmul), SoftMax.cpp,
layer_norm.cpp, Convolution.cpp, LossNLL.cpp, Normalization.cpp of the release. A rule calls the kernels that the
operator itself calls: batch_norm chooses between cuDNN's and others on CUDA, and so does `_batch_norm_with_update`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

from msgspec import Struct

from gradmill.extensions.graphs.model import ANY, Bool, Float, Int, Nothing, Value

Sizes = tuple[int, ...]


class Shape(Struct, frozen=True):
    """The sizes and dtype of a tensor; ANY for a size that is known at run time only."""

    sizes: Sizes
    dtype: str

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    @property
    def known(self) -> bool:
        """Whether all sizes are known."""
        return ANY not in self.sizes


class Site(Struct, frozen=True):
    """A call that a rule may match: its arguments, the known shapes of its tensors, and the type of the device."""

    arguments: Mapping[str, Value]
    shapes: Mapping[str, Shape]
    device: str = ""  # "" if unknown

    def ranks(self, *names: str) -> tuple[int, ...]:
        """The ranks of some arguments; -1 if unknown."""
        return tuple(self.shapes[name].rank if name in self.shapes else -1 for name in names)

    def is_complex(self, name: str) -> bool:
        """Whether a tensor is known to be complex."""
        return name in self.shapes and self.shapes[name].dtype.startswith("complex")

    def is_none(self, name: str) -> bool:
        """Whether an argument is None."""
        return isinstance(self.arguments[name], Nothing)

    def same_batch(self, one: str, other: str) -> bool:
        """Whether two tensors have the same sizes except for the last two dimensions."""
        batch = self.shapes[one].sizes[:-2]
        return ANY not in batch and batch == self.shapes[other].sizes[:-2]


class Rule(Struct, frozen=True):
    """A decomposition: when it applies, and its expression."""

    applies: Callable[[Site], bool]
    text: str

    @property
    def of_sizes(self) -> bool:
        """Whether its expression has sizes as numbers."""
        return any(name in self.text for name in ("rows", "sizes", "batch,", "height", "width"))


_A = "torch.ops.aten."


def _linear(rank: int, matrix: str, result: str) -> Iterator[Rule]:
    """The rules for inputs of a rank, with and without a bias. `matrix`: the input as a matrix; `result`: the result
    from the `{product}`."""
    weight = f"{_A}t(weight)"
    biased, plain = f"{_A}addmm(bias, {matrix}, {weight})", f"{_A}mm({matrix}, {weight})"
    yield Rule(lambda s: s.ranks("input", "weight", "bias") == (rank, 2, 1), result.format(product=biased))
    yield Rule(lambda s: s.ranks("input", "weight") == (rank, 2) and s.is_none("bias"), result.format(product=plain))


def _class_indices(site: Site) -> bool:
    smooth = site.arguments["label_smoothing"]
    return (
        site.ranks("self", "target") == (2, 1)
        and site.shapes["target"].dtype == "int64"
        and isinstance(smooth, Float)
        and smooth.value == 0.0
    )


def _of_no_dtype(site: Site) -> bool:
    return site.is_none("dtype")


def _drops(site: Site) -> bool:
    """Whether a dropout draws random numbers for sure. Of an empty tensor, it returns that."""
    p, input_ = site.arguments["p"], site.shapes.get("input")
    drops = site.arguments["train"] == Bool(True) and isinstance(p, Float) and 0 < p.value < 1
    return drops and input_ is not None and input_.known and 0 not in input_.sizes and not site.is_complex("input")


def _has_statistics(site: Site) -> bool:
    return not site.is_none("running_mean") and not site.is_none("running_var")


RULES: dict[str, tuple[Rule, ...]] = {
    "aten::linear": (
        *_linear(2, "input", "{product}"),
        *_linear(3, f"{_A}reshape(input, [rows, columns])", f"{_A}view({{product}}, sizes)"),
    ),
    "aten::matmul": (
        Rule(lambda s: s.ranks("self", "other") == (2, 2), f"{_A}mm(self, other)"),
        Rule(lambda s: s.ranks("self", "other") == (3, 3) and s.same_batch("self", "other"), f"{_A}bmm(self, other)"),
        Rule(
            lambda s: s.ranks("self", "other") in ((3, 2), (4, 2)),
            f"{_A}view({_A}mm({_A}reshape(self, [rows, columns]), other), sizes)",
        ),
        Rule(
            lambda s: s.ranks("self", "other") == (4, 4) and s.same_batch("self", "other"),
            f"{_A}view({_A}bmm({_A}reshape(self, [batch, height, columns]),"
            f" {_A}reshape(other, [batch, columns, width])), sizes)",
        ),
    ),
    "aten::softmax.int": (Rule(_of_no_dtype, f"{_A}_softmax(self, dim, False)"),),
    "aten::log_softmax.int": (Rule(_of_no_dtype, f"{_A}_log_softmax(self, dim, False)"),),
    "aten::layer_norm": (
        Rule(lambda s: True, f"{_A}native_layer_norm(input, normalized_shape, weight, bias, eps)[0]"),
    ),
    "aten::dropout": (Rule(_drops, f"{_A}native_dropout(input, p, True)[0]"),),
    "aten::conv2d": (
        Rule(
            lambda s: s.ranks("input") == (4,) and not s.is_complex("input"),  # that is made of real ones
            f"{_A}convolution(input, weight, bias, stride, padding, dilation, False, [0, 0], groups)",
        ),
    ),
    "aten::batch_norm": (
        Rule(
            lambda s: s.device == "cuda" and s.arguments["training"] == Bool(True) and _has_statistics(s),
            f"{_A}_batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps)[0]",
        ),
        Rule(
            lambda s: s.arguments["training"] == Bool(False) and _has_statistics(s),
            f"{_A}native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)[0]",
        ),
        Rule(
            _has_statistics,
            f"{_A}_native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]",
        ),
    ),
    "aten::nll_loss_nd": (
        Rule(
            lambda s: s.ranks("self", "target") == (2, 1) and s.shapes["target"].dtype == "int64",
            f"{_A}nll_loss_forward(self, target, weight, reduction, ignore_index)[0]",
        ),
    ),
    "aten::cross_entropy_loss": (
        Rule(
            _class_indices,
            f"{_A}nll_loss_forward({_A}_log_softmax(self, 1, False), target, weight, reduction, ignore_index)[0]",
        ),
    ),
}


def numbers(site: Site, result: Sizes) -> dict[str, Value]:
    """The names that expressions of rules may use in addition to the arguments, if shapes are known."""
    first = next(iter(site.shapes.values())).sizes if site.shapes else ()
    values: dict[str, Value] = {"rows": Int(prod(first[:-1])), "columns": Int(first[-1] if first else 0)}
    if len(result) > 1:
        values |= {"batch": Int(prod(result[:-2])), "height": Int(result[-2]), "width": Int(result[-1])}
    return values
