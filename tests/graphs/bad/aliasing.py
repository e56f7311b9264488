import math

import torch
import torch.nn.functional as F
from torch import Tensor


from typing import Annotated


def number(x: Annotated[Tensor, "alias:a"], n: Annotated[int, "alias:a"]) -> Tensor:
    return x * n


def misspelt(x: Annotated[Tensor, "aliases:a"], y: Annotated[Tensor, "aliases:a"]) -> Tensor:
    return x * y
