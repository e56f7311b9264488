"""Derivatives of foreach functions, synthesized from those of the op that is applied to each member.

`find_reference` finds that op; `synthesize` maps its formulas.

torchgen: `autograd.is_foreach_func`, `autograd.is_reference_for_foreach`, `autograd.gen_foreach_derivativeinfo`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from msgspec.structs import replace

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.types import TENSOR_LIST, argument_type
from gradmill.grammar.signature import signature_inputs
from gradmill.grammar.types import element
from gradmill.model.autograd import Derivative, DifferentiableInput, ForwardDerivative, Info, SavedAttribute
from gradmill.model.entries import by_key
from gradmill.model.native import FunctionSummary, NativeFunction
from gradmill.model.schema import Argument, Schema, is_list, is_tensor_like
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

PREFIX = "_foreach_"


def is_reference(foreach: Schema, candidate: Schema, release: Release) -> bool:
    """Whether the foreach op applies `candidate` to each member of its list."""
    name = str(foreach.name)
    if foreach.name.base.split(PREFIX)[-1] != candidate.name.base:
        return False
    inputs, reference_inputs = foreach.inputs, candidate_inputs(candidate)
    if len(inputs) != len(reference_inputs) and name not in release.foreach_skip_length:
        return False
    return all(r.type in (a.type, element(a.type)) for a, r in zip(inputs, reference_inputs))


def candidate_inputs(candidate: Schema) -> tuple[Argument, ...]:
    """The arguments of a candidate's signature, which `is_reference` compares."""
    positional, kwarg_only = signature_inputs(candidate)
    return positional + kwarg_only


def by_base(
    names: Iterable[str], heads: dict[str, FunctionSummary], wanted: Callable[[FunctionSummary], bool]
) -> dict[str, list[str]]:
    """Functions by base name. The last of several with one signature replaces the first, at its place."""
    by_signature = {heads[name].plain_signature: name for name in names if wanted(heads[name])}
    return by_key((heads[name].base, name) for name in by_signature.values())


def without_definition(
    foreach_functions: Iterable[tuple[str, FunctionSummary]],
    heads: dict[str, FunctionSummary],
    defined: Container[str],
    with_infos: Iterable[str],
) -> list[tuple[str, FunctionSummary]]:
    """Foreach functions that need a reference.

    Generated out variants have no derivatives; generated functional ones follow their mutable variant.
    """
    written = {heads[name].plain_signature for name in with_infos if heads[name].kind != "functional"}
    return [
        (name, head)
        for name, head in foreach_functions
        if name not in defined and not (head.generated and (head.kind == "out" or head.plain_signature in written))
    ]


def find_reference(
    foreach: FunctionSummary,
    functional: Sequence[str],
    others: Sequence[str],
    fits: Callable[[str], bool],
    release: Release,
) -> str | None:
    """The function whose derivatives serve `foreach`: the first for which `fits` is true; None if there is none.

    `functional` and `others` are the functions with derivatives and a matching base name. Only a few in-place foreach
    ops may refer to `others`, the functions that are not functional.
    """
    inplace = foreach.kind == "inplace" and foreach.name in release.foreach_inplace_reference
    return next(filter(fits, (*functional, *(others if inplace else ()))), None)


def synthesize(function: NativeFunction, reference: NativeFunction, info: Info, release: Release) -> Info:
    """The info of an out-of-place foreach function, from `info`, that of its reference.

    Raises a SpecError when the foreach function has no argument for one that the reference's formulas save.
    """
    schema = function.func
    mapping = _Mapping(function, candidate_inputs(reference.func), release)
    derivatives = tuple(mapping.derivative(d) for d in info.derivatives)
    names = {name for d in derivatives for name in d.var_names}
    return Info(
        name=schema.name.base,
        func=str(schema),
        derivatives=derivatives,
        forward_derivatives=tuple(_forward(d, schema, reference.func, release) for d in info.forward_derivatives),
        all_saved_inputs=_sorted({s for d in derivatives for s in d.saved_inputs}),
        all_saved_outputs=_sorted({s for d in derivatives for s in d.saved_outputs}),
        available_named_gradients=(),
        used_named_gradients=(),
        args_with_derivatives=tuple(
            DifferentiableInput(a.name, mapping.passed(a), a.type) for a in schema.inputs if a.name in names
        ),
    )


def foreach_node(reference_node: str | None, overload: str) -> str:
    """The name of a foreach function's Node, from its reference's: `ForeachAddBackward0List` of `AddBackward0`."""
    return f"Foreach{reference_node}{overload}"


def _sorted(saved: set[SavedAttribute]) -> tuple[SavedAttribute, ...]:
    return tuple(sorted(saved, key=lambda s: (s.name, s.type, s.expr)))


class _Mapping:
    """From the reference's arguments to those of the foreach function."""

    def __init__(self, function: NativeFunction, reference_inputs: Sequence[Argument], release: Release) -> None:
        self._name = str(function.func.name)
        self._how = passing_of(function, release, symint=False)
        self._arguments: Mapping[str, Argument] = {r.name: a for a, r in zip(function.func.inputs, reference_inputs)}

    def passed(self, argument: Argument) -> str:
        return argument_type(argument.type, self._how, mutable=argument.is_write).passed

    def argument(self, name: str, saved: str = "") -> Argument:
        try:
            return self._arguments[name]
        except KeyError:
            what = f"saves the strides of '{saved}'" if "strides_or_error" in name else f"saves '{name}'"
            problem = f"foreach op '{self._name}' refers to this definition, which {what}: that cannot be mapped to it"
            raise SpecError(problem, "define the foreach op's derivative itself") from None

    def derivative(self, derivative: Derivative) -> Derivative:
        formula = derivative.formula.replace("grad", "grads[i]").replace("result", "result[i]")
        saved = []
        for saved_input in derivative.saved_inputs:
            name = saved_input.expr.split(".")[0]
            argument = self.argument(name, saved_input.name.removesuffix("_sym_strides"))
            each = f"{argument.name}[i]" if is_list(argument.type) else argument.name
            formula = formula.replace(saved_input.name, saved_input.expr.replace(name, each))
            type_ = argument_type(argument.type, self._how, mutable=argument.is_write).value
            saved.append(SavedAttribute(argument.name, type_, argument.name))
        for output in derivative.saved_outputs:
            if output.name != "result":
                problem = f"a foreach op refers to this definition, which saves '{output.name}' of its output"
                raise SpecError(problem, "only 'result' can be saved: define the foreach op's derivative itself")
        results = tuple(SavedAttribute("result", TENSOR_LIST, "result") for _ in derivative.saved_outputs)
        names = tuple(self.argument(name).name for name in derivative.var_names)
        return Derivative(
            formula=formula,
            original_formula=derivative.formula,
            var_names=names,
            saved_inputs=tuple(saved),
            saved_outputs=results,
        )


def _forward(derivative: ForwardDerivative, foreach: Schema, reference: Schema, release: Release) -> ForwardDerivative:
    formula = derivative.formula.replace("result", "result[i]")
    var_names = list(derivative.var_names)
    var_types = list(derivative.var_types)
    tangents = list(derivative.required_inputs_fw_grad or ())
    primals = list(derivative.required_inputs_primal or ())
    for argument, original in zip(foreach.inputs, reference.inputs):
        formula = _map_argument(formula=formula, argument=argument, original=original, foreach=foreach, release=release)
        for i, name in enumerate(var_names):
            if name == original.name:
                var_names[i], var_types[i] = argument.name, argument.type
        tangents = [argument.name if name == original.name else name for name in tangents]
        primals = [argument.name if name == original.name else name for name in primals]
    return replace(
        derivative,
        formula=formula,
        var_names=tuple(var_names),
        var_types=tuple(var_types),
        required_inputs_fw_grad=tuple(tangents),
        required_inputs_primal=tuple(primals),
    )


def _map_argument(formula: str, argument: Argument, original: Argument, foreach: Schema, release: Release) -> str:
    if is_list(argument.type) and not is_tensor_like(argument.type):
        return formula.replace(original.name, f"{argument.name}[i]")
    if not is_tensor_like(argument.type):
        return formula if argument.name == original.name else formula.replace(original.name, argument.name)
    if not is_list(argument.type) and not (
        argument.type == "Tensor" and str(foreach.name) in release.foreach_tensor_overload
    ):
        raise SpecError(f"foreach op '{foreach.name}' takes '{argument}', which cannot be mapped to each member")
    for suffix in ("_p", "_t"):
        formula = formula.replace(original.name + suffix, argument.name + suffix)
    return formula
