"""From a definition and its function to what autograd needs to know: one `Info` per dispatch key.

Rules: upstream's load_derivatives, create_differentiability_info.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.cpp.bindings import Binding, bindings
from pipeline.model.autograd import Definition, DifferentiableInput, Formula, Info, SavedAttribute
from pipeline.model.native import NativeFunction
from pipeline.model.schema import is_tensor_like
from pipeline.problems.problem import SpecError, all_of, nearest
from pipeline.releases.model import Release
from pipeline.rules.derivatives.backward import check_gradient_usage, create_derivative
from pipeline.rules.derivatives.forward import complete, output_types

NON_DIFFERENTIABLE = "non_differentiable"
RESERVED_ARGUMENTS = {
    "grad_input_mask": "the generated code uses that name",
    "result": "only outputs may be called so",
}


def create_infos(definition: Definition, function: NativeFunction, release: Release) -> list[tuple[str, Info]]:
    """The infos by dispatch key, in the order of the entry."""
    arguments = bindings(function, release)
    for argument in arguments:
        if argument.name in RESERVED_ARGUMENTS:
            raise SpecError(
                f"the op has an argument called '{argument.name}'",
                f"{RESERVED_ARGUMENTS[argument.name]}: rename it in native_functions.yaml",
                field=("name",),
                needle=argument.name,
            )
    found = []
    for key, rows in definition.dispatch:
        try:
            found.append((key, _create_info(definition, rows, function, arguments, release)))
        except SpecError as error:
            for each in (error, *error.others):
                if definition.by_key and each.field != ("name",):
                    each.field = ("dispatch", key, *each.field)
            raise
    return found


def _create_info(
    definition: Definition,
    rows: Sequence[Formula],
    function: NativeFunction,
    arguments: Sequence[Binding],
    release: Release,
) -> Info:
    names = [a.name for a in arguments]
    available = _named_gradients(function, definition.output_differentiability)
    derivatives = []
    forward = []
    non_differentiable: list[str] = []
    errors = []
    for row in rows:
        try:
            _check_row(row, function, names)
            if row.names[0] not in names:
                forward.append((row, output_types(row, function, names)))
            elif row.formula.lower().strip() == NON_DIFFERENTIABLE:
                non_differentiable += row.names
            else:
                _check_inputs(row, names)
                derivatives.append(create_derivative(row, function, arguments, available, release))
        except SpecError as error:
            error.field = error.field or (row.key,)
            errors.append(error)
    if errors:
        raise all_of(errors)
    differentiable = {name for d in derivatives for name in d.var_names}
    both = sorted(differentiable.intersection(non_differentiable))
    if both:
        at = next(row.key for row in rows if both[0] in row.names and NON_DIFFERENTIABLE in row.formula.lower())
        raise SpecError(
            f"'{both[0]}' is both {NON_DIFFERENTIABLE} and given a formula", "remove one of them", field=(at,)
        )
    inputs = tuple(DifferentiableInput(a.name, a.cpp.passed, a.type) for a in arguments if a.name in differentiable)
    completed = []
    for row, types in forward:
        try:
            completed.append(
                complete(row, types, len(forward), definition.name, function, arguments, derivatives, inputs)
            )
        except SpecError as error:
            error.field = error.field or (row.key,)
            raise
    try:
        check_gradient_usage(derivatives)
    except SpecError as error:
        culprit = next((d for d in derivatives if error.needle and error.needle in d.original_formula), derivatives[0])
        error.field = error.field or next((row.key,) for row in rows if row.names == culprit.var_names)
        raise
    return Info(
        definition.name,
        str(function.func),
        tuple(derivatives),
        tuple(completed),
        distinct([s for d in derivatives for s in d.saved_inputs]),
        distinct([s for d in derivatives for s in d.saved_outputs]),
        available,
        tuple(sorted({name for d in derivatives for name in d.named_gradients})),
        inputs,
        tuple(non_differentiable),
        definition.output_differentiability,
        definition.output_differentiability_conditions,
    )


def _check_row(row: Formula, function: NativeFunction, argument_names: Sequence[str]) -> None:
    returned = {r.name for r in function.func.returns}
    for name in row.names:
        if name in argument_names and name in returned:
            raise SpecError(
                f"'{name}' is both an input and an output of the op", "rename one in the schema", needle=name
            )


def _check_inputs(row: Formula, argument_names: Sequence[str]) -> None:
    for name in row.names:
        if name not in argument_names:
            raise SpecError(f"'{name}' is not an input of the op", nearest(name, argument_names), needle=name)


def _named_gradients(function: NativeFunction, differentiability: tuple[bool, ...] | None) -> tuple[str, ...]:
    """`grad_<name>` of every named, differentiable tensor among the returns."""
    returns = function.func.returns
    differentiable = differentiability or (True,) * len(returns)
    return tuple(
        f"grad_{r.name}"
        for r, differs in zip(returns, differentiable)
        if differs and r.name is not None and is_tensor_like(r.type)
    )


def distinct(saved: Sequence[SavedAttribute]) -> tuple[SavedAttribute, ...]:
    """The first attribute of each name."""
    first: dict[str, SavedAttribute] = {}
    for attribute in saved:
        first.setdefault(attribute.name, attribute)
    return tuple(first.values())
