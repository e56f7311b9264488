"""The rows of a definition under one dispatch key: the kind of each, the rules of one row and those between rows.

torchgen: `load_derivatives.create_differentiability_info`, `load_derivatives.is_forward_derivative_definition`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from gradmill.model.autograd import Derivative, DifferentiableInput, Formula, ForwardDerivative
from gradmill.problems.problem import Errors, SpecError, nearest
from gradmill.rules.derivatives.backward import Differentiated, check_gradient_usage, create_derivative
from gradmill.rules.derivatives.forward import NON_DIFFERENTIABLE, Rows, complete, output_types


def read_rows(rows: Sequence[Formula], of: Differentiated) -> Rows:
    """The rows by kind. Raises one SpecError for all errors."""
    names = [a.name for a in of.arguments]
    ambiguous = set(names).intersection(r.name for r in of.function.func.returns if r.name)
    read = Rows([], [], [])
    errors = Errors()
    for row in rows:
        with errors, _in_row(row):
            _check_row(row, ambiguous)
            if row.names[0] not in names:
                read.forward.append((row, output_types(row, of.function, names)))
            elif row.formula.lower().strip() == NON_DIFFERENTIABLE:
                read.non_differentiable.extend(row.names)
            else:
                _check_inputs(row, names)
                read.backward.append(create_derivative(row, of))
    errors.check()
    return read


def complete_rows(
    read: Rows, name: str, of: Differentiated, inputs: Sequence[DifferentiableInput]
) -> tuple[ForwardDerivative, ...]:
    """The forward derivatives, which depend on which inputs are differentiable. Raises one SpecError for all rows."""
    completed, errors = [], Errors()
    for row, types in read.forward:
        with errors, _in_row(row):
            completed.append(complete(row, types, read, name, of, inputs))
    errors.check()
    return tuple(completed)


@contextmanager
def _in_row(row: Formula) -> Iterator[None]:
    """Sets the row as the field of an error and of those behind it, unless they have one."""
    try:
        yield
    except SpecError as error:
        for each in (error, *error.others):
            each.field = each.field or (row.key,)
        raise


def check_overlap(both: set[str], rows: Sequence[Formula]) -> None:
    """Refuses inputs that have a formula and are declared non-differentiable."""
    if not both:
        return
    name = min(both)
    row = next(row for row in rows if name in row.names and NON_DIFFERENTIABLE in row.formula.lower())
    raise SpecError(f"'{name}' is both {NON_DIFFERENTIABLE} and has a formula", "remove one of them", field=(row.key,))


def check_usage(derivatives: Sequence[Derivative], rows: Sequence[Formula]) -> None:
    """Checks the rules between the formulas. An error belongs to the first formula that contains its needle."""
    try:
        check_gradient_usage(derivatives)
    except SpecError as error:
        users = (d for d in derivatives if error.needle and error.needle in d.original_formula)
        culprit = next(users, derivatives[0])
        with _in_row(next(row for row in rows if row.names == culprit.var_names)):
            raise


def _check_row(row: Formula, ambiguous: Collection[str]) -> None:
    for name in row.names:
        if name in ambiguous:
            raise SpecError(
                f"'{name}' is both an input and an output of the op", "rename one in the schema", needle=name
            )


def _check_inputs(row: Formula, argument_names: Sequence[str]) -> None:
    for name in row.names:
        if name not in argument_names:
            raise SpecError(f"'{name}' is not an input of the op", nearest(name, argument_names), needle=name)
