import math

import torch
import torch.nn.functional as F
from torch import Tensor


from typing import Annotated

MAY_ALIAS = {"by_table": [("x", "z")], "number": [("x", "n")], "by_tabel": [("x", "y")]}


def by_table(x: Tensor, y: Tensor) -> Tensor:
    return x * y


def number(x: Tensor, n: int) -> Tensor:
    return x * n


def misspelt(x: Annotated[Tensor, "aliases:a"], y: Annotated[Tensor, "aliases:a"]) -> Tensor:
    return x * y
