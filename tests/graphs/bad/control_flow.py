from torch import Tensor


def loop(x: Tensor) -> Tensor:
    for _ in range(3):
        x = x * 2
    return x


def branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        x = x * 2
    return x


def conditional(x: Tensor) -> Tensor:
    return x if x.sum() > 0 else -x


def boolean(x: Tensor, y: Tensor) -> Tensor:
    return x and y


def negated(x: Tensor) -> Tensor:
    return not x


def chained(x: Tensor) -> Tensor:
    return 0 < x < 1


def asserted(x: Tensor) -> Tensor:
    assert x.sum() > 0
    return x


def early(x: Tensor) -> Tensor:
    return x * 2
    return x * 3
