from torch import Tensor


def mask_then_number(x: Tensor, m: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x[m, 0], x[m, -1, 1], x[0, m, 0]


def mask_then_slice(x: Tensor, m: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x[m, 1:], x[m, :, 1:], x[:, m, ::2]


def mask_and_dots(x: Tensor, m: Tensor, i: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    return x[..., m, 0], x[..., 0, m], x[m, ..., 0], x[m, ..., i], x[..., m, i], x[..., :1, m]


def mask_assigned(x: Tensor, m: Tensor, v: Tensor) -> Tensor:
    y = x * 1
    y[m, 0] = v
    y[m, 1:] *= 2
    y[..., 0, m] += 1
    y[:, m, None, 0] = 0.5
    return y
