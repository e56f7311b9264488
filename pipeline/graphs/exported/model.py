"""A `.pt2` file's model to a function: its inputs as its signature has them, its calls as they were traced.

What the signature says of mutations is done by copies at the end; what a node does in place is done there. Symbolic
sizes, control flow and custom objects are refused.
"""

from __future__ import annotations

import msgspec

from pipeline.graphs.exported import nodes
from pipeline.graphs.exported.format import (
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
from pipeline.graphs.exported.values import SYMBOLIC, device_of, dtype_of, tensor, thing_of
from pipeline.graphs.model import Function, Input, Kind, Nothing, Output, Place, Ref, TensorFacts
from pipeline.graphs.ops import Ops
from pipeline.graphs.resolve.builder import GraphBuilder, identifier
from pipeline.graphs.resolve.things import Known, Thing
from pipeline.problems.problem import SpecError, TextMistake

_AGAIN = "export the model again"


def decode(data: bytes) -> Model:
    """The model; a SpecError where there is none that can be read."""
    try:
        version = msgspec.json.decode(data, type=Head).schema_version
        if version.major != MAJOR:
            hint = "export the model with a release of torch whose schema has that number"
            raise SpecError(f"the model is of schema version {version.major}.{version.minor}; {MAJOR} is read", hint)
        return msgspec.json.decode(data, type=Model)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise SpecError(f"the model cannot be read: {error}", _AGAIN) from None


def read_model(name: str, data: bytes, ops: Ops) -> tuple[Function | None, list[TextMistake]]:
    """The function `name` that a model is, None where it has mistakes."""
    try:
        model = decode(data)
        reading = _Reading(model, ops)
        function = reading.function(name)
    except SpecError as error:
        return None, [nodes.mistake("", error)]
    except RecursionError:
        return None, [TextMistake("the model's graphs are nested too deep", _AGAIN, 0, 0)]
    return (None, reading.mistakes) if reading.mistakes else (function, [])


class _Reading:
    """A model as it is read."""

    def __init__(self, model: Model, ops: Ops) -> None:
        self.module = model.graph_module
        self.graph: Graph = self.module.graph
        self.mistakes: list[TextMistake] = []
        _check_symbols(self.graph)
        self.scope: dict[str, Thing] = {}
        self.names: set[str] = set()
        self.inputs = [self._input(spec) for spec in self.module.signature.input_specs]
        self.builder = GraphBuilder(ops, [each.name for each in self.inputs])
        self.by_source = {each.source: each.name for each in self.inputs if each.source}

    def function(self, name: str) -> Function:
        """All of it; the mistakes are gathered."""
        run = nodes.Run(self.builder, self.mistakes)
        run.graph(self.graph, self.scope)
        if self.mistakes:
            return Function(name, Place(), (), (), (), False)
        outputs = [found for spec in self.module.signature.output_specs if (found := self._output(spec)) is not None]
        single = len(outputs) == 1 and self._returns_one()
        calls = tuple(self.builder.calls)
        return Function(name, Place(), tuple(self.inputs), calls, tuple(outputs), single)

    # ---- inputs

    def _input(self, spec: InputSpec) -> Input:
        if spec.user_input is not None:
            argument = spec.user_input.arg
            if argument.as_tensor is None:
                raise SpecError("an input is neither a tensor nor a constant", SYMBOLIC)
            return self._tensor(argument.as_tensor.name, "user", "")
        if spec.parameter is not None:
            return self._tensor(spec.parameter.arg.name, "parameter", spec.parameter.parameter_name)
        if spec.buffer is not None:
            return self._tensor(spec.buffer.arg.name, "buffer", spec.buffer.buffer_name)
        if spec.tensor_constant is not None:
            return self._tensor(spec.tensor_constant.arg.name, "constant", spec.tensor_constant.tensor_constant_name)
        if spec.constant_input is not None:
            return self._constant(spec.constant_input.name, spec.constant_input.value)
        if spec.custom_obj is None and spec.token is None:
            raise SpecError("an input is of no kind that is known", f"the file is damaged, or newer: {_AGAIN}")
        raise SpecError("an input is a custom object or a token", "a graph takes tensors and numbers")

    def _tensor(self, name: str, kind: Kind, source: str) -> Input:
        meta = self.graph.tensor_values.get(name)
        if meta is None:
            raise SpecError(f"the file says nothing of the input '{name}'", f"it is damaged: {_AGAIN}")
        if not (source.isprintable() and source.isascii()) or any(letter in source for letter in '"\\'):
            raise SpecError(f"the name {source!r} cannot be written in C++", "rename it in the module")
        own = self._named(name)
        self.scope[name] = Known(Ref(own), "Tensor")
        return Input(own, "Tensor", Place(), kind, source, facts=_facts(name, meta))

    def _named(self, name: str) -> str:
        """An input's name, as C++ can have it."""
        own = identifier(name)
        if own in self.names:
            raise SpecError(f"two inputs are called '{own}'", f"the file is damaged: {_AGAIN}")
        self.names.add(own)
        return own

    def _constant(self, name: str, value: Argument) -> Input:
        thing = thing_of(value, {})
        if not isinstance(thing, Known):
            raise SpecError(f"the input '{name}' is a list", "a graph takes tensors and numbers")
        type_ = "Tensor?" if isinstance(thing.value, Nothing) else thing.type
        return Input(self._named(name), type_, Place(), fixed=thing.value)

    # ---- outputs

    def _output(self, spec: OutputSpec) -> Output | None:
        if spec.user_output is not None:
            return _returned(thing_of(spec.user_output.arg, self.scope))
        if spec.loss_output is not None:
            return _returned(tensor(spec.loss_output.arg.name, self.scope))
        found = spec.buffer_mutation or spec.parameter_mutation
        if found is not None:
            self._copy(found, self.by_source.get(found.buffer_name or found.parameter_name, ""))
            return None
        if spec.user_input_mutation is not None:
            self._copy(spec.user_input_mutation, identifier(spec.user_input_mutation.user_input_name))
            return None
        if spec == OutputSpec():
            raise SpecError("an output is of no kind that is known", f"the file is damaged, or newer: {_AGAIN}")
        raise SpecError("an output is a gradient or a token", "export the model before its backward is traced")

    def _copy(self, spec: ModuleSpec, name: str) -> None:
        """What an input becomes is copied into it."""
        if all(each.name != name for each in self.inputs):
            raise SpecError(
                f"the file says of '{name}', which is no input, that it changes", f"it is damaged: {_AGAIN}"
            )
        self.builder.place = Place(node=spec.arg.name)
        self.builder.call("aten::copy_", [Known(Ref(name), "Tensor"), tensor(spec.arg.name, self.scope)])

    def _returns_one(self) -> bool:
        """Whether the model gives its output as it is, and not in a tuple."""
        entries = self.module.module_call_graph
        text = entries[0].signature.out_spec if entries and entries[0].signature is not None else ""
        try:
            tree = msgspec.json.decode(text, type=list[object])
        except msgspec.MsgspecError:
            return False
        top = tree[-1] if tree else None
        return isinstance(top, dict) and top.get("type") is None


def _returned(thing: Thing) -> Output:
    if not isinstance(thing, Known):
        raise SpecError("an output is a list", "give its items one by one")
    return Output(thing.value, "Tensor?" if thing.type == "None" else thing.type)


def _check_symbols(graph: Graph) -> None:
    symbols = [*graph.sym_int_values, *graph.sym_float_values, *graph.sym_bool_values]
    if symbols:
        raise SpecError(f"the model's sizes are symbolic: {', '.join(symbols[:3])}", SYMBOLIC)
    if graph.custom_obj_values:
        raise SpecError("the model has custom objects", "a graph takes tensors and numbers")


def _facts(name: str, meta: TensorMeta) -> TensorFacts:
    sizes, strides = ([_size(name, each) for each in found] for found in (meta.sizes, meta.strides))
    return TensorFacts(dtype_of(meta.dtype), tuple(sizes), tuple(strides), device_of(meta.device), meta.requires_grad)


def _size(name: str, size: Size) -> int:
    if size.as_int is None:
        raise SpecError(f"the size of '{name}' is symbolic", SYMBOLIC)
    return size.as_int
