"""Domains of linear algebra: within them, torch's own formulas agree with finite differences."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from gradmill.extensions.verify.child.domains import Domain, domain, is_convention
from verify.sampled import overload

GENERATOR = torch.Generator()


def matrix(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=GENERATOR.manual_seed(len(shape)), dtype=dtype)


CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("_linalg_eigh", "A", {"UPLO": "L"}),
    ("_linalg_eigh", "A", {"UPLO": "U"}),
    ("linalg_eig", "self", {}),
    ("_linalg_svd", "A", {"full_matrices": True}),
    ("_linalg_svd", "A", {"full_matrices": False}),
    ("linalg_cholesky_ex", "self", {"upper": False}),
    ("linalg_cholesky_ex", "self", {"upper": True}),
    ("cholesky_inverse", "self", {"upper": True}),
    ("cholesky_solve", "input2", {"upper": False, "self": matrix(3, 2)}),
    ("linalg_pinv.atol_rtol_tensor", "self", {"hermitian": True}),
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize(("name", "argument", "others"), CASES)
def test_formulas_agree_with_differences_in_the_domain_and_only_there(
    name: str, argument: str, others: dict[str, Any], dtype: torch.dtype
) -> None:
    shape = (4, 3) if name == "_linalg_svd" else (3, 3)
    others = {key: value.to(dtype) if isinstance(value, Tensor) else value for key, value in others.items()}
    start = matrix(*shape, dtype=dtype)
    inside = domain(name, {argument: start, **others})
    assert inside is not None
    assert agree(name, argument, others, start, inside)
    signs_only = name == "_linalg_svd" and not others["full_matrices"] and dtype == torch.float64
    assert agree(name, argument, others, start, Domain({})) == signs_only  # a small step changes no sign


def agree(name: str, argument: str, others: dict[str, Any], start: Tensor, where: Domain) -> bool:
    start = where.project(argument, start)

    def moved(direction: Tensor) -> tuple[Tensor, ...]:
        outputs = overload(name)(**{argument: start + where.tangent(argument, direction), **others})
        found = outputs if isinstance(outputs, tuple) else (outputs,)
        floats = tuple(each for each in found if each.is_floating_point() or each.is_complex())
        return where.invariants(floats)

    try:
        return torch.autograd.gradcheck(moved, torch.zeros_like(start).requires_grad_(), raise_exception=False)
    except RuntimeError:  # a formula may refuse gradients that depend on a phase
        return False


@pytest.mark.parametrize("name", ["linalg_cholesky_ex", "cholesky_inverse", "linalg_lu", "linalg_qr"])
def test_what_is_in_a_domain_stays_as_it_is(name: str) -> None:
    argument = "self" if "chol" in name else "A"
    inside = domain(name, {"upper": True})
    assert inside is not None
    once = inside.project(argument, torch.zeros(3, 3, dtype=torch.float64))
    assert torch.equal(inside.project(argument, once), once)
    assert torch.linalg.matrix_rank(once) == 3


def test_reflections_are_moved_off_where_they_are_singular() -> None:
    vectors, factors = torch.eye(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    inside = domain("linalg_householder_product", {"input": vectors, "tau": factors})
    assert inside is not None
    product = torch.linalg.householder_product(vectors, inside.project("tau", factors))
    assert torch.linalg.matrix_rank(product) == 3
    assert torch.linalg.matrix_rank(torch.linalg.householder_product(vectors, factors)) < 3


def test_the_gradient_of_a_ctc_loss_is_one_of_probabilities_whose_sum_is_one() -> None:
    others = {"targets": torch.tensor([[1, 2], [2, 1]]), "input_lengths": [3, 4], "target_lengths": [1, 2]}
    scores = matrix(4, 2, 3)
    inside = domain("_ctc_loss", {"log_probs": scores, **others})
    assert inside is not None
    assert agree("_ctc_loss", "log_probs", others, scores, inside)
    assert not agree("_ctc_loss", "log_probs", others, scores, Domain({}))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("fake_quantize_per_tensor_affine_cachemask", {}, True),
        ("_standard_gamma", {}, True),
        ("embedding", {"padding_idx": 0}, True),
        ("embedding", {"padding_idx": -1, "scale_grad_by_freq": True}, True),
        ("embedding", {"padding_idx": -1, "scale_grad_by_freq": False}, False),
        ("embedding_dense_backward", {"padding_idx": 0, "scale_grad_by_freq": True}, False),
        ("_weight_norm_interface", {"v": matrix(2, 3), "g": matrix(2, 1), "dim": 1}, True),
        ("_weight_norm_interface", {"v": matrix(2, 3), "g": matrix(2, 1), "dim": 0}, False),
        ("_fused_rms_norm", {"input": matrix(2, 3), "normalized_shape": [3, 2]}, True),
        ("_fused_rms_norm", {"input": matrix(2, 3), "normalized_shape": [3]}, False),
        ("as_strided_scatter", {"size": [2, 2], "stride": [1, 1]}, True),
        ("as_strided_scatter", {"size": [2, 2], "stride": [2, 1]}, False),
        ("exp", {}, False),
    ],
)
def test_a_gradient_may_be_no_derivative_by_definition(name: str, values: dict[str, Any], expected: bool) -> None:
    assert is_convention(name, values) == expected


def test_probabilities_are_within_zero_and_one() -> None:
    inside = domain("binary_cross_entropy_backward", {})
    assert inside is not None
    moved = inside.project("self", torch.tensor([-2.0, 0.25, 1.0, 1.73]))
    assert moved.tolist()[1:3] == [0.25, 1.0]
    assert bool(((moved > 0) & (moved <= 1)).all())


def test_other_operators_have_no_domain() -> None:
    assert domain("add.Tensor", {}) is None


def test_indices_of_an_unpooling_differ_and_a_triangle_keeps_the_rest() -> None:
    unpooling = domain("max_unpool2d", {})
    assert unpooling is not None
    indices = unpooling.project("indices", torch.ones(2, 2, 1, 3, dtype=torch.int64))
    assert indices.tolist() == [[[[0, 1, 2]]] * 2] * 2
    triangle = domain("triangular_solve", {"upper": True, "unitriangular": True})
    assert triangle is not None
    assert triangle.tangent("A", torch.ones(2, 2)).tolist() == [[0, 1], [0, 0]]
    assert triangle.project("A", torch.ones(2, 2)).tolist() == [[1, 1], [1, 1]]
