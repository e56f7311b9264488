"""Results of whole numbers and of bool have no history, whatever they are computed from."""

import torch
from torch import Tensor


def factored_and_solved(x: Tensor, y: Tensor) -> Tensor:
    factors, pivots = torch.linalg.lu_factor(x)
    return torch.linalg.lu_solve(factors, pivots, y)


def solved_by_pivots_of_another(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    _, pivots = torch.linalg.lu_factor(x)
    return torch.linalg.lu_solve(y, pivots, y), pivots.double() * 2


def factors_and_pivots(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    factors, pivots = torch.linalg.ldl_factor(x)
    return factors * 2, pivots, pivots.double()


def pivots_times_input(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    factors, pivots = torch.linalg.lu_factor(x)
    halves = pivots * 0.5
    return halves, halves * y + factors.sum()


def order(x: Tensor) -> tuple[Tensor, Tensor]:
    places = x.argsort(0)
    return places * 0.5, x.gather(0, places)


def where_close(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    close = torch.isclose(x, y, 1.0)
    return close.double() * 3, torch.where(close, x, y)


def pooled_places(x: Tensor) -> tuple[Tensor, Tensor]:
    values, places = torch.nn.functional.adaptive_max_pool1d(x, 2, return_indices=True)
    return values, places * 0.5


def rounded(x: Tensor) -> tuple[Tensor, Tensor]:
    whole = x.long()
    return whole.double() * 2, whole * x


def rounded_like(x: Tensor, n: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    whole, also = x.type_as(n), x.to(n.dtype)
    return whole.double() * 2, also * 0.5, whole * x


def moved_to_another(x: Tensor, n: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x.to(n) * x, x.to(y) * 2


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
