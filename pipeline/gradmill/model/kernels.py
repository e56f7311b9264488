"""The part of derivatives that autograd's kernels depend on; it has no backward formulas."""

from msgspec import Struct

from gradmill.model.autograd import ForwardDerivative
from gradmill.model.native import NativeFunction


class Differentiability(Struct, frozen=True, gc=False, array_like=True):
    """Which inputs and outputs are differentiable."""

    non_differentiable: tuple[str, ...]  # inputs and outputs that are tensors and have no gradient
    single_gradient: bool  # whether a formula uses `grad`: then only the first output is differentiable
    outputs: tuple[bool, ...] | None  # output_differentiability, as declared


class KernelSaved(Struct, frozen=True, gc=False, array_like=True):
    """A saved attribute, and the C++ condition under which a backward formula uses it; None means always."""

    name: str
    type: str
    expr: str
    guard: str | None = None


class KernelDerivative(Struct, frozen=True, gc=False, array_like=True):
    """The derivatives of a function under a dispatch key, as its kernel sees them."""

    dispatch_key: str
    node: str | None  # the Node's name; None if there is no derivative to compute
    operator: str  # that the derivatives are defined for: the function, its functional variant or its reference
    inputs: tuple[str, ...]  # the inputs with derivatives, sorted by name
    saved_inputs: tuple[KernelSaved, ...]  # sorted by name, like saved_outputs
    saved_outputs: tuple[KernelSaved, ...]
    differentiability: Differentiability
    conditions: tuple[str, ...]  # output_differentiability_conditions
    forward: tuple[ForwardDerivative, ...]
    reference: tuple[tuple[str, str], ...] = ()  # of an in-place foreach op's reference: names and types of its inputs


class FunctionWithDerivatives(Struct, frozen=True, gc=False, array_like=True):
    """A function, and the derivatives that serve it by dispatch key; None if it has none."""

    function: NativeFunction
    derivatives: tuple[KernelDerivative, ...] | None
