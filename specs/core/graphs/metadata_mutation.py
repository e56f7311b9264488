"""Inputs whose sizes and strides change: done outside the graph, with no gradient of its own."""

from torch import Tensor


def transposed(x: Tensor) -> None:
    x.t_()


def transposed_and_used(x: Tensor) -> Tensor:
    x.transpose_(0, 1)
    return x[0] * 2


def unsqueezed(x: Tensor) -> Tensor:
    x.unsqueeze_(1)
    return x.sum(0)


def squeezed(x: Tensor) -> Tensor:
    """An input of one row."""
    x.squeeze_(0)
    return x.exp()


def restrided(x: Tensor) -> Tensor:
    x.as_strided_((2, 6), (1, 2))
    return x.cos()


def returned(x: Tensor) -> Tensor:
    x.t_()
    return x


def there_and_back(x: Tensor) -> Tensor:
    """In the end nothing has changed."""
    x.t_()
    x.t_()
    return x * 2


def both(x: Tensor) -> Tensor:
    """Data and metadata."""
    x.mul_(2)
    x.t_()
    return x + 1


def both_the_other_way(x: Tensor) -> Tensor:
    x.t_()
    x[0].mul_(2)
    return x.sum(1)


def both_returned(x: Tensor) -> tuple[Tensor, Tensor]:
    x.t_()
    x.add_(1)
    return x, x[0]


def of_an_intermediate(x: Tensor) -> Tensor:
    """Not of an input: nobody outside sees it."""
    y = x.exp()
    y.t_()
    y.unsqueeze_(0)
    return y * 2


def view_before(x: Tensor) -> Tensor:
    """A view that was taken before keeps its shape."""
    v = x[0]
    x.t_()
    return v * 2 + x[:, 0]


def views_before_and_after(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Each is a view of what the input was then."""
    before = x[0]
    x.t_()
    between = x[0]
    x.unsqueeze_(0)
    return before, between, x[0]


def item_after(x: Tensor) -> tuple[Tensor, Tensor]:
    """One of several views, which must not find its base changed afterwards."""
    x.t_()
    item = x[..., 0].unbind(0)[1]
    return item, item


def looks_of_a_view(x: Tensor) -> Tensor:
    """Of a leaf that needs a gradient, this is a write."""
    y = x.unsqueeze(0)
    y.squeeze_(0)
    return y * 2


def looks_of_a_view_before(x: Tensor, y: Tensor) -> Tensor:
    """A write before the formula of `mul` needs its arguments."""
    x[..., 0].squeeze_(0)
    return x * y
