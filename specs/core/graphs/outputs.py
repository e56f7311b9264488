"""Outputs that share storage: with inputs, with intermediates, with one another. Each is made again from its base."""

from torch import Tensor


def same(x: Tensor) -> Tensor:
    """An output that is an input."""
    return x


def same_twice(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x, y, x


def same_and_more(x: Tensor) -> tuple[Tensor, Tensor]:
    return x, x * 2


def view_of_input(x: Tensor) -> Tensor:
    return x[1:, ::2]


def view_of_view_of_input(x: Tensor) -> Tensor:
    return x.t()[0].unsqueeze(0)


def transposed_input(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.t(), x.exp()


def view_of_intermediate(x: Tensor) -> Tensor:
    """The intermediate becomes an output of the forward."""
    y = x * 2
    return y.t()


def intermediate_and_view(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    return y, y[0]


def two_views_of_intermediate(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    return y[0], y[:, 1]


def one_intermediate_twice(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.exp()
    return y, y


def views_of_one_view(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.exp().t()
    return y[0], y[1]


def alias_of_input(x: Tensor) -> Tensor:
    return x[...]


def detached_input(x: Tensor) -> Tensor:
    """An alias without gradient."""
    return x.detach()


def unbound(x: Tensor) -> tuple[Tensor, Tensor]:
    """Views of several outputs, of an input: none may be written to by its caller."""
    a, b, _, _ = x.unbind(0)
    return a, b


def unbound_intermediate(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b, _, _ = (x * 2).unbind(0)
    return a, b


def listed(x: Tensor) -> list[Tensor]:
    """A list of views."""
    return x.split(2)


def listed_intermediate(x: Tensor) -> list[Tensor]:
    return (x * 3).chunk(2, dim=1)


def view_after_write(x: Tensor) -> Tensor:
    y = x.clone()
    v = y[0]
    y.mul_(2)
    return v


def base_after_write(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    v = y[0]
    v.mul_(2)
    return v, y


def integer_view(x: Tensor, i: Tensor) -> tuple[Tensor, Tensor]:
    """A view of what cannot have a gradient."""
    return x * 2, i[1:]


def diagonal_of_input(x: Tensor) -> Tensor:
    return x.diagonal()


def maybe_a_view(x: Tensor) -> Tensor:
    """Whether `reshape` and `contiguous` give a view hangs on the strides."""
    return x.contiguous().reshape(-1)


def copy_and_view_of_it(x: Tensor) -> tuple[Tensor, Tensor]:
    """`reshape` copies here: a view of the copy shares memory with it, and not with the input."""
    y = x.t().reshape(-1)
    z = y[1:]
    z.mul_(2)
    return y, z


def one_of_several_after_looks(x: Tensor) -> tuple[Tensor, Tensor]:
    """Autograd counts `t_` as a write: one of several views can be used if it was made after that."""
    y = x.diagonal()
    x.mul_(0.5)
    x.t_()
    return y, y.split(2)[0]


def expanded_input(x: Tensor) -> Tensor:
    return x[0].expand(3, -1)


def same_item_of_two_lists(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Two tensors, though they look alike; one of them twice."""
    a, b = x.split(2)[0], x.split(2)[0]
    return a, b, b


def perhaps_itself(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What is contiguous already is not copied, and not another tensor."""
    y = x[0]
    z = y.contiguous()
    return z, y, y.clone()
