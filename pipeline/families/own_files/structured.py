"""The lists of structured kernels: what the meta function and the implementation are called with, and the results.

torchgen: `structured.meta_arguments`, `structured.impl_arguments`, `structured.out_arguments`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.cpp.dispatcher import Parameter, values
from pipeline.cpp.structured import goals, impl_arguments, meta_arguments, precomputed_arguments
from pipeline.cpp.translate import Value, translate
from pipeline.families.own_files.items import Item, argument_item
from pipeline.model.native import NativeFunction
from pipeline.model.schema import Argument
from pipeline.releases.model import Release


def meta_items(functional: NativeFunction, parameters: Sequence[Parameter], release: Release) -> list[Item]:
    """The arguments of the meta function. `parameters`: those in scope. SpecError if one has no value there."""
    return _items(meta_arguments(functional), (), parameters, release)


def impl_items(primary: NativeFunction, parameters: Sequence[Parameter], release: Release) -> list[Item]:
    """The arguments of the implementation, without the results. The same."""
    arguments = impl_arguments(primary)
    inputs = arguments[: len(arguments) - len(primary.func.out)]
    return _items(inputs, precomputed_arguments(primary), parameters, release)


def _items(
    arguments: Sequence[Argument],
    computed: Sequence[Argument],
    parameters: Sequence[Parameter],
    release: Release,
) -> list[Item]:
    """Arguments with what is passed for them. `computed`: those that the meta function returns, by their names."""
    wanted = goals(arguments, release)
    scope = [*values(parameters), *(Value(name, type_, name) for name, type_ in goals(computed, release))]
    return [
        argument_item(argument, {"type": type_, "passed": passed}, ["precomputed"] if argument in computed else ())
        for argument, (_, type_), passed in zip(arguments, wanted, translate(scope, wanted))
    ]


def result_items(primary: NativeFunction, release: Release) -> list[Item]:
    """The results, as the implementation takes them."""
    typed = goals(primary.func.out, release)
    return [Item({"name": name, "type": type_, "index": str(i)}) for i, (name, type_) in enumerate(typed)]
