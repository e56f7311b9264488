import torch
import torch.nn.functional as F
from torch import Tensor


def wrong_type(x: Tensor) -> Tensor:
    return torch.select(x, 0, 1.5)


def too_many(x: Tensor) -> Tensor:
    return x.exp(2)


def too_few(x: Tensor) -> Tensor:
    return torch.lerp(x, x)


def unknown_keyword(x: Tensor) -> Tensor:
    F.layer_norm(x, (2,), cudnn_enable=True)
    return x.clone(memory_fromat=torch.preserve_format)


def twice(x: Tensor) -> Tensor:
    return torch.relu(x, input=x)


def none_of_several(x: Tensor) -> Tensor:
    return x.sum("all")


def text_to_tensor(x: Tensor) -> Tensor:
    return x + "1"


def maybe_none(x: Tensor, b: Tensor | None = None) -> Tensor:
    return x + b


def maybe_none_method(b: Tensor | None) -> Tensor:
    return b.exp()


def out_argument(x: Tensor, y: Tensor) -> Tensor:
    return torch.relu(x, out=y)


def one_out_argument(x: Tensor, y: Tensor) -> Tensor:
    return torch.max(x, 1, out=y)[0]


def number_for_out(x: Tensor) -> Tensor:
    return torch.mul(x, x, out=2)


def reduction(x: Tensor, y: Tensor) -> Tensor:
    return F.mse_loss(x, y, reduction="avg")


def lists(x: Tensor, n: int) -> Tensor:
    return torch.cat([x, n])


def generator(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.bernoulli(x, generator=g)


def large(x: Tensor) -> Tensor:
    return x * 99999999999999999999


def by_zero(x: Tensor) -> Tensor:
    return x * (1 / 0)


def complex_number(x: Tensor) -> Tensor:
    return x * 2j


def of_pools(x: Tensor, i: Tensor, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    c = F.embedding_bag(i, w, i)
    a = F.max_unpool2d(x, i, 2)
    b = F.fractional_max_pool2d(x, 2, 3)
    return a, b, c


def other_sizes(x: Tensor, i: Tensor) -> Tensor:
    return F.embedding(i, x, padding_idx=1.5)
