import torch
import torch.nn.functional as F
from torch import Tensor


def other_storage(x: Tensor, y: Tensor) -> Tensor:
    return x.set_(y)


def detached_in_place(x: Tensor) -> Tensor:
    y = x * 2
    y[0].mul_(2)
    return y.detach_()


def gradient(x: Tensor) -> Tensor:
    return torch.autograd.grad(x.sum(), x)[0]


def dictionary_returned(x: Tensor) -> dict[str, Tensor]:
    return {"a": x}


def resampled(x: Tensor) -> Tensor:
    return F.interpolate(x, scale_factor=2)


def cornered(x: Tensor) -> Tensor:
    return F.interpolate(x, (2, 2), align_corners=True)


def sampled(x: Tensor, g: Tensor) -> Tensor:
    return F.grid_sample(x, g, "linear")


def mixed(x: Tensor) -> Tensor:
    with torch.autocast("cpu"):
        return x @ x


def profiled(x: Tensor) -> Tensor:
    with torch.profiler.record_function("product"):
        return x @ x


def rest_of_list(xs: list[Tensor]) -> Tensor:
    first, *rest = xs
    return first


def too_many(x: Tensor) -> Tensor:
    first, second = x, x, x
    return first * second


def two_and_three(x: Tensor) -> Tensor:
    rows = x.unbind(0)
    a, b = rows
    c, d, e = rows
    return a * b * c * d * e


def appended(x: Tensor) -> Tensor:
    xs = [x]
    xs.append(x * 2)
    return torch.cat(xs)


def größer(x: Tensor) -> Tensor:
    return x * 2


def put(x: Tensor) -> Tensor:
    return x * 2


def put_saved(x: Tensor) -> Tensor:
    return x * 2


def put_shared_1_saved(x: Tensor) -> Tensor:
    return x * 2
