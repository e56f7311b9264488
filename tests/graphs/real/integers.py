"""Results of whole numbers and of bool have no history, whatever they are computed from."""

import torch
from torch import Tensor


def factored_and_solved(x: Tensor, y: Tensor) -> Tensor:
    factors, pivots = torch.linalg.lu_factor(x)
    return torch.linalg.lu_solve(factors, pivots, y)


def solved_by_pivots_of_another(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    _, pivots = torch.linalg.lu_factor(x)
    return torch.linalg.lu_solve(y, pivots, y), pivots.double() * 2


def rounded_like(x: Tensor, n: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    whole, also = x.type_as(n), x.to(n.dtype)
    return whole.double() * 2, also * 0.5, whole * x + torch.randint_like(x, 5)


def into_whole(x: Tensor) -> tuple[Tensor, Tensor]:
    whole = torch.zeros(4, 6, dtype=torch.int64)
    whole.copy_(x)
    whole[0] = x[1]
    return whole * 0.5, whole * x


def one_of_many(a: Tensor, b: Tensor, c: Tensor, d: Tensor, e: Tensor, f: Tensor) -> tuple[Tensor, Tensor]:
    """The factors depend on too many inputs to name each."""
    factors, pivots = torch.linalg.lu_factor(a + b * c + d * e + f)
    halves = pivots * 0.5
    return halves, factors * halves.unsqueeze(-1)
