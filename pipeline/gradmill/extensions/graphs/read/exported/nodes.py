"""Converts the nodes of a `.pt2` file's graph to calls. Calls under another grad mode are in a nested graph there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gradmill.extensions.graphs.model import Cond, Constant, Function, Item, Many, Output, Place, Ref, Value
from gradmill.extensions.graphs.operator import Op
from gradmill.extensions.graphs.read.exported.autocast import (
    DEVICES,
    cast_to,
    computes_in,
    is_called_in_region,
    is_cast,
)
from gradmill.extensions.graphs.read.exported.branches import add_cond, add_custom, graphs_of, inputs_of
from gradmill.extensions.graphs.read.exported.format import DTYPES, Argument, Graph, NamedArgument, Node, TensorMeta
from gradmill.extensions.graphs.read.exported.values import (
    bind,
    dtype_of,
    first_name_of,
    name_of,
    names_of,
    operand_of,
    sizes_of,
    symbol_of,
)
from gradmill.extensions.graphs.read.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.read.resolve.operands import (
    NONE,
    Operand,
    Scope,
    Several,
    Spoiled,
    TypedValue,
    is_tensor,
    of_dtype,
)
from gradmill.extensions.graphs.read.resolve.overloads import Match, filled, with_out
from gradmill.problems.problem import SpecError, TextError, nearest
from gradmill.releases.model import Release

_OPS = "torch.ops."
_HIGHER = "torch.ops.higher_order."
# The nodes that torch.tensor(2.0, device="cuda") is exported as; the second one if it is on another device.
_COPY, _MOVE, _DETACH = f"{_OPS}aten.lift_fresh_copy.default", f"{_OPS}aten.to.", f"{_OPS}aten.detach_.default"
# Computations of numbers, by their names among those of graphs.
_NUMBERS = {
    **{f"_operator.{name}": name for name in "add sub mul truediv floordiv mod pow neg pos abs".split()},
    **{f"_operator.{name}": name for name in "eq ne lt le gt ge lshift rshift".split()},
    **{f"_operator.{name}_": name for name in ("and", "or")},
    "math.trunc": "trunc",
    **{f"{_OPS}aten.sym_{name}.int": name for name in ("size", "stride")},
    **{f"{_OPS}aten.sym_{name}.default": name for name in ("numel", "storage_offset")},
    **{f"torch.sym_{name}": name for name in ("max", "min", "int", "float", "not")},
    "torch._sym_sqrt": "sqrt",
}
_OF_ONE_TYPE = ("torch.sym_max", "torch.sym_min")  # a float if either is one, other than Python's max and min
_BUILT_IN = ("aten", "prim", "prims")  # namespaces that have no operators of libraries
_LOOPS = {"while_loop", "map_impl", "scan", "associative_scan"}


def error_at(node: str, error: SpecError) -> TextError:
    """The error with the name of its node; a `.pt2` file has no lines."""
    problem = f"node '{node}': {error.problem}" if node else error.problem
    return TextError(problem, error.hint, 0, 0)


class Run(Struct):
    """Adds the nodes of a graph to a builder, and collects the errors of all nodes."""

    function: str  # its name
    release: Release
    device: str  # "" for that of the export
    builder: GraphBuilder
    errors: list[TextError]
    lower: dict[str, str] = {}  # the dtypes of the current autocast regions, by device
    untyped: set[str] = set()  # values whose dtypes are not those of the file, by their names in the function
    tensors: dict[str, TensorMeta] = {}  # of the graph
    copied: set[str] = set()  # copies of constants that need no gradient

    def graph(self, graph: Graph, scope: Scope) -> None:
        """Adds all nodes of a graph; puts their results into `scope`."""
        self.tensors = graph.tensor_values
        for node in graph.nodes:
            moves = node.target.startswith(_MOVE) and {*names_of([each.arg for each in node.inputs])} <= self.copied
            self.copied |= {*names_of(node.outputs)} if moves or node.target == _COPY else set()
        self.copied -= {name for name, meta in graph.tensor_values.items() if meta.requires_grad}
        for at, node in enumerate(graph.nodes):
            name = node.name or first_name_of(node.outputs) or f"{node.target} {at}"
            self.builder.place = Place(node=name, source=node.source)
            try:
                self._node(node, name, scope)
            except (SpecError, Spoiled) as error:
                if isinstance(error, SpecError):
                    self.errors.append(error_at(name, error))
                numbers = [number for each in node.outputs if (number := symbol_of(each)) is not None]
                scope.update(dict.fromkeys([*names_of(node.outputs), *numbers]))

    def _node(self, node: Node, name: str, scope: Scope) -> None:
        if node.target in _NESTED:
            _NESTED[node.target](self, node, name, scope)
            return
        if node.target in _NUMBERS:
            number = self._number(node.target, [operand_of(each.arg, scope) for each in node.inputs], name)
            bind(node.outputs, number, scope, self.builder)
            return
        if node.target.startswith(_HIGHER):
            _refuse(node.target.removeprefix(_HIGHER))
        op = self._operator(node.target)
        if op is None:
            results = add_custom(self.builder, node, scope)
            self.builder.set_facts([self._facts(name_of(each)) for each in node.outputs])
            bind(node.outputs, results, scope, self.builder)
            return
        arguments = {each.name: self._operand(op, each, scope) for each in node.inputs}
        if node.target == _DETACH and set(names_of([each.arg for each in node.inputs])) <= self.copied:
            scope.update(dict.fromkeys(names_of(node.outputs), *arguments.values()))  # detached already
            return
        given, region = arguments, ""
        if self.lower:
            device = self._device_of(names_of([each.arg for each in node.inputs]))
            region = device if device and is_called_in_region(op, device) else ""
            arguments = arguments if region else self._autocast(op, node, arguments, device)
        match = self._filled(op, arguments)
        if isinstance(match, str):
            raise SpecError(f"'{op.name}' {match}", f"its schema is {op.schema}")
        hints = [name_of(each) or name for each in node.outputs] if _is_flat(op) else [name]
        hints += [name] * (len(op.schema.returns) - len(hints))
        if any(symbol_of(each) for each in node.outputs):
            raise SpecError(f"'{op.name}' gives a number that depends on data", "a graph has sizes and constants only")
        results = self.builder.add_call(op, match.arguments, hints)
        if region:
            self.builder.annotate(autocast=(region, self.lower[region]))
        if region or (arguments is given and self._is_untyped(match.arguments)):
            self.untyped |= {result.name for result in self.builder.calls[-1].results}
        if _is_flat(op):
            self.builder.set_facts([self._facts(name_of(each)) for each in node.outputs])
        elif node.outputs and node.outputs[0].as_tensors is not None:
            self.builder.set_item_facts([self._facts(each.name) for each in node.outputs[0].as_tensors])
        bind(node.outputs, results, scope, self.builder)

    def _number(self, target: str, operands: Sequence[Operand], name: str) -> Operand:
        """The result of a computation of numbers."""
        floats = [isinstance(each, TypedValue) and each.type == "float" for each in operands]
        if target in _OF_ONE_TYPE and any(floats):
            operands = [self.builder.scalar("float", [each]) for each in operands]
        return self.builder.scalar(_NUMBERS[target], operands, name)

    def _device_of(self, names: Iterable[str]) -> str:
        """The device of a region that casts one of these tensors; "" if none does."""
        devices = (self.tensors[name].device.type for name in names if name in self.tensors)
        return next((device for device in devices if device in self.lower), "")

    def _is_untyped(self, arguments: Mapping[str, Value]) -> bool:
        """Whether the dtype of a result may follow from one that the file does not tell."""
        listed = (value.values if isinstance(value, Many) else (value,) for value in arguments.values())
        values = [each for several in listed for each in several]
        typed = any(isinstance(each, Constant) and each.kind == "ScalarType" for each in values)
        return not typed and any(isinstance(each, (Ref, Item)) and each.name in self.untyped for each in values)

    def _autocast(self, op: Op, node: Node, arguments: dict[str, Operand], device: str) -> dict[str, Operand]:
        """The arguments of a call, cast as in a region of autocast for a device, or with the dtype that it computes in;
        as they are without one, ""."""
        names = {each.name: names_of([each.arg]) for each in node.inputs}
        flat = [name for listed in names.values() for name in listed if name in self.tensors]
        if not device:
            return arguments
        dtypes = [self._dtype(name) for name in flat]
        dtype = computes_in(op, device, dtypes)
        if dtype is not None:
            return arguments | ({} if arguments.get("dtype", NONE) != NONE else {"dtype": of_dtype(dtype)})
        to = cast_to(op, device, dtypes, self._dtype(first_name_of(node.outputs)), self.lower[device], self.release)
        if to is None:
            return arguments
        return {each: self._cast(operand, names[each], device, to) for each, operand in arguments.items()}

    def _cast(self, operand: Operand, names: Sequence[str], of: str, to: str) -> Operand:
        """An argument of these tensors with its floating-point tensors on a device cast."""
        if isinstance(operand, Several):
            tensors = iter(names)
            return operand._replace(
                items=tuple(
                    self._cast(each, [next(tensors)], of, to) if is_tensor(each) else each for each in operand.items
                )
            )
        meta = self.tensors.get(names[0]) if names else None
        untyped = isinstance(operand, TypedValue) and self._is_untyped({"": operand.value})
        if meta is None or not is_cast(self._dtype(names[0]), meta.device.type, of, "" if untyped else to):
            return operand
        cast = self.builder.call("aten::to", [operand, of_dtype(to)], overload="dtype", hint=f"{names[0]}_cast")
        self.builder.set_facts([(sizes_of(meta.sizes), to) if meta.dtype in DTYPES else None])
        return cast

    def _dtype(self, name: str | None) -> str:
        """The dtype of a tensor of the graph; "" if it is unknown."""
        meta = self.tensors.get(name or "")
        return DTYPES.get(meta.dtype, "") if meta is not None else ""

    def _facts(self, name: str | None) -> tuple[tuple[int, ...], str] | None:
        """The sizes and the dtype of a tensor of the graph; None if its dtype is unknown."""
        dtype = self._dtype(name)
        return (sizes_of(self.tensors[name].sizes), dtype) if name and dtype else None

    @staticmethod
    def _filled(op: Op, arguments: dict[str, Operand]) -> Match | str:
        """The arguments of an operator, with its out arguments, or why it does not take them."""
        slots = [slot.name for slot in op.schema.out]
        match = filled(op, {name: each for name, each in arguments.items() if name not in slots}, numbers=True)
        if isinstance(match, str) or not slots:
            return match
        return with_out(match, Several(tuple(arguments[name] for name in slots if name in arguments)))

    def _operand(self, op: Op, named: NamedArgument, scope: Scope) -> Operand:
        names = [argument.name for argument in op.schema.arguments]
        if named.name not in names:
            hint = nearest(named.name, names) or f"its schema is {op.schema}"
            raise SpecError(f"'{op.name}' has no argument '{named.name}'", hint)
        return operand_of(named.arg, scope)

    def _operator(self, target: str) -> Op | None:
        """The operator that a node calls; None for one of a library, which the set does not have."""
        parts = target.removeprefix(_OPS).split(".")
        if not target.startswith(_OPS) or len(parts) != 3:
            raise SpecError(
                f"the operator '{target}' is not supported in a graph",
                "a graph has operators of torch.ops, and computations of sizes",
            )
        name, overload = f"{parts[0]}::{parts[1]}", "" if parts[2] == "default" else parts[2]
        known = self.builder.ops.overloads(name)
        overloads = [op for op in known if op.schema.name.overload == overload]
        if not known and parts[0] not in _BUILT_IN and all(each.isidentifier() and each.isascii() for each in parts):
            return None
        if not overloads:
            raise SpecError(f"the spec set has no operator '{name}.{parts[2]}'", self.builder.ops.near(name))
        return overloads[0]

    def _cond(self, node: Node, name: str, scope: Scope) -> None:
        """Adds a `cond`, a node with two nested graphs."""
        before = len(self.errors)
        then, otherwise = (self._branch(f"{self.function}_{name}_{which}", graph) for which, graph in graphs_of(node))
        if len(self.errors) > before:
            raise Spoiled
        add_cond(self.builder, node, name, scope, Cond(then, otherwise))
        self.builder.set_facts([self._facts(each) for each in names_of(node.outputs)])

    def _branch(self, function: str, graph: Graph) -> Function:
        inputs, own = inputs_of(graph)
        builder = GraphBuilder(self.builder.ops, [each.name for each in inputs])
        Run(function, self.release, self.device, builder, self.errors, self.lower).graph(graph, own)
        results = [operand_of(each, own) for each in graph.outputs]
        outputs = tuple(Output(*each) for each in results if isinstance(each, TypedValue) and is_tensor(each))
        self.builder.enables_grad |= builder.enables_grad
        callees, calls, single = builder.callees, tuple(builder.calls), len(outputs) == 1  # its numbers: see `add_cond`
        return Function(function, self.builder.place, tuple(inputs), calls, outputs, single, callees=callees)

    def _grad_mode(self, node: Node, name: str, scope: Scope) -> None:
        """Adds `with torch.no_grad():`, a node with a nested graph."""
        first = [each.arg for each in node.inputs[:2]]
        mode, inner = first[0].as_bool if first else None, first[-1].as_graph if first else None
        if mode is None or inner is None:
            raise SpecError("a grad mode cannot be read", "export the model again")
        outer, self.builder.grad = self.builder.grad, mode
        self.builder.enables_grad |= mode
        try:
            self._nested(node, inner.graph, node.inputs[2:], scope, self.lower)
        finally:
            self.builder.grad = outer

    def _autocast_mode(self, node: Node, name: str, scope: Scope) -> None:
        """Adds `with torch.autocast(…):`, a node with a nested graph."""
        arguments = [each.arg for each in node.inputs]
        given = arguments if len(arguments) > 4 else [Argument()] * 5
        device, enabled, inner = given[0].as_string, given[2].as_bool, given[4].as_graph
        if device is None or enabled is None or inner is None:
            raise SpecError("an autocast mode cannot be read", "export the model again")
        if enabled and device not in DEVICES:
            raise SpecError(
                f"autocast for the device '{device}' is not supported in a graph",
                f"cast tensors with .to(); known devices are {', '.join(DEVICES)}",
            )
        to = self.device.partition(":")[0]
        if enabled and to not in ("", device):
            raise SpecError(
                f"autocast for the device '{device}' casts other arguments on '{to}'", f"export the model on '{to}'"
            )
        number = given[1].as_scalar_type
        lower = {each: dtype for each, dtype in self.lower.items() if each != device}
        if enabled:
            lower[device] = dtype_of(number) if number is not None else DEVICES[device].default
        self._nested(node, inner.graph, node.inputs[5:], scope, lower)

    def _nested(
        self, node: Node, graph: Graph, given: Sequence[NamedArgument], scope: Scope, lower: dict[str, str]
    ) -> None:
        """Adds the calls of a nested graph, in these regions of autocast."""
        operands = [operand_of(each.arg, scope) for each in given]
        names = [name_of(each) for each in graph.inputs]
        own: Scope = {name: operand for name, operand in zip(names, operands) if name is not None}
        replace(self, lower=lower, copied=set()).graph(graph, own)
        outputs = Several(tuple(operand_of(each, own) for each in graph.outputs))
        results = node.outputs
        if len(results) == 1 and results[0].as_tensors is not None:
            results = [Argument(as_tensor=each) for each in results[0].as_tensors]
        bind(results, outputs, scope, self.builder)


# Nodes that run nested graphs: one of two, or one in another mode.
_NESTED = {
    f"{_HIGHER}cond": Run._cond,
    f"{_HIGHER}wrap_with_set_grad_enabled": Run._grad_mode,
    f"{_HIGHER}wrap_with_autocast": Run._autocast_mode,
}


def _refuse(name: str) -> None:
    if name in _LOOPS:
        raise SpecError(
            f"'{name}' is a loop", "a graph has branches, torch.cond, and no loops: export the body by itself"
        )
    raise SpecError(f"'{name}' is a higher-order operator", "a graph has plain operators only")


def _is_flat(op: Op) -> bool:
    return not any(r.type.endswith("[]") for r in op.schema.returns)
