"""Forward mode: which results get tangents, and when; or that a kernel refuses inputs that have one."""

from msgspec import Struct

from pipeline.cpp.types import TENSOR, TENSOR_VECTOR, optional
from pipeline.families.variable_type.plan.node import flag_of
from pipeline.families.variable_type.plan.subject import Input, Subject
from pipeline.model.autograd import ForwardDerivative
from pipeline.model.schema import Argument, is_list, is_tensor_like
from pipeline.problems.problem import SpecError
from pipeline.rules.matching.differentiability import is_differentiable

_ZEROS, _CHEAP_ZEROS = "zeros_symint", "_efficientzerotensor_symint"


class Flag(Struct, frozen=True, gc=False, array_like=True):
    """The variable that says whether outputs get tangents; of a foreach op, whether those of each member do."""

    name: str
    condition: str
    sizes: tuple[str, ...]  # lists that must be as long as self
    by_member: bool


class Read(Struct, frozen=True, gc=False, array_like=True):
    """What a formula reads of an input: its tangent, zeros where it has none, and its value."""

    name: str
    expr: str
    zeros: str  # what makes them; "" where only the value is read
    primal: bool
    wraps: bool  # whether zeros are wrapped numbers if the input is


class Formula(Struct, frozen=True, gc=False, array_like=True):
    """The tangents of outputs."""

    outputs: tuple[str, ...]
    several: bool  # whether the function has more than one of them: upstream does not look whether it has all
    type: str  # C++
    condition: str
    reads: tuple[Read, ...]
    clones_tangent: bool  # whether the formula would write to a tangent that others have
    formula: str
    is_list: bool  # a list of outputs, not of a foreach op
    by_member: bool
    inplace: bool


class Refusal(Struct, frozen=True, gc=False, array_like=True):
    """No input may have a tangent."""

    condition: str
    operator: str
    is_out: bool


def any_tangent(subject: Subject) -> str:
    """The condition that any differentiable argument has a tangent, out arguments included."""
    declared = subject.derivative.differentiability if subject.derivative is not None else None
    found = [a for a in subject.function.func.arguments if is_differentiable(a.name, a.type, declared)]
    return _any_defined([_defined(a.name, a.type) for a in found])


def flags(subject: Subject) -> tuple[Flag, ...]:
    """The variables that say whether there are tangents to compute, for each forward formula."""
    derivative = subject.derivative
    if derivative is None:
        return ()
    if subject.is_foreach:
        return tuple(_flag_by_member(forward, subject) for forward in derivative.forward)
    first = "".join(f"({condition}) && " for condition in derivative.conditions)
    return tuple(
        Flag(flag_of(forward.var_names), first + _condition(forward, subject), (), by_member=False)
        for forward in derivative.forward
    )


def forward(subject: Subject, *, decomposed: bool) -> tuple[Formula, ...] | Refusal:
    """The formulas, or that there are none. A kernel that runs a decomposition in place of the call needs neither."""
    if subject.is_out:
        return Refusal(any_tangent(subject), subject.name, is_out=True)
    if not subject.tracked or decomposed:
        return ()
    if subject.derivative is None or not subject.derivative.forward:
        return Refusal(any_tangent(subject), subject.name, is_out=False)
    every = " || ".join(f"{flag_of(d.var_names)}[i]" for d in subject.derivative.forward)
    return tuple(_formula(d, subject, every) for d in subject.derivative.forward)


def _any_defined(checks: list[str]) -> str:
    return f"({' || '.join(checks)})"


def _defined(name: str, type_: str) -> str:
    return f"isFwGradDefined{'TensorList' if '[' in type_ else ''}({name})"


def _condition(derivative: ForwardDerivative, subject: Subject) -> str:
    tangents = derivative.required_inputs_fw_grad
    if tangents:
        return _any_defined([_defined(given.name, given.type) for given in subject.inputs if given.name in tangents])
    if [("[" in given.type) for given in subject.inputs] != [True]:
        raise SpecError(
            f"the forward formula of {', '.join(derivative.var_names)} reads no tangent",
            "only an op whose one differentiable input is a list can do without",
        )
    return "true"


def _own(given: Input, subject: Subject) -> Argument | Input:
    """The argument of a foreach op that is behind an input."""
    if not subject.by_member:
        return given
    if given.name not in subject.members:
        raise SpecError(f"in-place foreach op '{subject.name}' has '{given.name}', which its reference has not")
    return subject.members[given.name]


def _flag_by_member(derivative: ForwardDerivative, subject: Subject) -> Flag:
    sizes, checks = [], []
    for given in subject.inputs:
        if given.name in (derivative.required_inputs_fw_grad or ()):
            own = _own(given, subject)
            listed = "[" in own.type
            if listed and own.name != "self":
                sizes.append(own.name)
            checks.append(f"isFwGradDefined({own.name}{'[i]' if listed else ''})")
    return Flag(flag_of(derivative.var_names), " || ".join(checks), tuple(sizes), by_member=True)


def _formula(derivative: ForwardDerivative, subject: Subject, every: str) -> Formula:
    outputs = ("self",) if subject.inplace else derivative.var_names
    type_, listed = _type(derivative, subject)
    condition = flag_of(derivative.var_names)
    if type_ == optional(TENSOR) and not listed:
        condition += f" && ({derivative.var_names[0]}.defined())"
    return Formula(
        outputs,
        len(derivative.var_types) > 1,
        type_,
        every if subject.is_foreach else condition,
        _reads(derivative, subject),
        subject.inplace and derivative.is_reusing_outplace_formula and not derivative.required_original_self_value,
        _in_loop(derivative.formula, subject) if subject.is_foreach else derivative.formula,
        listed and not subject.is_foreach,
        subject.is_foreach,
        subject.inplace,
    )


def _type(derivative: ForwardDerivative, subject: Subject) -> tuple[str, bool]:
    """The C++ type of the tangents of outputs, and whether they are a list of them."""
    types = derivative.var_types
    if all(type_ == "Tensor" for type_ in types):
        count = len(types)
        return optional(TENSOR if count == 1 else f"::std::tuple<{','.join([TENSOR] * count)}>"), False
    if is_tensor_like(types[0]) and is_list(types[0]) and len(types) == 1:
        return optional(TENSOR if subject.is_foreach else TENSOR_VECTOR), True
    raise SpecError(
        f"the forward formula of {', '.join(derivative.var_names)} is for {', '.join(types)}",
        "tensors, or one list of tensors, can have one",
    )


def _reads(derivative: ForwardDerivative, subject: Subject) -> tuple[Read, ...]:
    """In the order of the inputs. The zeros of the old self are those of the last input, whatever it is."""
    found = []
    zeros = _CHEAP_ZEROS
    for given in subject.inputs:
        own = _own(given, subject) if subject.is_foreach else given
        zeros = _ZEROS if subject.inplace and given.name == "self" else _CHEAP_ZEROS
        tangent = given.name in (derivative.required_inputs_fw_grad or ())
        primal = given.name in (derivative.required_inputs_primal or ())
        if tangent or primal:
            expr = f"{own.name}[i]" if subject.is_foreach and "[" in own.type else own.name
            found.append(Read(given.name, expr, zeros if tangent else "", primal, tangent and zeros == _CHEAP_ZEROS))
    if derivative.required_original_self_value:
        expr = "original_selfs[i]" if subject.by_member else "original_self"
        found.append(Read("original_self", expr, zeros, primal=True, wraps=False))
    return tuple(found)


def _in_loop(formula: str, subject: Subject) -> str:
    """A formula over members. Names are replaced wherever their letters stand."""
    if not subject.inplace:
        return formula if "result[i]" in formula else formula.replace("result", "result[i]")
    for reference, argument in subject.members.items():
        if not is_tensor_like(argument.type):
            formula = formula.replace(reference, f"{argument.name}{'[i]' if is_list(argument.type) else ''}")
    return formula
