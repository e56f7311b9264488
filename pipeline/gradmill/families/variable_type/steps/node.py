"""Renders how a kernel gives its results a history: its condition, the Node, which outputs get it.

torchgen: `gen_variable_type.setup_derivative`, `gen_variable_type.emit_history`,
`gen_variable_type.emit_any_requires_grad`, `gen_variable_type.emit_original_self_definition`,
`gen_variable_type.emit_check_inplace`.
"""

from gradmill.cpp.types import TENSOR
from gradmill.families.template import Value
from gradmill.families.variable_type.steps.subject import Subject
from gradmill.model.schema import is_tensor_like

NOT_IMPLEMENTED = "NotImplemented"  # the Node that raises an error when it runs


def before_call(subject: Subject, flags: list[str], saves: list[str]) -> list[str]:
    """The code that tests for required gradients and tangents, rejects unsupported ones, and creates the Node. `flags`:
    the tests for tangents; `saves`: the statements that save inputs."""
    text, derivative = subject.text, subject.derivative
    inputs = tuple(_own_name(input_.name, subject) for input_ in subject.active)
    extra = derivative.conditions if derivative is not None else ()
    condition = f"_any_requires_grad &= ({''.join(extra)});" if extra else ""  # an empty one is printed, too
    statements = [text["requires_grad"].fill({"inputs": inputs, "condition": condition}), *flags]
    if subject.inplace:
        overwritten = (output.name for output in subject.outputs)
        statements += [f"check_inplace({name}, _any_requires_grad);" for name in overwritten]
        statements += _original(subject)
    if not subject.is_out:
        return [*statements, *_setup(subject, saves)]
    checked = ([each.name for each in subject.inputs], [each.name for each in subject.outputs])
    refusals = [text["none_requires_grad"].fill({"checked": names, "base": subject.base}) for names in checked]
    return [*statements, text["grad_fn"].fill({"node": "Node"}), *refusals]


def history(subject: Subject) -> list[str]:
    """The code that sets the Node of outputs, and rejects complex outputs. An in-place op that is not a view rebases
    the existing history."""
    text, verb = subject.text, "rebase" if subject.rebases else "set"
    outputs = ["self"] if subject.by_member else [output.name for output in subject.outputs]
    if subject.by_member:
        declared = text["rebased_fns"].fill({}) if subject.rebases else ""
        first = text["members_of_history"].fill({"outputs": outputs})
        statements = text[f"{verb}_history_by_member"].fill({})
        own = declared + text["each_grad_fn"].fill({"first": first, "statements": statements})
    else:
        own = text[f"{verb}_history"].fill({"outputs": outputs})
    if subject.base in subject.release.complex_differentiable:
        return [own]
    real_only = (output.name for output in subject.outputs if output.cpp_type == TENSOR)
    return [own, *(f'throw_error_for_complex_autograd({name}, "{subject.base}");' for name in real_only)]


def after_all(subject: Subject, saves: list[str]) -> list[str]:
    """The code that saves outputs and runs the hooks for a new Node. `saves`: the statements that save outputs."""
    text, rebases = subject.text, subject.rebases
    if subject.by_member:
        statements = [text["each_grad_fn"].fill({"first": "", "statements": saves})] if saves else []
        grad_fns = "_rebased_fns" if rebases else "grad_fns"
        return [*statements, text["creation_hooks_by_member"].fill({"grad_fns": grad_fns})]
    statements = [text["guarded"].fill({"condition": "grad_fn", "statements": saves})] if saves else []
    return [*statements, text["creation_hooks"].fill({"grad_fn": "_rebased_fn" if rebases else "grad_fn"})]


def flag_of(outputs: tuple[str, ...]) -> str:
    """The name of the variable that is true if these outputs get tangents."""
    return f"_any_has_forward_grad_{'_'.join(outputs)}"


def _own_name(name: str, subject: Subject) -> str:
    return subject.members[name].name if name in subject.members else name


def _original(subject: Subject) -> list[str]:
    """The original self of an in-place op, cloned before the call if a formula that reads it computes tangents."""
    text, suffix, index = subject.text, *(("_by_member", "[i]") if subject.by_member else ("", ""))
    forward = subject.derivative.forward if subject.derivative is not None else ()
    flags = [f"{flag_of(d.var_names)}{index}" for d in forward if d.required_original_self_value]
    clone = [text[f"clone{suffix}"].fill({"condition": " || ".join(flags)})] if flags else []
    return [text[f"original{suffix}"].fill({}), *clone]


def _setup(subject: Subject, saves: list[str]) -> list[str]:
    """The Node, created if a gradient is required; in an in-place foreach op, one per member."""
    text, implemented = subject.text, subject.node is not None
    checks = [f'check_no_requires_grad({name}, "{name}", "{subject.name}");' for name in _unwanted(subject)]
    values: dict[str, Value] = {
        "node": subject.node or NOT_IMPLEMENTED,
        "constructor": "" if implemented else f'"{subject.name}"',
        "edges": _edges(subject),
    }
    if subject.by_member:
        declared, created = text["grad_fns"].fill(values), text["new_nodes"].fill(values)
        saves = [text["each_grad_fn"].fill({"first": "", "statements": saves})] if saves else []
    else:
        declared, created = text["grad_fn"].fill(values), text["new_node"].fill(values)
        lists = [i.name for i in subject.active if is_tensor_like(i.type) and "[" in i.type] if implemented else []
        saves = [*saves, *(f"grad_fn->{name}_size_ = {name}.size();" for name in lists)]
    return [*checks, declared, text["setup"].fill({"statements": [created, *saves]})]


def _edges(subject: Subject) -> tuple[str, ...]:
    names = tuple(input_.name for input_ in subject.active)
    if not subject.by_member:
        return names
    if subject.derivative is None:
        return tuple(f"{name}[i]" if name == "self" else name for name in names)
    return tuple(map(subject.in_loop, names))


def _unwanted(subject: Subject) -> list[str]:
    """Differentiable inputs without derivatives. `output` is exempt: a double backward often does not need it."""
    return [input_.name for input_ in subject.inputs if input_ not in subject.active and input_.name != "output"]
