"""Renders forward mode: which results get tangents, and when; or the refusal of inputs with tangents.

torchgen: `gen_variable_type.emit_fw_derivatives`, `gen_variable_type.emit_forbid_fw_derivatives`,
`gen_variable_type.get_any_has_fw_grad_cond`.
"""

from gradmill.cpp.types import TENSOR, TENSOR_VECTOR, optional
from gradmill.families.line_directives import with_markers
from gradmill.families.sections import Sections, Text
from gradmill.families.template import Value
from gradmill.families.variable_type.steps.node import flag_of
from gradmill.families.variable_type.steps.subject import Input, Subject
from gradmill.model.autograd import ForwardDerivative
from gradmill.model.schema import Argument, is_list, is_tensor_like
from gradmill.problems.problem import SpecError, nearest
from gradmill.rules.derivatives.forward import AUTO_ELEMENT_WISE, AUTO_LINEAR
from gradmill.rules.matching.differentiability import is_differentiable

_TEXT = Text("variable_type/forward.cpp")
_ZEROS, _CHEAP_ZEROS = "zeros_symint", "_efficientzerotensor_symint"


def any_tangent(subject: Subject) -> str:
    """The condition under which any differentiable argument, `out` included, has a tangent."""
    declared = subject.derivative.differentiability if subject.derivative is not None else None
    arguments = [a for a in subject.function.func.arguments if is_differentiable(a.name, a.type, declared)]
    return _any_defined([_defined(a.name, a.type) for a in arguments])


def flags(subject: Subject) -> list[str]:
    """The variables that are true if outputs get tangents, one per forward formula; in a foreach op, one value per
    member."""
    derivative = subject.derivative
    if derivative is None:
        return []
    if subject.is_foreach:
        return [line for forward in derivative.forward for line in _flag_by_member(forward, subject)]
    first = "".join(f"({condition}) && " for condition in derivative.conditions)
    named = [(flag_of(forward.var_names), first + _condition(forward, subject)) for forward in derivative.forward]
    return [subject.text["flag"].fill({"flag": name, "condition": condition}) for name, condition in named]


def forward(subject: Subject, *, decomposed: bool, markers: bool) -> list[str]:
    """The code that computes all tangents of outputs and then sets them; or the refusal of inputs with tangents. A
    kernel that runs a decomposition in place of the call needs neither. `markers`: as in `render`."""
    text, derivative = _TEXT.of(subject.release), subject.derivative
    if subject.is_out:
        return [_refusal(subject, "why_out", text)]
    if not subject.tracked or decomposed:
        return [""]
    if derivative is None or not derivative.forward:
        return [_refusal(subject, "why_missing", text)]
    every = " || ".join(f"{flag_of(d.var_names)}[i]" for d in derivative.forward)
    texts = [_formula(d, subject, every, text, markers=markers) for d in derivative.forward]
    return [*(formula for formula, _ in texts), "\n".join(setter for _, setters in texts for setter in setters)]


def _refusal(subject: Subject, why: str, text: Sections) -> str:
    reason = text[why].fill({}).rstrip("\n")
    return text["refusal"].fill({"condition": any_tangent(subject), "operator": subject.name, "why": reason})


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


def _flag_by_member(derivative: ForwardDerivative, subject: Subject) -> list[str]:
    """The flag of a foreach op, after the checks that lists are as long as self."""
    text, sizes, checks = subject.text, [], []
    for input_ in subject.inputs:
        if input_.name in (derivative.required_inputs_fw_grad or ()):
            own = _own(input_, subject)
            listed = "[" in own.type
            if listed and own.name != "self":
                sizes.append(text["same_size"].fill({"list": own.name}))
            checks.append(f"isFwGradDefined({own.name}{'[i]' if listed else ''})")
    values = {"flag": flag_of(derivative.var_names), "condition": " || ".join(checks)}
    return [*sizes, text["flag_by_member"].fill(values)]


def _formula(
    derivative: ForwardDerivative, subject: Subject, every: str, text: Sections, *, markers: bool
) -> tuple[str, list[str]]:
    """The code that computes the tangents of outputs, and that which sets them."""
    outputs = ("self",) if subject.inplace else derivative.var_names
    type_, listed = _type(derivative, subject)
    condition = flag_of(derivative.var_names)
    if type_ == optional(TENSOR) and not listed:
        condition += f" && ({derivative.var_names[0]}.defined())"
    operands = _operands(derivative, subject, text)
    if subject.inplace and derivative.is_reusing_outplace_formula and not derivative.required_original_self_value:
        operands.append(text["cloned_tangent"].fill({}))  # the formula would otherwise write to a shared tangent
    formula = _in_loop_of(derivative.formula, subject) if subject.is_foreach else derivative.formula
    values: dict[str, Value] = {
        "outputs": "_".join(outputs),
        "type": type_,
        "condition": every if subject.is_foreach else condition,
        "operands": operands,
        "formula": with_markers(formula, "result" if subject.inplace else ", ".join(outputs)) if markers else formula,
    }
    computed = text["formula_by_member" if subject.is_foreach else "formula"].fill(values)
    if len(derivative.var_types) > 1:  # upstream does not check that these are all outputs
        set_one_of = text["set_one_of"]
        return computed, [set_one_of.fill({**values, "output": each, "index": i}) for i, each in enumerate(outputs)]
    section = "set_by_member" if subject.is_foreach else "set_list" if listed else "set"
    setter = text[section].fill({"output": outputs[0], "inplace": "true" if subject.inplace else "false"})
    return computed, [setter]


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


def _operands(derivative: ForwardDerivative, subject: Subject, text: Sections) -> list[str]:
    """What a formula uses of each input: its tangent, or zeros if it has none, and its value. As upstream has it, the
    old self gets the zeros of the last input."""
    operands = []
    for input_ in subject.inputs:
        own = _own(input_, subject) if subject.is_foreach else input_
        zeros = _ZEROS if subject.inplace and input_.name == "self" else _CHEAP_ZEROS
        tangent = input_.name in (derivative.required_inputs_fw_grad or ())
        primal = input_.name in (derivative.required_inputs_primal or ())
        if tangent or primal:
            expr = f"{own.name}[i]" if subject.is_foreach and "[" in own.type else own.name
            values = {"name": input_.name, "expr": expr, "zeros": zeros}
            lines = text["tangent"].fill(values) if tangent else ""
            if tangent and zeros == _CHEAP_ZEROS:  # zeros become wrapped numbers if the input is one
                lines += text["wrapped_number"].fill(values)
            operands.append(lines + text["primal"].fill(values) if primal else lines)
    if derivative.required_original_self_value:
        expr = "original_selfs[i]" if subject.by_member else "original_self"
        values = {"name": "original_self", "expr": expr, "zeros": zeros if subject.inputs else _CHEAP_ZEROS}
        operands.append(text["tangent"].fill(values) + text["primal"].fill(values))
    return operands


def in_loop(formula: str) -> str:
    """A formula over members. As upstream does, this replaces every occurrence of a name, even within another name."""
    return formula if "result[i]" in formula else formula.replace("result", "result[i]")


def _in_loop_of(formula: str, subject: Subject) -> str:
    """The same for a function, whose in-place variant has the formula of its reference."""
    if not subject.inplace:
        return in_loop(formula)
    for reference, argument in subject.members.items():
        if not is_tensor_like(argument.type):
            formula = formula.replace(reference, subject.in_loop(reference))
    return formula
