"""Cases: a Node and arguments of its operator. `tests/in_torch` compares our kernels with torch's on each.

Arguments are positional, then by name. `ref` is a function to call where ATen has no operator of that name.
`first_only` leaves second order out, where torch has none or another convention; `fixed` names arguments that torch
itself takes no gradient of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

COMPLEX = torch.complex128
INFINITY = math.inf


class Case(NamedTuple):
    """One comparison. Arguments are made when it runs, from a fixed seed."""

    node: str
    arguments: Callable[[], tuple[Any, ...]]
    named: dict[str, Any]
    ref: Callable[..., Any] | None = None
    first_only: bool = False
    fixed: tuple[str, ...] = ()


def cases() -> list[Case]:
    """All cases, group by group."""
    groups = (
        _arithmetic,
        _unary,
        _limits_and_masks,
        _reductions,
        _linear_algebra,
        _views,
        _indexing,
        _joining,
        _layers,
        _losses,
        _random,
        _foreach,
        _double_backward,
    )
    return [case for group in groups for case in group()]


def _case(node: str, arguments: Callable[[], tuple[Any, ...]], **named: Any) -> Case:
    options = {name: named.pop(name) for name in ("ref", "first_only", "fixed") if name in named}
    return Case(node, arguments, named, **options)


def normal(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, dtype=dtype)


def positive(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64) + 0.5


def unit(*shape: int) -> Tensor:
    """Between 0.1 and 0.9."""
    return torch.rand(*shape, dtype=torch.float64) * 0.8 + 0.1


def below(limit: int, *shape: int) -> Tensor:
    """Indices."""
    return torch.randint(0, limit, shape)


def of(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def three(make: Callable[..., Tensor], *shape: int) -> list[Tensor]:
    return [make(*shape) for _ in range(3)]


def _arithmetic() -> Iterator[Case]:
    def broadcast() -> tuple[Tensor, Tensor]:
        return normal(3, 4), normal(4)

    yield _case("AddBackward0", broadcast, alpha=2.5)
    yield _case("AddBackward1", lambda: (normal(3, 4), 2.0))
    yield _case("SubBackward0", broadcast, alpha=2)
    yield _case("SubBackward1", lambda: (normal(3, 4), 2.0))
    yield _case("MulBackward0", broadcast)
    yield _case("MulBackward0", lambda: (normal(3, dtype=COMPLEX), normal(3)))
    yield _case("MulBackward1", lambda: (normal(3, 4), 2.5))
    yield _case("DivBackward0", lambda: (normal(3, 4), positive(4)))
    yield _case("DivBackward0", lambda: (normal(3), normal(3, dtype=COMPLEX)))
    yield _case("DivBackward0", lambda: (normal(3, dtype=COMPLEX), normal(3)))
    yield _case("DivBackward1", lambda: (normal(3, 4), 2.5))
    for mode in (None, "floor"):
        yield _case("DivBackward2", lambda: (normal(3, 4), positive(4)), rounding_mode=mode)
    for exponent in (2.5, 0, 1, 2, 3):
        yield _case("PowBackward0", lambda exponent=exponent: (positive(3, 4), exponent))
    yield _case("PowBackward0", lambda: (normal(3, 4), 3))
    yield _case("PowBackward0", lambda: (of(0, 1, -2), 2))
    yield _case("PowBackward0", lambda: (normal(3, dtype=COMPLEX), 2.5))
    yield _case("PowBackward1", lambda: (positive(3, 4), normal(4)))
    yield _case("PowBackward1", lambda: (of(0, 0, 2, 3), of(0, 2, 0, 1)), first_only=True)
    yield _case("PowBackward1", lambda: (normal(3, dtype=COMPLEX), positive(3)))
    yield _case("PowBackward2", lambda: (2.5, normal(3, 4)))
    yield _case("PowBackward2", lambda: (0.0, of(0, 1, 2.5)), first_only=True)
    yield _case("Atan2Backward0", broadcast)
    yield _case("LerpBackward0", lambda: (normal(3), normal(3), 0.3))
    yield _case("LerpBackward1", lambda: (normal(3), normal(3), positive(3)))
    yield _case("LerpBackward1", lambda: tuple(normal(3, dtype=COMPLEX) for _ in range(3)))
    yield _case("AddcmulBackward0", lambda: (normal(3, 4), normal(3, 4), normal(4)), value=1.5)
    yield _case("AddcdivBackward0", lambda: (normal(3, 4), normal(3, 4), positive(4)), value=1.5)
    yield _case("AddcdivBackward0", lambda: tuple(normal(3, dtype=COMPLEX) for _ in range(3)), value=1.5)
    yield _case("CubeBackward0", lambda: (normal(4),), ref=lambda x: x**3)
    yield _case("ScaleBackward0", lambda: (normal(3), 2.5), ref=lambda x, factor: x * factor)


def _unary() -> Iterator[Case]:
    for name in "Abs Neg Exp Sin Cos Tan Sinh Atan Tanh Sigmoid Erf Floor Relu Silu LogSigmoid".split():
        yield _case(f"{name}Backward0", lambda: (normal(3, 4),))
    for name in "Log Log1P Sqrt Rsqrt Reciprocal".split():
        yield _case(f"{name}Backward0", lambda: (positive(3, 4),))
    for name in "Exp Sin Cos Tan Sinh Tanh Sigmoid Abs Neg Reciprocal Log Log1P Sqrt Rsqrt".split():
        yield _case(f"{name}Backward0", lambda: (normal(5, dtype=COMPLEX),))
    for name in "Asin Atan".split():
        yield _case(f"{name}Backward0", lambda: (normal(5, dtype=COMPLEX) * 0.3,))
    yield _case("AsinBackward0", lambda: (unit(5),))
    yield _case("PolygammaBackward0", lambda: (1, positive(4)))
    yield _case("PolygammaBackward1", lambda: (positive(4), 1))
    yield _case("LeakyReluBackward0", lambda: (normal(9), 0.2))
    yield _case("ThresholdBackward0", lambda: (normal(9), 0.1, 5.0))
    yield _case("HardtanhBackward0", lambda: (normal(9), -0.5, 0.5))
    yield _case("SoftplusBackward0", lambda: (normal(9), 2, 1.0))
    for approximate in ("none", "tanh"):
        yield _case("GeluBackward0", lambda: (normal(9),), approximate=approximate)
    yield _case("EluBackward0", lambda: (normal(9), 1.5, 1.1, 0.9))
    yield _case("GluBackward0", lambda: (normal(4, 6), 1))
    yield _case("PreluKernelBackward0", lambda: (normal(2, 3), normal(1, 3)))
    yield _case("CloneBackward0", lambda: (normal(3),))
    for dtype in (torch.float32, COMPLEX):
        yield _case("ToCopyBackward0", lambda: (normal(3),), dtype=dtype)
    yield _case("ToCopyBackward0", lambda: (normal(3, dtype=torch.complex64),), dtype=COMPLEX)


def _limits_and_masks() -> Iterator[Case]:
    yield _case("MaximumBackward0", lambda: (normal(3, 4), normal(4)))
    yield _case("MaximumBackward0", lambda: (of(1, 2, 3), of(1, 1, 4)))
    yield _case("MinimumBackward0", lambda: (of(1, 2, 3), of(1, 1, 4)))
    yield _case("ClampBackward0", lambda: (normal(20), -0.5, 0.7))
    yield _case("ClampBackward0", lambda: (normal(20), None, 0.7))
    yield _case("ClampBackward1", lambda: (normal(20), normal(20) - 1, normal(20)))
    yield _case("ClampBackward1", lambda: (normal(20), None, normal(20)))
    yield _case("ClampMinBackward0", lambda: (normal(20), 0.1))
    yield _case("WhereBackward0", lambda: (normal(3, 4) > 0, normal(3, 4), normal(4)))
    yield _case("WhereBackward0", lambda: (normal(3) > 0, normal(3, dtype=COMPLEX), normal(3, dtype=COMPLEX)))
    yield _case("MaskedFillBackward0", lambda: (normal(3, 4), normal(4) > 0, 2.0))
    yield _case("MaskedFillBackward1", lambda: (normal(3, 4), normal(4) > 0, torch.tensor(2.0, dtype=torch.float64)))
    yield _case("FillBackward0", lambda: (normal(3), 2.0))
    yield _case("FillBackward1", lambda: (normal(3), torch.tensor(2.0, dtype=torch.float64)))
    yield _case("EqBackward0", lambda: (normal(3), normal(3)))


def _reductions() -> Iterator[Case]:
    yield _case("SumBackward0", lambda: (normal(3, 4),))
    for dims, kept in (([0, -1], False), ([1], True), (None, False), ([], False)):
        yield _case("SumBackward1", lambda dims=dims, kept=kept: (normal(3, 4, 2), dims, kept))
    yield _case("SumBackward1", lambda: (normal(3, dtype=COMPLEX), [0]))
    yield _case("MeanBackward0", lambda: (normal(3, 4),))
    yield _case("MeanBackward1", lambda: (normal(3, 4, 2), [0, -1]))
    yield _case("MeanBackward1", lambda: (normal(3, 4, 2), None))
    yield _case("ProdBackward0", lambda: (normal(3, 2),))
    yield _case("ProdBackward0", lambda: (of(0, 2, 3),))
    yield _case("ProdBackward0", lambda: (of(0, 0, 3),))
    yield _case("ProdBackward0", lambda: (normal(3, dtype=COMPLEX),))
    for node in ("VarBackward0", "StdBackward0", "VarMeanBackward0"):
        yield _case(node, lambda: (normal(3, 4), [1]), correction=1)
        yield _case(node, lambda: (normal(3, 4), None))
        yield _case(node, lambda: (normal(3, 4), [0]), correction=0, keepdim=True)
    yield _case("LogsumexpBackward0", lambda: (normal(3, 4), [1]))
    yield _case("LogsumexpBackward0", lambda: (normal(3, 4), [0, 1], True))
    yield _case("LogsumexpBackward0", lambda: (torch.stack([of(1, -INFINITY), of(0, 1)]), [1]), first_only=True)
    yield _case("AmaxBackward0", lambda: (normal(3, 4), [1]))
    yield _case("AmaxBackward0", lambda: (torch.stack([of(1, 1), of(0, 2)]), []))
    yield _case("MaxBackward0", lambda: (normal(3, 4), 1))
    yield _case("MaxBackward0", lambda: (normal(3, 4), 0, True))
    yield _case("AminmaxBackward0", lambda: (normal(3, 4),))
    yield _case("AminmaxBackward0", lambda: (normal(3, 4),), dim=1)
    yield _case("AminmaxBackward0", lambda: (normal(3, 4),), dim=0, keepdim=True)
    yield _case("TopkBackward0", lambda: (normal(3, 5), 2, 1))
    yield _case("CumsumBackward0", lambda: (normal(3, 4), 1))
    yield _case("CumsumBackward0", lambda: (normal(3, 4).float(), 0), dtype=torch.float64)


def _linear_algebra() -> Iterator[Case]:
    for dtype in (torch.float64, COMPLEX):

        def matrix(rows: int, columns: int, dtype: torch.dtype = dtype) -> Tensor:
            return normal(rows, columns, dtype=dtype)

        def transposed(rows: int, columns: int, dtype: torch.dtype = dtype) -> Tensor:
            return normal(columns, rows, dtype=dtype).t()

        yield _case("MmBackward0", lambda m=matrix: (m(3, 4), m(4, 5)))
        yield _case("MmBackward0", lambda t=transposed: (t(3, 4), t(4, 5)))
        yield _case("AddmmBackward0", lambda m=matrix: (m(3, 5), m(3, 4), m(4, 5)), beta=0.5, alpha=2)
        yield _case("MvBackward0", lambda m=matrix, d=dtype: (m(3, 4), normal(4, dtype=d)))
        yield _case("BmmBackward0", lambda d=dtype: (normal(2, 3, 4, dtype=d), normal(2, 4, 5, dtype=d)))
        yield _case("LinalgCrossBackward0", lambda m=matrix: (m(4, 3), m(4, 3)))
        yield _case("LinalgInvExBackward0", lambda m=matrix: (m(3, 3),))
        yield _case("LinalgMultiDotBackward0", lambda m=matrix: ([m(3, 4), m(4, 5), m(5, 2)],))
        yield _case("LinearBackward0", lambda m=matrix: (m(2, 3), m(5, 3), None), ref=functional.linear)
    yield _case("MmBackwardAutogradCUDA0", lambda: (normal(3, 4), normal(4, 5)))
    yield _case("DotBackward0", lambda: (normal(4), normal(4)))
    yield _case("DotBackward0", lambda: (normal(4, dtype=COMPLEX).conj(), normal(4, dtype=COMPLEX)))
    yield _case("LinearBackward0", lambda: (normal(2, 3, 4), normal(5, 4), normal(5)), ref=functional.linear)
    yield _case("LinearBackward0", lambda: (normal(3, 4), normal(4)), ref=functional.linear)
    yield _case("LinalgMultiDotBackward0", lambda: ([normal(4), normal(4, 5), normal(5)],))
    yield _case("TraceBackward0", lambda: (normal(3, 4),))
    yield _case("TrilBackward0", lambda: (normal(3, 4), 1))
    yield _case("TriuBackward0", lambda: (normal(3, 4), -1))


def _views() -> Iterator[Case]:
    for node, arguments in (
        ("ViewBackward0", lambda: (normal(3, 4), [2, 6])),
        ("PermuteBackward0", lambda: (normal(2, 3, 4), [2, 0, -2])),
        ("TransposeBackward0", lambda: (normal(2, 3, 4), 0, -1)),
        ("TBackward0", lambda: (normal(2, 3),)),
        ("SqueezeBackward0", lambda: (normal(2, 1, 3), 1)),
        ("SqueezeBackward0", lambda: (normal(2, 1, 3), 0)),
        ("UnsqueezeBackward0", lambda: (normal(2, 3), -1)),
        ("SelectBackward0", lambda: (normal(3, 4), 1, -1)),
        ("SliceBackward0", lambda: (normal(5, 4), 0, 1, None, 2)),
        ("SliceBackward0", lambda: (normal(5, 4), -1, -3, -1)),
        ("SplitBackward0", lambda: (normal(5, 4), 2, 0)),
        ("SplitBackward0", lambda: (normal(6, 4), 2, 0)),
        ("SplitWithSizesBackward0", lambda: (normal(5, 4), [2, 3], 0)),
        ("UnbindBackward0", lambda: (normal(3, 4), -1)),
        ("DiagonalBackward0", lambda: (normal(3, 4), 1)),
        ("AsStridedBackward0", lambda: (normal(3, 4), [2, 2], [1, 2], 1)),
        ("AsStridedBackward0", lambda: (normal(4, 3).t(), [3, 2], [1, 2], 1)),
        ("AsStridedBackward0", lambda: (normal(3, 1).expand(3, 4), [3], [1], 0)),
        ("AliasBackward0", lambda: (normal(3),)),
        ("UnfoldBackward0", lambda: (normal(7), 0, 3, 2)),
        ("ViewBackwardAutogradNestedTensor0", lambda: (normal(3, 4), [2, 6])),
    ):
        yield _case(node, arguments)
        yield _case(f"{node}_copy", arguments)
    yield _case("TransposeBackward1", lambda: (normal(2, 3, 4), 0, -1))
    yield _case("TBackward1", lambda: (normal(2, 3),))
    yield _case("SqueezeBackward1", lambda: (normal(2, 1, 3), 1))
    yield _case("UnsqueezeBackward1", lambda: (normal(2, 3), -1))
    yield _case("AsStridedBackward1", lambda: (normal(3, 4), [2, 2], [1, 2], 1))
    for node in ("ExpandBackward0", "ExpandCopyBackward0"):
        yield _case(node, lambda: (normal(3, 1), [2, 3, 4]))
    yield _case("ToSparseBackward0", lambda: (torch.stack([of(1, 0), of(0, 2)]), 2), first_only=True)
    yield _case("ToSparseBackward1", lambda: (torch.stack([of(1, 0), of(0, 2)]),), first_only=True)


def _indexing() -> Iterator[Case]:
    yield _case(
        "SliceInverseBackward0",
        lambda: (normal(2, 4), normal(5, 4), 0, 1, 3),
        ref=lambda part, whole, *place: torch.slice_scatter(whole, part, *place),
    )
    yield _case("SliceScatterBackward0", lambda: (normal(5, 4), normal(2, 4), 0, 1, 3))
    yield _case("SelectScatterBackward0", lambda: (normal(5, 4), normal(4), 0, 1))
    yield _case("DiagonalScatterBackward0", lambda: (normal(3, 4), normal(3), 1))
    yield _case("IndexBackward0", lambda: (normal(5, 4), [below(5, 3), None]))
    yield _case("IndexBackward0", lambda: (normal(5, 4), [None, below(4, 3)]))
    yield _case("IndexPutBackward0", lambda: (normal(5, 4), [torch.tensor([0, 2, 3])], normal(3, 4)))
    yield _case("IndexPutBackward0", lambda: (normal(5, 4), [below(5, 3)], normal(4), True))
    yield _case("IndexSelectBackward0", lambda: (normal(5, 4), 1, below(4, 3)))
    yield _case("IndexAddBackward0", lambda: (normal(5, 4), 0, below(5, 3), normal(3, 4)), alpha=1.5)
    yield _case("GatherBackward0", lambda: (normal(5, 4), 1, below(4, 5, 2)))
    yield _case("ScatterAddBackward0", lambda: (normal(5, 4), 1, below(4, 5, 2), normal(5, 2)))
    yield _case("EmbeddingBackward0", lambda: (normal(5, 4), below(5, 3), -1))


def _joining() -> Iterator[Case]:
    yield _case("CatBackward0", lambda: ([normal(3, 2), normal(1, 2), normal(0)], 0))
    yield _case("CatBackward0", lambda: ([normal(3, 2), normal(3, 1, dtype=COMPLEX)], -1))
    yield _case("StackBackward0", lambda: ([normal(3, 2), normal(3, 2)], -1))
    yield _case(
        "BlockDiagBackward0",
        lambda: ([normal(2, 3), normal(3), normal()],),
        ref=lambda blocks: torch.block_diag(*blocks),
    )
    yield _case("RepeatBackward0", lambda: (normal(2, 3), [2, 1, 3]))
    yield _case("RepeatBackward0", lambda: (normal(2, 3), [1, 0]))
    yield _case("FlipBackward0", lambda: (normal(2, 3), [0, 1]))
    yield _case("RollBackward0", lambda: (normal(4, 5), [1, -2], [0, 1]))
    yield _case("RollBackward0", lambda: (normal(4, 5), [3]))
    yield _case("ConstantPadNdBackward0", lambda: (normal(4, 5), [1, -1, 2, 0], 1.0))


def _layers() -> Iterator[Case]:
    yield _case(
        "ConvolutionBackward0",
        lambda: (normal(1, 2, 5, 5), normal(3, 2, 3, 3), normal(3), [1, 2], [1, 0], [1, 1], False, [0, 0], 1),
    )
    yield _case(
        "ConvolutionBackward0",
        lambda: (normal(1, 2, 5), normal(2, 2, 3), None, [2], [1], [1], True, [0], 1),
    )
    yield _case("NativeLayerNormBackward0", lambda: (normal(2, 3, 4), [4], normal(4), normal(4), 1e-5))
    yield _case("NativeLayerNormBackward0", lambda: (normal(2, 3, 4), [3, 4], None, None, 1e-5))

    def statistics() -> tuple[Tensor, ...]:
        return normal(4, 3), normal(3), normal(3), torch.zeros(3).double(), torch.ones(3).double()

    for node in ("NativeBatchNormBackward0", "NativeBatchNormLegitBackward0"):
        yield _case(node, lambda: (*statistics(), True, 0.1, 1e-5))
    yield _case("NativeBatchNormBackward0", lambda: (*statistics(), False, 0.1, 1e-5))
    yield _case("BatchNormWithUpdateBackward0", lambda: (*statistics(), 0.1, 1e-5))
    yield _case("MaxPool2DWithIndicesBackward0", lambda: (normal(1, 2, 6, 6), [2, 2], [2, 2]))
    yield _case("AvgPool2DBackward0", lambda: (normal(1, 2, 6, 6), [3, 3], [2, 2], [1, 1]))
    yield _case("AvgPool2DBackward0", lambda: (normal(1, 2, 6, 6), [3, 3], [2, 2], [1, 1], False, True, 5))
    yield _case("AdaptiveAvgPool2DBackward0", lambda: (normal(1, 2, 6, 5), [2, 3]))
    yield _case("UpsampleNearest1DBackward0", lambda: (normal(1, 2, 4), [7]))
    yield _case("UpsampleNearest1DBackward0", lambda: (normal(1, 2, 4), [8], 2.0))
    yield _case(
        "UpsampleNearest1DBackward1",
        lambda: (normal(1, 2, 4), [7], None),
        ref=lambda x, size, _: functional.interpolate(x, size=size),
    )
    yield _case(
        "UpsampleNearest1DBackward1",
        lambda: (normal(1, 2, 4), None, [1.75]),
        ref=lambda x, _, factors: functional.interpolate(x, scale_factor=factors[0]),
    )
    yield _case("ReflectionPad1DBackward0", lambda: (normal(2, 5), [2, 1]))
    yield _case("GridSampler2DBackward0", lambda: (normal(1, 2, 4, 4), unit(1, 3, 3, 2) - 0.5, 0, 0, True))
    yield _case("PixelShuffleBackward0", lambda: (normal(1, 4, 2, 2), 2))
    yield _case("SoftmaxBackward0", lambda: (normal(3, 4), 1, False))
    yield _case("LogSoftmaxBackward0", lambda: (normal(3, 4), 1, False))
    yield _case(
        "FusedMovingAvgObsFqHelperBackward0",
        lambda: (
            normal(9).float(),
            *(torch.tensor([1]), torch.tensor([1])),
            *(of(-0.5).float(), of(0.5).float(), of(1.0).float(), torch.tensor([0], dtype=torch.int32)),
            *(0.01, 0, 255, -1),
        ),
    )


def _losses() -> Iterator[Case]:
    for reduction in (0, 1, 2):

        def weights(reduction: int = reduction) -> Tensor | None:
            return positive(4) if reduction else None

        yield _case("MseLossBackward0", lambda r=reduction: (normal(3, 4), normal(3, 4), r))
        yield _case("HuberLossBackward0", lambda r=reduction: (normal(3, 4) * 2, normal(3, 4), r, 1.0))
        yield _case("BinaryCrossEntropyBackward0", lambda r=reduction: (unit(4), unit(4), None, r))
        yield _case(
            "BinaryCrossEntropyBackward0",
            lambda r=reduction: (unit(4), unit(4), positive(4), r),
            fixed=("target",),
        )
        yield _case(
            "NllLossBackward0",
            lambda r=reduction, w=weights: (normal(3, 4), below(4, 3), w(), r, -100),
        )


def _random() -> Iterator[Case]:
    for train in (True, False):
        yield _case("NativeDropoutBackward0", lambda train=train: (normal(9), 0.3, train))
    yield _case("BernoulliBackward0", lambda: (unit(5),))
    yield _case("BernoulliBackward1", lambda: (normal(5), 0.3))
    for node in ("NormalBackward0", "UniformBackward0", "ZeroBackward0"):
        yield _case(node, lambda: (normal(5),))


def _foreach() -> Iterator[Case]:
    def lists() -> tuple[list[Tensor], list[Tensor]]:
        return three(normal, 3), three(positive, 3)

    scalars = [2.5, -1.5, 3.0]
    for name, version, alpha in (("Add", 0, 2.0), ("Sub", 0, 2.0), ("Mul", 0, None), ("Div", 0, None)):
        named = {} if alpha is None else {"alpha": alpha}
        yield _case(f"Foreach{name}Backward{version + 1}Scalar", lambda: (three(normal, 3), 2.5))
        yield _case(f"Foreach{name}Backward{version + 1}ScalarList", lambda: (three(normal, 3), scalars))
        yield _case(f"Foreach{name}Backward{version}List", lists, **named)
    for name in "Add Mul Div".split():
        yield _case(
            f"Foreach{name}Backward0Tensor",
            lambda: (three(normal, 3), torch.tensor(2.5, dtype=torch.float64)),
            fixed=("other",),
        )
    for name in "Exp Abs Neg Sigmoid Tanh".split():
        yield _case(f"Foreach{name}Backward0", lambda: (three(normal, 3),))
    for name in "Sqrt Log".split():
        yield _case(f"Foreach{name}Backward0", lambda: (three(positive, 3),))
    yield _case("ForeachLerpBackward1List", lambda: tuple(three(normal, 3) for _ in range(3)))
    yield _case("ForeachLerpBackward0Scalar", lambda: (three(normal, 3), three(normal, 3), 0.3))
    for kind, value in (("Scalar", 1.5), ("ScalarList", scalars)):
        yield _case(
            f"ForeachAddcmulBackward0{kind}", lambda value=value: (*(three(normal, 3) for _ in range(3)), value)
        )
    yield _case("ForeachClampMinBackward0Scalar", lambda: (three(normal, 9), 0.1))
    yield _case("ForeachMaximumBackward0List", lambda: (three(normal, 9), three(normal, 9)))
    yield _case("ForeachPowBackward0", lambda: (three(positive, 3), three(normal, 3)))
    yield _case("ForeachPowBackward0Scalar", lambda: (three(positive, 3), 2.5))
    yield _case("ForeachPowBackward0ScalarList", lambda: (three(positive, 3), scalars))
    yield _case("ForeachPowBackward1", lambda: (2.5, three(normal, 3)))


def _double_backward() -> Iterator[Case]:
    for dtype in (torch.float64, COMPLEX):
        for name in "Sigmoid Tanh".split():
            yield _case(f"{name}BackwardBackward0", lambda d=dtype: (normal(4, dtype=d), normal(4, dtype=d)))
    yield _case("ThresholdBackwardBackward0", lambda: (normal(9), normal(9), 0.1))
    for reduction in (0, 1, 2):
        yield _case(
            "MseLossBackwardBackward0",
            lambda r=reduction: (normal(3, 4) if r == 0 else normal(), normal(3, 4), normal(3, 4), r),
        )
    yield _case(
        "ConvolutionBackwardBackward0",
        lambda: (
            *(normal(1, 3, 3, 5), normal(1, 2, 5, 5), normal(3, 2, 3, 3)),
            *([3], [2, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True]),
        ),
    )
    yield _case(
        "ConvolutionBackwardBackward0",
        lambda: (
            *(normal(1, 2, 9), normal(1, 2, 5), normal(2, 1, 3)),
            *(None, [2], [1], [1], True, [0], 2, [True, True, False]),
        ),
    )
