import torch
from torch import Tensor


def no_annotation(x, y: Tensor) -> Tensor:
    return x * y


def unknown_type(x: Tensor, d: dict) -> Tensor:
    return x


def array(x: "ndarray") -> Tensor:
    return x


def variadic(*xs: Tensor) -> Tensor:
    return xs[0]


def named(**xs: Tensor) -> Tensor:
    return xs["x"]


def bad_default(x: Tensor, n: int = 1.5) -> Tensor:
    return x * n


def other_kind(x: Tensor, n: int) -> Tensor:
    n = x * 2
    return n


def other_kind_of_tensor(x: Tensor) -> Tensor:
    x = 3
    return x


async def waiting(x: Tensor) -> Tensor:
    return x


@torch.compile
def decorated(x: Tensor) -> Tensor:
    return x


def nothing_returned(x: Tensor) -> Tensor:
    x.exp()


def something_returned(x: Tensor) -> None:
    return x


def nested(x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    return x, (x * 2, x * 3)


def text_returned(x: Tensor) -> str:
    return "x"


def unknown_mode(x: Tensor) -> Tensor:
    with torch.inference_mode():
        return x * 2


def opened(x: Tensor) -> Tensor:
    with open("x") as file:
        return x


def list_of_optionals(xs: list[Tensor | None]) -> None:
    pass


def list_of_either(ns: list[int | float]) -> None:
    pass


def texts(ms: list[str]) -> list[str]:
    return ms


def a_tuple_by_a_comma(x: Tensor) -> Tensor:
    return (x * 2,)


def two_tensors(x: Tensor) -> torch.Tensor:
    return x * 2, x * 3


def none(n: None, m: None | None) -> Tensor:
    return torch.Tensor.exp()
