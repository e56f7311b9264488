"""Derivatives as data. Field names are torchgen's, so the data of both programs can be compared."""

from msgspec import Struct


class Formula(Struct, frozen=True, gc=False, array_like=True):
    """One row of a definition: the key as written, the names in it, the C++ expression."""

    key: str
    names: tuple[str, ...]
    formula: str


class Definition(Struct, frozen=True, gc=False, array_like=True):
    """One entry of derivatives.yaml, as written: formulas by dispatch key."""

    schema: str
    name: str  # without overload
    dispatch: tuple[tuple[str, tuple[Formula, ...]], ...]
    output_differentiability: tuple[bool, ...] | None = None
    output_differentiability_conditions: tuple[str, ...] | None = None
    by_key: bool = False  # whether the entry has a `dispatch:` table
    partial: bool = False  # whether keys with errors are left out


class SavedAttribute(Struct, frozen=True, gc=False, array_like=True):
    """An attribute that a Node saves: its name, its C++ type, and the expression of the value."""

    name: str
    type: str
    expr: str


class Derivative(Struct, frozen=True, gc=False, array_like=True):
    """A backward formula for one or several inputs."""

    formula: str  # C++ over saved attributes
    original_formula: str  # as written
    var_names: tuple[str, ...]  # the inputs it computes gradients of
    saved_inputs: tuple[SavedAttribute, ...]
    saved_outputs: tuple[SavedAttribute, ...]
    named_gradients: tuple[str, ...] = ()  # sorted


class ForwardDerivative(Struct, frozen=True, gc=False, array_like=True):
    """A forward formula: the tangents of outputs from primals (`x_p`) and tangents (`x_t`) of inputs."""

    formula: str
    var_names: tuple[str, ...]  # the outputs it computes tangents of
    var_types: tuple[str, ...]
    required_inputs_fw_grad: tuple[str, ...] | None
    required_inputs_primal: tuple[str, ...] | None
    required_original_self_value: bool = False
    is_reusing_outplace_formula: bool = False


class DifferentiableInput(Struct, frozen=True, gc=False, array_like=True):
    """An input with a derivative: its name, its C++ type as passed, its schema type ("" for TensorOptions)."""

    name: str
    cpp_type: str
    type: str


class Reverse(Struct, frozen=True, gc=False, array_like=True):
    """The part of an info that a Node is printed from: without forward formulas and data that only kernels use."""

    name: str
    func: str
    formulas: tuple[tuple[str, tuple[str, ...]], ...]  # C++ over saved attributes, and the inputs it is for
    all_saved_inputs: tuple[SavedAttribute, ...]
    all_saved_outputs: tuple[SavedAttribute, ...]
    named_gradients: tuple[tuple[str, int], ...]  # the used ones, each with its index among all
    args_with_derivatives: tuple[DifferentiableInput, ...]
    node: str = ""  # the Node's name


class Info(Struct, frozen=True, gc=False, array_like=True):
    """One operator's derivatives under one dispatch key. The Node's name is kept separately."""

    name: str  # the operator's, without overload
    func: str  # schema of the function the formulas are written for
    derivatives: tuple[Derivative, ...]
    forward_derivatives: tuple[ForwardDerivative, ...]
    all_saved_inputs: tuple[SavedAttribute, ...]
    all_saved_outputs: tuple[SavedAttribute, ...]
    available_named_gradients: tuple[str, ...]
    used_named_gradients: tuple[str, ...]  # sorted
    args_with_derivatives: tuple[DifferentiableInput, ...]
    non_differentiable_arg_names: tuple[str, ...] = ()
    output_differentiability: tuple[bool, ...] | None = None
    output_differentiability_conditions: tuple[str, ...] | None = None

    @property
    def reverse(self) -> Reverse:
        """The part that a Node is printed from, without the Node's name."""
        return Reverse(
            name=self.name,
            func=self.func,
            formulas=tuple((derivative.formula, derivative.var_names) for derivative in self.derivatives),
            all_saved_inputs=self.all_saved_inputs,
            all_saved_outputs=self.all_saved_outputs,
            named_gradients=tuple(
                (name, self.available_named_gradients.index(name)) for name in self.used_named_gradients
            ),
            args_with_derivatives=self.args_with_derivatives,
        )
