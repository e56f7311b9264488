"""From a definition and its function to the differentiability info: one `Info` per dispatch key, from the rows under
it: the kind of each, the rules of one row and those between rows.

torchgen: `load_derivatives.create_differentiability_info`, `load_derivatives.is_forward_derivative_definition`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from gradmill.cpp.bindings import bindings
from gradmill.model.autograd import (
    Definition,
    Derivative,
    DifferentiableInput,
    Formula,
    Info,
    SavedAttribute,
)
from gradmill.model.native import NativeFunction
from gradmill.model.schema import is_tensor_like
from gradmill.problems.problem import Errors, SpecError, at_field, nearest
from gradmill.releases.model import Release
from gradmill.rules.derivatives.backward import Differentiated, check_gradient_usage, create_derivative
from gradmill.rules.derivatives.forward import (
    AUTO_ELEMENT_WISE,
    AUTO_LINEAR,
    NON_DIFFERENTIABLE,
    Rows,
    complete,
    output_types,
)

RESERVED_ARGUMENTS = {
    "grad_input_mask": "the generated code uses that name",
    "result": "only outputs may have this name",
}


def create_infos(definition: Definition, function: NativeFunction, release: Release) -> list[tuple[str, Info]]:
    """The infos by dispatch key, in the order of the entry. Raises a SpecError with the first error's field;
    its `others` are further errors."""
    arguments = bindings(function, release)
    for argument in arguments:
        if argument.name in RESERVED_ARGUMENTS:
            problem = f"the op has an argument called '{argument.name}'"
            hint = f"{RESERVED_ARGUMENTS[argument.name]}: rename it in native_functions.yaml"
            raise SpecError(problem, hint, field=("name",), needle=argument.name)
    gradients = _named_gradients(function, definition.output_differentiability)
    of = Differentiated(function, arguments, gradients, release)
    infos, errors = [], Errors()
    for key, rows in definition.dispatch:
        with errors, at_field(*_field(definition, key)):
            infos.append((key, _create_info(definition, rows, of)))
    errors.check()
    return infos


def _field(definition: Definition, key: str) -> tuple[str, ...]:
    """The path of the formulas under a dispatch key."""
    return ("dispatch", key) if definition.by_key else ()


def valid_rows(
    definition: Definition, errors: Sequence[SpecError], function: NativeFunction, release: Release
) -> tuple[Definition, list[tuple[str, Info]]]:
    """A definition without the rows that `errors` are about, and its infos; none if it has others. Every tensor counts
    as a differentiable input: its row may be one of those."""
    wrong = {error.field for error in errors}
    rest = replace(
        definition,
        dispatch=tuple(
            (key, tuple(row for row in rows if _is_valid(row, _field(definition, key), wrong)))
            for key, rows in definition.dispatch
        ),
    )
    try:
        infos = create_infos(rest, function, release)
    except SpecError:
        return rest, []
    tensors = [a for a in bindings(function, release) if is_tensor_like(a.type)]
    inputs = tuple(DifferentiableInput(a.name, a.cpp.passed, a.type) for a in tensors)
    return rest, [(key, replace(info, args_with_derivatives=inputs)) for key, info in infos]


def _is_valid(row: Formula, field: tuple[str, ...], wrong: Collection[tuple[str, ...]]) -> bool:
    return (*field, row.key) not in wrong and row.formula not in (AUTO_ELEMENT_WISE, AUTO_LINEAR)


def _create_info(definition: Definition, rows: Sequence[Formula], of: Differentiated) -> Info:
    read = _read_rows(rows, of)
    differentiable = {name for d in read.backward for name in d.var_names}
    forward, errors = [], Errors()
    if both := differentiable.intersection(read.non_differentiable):
        errors.add(_overlap(min(both), rows))
    inputs = tuple(DifferentiableInput(a.name, a.cpp.passed, a.type) for a in of.arguments if a.name in differentiable)
    for row, types in read.forward:  # which depend on which inputs are differentiable
        with errors, _in_row(row):
            forward.append(complete(row, types, read, definition.name, of, inputs))
    with errors:
        _check_usage(read.backward, rows)
    errors.check()
    return Info(
        name=definition.name,
        func=str(of.function.func),
        derivatives=tuple(read.backward),
        forward_derivatives=tuple(forward),
        all_saved_inputs=distinct([s for d in read.backward for s in d.saved_inputs]),
        all_saved_outputs=distinct([s for d in read.backward for s in d.saved_outputs]),
        available_named_gradients=tuple(of.named_gradients),
        used_named_gradients=tuple(sorted({name for d in read.backward for name in d.named_gradients})),
        args_with_derivatives=inputs,
        non_differentiable_arg_names=tuple(read.non_differentiable),
        output_differentiability=definition.output_differentiability,
        output_differentiability_conditions=definition.output_differentiability_conditions,
    )


def _read_rows(rows: Sequence[Formula], of: Differentiated) -> Rows:
    """The rows by kind. Raises one SpecError for all errors."""
    names = [a.name for a in of.arguments]
    ambiguous = set(names).intersection(r.name for r in of.function.func.returns if r.name)
    read = Rows([], [], [])
    errors = Errors()
    for row in rows:
        with errors, _in_row(row):
            for name in filter(ambiguous.__contains__, row.names):
                problem = f"'{name}' is both an input and an output of the op"
                raise SpecError(problem, "rename one in the schema", needle=name)
            if row.names[0] not in names:
                read.forward.append((row, output_types(row, of.function, names)))
            elif row.formula.lower().strip() == NON_DIFFERENTIABLE:
                read.non_differentiable.extend(row.names)
            else:
                for name in row.names:
                    if name not in names:
                        raise SpecError(f"'{name}' is not an input of the op", nearest(name, names), needle=name)
                read.backward.append(create_derivative(row, of))
    errors.check()
    return read


@contextmanager
def _in_row(row: Formula) -> Iterator[None]:
    """Sets the row as the field of an error and of those behind it, unless they have one."""
    try:
        yield
    except SpecError as error:
        for each in (error, *error.others):
            each.field = each.field or (row.key,)
        raise


def _overlap(name: str, rows: Sequence[Formula]) -> SpecError:
    """The error for an input that has a formula and is declared non-differentiable."""
    row = next(row for row in rows if name in row.names and NON_DIFFERENTIABLE in row.formula.lower())
    return SpecError(f"'{name}' is both {NON_DIFFERENTIABLE} and has a formula", "remove one of them", field=(row.key,))


def _check_usage(derivatives: Sequence[Derivative], rows: Sequence[Formula]) -> None:
    """Checks the rules between the formulas. An error belongs to the first formula that contains its needle."""
    try:
        check_gradient_usage(derivatives)
    except SpecError as error:
        users = (d for d in derivatives if error.needle and error.needle in d.original_formula)
        culprit = next(users, derivatives[0])
        with _in_row(next(row for row in rows if row.names == culprit.var_names)):
            raise


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
