from typing import Annotated

from torch import Tensor


def number(x: Annotated[Tensor, "alias:a"], n: Annotated[int, "alias:a"]) -> Tensor:
    return x * n


def misspelt(x: Annotated[Tensor, "aliases:a"], y: Annotated[Tensor, "aliases:a"]) -> Tensor:
    return x * y
