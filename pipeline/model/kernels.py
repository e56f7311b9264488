"""What autograd's kernels depend on of the derivatives that serve them: their backward formulas are not in it."""

from msgspec import Struct

from pipeline.model.autograd import ForwardDerivative
from pipeline.model.native import NativeFunction


class Differentiability(Struct, frozen=True, gc=False, array_like=True):
    """What derivatives say of inputs and outputs."""

    non_differentiable: tuple[str, ...]  # inputs and outputs that are tensors and have no gradient
    single_gradient: bool  # whether a formula uses `grad`: then only the first output counts
    outputs: tuple[bool, ...] | None  # output_differentiability, as declared


class KernelSaved(Struct, frozen=True, gc=False, array_like=True):
    """A saved attribute, and under which condition a backward formula is going to use it; None for always."""

    name: str
    type: str
    expr: str
    guard: str | None = None


class KernelDerivative(Struct, frozen=True, gc=False, array_like=True):
    """The derivatives of a function under a dispatch key, as its kernel sees them."""

    dispatch_key: str
    node: str | None  # None where there is no derivative to compute
    operator: str  # whose derivatives they are: the functional variant's, the reference's
    inputs: tuple[str, ...]  # those with derivatives, by name
    saved_inputs: tuple[KernelSaved, ...]  # by name, as the outputs
    saved_outputs: tuple[KernelSaved, ...]
    differentiability: Differentiability
    conditions: tuple[str, ...]  # output_differentiability_conditions
    forward: tuple[ForwardDerivative, ...]
    reference: tuple[tuple[str, str], ...] = ()  # of an in-place foreach op's reference: names and types of its inputs


class Served(Struct, frozen=True, gc=False, array_like=True):
    """A function, and the derivatives that serve it by dispatch key; None where there are none at all."""

    function: NativeFunction
    derivatives: tuple[KernelDerivative, ...] | None
