"""Operators, most of linear algebra, whose formulas hold for some inputs, or for what is unique in the outputs.

An eigenvector has any phase, a Cholesky factor is of a positive definite matrix and read from one triangle: there
finite differences of inputs and outputs as they are say nothing of a formula.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

Outputs = tuple[Tensor, ...]
_Map = Callable[[Tensor], Tensor]


class Part(NamedTuple):
    """Where the inputs of one argument are: how one gets there, and how a direction becomes one that stays there."""

    project: _Map
    tangent: _Map


class Domain(NamedTuple):
    """The domain of a call. What has no part is not restricted."""

    parts: Mapping[str, Part]
    unique: Callable[[Outputs], Outputs] | None = None  # what is unique in the outputs, if not all is

    def project(self, argument: str, tensor: Tensor) -> Tensor:
        """An input moved into the domain; one that is in it stays as it is."""
        return self.parts[argument].project(tensor) if argument in self.parts else tensor

    def tangent(self, argument: str, direction: Tensor) -> Tensor:
        """A direction along which an input stays in the domain. Linear."""
        return self.parts[argument].tangent(direction) if argument in self.parts else direction

    def invariants(self, outputs: Outputs) -> Outputs:
        """What is unique in the outputs of a call, as differentiable functions of these."""
        return outputs if self.unique is None else self.unique(outputs)


EVERYWHERE = Domain({})


def domain(name: str, values: Mapping[str, Any]) -> Domain | None:
    """The domain of a call of the operator `name`, without namespace and overload, whose arguments have these values;
    None if it is not restricted."""
    found = _DOMAINS.get(name.partition(".")[0])
    return None if found is None else found(values)


def is_convention(name: str, values: Mapping[str, Any]) -> bool:
    """Whether differences decide nothing against torch's own formula of an operator: by definition its gradient is no
    derivative, or the operator takes arguments without a check which its callers never pass."""
    own = name.partition(".")[0]
    of_callers = own in _OF_CALLERS and not _OF_CALLERS[own](values)
    of_rows = "backward" not in own and (values.get("padding_idx", -1) >= 0 or values.get("scale_grad_by_freq", False))
    return bool(_DEFINED.search(own)) or of_callers or of_rows


# Operators whose gradients are those of the identity, or of a distribution in place of what draws from it.
_DEFINED = re.compile("fake_quant|standard_gamma|sample_dirichlet")
# What the callers of operators pass.
_OF_CALLERS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    **dict.fromkeys(("_reshape_alias", "_reshape_alias_copy"), lambda values: False),  # strides of a view of `self`
    "as_strided_scatter": lambda values: _are_apart(values["size"], values["stride"]),
    "_weight_norm_interface": lambda values: values["g"].numel() == values["v"].shape[values["dim"]],
    "_fused_rms_norm": lambda values: (
        values["input"].shape[-len(values["normalized_shape"]) :] == torch.Size(values["normalized_shape"])
    ),
}


def _are_apart(size: list[int], stride: list[int]) -> bool:
    """Whether no two elements of a view share memory."""
    extent = 1 + sum((length - 1) * step for length, step in zip(size, stride) if length)
    places = torch.arange(extent).as_strided(size, stride).flatten().tolist()
    return len(set(places)) == len(places)


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _hermitian(matrix: Tensor) -> Tensor:
    return (matrix + matrix.mH) / 2 if matrix.dim() > 1 and matrix.shape[-1] == matrix.shape[-2] else matrix


def _positive_definite(matrix: Tensor) -> Tensor:
    """Hermitian, and moved by a multiple of the identity if an eigenvalue is below a half."""
    symmetric = _hermitian(matrix)
    if not symmetric.numel() or not symmetric.isfinite().all():
        return symmetric
    lowest: Tensor = torch.linalg.eigvalsh(symmetric)[..., :1, None]
    return symmetric + (1 - lowest) * (lowest < 0.5) * torch.eye(matrix.shape[-1], dtype=matrix.dtype)


def _regular(matrix: Tensor) -> Tensor:
    """With a leading square block that is invertible: moved by the identity if it is nearly not."""
    size = min(matrix.shape[-2:])
    if not matrix.numel() or not matrix.isfinite().all():
        return matrix
    lowest: Tensor = torch.linalg.svdvals(matrix[..., :size, :size])[..., -1:, None]
    by = 1 + matrix.abs().sum((-2, -1), keepdim=True)
    return matrix + by * (lowest < 1e-2) * torch.eye(*matrix.shape[-2:], dtype=matrix.dtype)


def _factor(upper: bool) -> Part:
    """A triangle with a real, positive diagonal."""

    def tangent(matrix: Tensor) -> Tensor:
        diagonal = torch.diag_embed(matrix.diagonal(dim1=-2, dim2=-1).real).to(matrix.dtype)
        return diagonal + (matrix.triu(1) if upper else matrix.tril(-1))

    def project(matrix: Tensor) -> Tensor:
        diagonal = matrix.diagonal(dim1=-2, dim2=-1).real
        positive = torch.where(diagonal < 0.5, 1 + diagonal.abs(), diagonal)
        return tangent(matrix) + torch.diag_embed(positive - diagonal)

    return Part(project, tangent)


def _triangle(upper: bool, unit: bool) -> Part:
    """A triangle that is read; its other elements, and a diagonal of ones, stay as they are."""
    diagonal = int(unit)
    return Part(_same, lambda matrix: matrix.triu(diagonal) if upper else matrix.tril(-diagonal))


def _distinct(indices: Tensor, dims: int) -> Tensor:
    """Indices in the last dimensions that differ: of several elements at one place any one is kept."""
    count = indices.shape[-dims:].numel()
    return torch.arange(count).reshape(indices.shape[-dims:]).expand_as(indices).contiguous()


def _reflectors(vectors: Tensor) -> Part:
    """Factors of Householder reflections that are invertible: a factor times its vector's square is not one."""

    def project(factors: Tensor) -> Tensor:
        squares = 1 + vectors.tril(-1).abs().square().sum(-2)[..., : factors.shape[-1]]
        return torch.where((factors * squares - 1).abs() < 1e-2, factors + 0.5 / squares, factors)

    return Part(project, _same)


def _log_probabilities(scores: Tensor) -> Part:
    """Logarithms of numbers whose sum is one, in the last dimension."""
    probabilities = scores.softmax(-1)
    return Part(
        lambda tensor: tensor.log_softmax(-1),
        lambda direction: direction - (probabilities * direction).sum(-1, keepdim=True),
    )


def _projectors(vectors: Tensor, others: Tensor) -> Tensor:
    """The matrix u vᴴ of each pair of columns, which has no phase."""
    return torch.einsum("...ik,...jk->...kij", vectors, others.conj())


def _of_eigenvectors(outputs: Outputs) -> Outputs:
    values, vectors = outputs
    return (values, _projectors(vectors, vectors)) if vectors.dim() > 1 else (values,)


def _of_singular_vectors(outputs: Outputs) -> Outputs:
    """Without the columns that belong to no singular value: they are any basis of what is left."""
    left, values, right = outputs
    if left.dim() < 2:
        return (values,)
    count = values.shape[-1]
    left, right = left[..., :count], right.mH[..., :count]
    return values, _projectors(left, right), _projectors(left, left), _projectors(right, right)


_HERMITIAN = Part(_hermitian, _hermitian)
_POSITIVE = Part(_positive_definite, _hermitian)
_POSITIVE_NUMBERS = Part(torch.abs, _same)
_REGULAR = Part(_regular, _same)
_PROBABILITIES = Part(lambda each: torch.where((each < 0) | (each > 1), each.sigmoid(), each), _same)

_DOMAINS: Mapping[str, Callable[[Mapping[str, Any]], Domain]] = {
    "_linalg_eigh": lambda values: Domain({"A": _HERMITIAN}, _of_eigenvectors),
    "linalg_eig": lambda values: Domain({}, _of_eigenvectors),
    "_linalg_svd": lambda values: Domain({}, _of_singular_vectors),
    **dict.fromkeys(("linalg_cholesky_ex", "cholesky"), lambda values: Domain({"self": _POSITIVE})),
    "cholesky_inverse": lambda values: Domain({"self": _factor(values["upper"])}),
    "cholesky_solve": lambda values: Domain({"input2": _factor(values["upper"])}),
    "linalg_pinv": lambda values: Domain({"self": _HERMITIAN} if values["hermitian"] else {}),
    **dict.fromkeys(("linalg_lu", "linalg_lu_factor_ex", "linalg_qr"), lambda values: Domain({"A": _REGULAR})),
    "linalg_lstsq": lambda values: Domain({"self": _REGULAR}),
    "linalg_householder_product": lambda values: Domain({"tau": _reflectors(values["input"])}),
    "ormqr": lambda values: Domain({"input2": _reflectors(values["self"])}),
    "_ctc_loss": lambda values: Domain({"log_probs": _log_probabilities(values["log_probs"])}),
    "binary_cross_entropy_backward": lambda values: Domain({"self": _PROBABILITIES}),
    "polar": lambda values: Domain({"abs": _POSITIVE_NUMBERS}),
    "triangular_solve": lambda values: Domain({"A": _triangle(values["upper"], values["unitriangular"])}),
    "max_unpool2d": lambda values: Domain({"indices": Part(lambda indices: _distinct(indices, 2), _same)}),
    "max_unpool3d": lambda values: Domain({"indices": Part(lambda indices: _distinct(indices, 3), _same)}),
}
