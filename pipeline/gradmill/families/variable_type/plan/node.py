"""How a kernel gives its results a history: its condition, the Node, what the Node saves, which outputs get it.

torchgen: `gen_variable_type.setup_derivative`, `gen_variable_type.emit_history`,
`gen_variable_type.emit_any_requires_grad`, `gen_variable_type.emit_original_self_definition`.
"""

from msgspec import Struct

from gradmill.cpp.types import TENSOR
from gradmill.families.variable_type.plan.saving import Save, save_inputs, save_outputs
from gradmill.families.variable_type.plan.subject import Subject
from gradmill.model.schema import is_list, is_tensor_like

NOT_IMPLEMENTED = "NotImplemented"  # the Node that raises an error when it runs


class Original(Struct, frozen=True, gc=False, array_like=True):
    """The original self of an in-place op, cloned before the call if one of these flags is set."""

    flags: tuple[str, ...]
    by_member: bool


class Setup(Struct, frozen=True, gc=False, array_like=True):
    """The Node, created if a gradient is required; in an in-place foreach op, one per member."""

    node: str
    constructor: str  # the argument of its constructor
    edges: tuple[str, ...]  # inputs that it computes gradients for
    unwanted: tuple[str, ...]  # inputs without gradient, which must not require one
    saves: tuple[Save, ...]
    sizes: tuple[str, ...]  # lists; the Node stores their lengths
    by_member: bool


class OutSetup(Struct, frozen=True, gc=False, array_like=True):
    """The setup of an out variant: nothing may require a gradient."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    base: str


class History(Struct, frozen=True, gc=False, array_like=True):
    """The outputs that get the Node. An in-place op that is not a view rebases the existing history."""

    outputs: tuple[str, ...]
    rebases: bool
    by_member: bool


class Tracking(Struct, frozen=True, gc=False, array_like=True):
    """The whole plan of the history."""

    inputs: tuple[str, ...]  # history is recorded if one of these requires a gradient
    condition: str | None  # an additional condition; an empty one is printed, too
    overwritten: tuple[str, ...]  # outputs that the op writes to in place
    original: Original | None
    setup: Setup | None
    out: OutSetup | None
    history: History
    real_only: tuple[str, ...]  # outputs that must be real
    name: str  # of the C++ function, for messages
    base: str
    saves: tuple[Save, ...]  # statements after the call


def track(subject: Subject) -> Tracking | None:
    """The plan; None if results have no history."""
    if not subject.tracked:
        return None
    outputs = tuple(output.name for output in subject.outputs)
    complex_too = subject.base in subject.release.complex_differentiable
    derivative = subject.derivative
    return Tracking(
        inputs=tuple(_own_name(input_.name, subject) for input_ in subject.active),
        condition="".join(derivative.conditions) if derivative is not None and derivative.conditions else None,
        overwritten=outputs if subject.inplace else (),
        original=_original(subject),
        setup=None if subject.is_out else _setup(subject),
        out=OutSetup(tuple(input_.name for input_ in subject.inputs), outputs, subject.base)
        if subject.is_out
        else None,
        history=History(
            ("self",) if subject.by_member else outputs,
            subject.modifies and not subject.is_view,
            subject.by_member,
        ),
        real_only=() if complex_too else tuple(o.name for o in subject.outputs if o.cpp_type == TENSOR),
        name=subject.name,
        base=subject.base,
        saves=save_outputs(subject),
    )


def flag_of(outputs: tuple[str, ...]) -> str:
    """The name of the variable that is true if these outputs get tangents."""
    return f"_any_has_forward_grad_{'_'.join(outputs)}"


def _own_name(name: str, subject: Subject) -> str:
    return subject.members[name].name if name in subject.members else name


def _original(subject: Subject) -> Original | None:
    if not subject.inplace:
        return None
    forward = subject.derivative.forward if subject.derivative is not None else ()
    return Original(tuple(flag_of(d.var_names) for d in forward if d.required_original_self_value), subject.by_member)


def _setup(subject: Subject) -> Setup:
    implemented = subject.node is not None
    lists = [i.name for i in subject.active if is_tensor_like(i.type) and "[" in i.type]
    return Setup(
        node=subject.node or NOT_IMPLEMENTED,
        constructor="" if implemented else f'"{subject.name}"',
        edges=_edges(subject),
        unwanted=tuple(_unwanted(subject)),
        saves=save_inputs(subject),
        sizes=tuple(lists) if implemented and not subject.by_member else (),
        by_member=subject.by_member,
    )


def _edges(subject: Subject) -> tuple[str, ...]:
    names = tuple(input_.name for input_ in subject.active)
    if not subject.by_member:
        return names
    if subject.derivative is None:
        return tuple(f"{name}[i]" if name == "self" else name for name in names)
    return tuple(_in_loop(name, subject) for name in names)


def _in_loop(name: str, subject: Subject) -> str:
    argument = subject.members.get(name)
    if argument is None:
        return name
    return f"{argument.name}[i]" if is_list(argument.type) else argument.name


def _unwanted(subject: Subject) -> list[str]:
    """Differentiable inputs without derivatives. `output` is exempt: a double backward often does not need it."""
    return [input_.name for input_ in subject.inputs if input_ not in subject.active and input_.name != "output"]
