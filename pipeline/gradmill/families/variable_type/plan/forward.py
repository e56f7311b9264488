"""Forward mode: which results get tangents, and when; or the refusal of inputs with tangents.

torchgen: `gen_variable_type.emit_fw_derivatives`, `gen_variable_type.emit_forbid_fw_derivatives`,
`gen_variable_type.get_any_has_fw_grad_cond`.
"""

from msgspec import Struct

from gradmill.cpp.types import TENSOR, TENSOR_VECTOR, optional
from gradmill.families.variable_type.plan.node import flag_of
from gradmill.families.variable_type.plan.subject import Input, Subject
from gradmill.model.autograd import ForwardDerivative
from gradmill.model.schema import Argument, is_list, is_tensor_like
from gradmill.problems.problem import SpecError, nearest
from gradmill.rules.derivatives.forward import AUTO_ELEMENT_WISE, AUTO_LINEAR
from gradmill.rules.matching.differentiability import is_differentiable

_ZEROS, _CHEAP_ZEROS = "zeros_symint", "_efficientzerotensor_symint"


class Flag(Struct, frozen=True, gc=False, array_like=True):
    """The variable that is true if outputs get tangents; in a foreach op, one value per member."""

    name: str
    condition: str
    sizes: tuple[str, ...]  # lists that must be as long as self
    by_member: bool


class Operand(Struct, frozen=True, gc=False, array_like=True):
    """What a formula uses of an input: its tangent, or zeros if it has none, and its value."""

    name: str
    expr: str
    zeros: str  # the function that creates zeros; "" if the formula uses only the value
    primal: bool
    wraps: bool  # whether zeros become wrapped numbers if the input is one


class TangentFormula(Struct, frozen=True, gc=False, array_like=True):
    """A formula for the tangents of outputs."""

    outputs: tuple[str, ...]
    several: bool  # whether it has several outputs: upstream does not check that these are all
    type: str  # C++
    condition: str
    operands: tuple[Operand, ...]
    clones_tangent: bool  # whether the formula would otherwise write to a shared tangent
    formula: str
    is_list: bool  # whether the output is a list, except in a foreach op
    by_member: bool
    inplace: bool


class Refusal(Struct, frozen=True, gc=False, array_like=True):
    """The refusal of inputs with tangents."""

    condition: str
    operator: str
    is_out: bool


def any_tangent(subject: Subject) -> str:
    """The condition under which any differentiable argument, `out` included, has a tangent."""
    declared = subject.derivative.differentiability if subject.derivative is not None else None
    arguments = [a for a in subject.function.func.arguments if is_differentiable(a.name, a.type, declared)]
    return _any_defined([_defined(a.name, a.type) for a in arguments])


def flags(subject: Subject) -> tuple[Flag, ...]:
    """One flag per forward formula: whether to compute its tangents."""
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


def forward(subject: Subject, *, decomposed: bool) -> tuple[TangentFormula, ...] | Refusal:
    """The formulas, or the refusal. A kernel that runs a decomposition in place of the call needs neither."""
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
        return _any_defined(
            [_defined(input_.name, input_.type) for input_ in subject.inputs if input_.name in tangents]
        )
    if [("[" in input_.type) for input_ in subject.inputs] != [True]:
        raise _no_tangent(derivative, subject)
    return "true"


def _no_tangent(derivative: ForwardDerivative, subject: Subject) -> SpecError:
    """The error for a formula without a tangent, which may be a misspelt word."""
    names = ("result",) if subject.inplace else derivative.var_names  # the in-place variant has the formula of that
    written = derivative.formula.rpartition(" : ")[2] if subject.inplace else derivative.formula
    field = (", ".join(names),)
    meant = nearest(written, (AUTO_ELEMENT_WISE, AUTO_LINEAR)) if written.isidentifier() else ""
    if meant:
        return SpecError(f"unknown word '{written}'", meant, field=field, needle=written)
    error = SpecError(
        f"the forward formula of {field[0]} reads no tangent",
        "only an op with a list as its one differentiable input needs none",
        field=field,
    )
    error.follows = subject.is_out  # it has no formula of its own
    return error


def _own(input_: Input, subject: Subject) -> Argument | Input:
    """The argument of a foreach op that corresponds to an input of its reference."""
    if not subject.by_member:
        return input_
    if input_.name not in subject.members:
        raise SpecError(f"in-place foreach op '{subject.name}' has '{input_.name}', but its reference does not")
    return subject.members[input_.name]


def _flag_by_member(derivative: ForwardDerivative, subject: Subject) -> Flag:
    sizes, checks = [], []
    for input_ in subject.inputs:
        if input_.name in (derivative.required_inputs_fw_grad or ()):
            own = _own(input_, subject)
            listed = "[" in own.type
            if listed and own.name != "self":
                sizes.append(own.name)
            checks.append(f"isFwGradDefined({own.name}{'[i]' if listed else ''})")
    return Flag(flag_of(derivative.var_names), " || ".join(checks), tuple(sizes), by_member=True)


def _formula(derivative: ForwardDerivative, subject: Subject, every: str) -> TangentFormula:
    outputs = ("self",) if subject.inplace else derivative.var_names
    type_, listed = _type(derivative, subject)
    condition = flag_of(derivative.var_names)
    if type_ == optional(TENSOR) and not listed:
        condition += f" && ({derivative.var_names[0]}.defined())"
    return TangentFormula(
        outputs=outputs,
        several=len(derivative.var_types) > 1,
        type=type_,
        condition=every if subject.is_foreach else condition,
        operands=_operands(derivative, subject),
        clones_tangent=subject.inplace
        and derivative.is_reusing_outplace_formula
        and not derivative.required_original_self_value,
        formula=_in_loop_of(derivative.formula, subject) if subject.is_foreach else derivative.formula,
        is_list=listed and not subject.is_foreach,
        by_member=subject.is_foreach,
        inplace=subject.inplace,
    )


def _type(derivative: ForwardDerivative, subject: Subject) -> tuple[str, bool]:
    """The C++ type of the tangents of outputs, and whether the output is a list."""
    types = derivative.var_types
    if all(type_ == "Tensor" for type_ in types):
        count = len(types)
        return optional(TENSOR if count == 1 else f"::std::tuple<{','.join([TENSOR] * count)}>"), False
    if is_tensor_like(types[0]) and is_list(types[0]) and len(types) == 1:
        return optional(TENSOR if subject.is_foreach else TENSOR_VECTOR), True
    raise SpecError(
        f"the forward formula of {', '.join(derivative.var_names)} is for {', '.join(types)}",
        "only tensors or one list of tensors can have a forward formula",
    )


def _operands(derivative: ForwardDerivative, subject: Subject) -> tuple[Operand, ...]:
    """The operands, in the order of the inputs. As upstream has it, the old self gets the zeros of the last input."""
    operands = []
    zeros = _CHEAP_ZEROS
    for input_ in subject.inputs:
        own = _own(input_, subject) if subject.is_foreach else input_
        zeros = _ZEROS if subject.inplace and input_.name == "self" else _CHEAP_ZEROS
        tangent = input_.name in (derivative.required_inputs_fw_grad or ())
        primal = input_.name in (derivative.required_inputs_primal or ())
        if tangent or primal:
            expr = f"{own.name}[i]" if subject.is_foreach and "[" in own.type else own.name
            operands.append(
                Operand(
                    name=input_.name,
                    expr=expr,
                    zeros=zeros if tangent else "",
                    primal=primal,
                    wraps=tangent and zeros == _CHEAP_ZEROS,
                )
            )
    if derivative.required_original_self_value:
        expr = "original_selfs[i]" if subject.by_member else "original_self"
        operands.append(Operand("original_self", expr, zeros, primal=True, wraps=False))
    return tuple(operands)


def in_loop(formula: str) -> str:
    """A formula over members. As upstream does, this replaces every occurrence of a name, even within another name."""
    return formula if "result[i]" in formula else formula.replace("result", "result[i]")


def _in_loop_of(formula: str, subject: Subject) -> str:
    """The same for a function, whose in-place variant has the formula of its reference."""
    if not subject.inplace:
        return in_loop(formula)
    for reference, argument in subject.members.items():
        if not is_tensor_like(argument.type):
            formula = formula.replace(reference, f"{argument.name}{'[i]' if is_list(argument.type) else ''}")
    return formula
