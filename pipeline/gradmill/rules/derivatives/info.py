"""From a definition and its function to the differentiability info: one `Info` per dispatch key.

torchgen: `load_derivatives.create_differentiability_info`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from gradmill.cpp.bindings import bindings
from gradmill.model.autograd import Definition, DifferentiableInput, Formula, Info, SavedAttribute
from gradmill.model.native import NativeFunction
from gradmill.model.schema import is_tensor_like
from gradmill.problems.problem import Errors, SpecError, at_field
from gradmill.releases.model import Release
from gradmill.rules.derivatives.backward import Differentiated
from gradmill.rules.derivatives.forward import AUTO_ELEMENT_WISE, AUTO_LINEAR
from gradmill.rules.derivatives.rows import check_overlap, check_usage, complete_rows, read_rows

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
            raise SpecError(
                f"the op has an argument called '{argument.name}'",
                f"{RESERVED_ARGUMENTS[argument.name]}: rename it in native_functions.yaml",
                field=("name",),
                needle=argument.name,
            )
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
    read = read_rows(rows, of)
    differentiable = {name for d in read.backward for name in d.var_names}
    errors = Errors()
    with errors:
        check_overlap(differentiable.intersection(read.non_differentiable), rows)
    inputs = tuple(DifferentiableInput(a.name, a.cpp.passed, a.type) for a in of.arguments if a.name in differentiable)
    with errors:
        forward = complete_rows(read, definition.name, of, inputs)
    with errors:
        check_usage(read.backward, rows)
    errors.check()
    return Info(
        name=definition.name,
        func=str(of.function.func),
        derivatives=tuple(read.backward),
        forward_derivatives=forward,
        all_saved_inputs=distinct([s for d in read.backward for s in d.saved_inputs]),
        all_saved_outputs=distinct([s for d in read.backward for s in d.saved_outputs]),
        available_named_gradients=tuple(of.named_gradients),
        used_named_gradients=tuple(sorted({name for d in read.backward for name in d.named_gradients})),
        args_with_derivatives=inputs,
        non_differentiable_arg_names=tuple(read.non_differentiable),
        output_differentiability=definition.output_differentiability,
        output_differentiability_conditions=definition.output_differentiability_conditions,
    )


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
