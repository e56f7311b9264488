"""How a kernel saves variables in the Node: one statement each.

torchgen: `gen_variable_type.save_variables`, `gen_variable_type.emit_save_inputs`,
`gen_variable_type.emit_save_outputs`.
"""

from msgspec import Struct

from gradmill.cpp.types import STRING_VIEW, TENSOR, TENSOR_VECTOR, optional
from gradmill.families.saved_types import SAVED_TYPES
from gradmill.families.variable_type.plan.subject import Subject
from gradmill.model.kernels import KernelSaved
from gradmill.model.schema import is_list
from gradmill.problems.problem import SpecError

_SCALAR_TYPE = "_scalar_type"  # the suffix of an attribute that is the dtype of an argument


class Save(Struct, frozen=True, gc=False, array_like=True):
    """One statement: `grad_fn->field = value`."""

    field: str
    value: str
    guard: str | None = None  # the condition of the statement
    original: tuple[str, str] | None = None  # the old self, and the variable to clone if no statement has cloned it yet
    optional_string: bool = False  # whether the value is an optional string


def save_inputs(subject: Subject) -> tuple[Save, ...]:
    """The statements that save inputs. Raises SpecError for one that cannot be saved."""
    return _saves(subject, is_output=False)


def save_outputs(subject: Subject) -> tuple[Save, ...]:
    """The statements that save outputs, which run after the call. Out variants have none."""
    return () if subject.is_out else _saves(subject, is_output=True)


def _saves(subject: Subject, *, is_output: bool) -> tuple[Save, ...]:
    derivative = subject.derivative
    if derivative is None or derivative.node is None:
        return ()
    listed = derivative.saved_outputs if is_output else derivative.saved_inputs
    return tuple(_save(saved, subject, is_output=is_output) for saved in listed)


def _save(saved: KernelSaved, subject: Subject, *, is_output: bool) -> Save:
    source, in_member = _member(saved.name, subject)
    expr = saved.expr.replace(source, in_member) if in_member else saved.expr
    if saved.type in (TENSOR, optional(TENSOR)) or (is_output and saved.type == "at::Scalar"):
        return _save_variable(saved, subject, source, in_member, is_output=is_output)
    row = SAVED_TYPES.get(saved.type)
    if row is not None and row.is_variable:
        of_list = subject.is_foreach or saved.type == TENSOR_VECTOR
        as_outputs = "true" if is_output and of_list else "false"
        return Save(f"{saved.name}_", f"make_saved_variable_list({saved.name}, {as_outputs})", saved.guard)
    value = expr if row is None else row.copied.format(value=expr)
    return Save(saved.name, value, saved.guard, optional_string=saved.type == optional(STRING_VIEW))


def _member(name: str, subject: Subject) -> tuple[str, str]:
    """An argument of the reference, and the expression for it in an in-place foreach op: `other[i]`."""
    source, *rest = name.split(_SCALAR_TYPE)
    argument = subject.members.get(source)
    if argument is None:
        return source, ""
    if len(rest) > 1:
        raise SpecError(f"saved attribute '{name}' has '{_SCALAR_TYPE}' in its name more than once")
    return source, f"{argument.name}[i]" if is_list(argument.type) else argument.name


def _save_variable(saved: KernelSaved, subject: Subject, source: str, in_member: str, *, is_output: bool) -> Save:
    """The statement that saves a tensor as a SavedVariable. An in-place op saves its old self, or its result with the
    information whether that is a view."""
    name, field = saved.name, f"{saved.name}_"
    if subject.inplace and is_output:
        if name != "result":
            raise SpecError(f"the derivative of in-place op '{subject.name}' saves output '{name}'", "save 'result'")
        own = "self[i]" if subject.by_member else "self"
        return Save(field, f"SavedVariable({own}, true, {own}.is_view())", saved.guard)
    if subject.inplace and name == "self":
        old = ("original_selfs[i]", "self[i]") if subject.by_member else ("original_self", "self")
        return Save(field, f"SavedVariable({old[0]}.value(), false)", saved.guard, old)
    value = f"SavedVariable({name}, {'true' if is_output else 'false'})"
    return Save(field, value.replace(source, in_member) if in_member else value, saved.guard)
