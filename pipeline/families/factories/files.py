"""Family: `variable_factories.h`, the wrappers of the factory functions. Its unit is a function, named by schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pipeline.families.factories import text as factory
from pipeline.families.factories.plan import FactoryPlan, is_factory
from pipeline.families.file import File
from pipeline.model.native import NativeFunction
from pipeline.releases.model import Release

TEMPLATE = "variable_factories.h"
INCLUDE = "include"
DEFINITION = "definition"

PIECES: Mapping[str, Callable[[FactoryPlan, Release], str]] = {
    INCLUDE: factory.include,
    DEFINITION: factory.definition,
}


def order(functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """The schemas of the factories among `functions`, as they follow one another in the file.

    `functions` come as upstream parses them: those of native_functions.yaml in its order, then the generated ones.
    Upstream does not sort them.
    """
    return tuple(str(function.func) for function in functions if is_factory(function))


def files(functions: Sequence[str]) -> list[File]:
    """The one header. Overloads of an operator include the same line, once each, as upstream's do."""
    slots = {"ops_headers": INCLUDE, "function_definitions": DEFINITION}
    return [File(TEMPLATE, TEMPLATE, {}, slots, tuple(functions))]
