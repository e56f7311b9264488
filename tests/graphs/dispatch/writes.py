"""Inputs that a function writes to: their data, their sizes and strides, their views."""

import torch
from torch import Tensor


def doubled(a: Tensor) -> Tensor:
    a.mul_(2)
    return a * 3


def doubled_and_returned(a: Tensor) -> Tensor:
    return a.mul_(2)


def doubled_and_returned_with_another(a: Tensor) -> tuple[Tensor, Tensor]:
    a.add_(1)
    return a, a + 1


def one_of_two(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    a.mul_(2)
    return a, a + b


def both_of_two(a: Tensor, b: Tensor) -> Tensor:
    a.mul_(2)
    b.add_(a)
    return a * b


def each_by_the_other(a: Tensor, b: Tensor) -> Tensor:
    a.add_(b)
    b.sub_(a)
    a.mul_(b)
    return a + b


def three_of_four(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    a.mul_(2)
    b.add_(1)
    d.mul_(c)
    return a + b + c + d


def nothing_returned(a: Tensor) -> None:
    a.add_(1)


def detached(a: Tensor) -> Tensor:
    a.detach().mul_(2)
    return a + 3


def detached_and_not(a: Tensor) -> Tensor:
    a.mul_(3)
    a.detach().add_(1)
    return a * a


def result_detached(a: Tensor) -> Tensor:
    a.mul_(2)
    return (a + 1).detach()


def without_grad(a: Tensor) -> Tensor:
    with torch.no_grad():
        a.mul_(2)
    return a + 3


def without_grad_and_used_before(a: Tensor) -> Tensor:
    b = a.cos()
    with torch.no_grad():
        a.add_(2)
    return b * a


def of_what_is_detached_first(a: Tensor, b: Tensor) -> Tensor:
    a.copy_(b.detach() * 2)
    return a + b


def zeroed(a: Tensor) -> Tensor:
    a.zero_()
    return a + 1


def filled(a: Tensor) -> Tensor:
    a.fill_(3.0)
    return a * 2


def copied_from_another(a: Tensor, b: Tensor) -> Tensor:
    a.copy_(b)
    return a * b


def copied_from_a_row(a: Tensor, b: Tensor) -> Tensor:
    a.copy_(b[0])
    return a.sum()


def copied_and_taken_back(a: Tensor, b: Tensor) -> Tensor:
    before = a.clone()
    a.copy_(b)
    a.copy_(before)
    return a + b


def twice_in_a_row(a: Tensor) -> Tensor:
    a.mul_(2).add_(1)
    return a.exp()


def through_a_view(a: Tensor) -> Tensor:
    a.view(-1).mul_(2)
    return a + 1


def through_a_view_of_a_view(a: Tensor) -> Tensor:
    a.t()[1].unsqueeze(0).mul_(2)
    return a + 1


def through_two_views(a: Tensor) -> Tensor:
    first, second = a.t(), a[1]
    first.mul_(2)
    second.add_(3)
    return first.t() + a + second


def through_a_slice(a: Tensor) -> tuple[Tensor, Tensor]:
    part = a[1:3]
    part.add_(1)
    return part, a * 2


def through_a_split(a: Tensor) -> Tensor:
    first, second = a.split(2)
    first.mul_(3)
    return a + torch.cat([second, first])


def through_a_diagonal(a: Tensor) -> Tensor:
    a.diagonal().add_(1)
    return a.sin()


def through_what_is_expanded(a: Tensor) -> Tensor:
    a[0].mul_(2)
    return a[0].expand(3, 6) * 2


def a_view_made_before_is_used_after(a: Tensor) -> Tensor:
    view = a.view(-1)
    a.mul_(2)
    return view * 3


def a_view_made_before_is_returned(a: Tensor) -> Tensor:
    view = a.t()
    a.mul_(2)
    return view


def a_view_is_returned_of_one_that_is_written(a: Tensor) -> tuple[Tensor, Tensor]:
    a.add_(1)
    return a.view(-1), a.t()


def four_and_their_views(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    b.t_()
    c.mul_(2)
    return d + b.t(), c + 1, c.view(-1)


def sizes_alone(a: Tensor) -> Tensor:
    a.transpose_(1, 0)
    return a + 1


def sizes_of_one_data_of_another(a: Tensor, b: Tensor) -> Tensor:
    a.t_()
    b.mul_(2)
    return a.t() + b


def sizes_and_data(a: Tensor) -> Tensor:
    a.t_()
    a.mul_(2)
    return a + 1


def sizes_of_a_view(a: Tensor) -> Tensor:
    view = a[1:3]
    view.t_()
    return view * 2


def sizes_of_what_is_returned(a: Tensor) -> tuple[Tensor, Tensor]:
    a.unsqueeze_(0)
    return a, a.squeeze(0) * 2


def sizes_twice(a: Tensor) -> Tensor:
    a.unsqueeze_(0)
    a.transpose_(0, 2)
    return a.sum(1)


def at_places(a: Tensor) -> Tensor:
    a[a > 0.5] = 0.0
    return a * 2


def at_places_of_a_result(a: Tensor, b: Tensor) -> Tensor:
    c = a * 2
    c[:, 1] = b[:, 0]
    c[0] += b[1]
    return c * a


def a_column_from_a_product(a: Tensor, b: Tensor) -> Tensor:
    a[:, 2] = a[:, 1] * b[:, 1]
    return a + b


def results_are_written_only(a: Tensor, b: Tensor) -> Tensor:
    c = a + b
    c.mul_(a)
    c.t().add_(1)
    return c


def squeezed_copy(a: Tensor) -> Tensor:
    b = a.clone().unsqueeze(-1).squeeze(-1)
    b.add_(1.0)
    return a + b


def of_a_result_that_is_saved(a: Tensor) -> Tensor:
    b = a.tanh()
    c = b * 2
    c.add_(b)
    return c * c


def a_reduced_input(a: Tensor, b: Tensor) -> Tensor:
    a.sub_(b.mean(0))
    a.div_(b.std(0))
    return a


def with_none_and_a_number(a: Tensor, b: Tensor | None = None, c: int = 3) -> Tensor:
    a.mul_(c)
    return a * c


def a_running_average(average: Tensor, x: Tensor, momentum: float) -> Tensor:
    with torch.no_grad():
        average.mul_(momentum).add_(x.detach(), alpha=0.1)
    return x - average


def clamped_in_place(a: Tensor) -> Tensor:
    a.clamp_(0.2, 0.7)
    return a.log()


def a_relu_in_place(a: Tensor) -> Tensor:
    b = a - 0.5
    torch.relu_(b)
    return b * b
