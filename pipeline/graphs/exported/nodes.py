"""The nodes of a `.pt2` file's graph to calls. What is traced under another grad mode is a graph of its own there."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.graphs.exported.format import DTYPES, Argument, Graph, NamedArgument, Node, TensorMeta
from pipeline.graphs.exported.values import thing_of
from pipeline.graphs.model import Item, Place, Ref
from pipeline.graphs.ops import Op
from pipeline.graphs.resolve.builder import GraphBuilder
from pipeline.graphs.resolve.overloads import filled
from pipeline.graphs.resolve.things import WRONG, Known, Several, Thing, any_wrong
from pipeline.problems.problem import SpecError, TextMistake, nearest

_OPS = "torch.ops."
_HIGHER = "torch.ops.higher_order."
_GRAD_MODE = f"{_HIGHER}wrap_with_set_grad_enabled"
_COPY, _DETACH = f"{_OPS}aten.lift_fresh_copy.default", f"{_OPS}aten.detach_.default"  # what torch.tensor(2.0) is
_CONTROL = {"cond", "while_loop", "map_impl", "scan", "associative_scan", "switch"}


def mistake(node: str, error: SpecError) -> TextMistake:
    """An error at a node; such a file has no lines."""
    problem = f"node '{node}': {error.problem}" if node else error.problem
    return TextMistake(problem, error.hint, 0, 0)


class Run:
    """Runs the nodes of graphs into a builder. The mistakes of all nodes are gathered."""

    def __init__(self, builder: GraphBuilder, mistakes: list[TextMistake]) -> None:
        self.builder = builder
        self.mistakes = mistakes
        self.copied: set[str] = set()  # copies of constants that need no gradient
        self.facts: dict[str, tuple[tuple[int, ...], str]] = {}  # sizes and dtypes of the graph that is run

    def graph(self, graph: Graph, scope: dict[str, Thing]) -> None:
        """All nodes of a graph; their results are put into `scope`."""
        self.facts = {name: facts for name, meta in graph.tensor_values.items() if (facts := known(meta)) is not None}
        self.copied = {name for node in graph.nodes if node.target == _COPY for name in _names(node.outputs)}
        self.copied -= {name for name, meta in graph.tensor_values.items() if meta.requires_grad}
        for at, node in enumerate(graph.nodes):
            name = node.name or _first_name(node.outputs) or f"{node.target} {at}"
            self.builder.place = Place(node=name)
            try:
                self._node(node, name, scope)
            except SpecError as error:
                self.mistakes.append(mistake(name, error))
                scope.update(dict.fromkeys(_names(node.outputs), WRONG))

    def _node(self, node: Node, name: str, scope: dict[str, Thing]) -> None:
        if node.target == _GRAD_MODE:
            self._grad_mode(node, scope)
            return
        if node.target.startswith(_HIGHER):
            self._refuse(node.target.removeprefix(_HIGHER))
        op = self._operator(node.target)
        given = {each.name: self._thing(op, each, scope) for each in node.inputs}
        if any_wrong(given.values()):
            scope.update(dict.fromkeys(_names(node.outputs), WRONG))
            return
        if node.target == _DETACH and set(_names([each.arg for each in node.inputs])) <= self.copied:
            scope.update(dict.fromkeys(_names(node.outputs), *given.values()))  # detached already
            return
        match = filled(op, given, numbers=True)
        if isinstance(match, str):
            raise SpecError(f"'{op.name}' {match}", f"its schema is {op.native.func}")
        hints = [_name(each) or name for each in node.outputs] if _is_flat(op) else [name]
        hints += [name] * (len(op.native.func.returns) - len(hints))
        found = self.builder.called(op, match.arguments, hints)
        if _is_flat(op):
            self.builder.note([self.facts.get(_name(each) or "") for each in node.outputs])
        _bind(node.outputs, found, scope, self.builder)

    def _thing(self, op: Op, given: NamedArgument, scope: dict[str, Thing]) -> Thing:
        names = [argument.name for argument in op.native.func.inputs]
        if given.name not in names:
            hint = nearest(given.name, names) or f"its schema is {op.native.func}"
            raise SpecError(f"'{op.name}' has no argument '{given.name}'", hint)
        return thing_of(given.arg, scope)

    def _operator(self, target: str) -> Op:
        parts = target.removeprefix(_OPS).split(".")
        if not target.startswith(_OPS) or len(parts) != 3:
            raise SpecError(
                f"'{target}' is no operator that a graph can have", "numbers of symbolic sizes are not read"
            )
        name, overload = f"{parts[0]}::{parts[1]}", "" if parts[2] == "default" else parts[2]
        found = [op for op in self.builder.ops.overloads(name) if op.native.func.name.overload == overload]
        if not found:
            raise SpecError(f"the spec set has no operator '{name}.{parts[2]}'", self.builder.ops.near(name))
        return found[0]

    def _refuse(self, name: str) -> None:
        if name in _CONTROL:
            raise SpecError(f"'{name}' is control flow", "a graph is straight-line code: export each branch by itself")
        raise SpecError(f"'{name}' is a higher-order operator", "a graph has plain operators only")

    def _grad_mode(self, node: Node, scope: dict[str, Thing]) -> None:
        """`with torch.no_grad():`, whose calls are those of an inner graph."""
        first = [each.arg for each in node.inputs[:2]]
        mode, inner = first[0].as_bool if first else None, first[-1].as_graph if first else None
        if mode is None or inner is None:
            raise SpecError("a grad mode cannot be read", "export the model again")
        given = [thing_of(each.arg, scope) for each in node.inputs[2:]]
        names = [_name(each) for each in inner.graph.inputs]
        own = {name: thing for name, thing in zip(names, given) if name is not None}
        outer, facts, copied, self.builder.grad = self.builder.grad, self.facts, self.copied, mode
        try:
            self.graph(inner.graph, own)
        finally:
            self.builder.grad, self.facts, self.copied = outer, facts, copied
        found = Several(tuple(thing_of(each, own) for each in inner.graph.outputs))
        results = node.outputs
        if len(results) == 1 and results[0].as_tensors is not None:
            results = [Argument(as_tensor=each) for each in results[0].as_tensors]
        _bind(results, found, scope, self.builder)


def known(meta: TensorMeta) -> tuple[tuple[int, ...], str] | None:
    """The sizes and the dtype of a tensor, where they are known."""
    sizes = [size.as_int for size in meta.sizes]
    if any(size is None for size in sizes) or meta.dtype not in DTYPES:
        return None
    return tuple(size for size in sizes if size is not None), DTYPES[meta.dtype]


def _is_flat(op: Op) -> bool:
    return not any(r.type.endswith("[]") for r in op.native.func.returns)


def _name(argument: Argument) -> str | None:
    return argument.as_tensor.name if argument.as_tensor is not None else None


def _names(arguments: Sequence[Argument]) -> list[str]:
    tensors = [name for argument in arguments if (name := _name(argument)) is not None]
    return tensors + [each.name for argument in arguments for each in argument.as_tensors or ()]


def _first_name(arguments: Sequence[Argument]) -> str:
    return next(iter(_names(arguments)), "")


def _bind(outputs: Sequence[Argument], found: Thing, scope: dict[str, Thing], builder: GraphBuilder) -> None:
    """Gives the results of a call the names that they have in the graph."""
    things = found.items if isinstance(found, Several) else (found,)
    for output, thing in zip(outputs, things):
        name = _name(output)
        if name is not None:
            scope[name] = thing
        elif output.as_tensors is not None and isinstance(thing, Known) and isinstance(thing.value, Ref):
            builder.expect(thing.value.name, len(output.as_tensors))
            for index, each in enumerate(output.as_tensors):
                scope[each.name] = Known(Item(thing.value.name, index), "Tensor")
