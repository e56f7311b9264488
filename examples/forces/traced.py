"""Functions that call `torch.autograd.grad`, as modules that `torch.export` takes: energies and forces in one graph."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.fx.experimental import _config
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode


class Traced(nn.Module):
    """`function(model, *inputs)` as calls of operators, with the parameters and buffers of the model by their names.

    `torch.export` 2.13 cannot trace `torch.autograd.grad`, and `make_fx` can: it records what the function calls, and
    what the engine calls in the backward. Sizes of `inputs` that vary must be neither 0 nor 1. Raises a ValueError if
    the function cuts a history, by `detach()` or `no_grad`.
    """

    def __init__(self, function: Callable[..., Any], model: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        super().__init__()
        for name, child in model.named_children():
            self.add_module(name, child)
        for name, parameter in model.named_parameters(recurse=False):
            self.register_parameter(name, parameter)
        for name, buffer in model.named_buffers(recurse=False):
            self.register_buffer(name, buffer, persistent=name not in model._non_persistent_buffers_set)

        def called(state: dict[str, Tensor], *given: Tensor) -> Any:
            with _Whole():
                return function(lambda *passed: functional_call(model, state, passed), *given)

        with _config.patch(use_duck_shape=False):  # sizes that are equal here need not be equal in each call
            self.calls = make_fx(called, tracing_mode="symbolic")(self._state(), *(each.clone() for each in inputs))
        for node in self.calls.graph.nodes:
            if node.target == torch.ops.aten.detach.default:  # a saved result: derivatives of forces need its history
                node.replace_all_uses_with(node.args[0])
        self.calls.graph.eliminate_dead_code()
        self.calls.recompile()

    def _state(self) -> dict[str, Tensor]:
        return {**dict(self.named_parameters()), **dict(self.named_buffers())}

    def forward(self, *inputs: Tensor) -> Any:
        return self.calls(self._state(), *inputs)


class _Whole(TorchFunctionMode):
    """Refuses what cuts histories: in the trace it looks like what autograd itself does."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        off = name == "_set_grad_enabled" and not args[0]
        if off or name in ("detach", "detach_") or func == Tensor.data.__get__:
            raise ValueError(f"{name}: a traced function cannot cut the history of a tensor")
        return func(*args, **(kwargs or {}))
