"""Groups of variants, and the kernels that a dispatch key has for them: declared ones, and those that upstream implies.

A structured out variant implies kernels of its group: for Meta by its meta function, for
CompositeExplicitAutogradNonFunctional by calls of the out variant. An in-place function without a kernel for Meta that
is not composed of other functions gets one that returns its argument.

torchgen: `model.BackendIndex.get_kernel`, `model.BackendIndex.primary`, `model.NativeFunctionsGroup.functions`,
`register_dispatch_key.RegisterDispatchKey.gen_unstructured`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gradmill.model.native import Kernel, NativeFunction, Operator
from gradmill.rules.native.dispatch import EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT

META = "Meta"
CUDA = "CUDA"  # ends the keys of its kernels, such as SparseCUDA
MADE = (META, EXPLICIT_NON_FUNCTIONAL)  # the keys that a structured kernel implies kernels for
_COMPOSED = frozenset((IMPLICIT, EXPLICIT, EXPLICIT_NON_FUNCTIONAL))


class Group(Struct, frozen=True, gc=False, array_like=True):
    """A functional, an out, an in-place and a mutable function, the last two if there are such; or one function."""

    functions: tuple[NativeFunction, ...]

    @property
    def functional(self) -> NativeFunction:
        """The functional variant, or the only function."""
        return self.functions[0]

    @property
    def primary(self) -> NativeFunction:
        """The out variant, which the others are implemented with; or the only function."""
        return self.functions[1] if len(self.functions) > 1 else self.functions[0]

    @property
    def structured(self) -> bool:
        """Whether it has a meta function. A function alone is never structured."""
        return len(self.functions) > 1 and self.primary.structured

    def kernel(self, key: str) -> Kernel | None:
        """The kernel of the primary function."""
        return self.primary.dispatch.get(key)


def groups_of(operator: Operator) -> list[Group]:
    """The groups of an operator, in upstream's order."""
    return [Group(tuple(operator.functions[i] for i in group)) for group in operator.groups]


def is_class(group: Group, key: str) -> bool:
    """Whether the kernels of a key are classes derived from the meta function's."""
    if not group.structured:
        return False
    kernel = group.kernel(key)
    return key in MADE or (kernel is not None and kernel.structured)


def callable_for_key(group: Group, key: str) -> Iterator[NativeFunction]:
    """The functions of a group that can be called for a dispatch key alone, as `at::cpu::add`."""
    if is_class(group, key):
        # The out variant is what a backend has to define.
        yield from (each for each in group.functions if key != EXPLICIT_NON_FUNCTIONAL or each is not group.primary)
    else:
        yield from (each for each in group.functions if _has_kernel(each, key))


def _has_kernel(function: NativeFunction, key: str) -> bool:
    if function.manual_kernel_registration:
        return False
    if key in function.dispatch:
        return True
    writes_self = function.func.name.inplace and len(function.func.returns) == 1
    return key == META and writes_self and _COMPOSED.isdisjoint(function.dispatch)
