"""Converts a `.pt2` file's model to a function, with the inputs of its signature and the traced calls.

Mutations that the signature lists become copies at the end of the function; in-place nodes remain in-place calls.
Loops and custom objects are refused.
"""

from __future__ import annotations

from msgspec.structs import replace

from gradmill.extensions.graphs.model import (
    Cond,
    Constant,
    Function,
    Input,
    Kind,
    Many,
    Nothing,
    Output,
    Place,
    Ref,
    Value,
)
from gradmill.extensions.graphs.operator import Ops
from gradmill.extensions.graphs.read.exported import nodes
from gradmill.extensions.graphs.read.exported.format import (
    MAJOR,
    Argument,
    Graph,
    Head,
    InputSpec,
    Model,
    ModuleSpec,
    OutputSpec,
    Size,
    TensorMeta,
)
from gradmill.extensions.graphs.read.exported.lost import lost_backwards
from gradmill.extensions.graphs.read.exported.symbols import Symbols
from gradmill.extensions.graphs.read.exported.values import facts_of, operand_of, tensor
from gradmill.extensions.graphs.read.resolve.builder import GraphBuilder, identifier
from gradmill.extensions.graphs.read.resolve.operands import Operand, Scope, TypedValue
from gradmill.io.decoding import decode_json
from gradmill.problems.problem import SpecError, TextError
from gradmill.releases.model import Release

_AGAIN = "export the model again"
_AS_EXPORTED = "TRAINING"  # the dialect of what torch.export.export returns
_UNLESS = "if the module has no detach() and no no_grad, write decomposed=1"
_ASSERTION = "aten::_assert_tensor_metadata"  # compares a device with its index, which `device=` need not have


def decode(data: bytes) -> Model:
    """The model that `data` encodes. Raises a SpecError if it cannot be decoded or has another schema version."""
    try:
        version = decode_json(data, Head).schema_version
        if version.major != MAJOR:
            hint = "export the model with a release of torch that writes this version"
            what = f"the model has schema version {version.major}.{version.minor}; only {MAJOR} is supported"
            raise SpecError(what, hint)
        return decode_json(data, Model)
    except ValueError as error:
        raise SpecError(f"the model cannot be read: {error}", _AGAIN) from None


def read_model(
    name: str, data: bytes, ops: Ops, release: Release, device: str = "", *, decomposed: bool = False
) -> tuple[Function | None, list[TextError], list[TextError]]:
    """The model as the function `name`, or None and its errors; warnings. `device`: of its tensors; "" for that of the
    export. `decomposed`: whether it may have been decomposed after the export."""
    try:
        model = decode(data)
        if not decomposed:
            _check_complete(model)
        reading = _Reading(model, ops)
        function = reading.function(name, release, device)
    except SpecError as error:
        return None, [nodes.error_at("", error)], []
    except RecursionError:
        return None, [TextError("the model's graphs are nested too deeply", _AGAIN, 0, 0)], []
    if reading.errors:
        return None, reading.errors, []
    return _moved(function, device) if device else function, [], lost_backwards(model.graph_module.graph)


def _check_complete(model: Model) -> None:
    """Raises a SpecError for a model that is no longer as `torch.export.export` writes it."""
    if model.verifiers != [_AS_EXPORTED]:
        dialects = ", ".join(model.verifiers) or "unknown"
        raise SpecError(
            f"the model was decomposed: its verifiers are [{dialects}], not [{_AS_EXPORTED}]. That lost each detach()"
            " and no_grad, through which gradients would flow",
            f"save what torch.export.export returns, before run_decompositions(); {_UNLESS}",
        )


class _Reading:
    """Reads one model."""

    def __init__(self, model: Model, ops: Ops) -> None:
        self.module = model.graph_module
        self.graph: Graph = self.module.graph
        self.errors: list[TextError] = []
        if self.graph.custom_obj_values:
            raise SpecError("the model has custom objects", "a graph takes tensors and numbers")
        self.scope: Scope = {}
        self.names: dict[str, str] = {}  # of inputs: in C++, by those in the file
        self.numbers: dict[str, Size] = {}  # inputs that are whole numbers, by their names in C++
        self.tensors: dict[str, TensorMeta] = {}  # the same of tensors
        self.model = model
        self.first: dict[str, str] = {}  # the first name of each shared tensor
        self.inputs = [self._input(spec) for spec in self.module.signature.input_specs]
        self.builder = GraphBuilder(ops, [each.name for each in self.inputs])
        self.by_source = {each.source: each.name for each in self.inputs if each.source}

    def function(self, name: str, release: Release, device: str) -> Function:
        """The whole model as a function; collects the errors of all nodes."""
        symbols = Symbols(name, self.builder, self.model.range_constraints, self.scope)
        symbols.add(self.tensors, self.numbers)
        symbols.guard(self.model.guards_code)
        run = nodes.Run(name, release, device, self.builder, self.errors)
        run.graph(self.graph, self.scope)
        if self.errors:
            return Function(name, Place(), (), (), (), False)
        outputs = [output for spec in self.module.signature.output_specs if (output := self._output(spec)) is not None]
        single = len(outputs) == 1 and self._returns_one()
        inputs, calls, callees = tuple(self.inputs), tuple(self.builder.calls), self.builder.callees
        enables = self.builder.enables_grad
        return Function(name, Place(), inputs, calls, tuple(outputs), single, callees=callees, enables_grad=enables)

    # ---- inputs

    def _input(self, spec: InputSpec) -> Input:
        if spec.user_input is not None:
            argument = spec.user_input.arg
            if argument.as_sym_int is not None and argument.as_sym_int.as_name is not None:
                return self._symbol(argument.as_sym_int.as_name)
            if argument.as_tensor is None:
                raise SpecError("an input is neither a tensor nor a whole number", "a graph takes tensors and numbers")
            return self._tensor(argument.as_tensor.name, "user", "")
        if spec.parameter is not None:
            return self._tensor(spec.parameter.arg.name, "parameter", spec.parameter.parameter_name)
        if spec.buffer is not None:
            return self._tensor(spec.buffer.arg.name, "buffer", spec.buffer.buffer_name, stored=spec.buffer.persistent)
        if spec.tensor_constant is not None:
            return self._tensor(spec.tensor_constant.arg.name, "constant", spec.tensor_constant.tensor_constant_name)
        if spec.constant_input is not None:
            return self._constant(spec.constant_input.name, spec.constant_input.value)
        raise SpecError(
            "an input is a custom object, a token or of an unknown kind", "a graph takes tensors and numbers"
        )

    def _tensor(self, name: str, kind: Kind, source: str, *, stored: bool = True) -> Input:
        meta = self.graph.tensor_values.get(name)
        if meta is None:
            raise SpecError(f"the file has no metadata for the input '{name}'", f"it is damaged: {_AGAIN}")
        if not source.isprintable() or any(letter in source for letter in '"\\'):
            raise SpecError(f"the name {source!r} cannot be written in C++", "rename it in the module")
        own = self._named(name)
        self.scope[name] = TypedValue(Ref(own), "Tensor")
        self.tensors[own] = meta
        shared = self.model.shared.get(source, "") if stored and kind in ("parameter", "buffer") else ""
        first = self.first.setdefault(shared, source) if shared else source
        tied = first if first != source else ""
        return Input(own, "Tensor", Place(), kind, source, stored, tied, facts=facts_of(meta))

    def _symbol(self, name: str) -> Input:
        """An input that is a whole number, known at run time."""
        own = self._named(name)
        self.scope[name] = TypedValue(Ref(own), "int")
        self.numbers[own] = self.graph.sym_int_values.get(name, Size())
        return Input(own, "int", Place())

    def _named(self, name: str) -> str:
        """The C++ identifier for an input's name."""
        own = identifier(name)
        if name in self.names:
            raise SpecError(f"two inputs have the name '{name}'", f"the file is damaged: {_AGAIN}")
        while own in self.names.values():
            own += "_"
        self.names[name] = own
        return own

    def _constant(self, name: str, value: Argument) -> Input:
        operand = operand_of(value, {})
        if not isinstance(operand, TypedValue):
            raise SpecError(f"the input '{name}' is a list", "a graph takes tensors and numbers")
        type_ = "Tensor?" if isinstance(operand.value, Nothing) else operand.type
        return Input(self._named(name), type_, Place(), fixed=operand.value)

    # ---- outputs

    def _output(self, spec: OutputSpec) -> Output | None:
        if spec.user_output is not None:
            return _returned(operand_of(spec.user_output.arg, self.scope))
        if spec.loss_output is not None:
            return _returned(tensor(spec.loss_output.arg.name, self.scope))
        mutation = spec.buffer_mutation or spec.parameter_mutation
        if mutation is not None:
            self._copy(mutation, self.by_source.get(mutation.buffer_name or mutation.parameter_name, ""))
            return None
        if spec.user_input_mutation is not None:
            name = spec.user_input_mutation.user_input_name
            self._copy(spec.user_input_mutation, self.names.get(name, name))
            return None
        what = "an output is a gradient, a token or of an unknown kind"
        raise SpecError(what, "export the model before its backward is traced")

    def _copy(self, spec: ModuleSpec, name: str) -> None:
        """Copies the new value of a mutated input into it. An output that is this value is then the input."""
        if all(each.name != name for each in self.inputs):
            raise SpecError(f"the file lists a mutation of '{name}', which is not an input", f"it is damaged: {_AGAIN}")
        self.builder.place = Place(node=spec.arg.name)
        mutated = TypedValue(Ref(name), "Tensor")
        self.builder.call("aten::copy_", [mutated, tensor(spec.arg.name, self.scope)])
        self.scope[spec.arg.name] = mutated

    def _returns_one(self) -> bool:
        """Whether the model returns a single value and not a tuple."""
        entries = self.module.module_call_graph
        text = entries[0].signature.out_spec if entries and entries[0].signature is not None else ""
        try:
            tree = decode_json(text, list[object])
        except ValueError:
            return False
        top = tree[-1] if tree else None
        return isinstance(top, dict) and top.get("type") is None


def _returned(operand: Operand) -> Output:
    if not isinstance(operand, TypedValue):
        raise SpecError("an output is a list", "return its items separately")
    return Output(operand.value, "Tensor?" if operand.type == "None" else operand.type)


def _moved(function: Function, device: str) -> Function:
    """A function whose inputs and calls name this device in place of any other, in its branches, too."""
    inputs = tuple(
        replace(each, facts=None if each.facts is None else replace(each.facts, device=device))
        for each in function.inputs
    )
    calls = []
    for call in function.calls:
        to = Nothing() if call.op == _ASSERTION else Constant("Device", device)
        arguments = {name: _moved_value(value, to) for name, value in call.arguments.items()}
        calls.append(replace(call, arguments=arguments))
    callees = {
        name: Cond(_moved(each.then, device), _moved(each.otherwise, device)) if isinstance(each, Cond) else each
        for name, each in function.callees.items()
    }
    return replace(function, inputs=inputs, calls=tuple(calls), callees=callees)


def _moved_value(value: Value, to: Value) -> Value:
    if isinstance(value, Many):
        return Many(tuple(_moved_value(each, to) for each in value.values))
    return to if isinstance(value, Constant) and value.kind == "Device" else value
