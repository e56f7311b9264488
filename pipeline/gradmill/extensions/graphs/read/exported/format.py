"""The parts of a `.pt2` file's model that graphs use, as `torch.export.save` writes them, schema major 8.

A union is a struct with exactly one field set. Unused fields are left out. Facts: torch/_export/serde/schema.py of the
release.
"""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta, Struct

MAJOR = 8

_LINE = re.compile(r'File "(?:[^"]*[/\\])?([^"/\\]+)", line (\d+)')  # of a stack trace

Whole = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
Number = float | str  # infinities and nan are written as text


class Named(Struct, frozen=True):
    """A tensor, by its name in the graph."""

    name: str


class SymArgument(Struct, frozen=True):
    """A number that may be symbolic. A symbolic one has a name."""

    as_name: str | None = None
    as_int: Whole | None = None
    as_float: Number | None = None
    as_bool: bool | None = None


class OptionalTensor(Struct, frozen=True):
    """A tensor or None."""

    as_tensor: Named | None = None
    as_none: bool | None = None


class Device(Struct, frozen=True):
    """`cpu`, or `cuda` and a number."""

    type: str
    index: Whole | None = None


class GraphArgument(Struct, frozen=True):
    """A graph within a graph."""

    name: str
    graph: Graph


class Argument(Struct, frozen=True):
    """An argument or a result."""

    as_none: bool | None = None
    as_tensor: Named | None = None
    as_tensors: list[Named] | None = None
    as_int: Whole | None = None
    as_ints: list[Whole] | None = None
    as_float: Number | None = None
    as_floats: list[Number] | None = None
    as_string: str | None = None
    as_sym_int: SymArgument | None = None
    as_sym_ints: list[SymArgument] | None = None
    as_sym_float: SymArgument | None = None
    as_sym_floats: list[SymArgument] | None = None
    as_sym_bool: SymArgument | None = None
    as_sym_bools: list[SymArgument] | None = None
    as_scalar_type: Whole | None = None
    as_memory_format: Whole | None = None
    as_layout: Whole | None = None
    as_device: Device | None = None
    as_bool: bool | None = None
    as_bools: list[bool] | None = None
    as_graph: GraphArgument | None = None
    as_optional_tensor: OptionalTensor | None = None
    as_optional_tensors: list[OptionalTensor] | None = None


class NamedArgument(Struct, frozen=True):
    """An argument, by its name in the operator's schema."""

    name: str
    arg: Argument


class Node(Struct, frozen=True):
    """A call."""

    target: str  # `torch.ops.aten.mul_.Tensor`
    inputs: list[NamedArgument]
    outputs: list[Argument]
    name: str | None = None
    metadata: dict[str, str] = {}

    @property
    def source(self) -> str:
        """The line of the model that made the call, `model.py:12`; "" if the file does not tell."""
        lines = _LINE.findall(self.metadata.get("stack_trace", ""))
        return ":".join(lines[-1]) if lines else ""


class Size(Struct, frozen=True):
    """A size: a number, or an expression."""

    as_int: Whole | None = None
    as_expr: dict[str, object] | None = None


class TensorMeta(Struct, frozen=True):
    """The metadata of a tensor at export."""

    dtype: Whole
    sizes: list[Size]
    strides: list[Size]
    requires_grad: bool
    device: Device


class Graph(Struct, frozen=True):
    """Calls in execution order."""

    inputs: list[Argument]
    outputs: list[Argument]
    nodes: list[Node]
    tensor_values: dict[str, TensorMeta]
    sym_int_values: dict[str, Size] = {}
    custom_obj_values: dict[str, object] = {}


class UserSpec(Struct, frozen=True):
    """A user input or a user output."""

    arg: Argument


class ModuleSpec(Struct, frozen=True):
    """A parameter, buffer or constant with its name in the module; or a user input with its name."""

    arg: Named
    parameter_name: str = ""
    buffer_name: str = ""
    tensor_constant_name: str = ""
    user_input_name: str = ""
    persistent: bool = True


class ConstantSpec(Struct, frozen=True):
    """An input that the model is specialised to."""

    name: str
    value: Argument


class InputSpec(Struct, frozen=True):
    """The kind of an input."""

    user_input: UserSpec | None = None
    parameter: ModuleSpec | None = None
    buffer: ModuleSpec | None = None
    tensor_constant: ModuleSpec | None = None
    constant_input: ConstantSpec | None = None


class OutputSpec(Struct, frozen=True):
    """The kind of an output."""

    user_output: UserSpec | None = None
    loss_output: ModuleSpec | None = None
    buffer_mutation: ModuleSpec | None = None
    user_input_mutation: ModuleSpec | None = None
    parameter_mutation: ModuleSpec | None = None


class Signature(Struct, frozen=True):
    """The kind of each input and output."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]


class CallSignature(Struct, frozen=True):
    """The call of a module: the pytree structure of its outputs."""

    out_spec: str = ""


class CallEntry(Struct, frozen=True):
    """A module and its call; the first entry is the whole model."""

    fqn: str
    signature: CallSignature | None = None


class GraphModule(Struct, frozen=True):
    """The graph and the kinds of its inputs and outputs."""

    graph: Graph
    signature: Signature
    module_call_graph: list[CallEntry] = []


class Version(Struct, frozen=True):
    """A schema version."""

    major: Whole
    minor: Whole = 0


class Range(Struct, frozen=True):
    """The least and the largest value of a symbol; None for no limit."""

    min_val: Whole | None = None
    max_val: Whole | None = None


class Model(Struct, frozen=True):
    """An exported model."""

    graph_module: GraphModule
    schema_version: Version
    verifiers: list[str] = []  # the dialects that it is in: `TRAINING` as exported, `ATEN` once decomposed
    range_constraints: dict[str, Range] = {}
    guards_code: list[str] = []  # what the traced code decided about sizes: `L['x'].size()[0] > 3`
    shared: dict[str, str] = {}  # the first name of each tensor that the module has by several names, by name


class Head(Struct, frozen=True):
    """The part that is decoded first: the schema version of the model."""

    schema_version: Version


DTYPES = {
    1: "uint8",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "float16",
    7: "float32",
    8: "float64",
    10: "complex64",
    11: "complex128",
    12: "bool",
    13: "bfloat16",
}
LAYOUTS = {7: "strided"}
MEMORY_FORMATS = {1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d", 4: "preserve_format"}
