"""Renders how a kernel saves variables in the Node.

torchgen: `gen_variable_type.save_variables`, `gen_variable_type.emit_save_inputs`,
`gen_variable_type.emit_save_outputs`.
"""

from gradmill.cpp.types import STRING_VIEW, TENSOR, TENSOR_VECTOR, optional
from gradmill.families.saved_types import SAVED_TYPES
from gradmill.families.variable_type.steps.subject import Subject
from gradmill.model.kernels import KernelSaved
from gradmill.problems.problem import SpecError

_SCALAR_TYPE = "_scalar_type"  # the suffix of an attribute that is the dtype of an argument


def save_inputs(subject: Subject) -> list[str]:
    """The statements that save inputs. Raises SpecError for one that cannot be saved."""
    return _saves(subject, is_output=False)


def save_outputs(subject: Subject) -> list[str]:
    """The statements that save outputs, which run after the call. Out variants have none."""
    return [] if subject.is_out else _saves(subject, is_output=True)


def _saves(subject: Subject, *, is_output: bool) -> list[str]:
    derivative = subject.derivative
    if derivative is None or derivative.node is None:
        return []
    listed = derivative.saved_outputs if is_output else derivative.saved_inputs
    return [line for saved in listed for line in _save(saved, subject, is_output=is_output)]


def _save(saved: KernelSaved, subject: Subject, *, is_output: bool) -> list[str]:
    text, row, statements = subject.text, SAVED_TYPES.get(saved.type), list[str]()
    source, *rest = saved.name.split(_SCALAR_TYPE)
    if source in subject.members and len(rest) > 1:
        raise SpecError(f"saved attribute '{saved.name}' has '{_SCALAR_TYPE}' in its name more than once")
    field, value = saved.name, saved.expr.replace(source, subject.in_loop(source))
    if saved.type in (TENSOR, optional(TENSOR)) or (is_output and saved.type == "at::Scalar"):
        field = f"{saved.name}_"
        value, statements = _variable(saved.name, source, subject, is_output=is_output)
    elif row is not None and row.is_variable:
        of_list = subject.is_foreach or saved.type == TENSOR_VECTOR
        as_outputs = "true" if is_output and of_list else "false"
        field, value = f"{saved.name}_", f"make_saved_variable_list({saved.name}, {as_outputs})"
    elif row is not None:
        value = row.copied.format(value=value)
    if saved.type == optional(STRING_VIEW):
        value = text["optional_string"].fill({"value": value}).rstrip("\n")
    statements.append(f"grad_fn->{field} = {value};")
    if saved.guard is None:
        return statements
    return [text["guarded"].fill({"condition": saved.guard, "statements": statements})]


def _variable(name: str, source: str, subject: Subject, *, is_output: bool) -> tuple[str, list[str]]:
    """The SavedVariable of a tensor, and the statements before it. An in-place op saves its old self, which is cloned
    if no statement has cloned it yet, or its result with the information whether that is a view. `source`: the argument
    that it is of."""
    own = "self[i]" if subject.by_member else "self"
    if subject.inplace and is_output:
        if name != "result":
            raise SpecError(f"the derivative of in-place op '{subject.name}' saves output '{name}'", "save 'result'")
        return f"SavedVariable({own}, true, {own}.is_view())", []
    if subject.inplace and name == "self":
        old = "original_selfs[i]" if subject.by_member else "original_self"
        return f"SavedVariable({old}.value(), false)", [f"if (!{old}.has_value()) {old} = {own}.clone();"]
    value = f"SavedVariable({name}, {'true' if is_output else 'false'})"
    return value.replace(source, subject.in_loop(source)), []
