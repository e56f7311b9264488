"""The plan of a Node: its inputs, saved state and gradient blocks. C++ and Python text are rendered from it.

torchgen: `gen_autograd_functions.process_function`.
"""

from msgspec import Struct
from msgspec.structs import replace

from gradmill.cpp import identifiers
from gradmill.cpp.types import TENSOR_LIST_LIKE
from gradmill.families import line_directives
from gradmill.families.saved_types import SavedType, saved_type
from gradmill.model.autograd import DifferentiableInput, Reverse, SavedAttribute
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release


class Input(Struct, frozen=True, gc=False, array_like=True):
    """A differentiable input and its index among them."""

    name: str
    index: int
    is_list: bool


class Saved(Struct, frozen=True, gc=False, array_like=True):
    """A saved attribute and its storage."""

    name: str
    how: SavedType
    is_output: bool

    @property
    def member(self) -> str:
        """The field that compiled autograd visits."""
        return f"{self.name}_" if self.how.is_variable else self.name


class Gradient(Struct, frozen=True, gc=False, array_like=True):
    """One backward formula and the inputs that it differentiates."""

    formula: str
    inputs: tuple[Input, ...]
    checks_any_defined: bool  # skipped when no incoming gradient is defined
    uses_mask: bool


class NodePlan(Struct, frozen=True, gc=False, array_like=True):
    """All facts that the text of one Node needs."""

    node: str
    superclass: str
    is_foreach: bool
    inputs: tuple[Input, ...]
    saved: tuple[Saved, ...]  # inputs by name, then outputs by name
    retains_variables: bool
    gradient_names: tuple[tuple[str, int], ...] | None  # named gradients and their index; None: a single `grad`
    gradients: tuple[Gradient, ...]


def plan(info: Reverse, release: Release) -> NodePlan:
    """The plan of a Node. Raises SpecError for an attribute that cannot be saved."""
    is_foreach = info.func.startswith("_foreach")
    inputs = tuple(
        Input(input_.name, i, input_.cpp_type in TENSOR_LIST_LIKE)
        for i, input_ in enumerate(info.args_with_derivatives)
    )
    try:
        saved = _saved(info.all_saved_inputs, release, False, is_foreach)
        saved += _saved(info.all_saved_outputs, release, True, is_foreach)
    except SpecError as error:
        users = (names for formula, names in info.formulas if identifiers.uses(formula, error.needle))
        error.field = next(((", ".join(names),) for names in users), ())
        raise
    return NodePlan(
        node=info.node,
        superclass="Node" if info.name in release.views else "TraceableFunction",
        is_foreach=info.name.startswith("_foreach_"),
        inputs=inputs,
        saved=saved,
        retains_variables=any(identifiers.uses(formula, "retain_variables") for formula, _ in info.formulas),
        gradient_names=_gradient_names(info),
        gradients=tuple(
            _gradient(formula, names, inputs, info.args_with_derivatives) for formula, names in info.formulas
        ),
    )


def _saved(
    attributes: tuple[SavedAttribute, ...], release: Release, is_output: bool, is_foreach: bool
) -> tuple[Saved, ...]:
    saved = []
    for attribute in sorted(attributes, key=lambda a: a.name):
        try:
            how = saved_type(attribute.type, release, is_output=is_output, is_foreach=is_foreach)
        except SpecError as error:
            error.needle = attribute.name
            raise
        saved.append(Saved(attribute.name, how, is_output))
    return tuple(saved)


def _gradient_names(info: Reverse) -> tuple[tuple[str, int], ...] | None:
    if any(identifiers.uses(formula, "grad") for formula, _ in info.formulas):
        return None
    return info.named_gradients


def _gradient(
    formula: str, names: tuple[str, ...], inputs: tuple[Input, ...], arguments: tuple[DifferentiableInput, ...]
) -> Gradient:
    by_name = {input_.name: input_ for input_ in inputs}
    own = tuple(by_name[name] for name in names)
    checks = False
    if len(own) == 1 and "not_implemented" not in formula:
        # The check returns an undefined Tensor in place of the gradient: only a tensor input can have that.
        checks = [a.type in ("Tensor", "Tensor?") for a in arguments if a.name == own[0].name] == [True]
    return Gradient(formula, own, checks, "grad_input_mask" in formula)


def with_markers(plan: NodePlan) -> NodePlan:
    """The plan with markers around its formulas that name their inputs; they become `#line` directives."""
    gradients = (
        replace(
            each, formula=line_directives.with_markers(each.formula, ", ".join(input_.name for input_ in each.inputs))
        )
        for each in plan.gradients
    )
    return replace(plan, gradients=tuple(gradients))
