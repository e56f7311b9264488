"""A function under one dispatch key, and its differentiable parts: what all parts of a kernel are rendered from.

torchgen: `gen_variable_type.gen_differentiable_inputs`, `gen_variable_type.find_args_with_derivatives`.
"""

from msgspec import Struct

from gradmill.cpp.bindings import cpp_name, return_names
from gradmill.cpp.dispatcher import kernel_name
from gradmill.families.sections import Sections, Text
from gradmill.grammar.types import element
from gradmill.model.kernels import KernelDerivative
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, is_list, schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import OWN_KERNEL, Release
from gradmill.rules.matching.differentiability import DifferentiableOutput, differentiable_outputs, is_differentiable

TEXT = Text("variable_type/kernel.cpp")


class Input(Struct, frozen=True, gc=False, array_like=True):
    """A differentiable input, by its name in formulas."""

    name: str
    type: str


class Subject(Struct, frozen=True):
    """The facts that the parts of a kernel are rendered from."""

    function: NativeFunction
    derivative: KernelDerivative | None
    release: Release
    name: str  # of the C++ function
    wrapper: str  # of the kernel for all keys
    returns: tuple[str, ...]  # names
    inplace: bool
    is_out: bool
    is_foreach: bool
    members: dict[str, Argument]  # of an in-place foreach op: argument of its reference -> its own
    inputs: tuple[Input, ...]  # differentiable
    active: tuple[Input, ...]  # inputs with derivatives; all inputs if none has
    outputs: tuple[DifferentiableOutput, ...]

    @property
    def text(self) -> Sections:
        """The C++ of kernels."""
        return TEXT.of(self.release)

    @property
    def base(self) -> str:
        """The name of the function without its overload, `_` or `_out`."""
        return self.function.func.name.base

    @property
    def by_member(self) -> bool:
        """Whether it is an in-place foreach op, which is differentiated like its reference, member by member."""
        return self.is_foreach and self.inplace

    def in_loop(self, name: str) -> str:
        """An input of the reference as an expression in the loop over members: `other[i]`. Other names stay."""
        argument = self.members.get(name)
        if argument is None:
            return name
        return f"{argument.name}[i]" if is_list(argument.type) else argument.name

    @property
    def modifies(self) -> bool:
        """Whether it writes to its arguments."""
        return self.inplace or self.is_out

    @property
    def rebases(self) -> bool:
        """Whether it changes the existing history of what it writes to."""
        return self.modifies and not self.is_view

    @property
    def is_view(self) -> bool:
        """Whether its result shares memory with an argument, by the release's list of views."""
        return self.release.viewed(self.base) is not None

    @property
    def node(self) -> str | None:
        """The name of the Node that computes the derivatives; None without derivatives."""
        return self.derivative.node if self.derivative is not None else None

    @property
    def tracked(self) -> bool:
        """Whether results get a history. In-place foreach ops return nothing, but also have one."""
        listed = self.release.dont_require_derivative
        if self.base in listed or self.name in listed:
            return False
        return bool(self.inputs) and (bool(self.outputs) or self.by_member)


def subject_of(function: NativeFunction, derivative: KernelDerivative | None, release: Release) -> Subject:
    """The subject of the kernel for `derivative`. Raises SpecError for a derivative that does not fit the function."""
    schema, name = function.func, cpp_name(function.func)
    kind = schema_kind(schema)
    is_foreach, inplace = name.startswith("_foreach"), kind == "inplace"
    members = _members(function, derivative, release) if is_foreach and inplace else {}
    inputs = _inputs(function, derivative)
    declared = derivative.differentiability if derivative is not None else None
    subject = Subject(
        function=function,
        derivative=derivative,
        release=release,
        name=name,
        wrapper=kernel_name(schema),
        returns=return_names(schema),
        inplace=inplace,
        is_out=kind == "out",
        is_foreach=is_foreach,
        members=members,
        inputs=inputs,
        active=_active(function, inputs, derivative),
        outputs=differentiable_outputs(function, declared, release),
    )
    _check(subject)
    return subject


def _members(function: NativeFunction, derivative: KernelDerivative | None, release: Release) -> dict[str, Argument]:
    name = function.func.name
    called = f"{name.base}.{name.overload}" if name.overload else name.base
    if derivative is None:
        if called not in release.foreach_without_derivatives:
            error = SpecError(
                f"in-place foreach op '{name}' has no derivatives", "define derivatives for its reference"
            )
            error.follows = True
            raise error
        return {}
    own, reference_inputs = function.func.inputs, derivative.reference
    if len(own) != len(reference_inputs) and called not in release.foreach_of_other_arity:
        raise SpecError(
            f"in-place foreach op '{name}' has {len(own)} arguments, but its reference has {len(reference_inputs)}"
        )
    for argument, (reference, type_) in zip(own, reference_inputs):
        if type_ != (element(argument.type) if is_list(argument.type) else argument.type):
            raise SpecError(
                f"in-place foreach op '{name}' takes '{argument}', but its reference takes '{type_} {reference}'"
            )
    return {reference: argument for argument, (reference, _) in zip(own, reference_inputs)}


def _inputs(function: NativeFunction, derivative: KernelDerivative | None) -> tuple[Input, ...]:
    own = [(a.name, a.type) for a in function.func.inputs]
    declared = None
    if derivative is not None:
        declared = derivative.differentiability
        own = [*derivative.reference[: len(own)], *own[len(derivative.reference) :]]
    return tuple(Input(name, type_) for name, type_ in own if is_differentiable(name, type_, declared))


def _active(
    function: NativeFunction, inputs: tuple[Input, ...], derivative: KernelDerivative | None
) -> tuple[Input, ...]:
    if derivative is None or derivative.node is None:
        return inputs
    active = tuple(input_ for input_ in inputs if input_.name in derivative.inputs)
    missing = sorted(set(derivative.inputs) - {input_.name for input_ in active})
    if missing:
        types = {argument.name: argument.type for argument in function.func.arguments}
        other = [name for name in missing if types.get(name, "Tensor") not in ("Tensor", "Tensor?", "Tensor[]")]
        kind = f"of type {types[other[0]]}" if other else "not differentiable"
        problem = f"'{(other or missing)[0]}' is {kind}: it cannot have a gradient"
        raise SpecError(problem, "drop the row" if other else "", field=(missing[0],))
    return active


def _check(subject: Subject) -> None:
    """Raises SpecError for derivatives that would be ignored, or that omit an output."""
    derivative, function = subject.derivative, subject.function
    if derivative is None:
        return
    checked = OWN_KERNEL not in subject.release.left_out
    if checked and derivative.node is not None and not function.is_abstract:
        raise SpecError(
            f"{subject.name} or its functional variant has derivatives, but no separate kernel",
            "give it a dispatch section with explicit backends, or CompositeExplicitAutograd",
            field=("func",),
        )
    if derivative.node is not None and not subject.tracked and function.func.returns:
        raise SpecError(f"the derivatives of {subject.name} would be ignored: it is not differentiable")
    if len(derivative.conditions) > 1:
        raise SpecError("there are several output_differentiability_conditions", "write one")
    named = sum(len(d.var_names) for d in derivative.forward)
    if subject.tracked and named and not subject.by_member and named != len(subject.outputs):
        raise SpecError(
            f"forward formulas compute {named} outputs, but {len(subject.outputs)} outputs are differentiable"
        )
