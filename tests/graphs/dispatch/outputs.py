"""What a function returns: inputs, views of inputs and of results, results that share memory, and no tensors."""

import torch
from torch import Tensor


def the_input(a: Tensor) -> Tensor:
    return a


def the_input_twice(a: Tensor) -> tuple[Tensor, Tensor]:
    return a, a


def inputs_in_another_order(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return b, a, a + b


def a_view_of_the_input(a: Tensor) -> Tensor:
    return a.view(-1)


def views_of_two_inputs(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return a[0], b.t()


def several_views_of_one(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return a.view(-1), a.t(), a[1:]


def a_view_and_the_input(a: Tensor) -> tuple[Tensor, Tensor]:
    return a.t(), a


def a_view_of_a_view(a: Tensor) -> Tensor:
    return a.unsqueeze(0).transpose(0, 1)[1]


def a_result_twice(a: Tensor) -> tuple[Tensor, Tensor]:
    b = a * 2
    return b, b


def a_result_and_its_view(a: Tensor) -> tuple[Tensor, Tensor]:
    b = a.mul(2)
    return b, b.view(-1)


def a_view_and_its_result(a: Tensor) -> tuple[Tensor, Tensor]:
    b = a.mul(2)
    return b.view(-1), b


def views_of_a_result(a: Tensor) -> tuple[Tensor, Tensor]:
    b = a.mul(2)
    return b.view(-1), b.t()


def views_of_two_results(a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    b, c = a.mul(2), a.add(3)
    return b.view(-1), c[0], b.t(), c


def a_view_of_a_result_that_is_not_returned(a: Tensor) -> Tensor:
    return (a * 2)[1]


def a_detached_input(a: Tensor) -> Tensor:
    return a.detach()


def a_detached_result(a: Tensor) -> tuple[Tensor, Tensor]:
    b = a * 2
    return b, b.detach()


def a_view_of_what_is_detached(a: Tensor) -> tuple[Tensor, Tensor]:
    return a.detach().view(-1), a * 2


def an_alias_by_name(a: Tensor) -> Tensor:
    return a.view_as(a)


def an_expanded_result(a: Tensor) -> Tensor:
    return a.sum(0, keepdim=True).expand(4, 6)


def an_expanded_input(a: Tensor) -> Tensor:
    return a[:1].expand(3, 6)


def pieces_of_the_input(a: Tensor) -> tuple[Tensor, Tensor]:
    first, second = a.chunk(2)
    return first, second


def pieces_of_a_result(a: Tensor) -> tuple[Tensor, Tensor]:
    first, second = (a * 2).split([1, 3])
    return first, second


def rows_of_a_result(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    b = a + 1
    first, second, third, _ = b.unbind(0)
    return first, second, third


def two_results(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return a + b, a - b


def a_list_of_results(a: Tensor, b: Tensor) -> list[Tensor]:
    return [a + b, a - b]


def a_result_without_gradient(a: Tensor) -> tuple[Tensor, Tensor]:
    return a * 2, a.argmax(1)


def only_results_without_gradient(a: Tensor) -> tuple[Tensor, Tensor]:
    return a > 0.5, a.argsort(1)


def values_and_indices(a: Tensor) -> tuple[Tensor, Tensor]:
    values, indices = a.sort(dim=1)
    return values, indices


def a_created_tensor(a: Tensor) -> tuple[Tensor, Tensor]:
    ones = torch.ones(4, 6, dtype=a.dtype)
    return ones, a + ones


def a_view_of_a_created_tensor(a: Tensor) -> tuple[Tensor, Tensor]:
    zeros = torch.zeros(4, 6, dtype=a.dtype)
    zeros[0] = 1.0
    return zeros.t(), a * zeros


def a_number_and_a_tensor(a: Tensor, n: int) -> tuple[int, Tensor]:
    return n + a.shape[0], a * n


def of_another_type(a: Tensor) -> tuple[Tensor, Tensor]:
    return a.float(), a.to(torch.float64)


def a_copy_that_is_none(a: Tensor) -> Tensor:
    return a.contiguous()


def real_and_imaginary(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    z = torch.complex(a, b)
    return torch.view_as_real(z * z), z.abs()


def a_view_written_before_it_is_returned(a: Tensor) -> tuple[Tensor, Tensor]:
    b = a * 2
    view = b.t()
    view.mul_(3)
    return view, b


def a_result_written_after_its_view(a: Tensor) -> tuple[Tensor, Tensor]:
    b = a * 2
    view = b.view(-1)
    b.add_(1)
    return b, view


def without_grad_and_with(a: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        b = a * 2
    return b, b * a


def a_view_made_without_grad(a: Tensor) -> Tensor:
    with torch.no_grad():
        b = a * 3
        view = b.view(-1)
    return view * 2


def a_scalar(a: Tensor) -> Tensor:
    return a.sum()
