"""Decomposes composite operators into operators with derivatives, if the shapes are known.

A composite operator has no formula: the graph records it at run time to differentiate it, which costs time and memory.
A call that a rule matches is decomposed instead; any other call is unchanged.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress

from msgspec.structs import replace

from gradmill.extensions.graphs.model import Call, Cond, Function, Int, Item, Many, Output, Ref, Result, Value
from gradmill.extensions.graphs.operator import Ops
from gradmill.extensions.graphs.passes.lower.rules import RULES, Rule, Shape, Site, numbers
from gradmill.extensions.graphs.read.python.statements import Reader
from gradmill.extensions.graphs.read.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.read.resolve.operands import Operand, Scope, Several, TypedValue
from gradmill.extensions.graphs.traits import BROADCAST_TENSORS
from gradmill.problems.problem import SpecError


def decompose(function: Function, ops: Ops) -> Function:
    """The function with each call decomposed that a rule matches, in its branches, too."""
    if function.callees:
        callees = {
            name: Cond(_branch(each.then, ops), _branch(each.otherwise, ops)) if isinstance(each, Cond) else each
            for name, each in function.callees.items()
        }
        function = replace(function, callees=callees)
    if not any(call.op in RULES or call.op == BROADCAST_TENSORS for call in function.calls):
        return function
    return _Pass(function, ops).function()


def _branch(function: Function, ops: Ops) -> Function:
    """A branch, decomposed by its inputs' shapes. It has no guards: its caller's values may have other strides."""
    decomposed = decompose(function, ops)
    return replace(decomposed, inputs=tuple(replace(each, facts=None) for each in decomposed.inputs))


class _Pass:
    """One pass over the calls of a function."""

    def __init__(self, function: Function, ops: Ops) -> None:
        self.old = function
        names = [each.name for each in function.inputs] + [r.name for c in function.calls for r in c.results]
        self.builder = GraphBuilder(ops, names)
        self.shapes: dict[str, Shape] = {}
        self.items: dict[str, tuple[Shape | None, ...]] = {}  # of lists
        devices = (each.facts.device.partition(":")[0] for each in function.inputs if each.facts is not None)
        self.device = next(devices, "")
        self.replaced: dict[str, Value] = {}  # the values that replace results of decomposed calls
        for input_ in function.inputs:
            if input_.facts is not None:
                self.shapes[input_.name] = Shape(input_.facts.sizes, input_.facts.dtype)

    def function(self) -> Function:
        """Processes all calls in order; the resulting function."""
        for call in self.old.calls:
            current = replace(call, arguments={name: self._value(each) for name, each in call.arguments.items()})
            if not (self._broadcast(current) or self._decomposed(current)):
                self.builder.calls.append(current)
            for result in call.results:
                if result.sizes is not None and result.type == "Tensor":
                    self.shapes[result.name] = Shape(result.sizes, result.dtype)
                if result.items:
                    self.items[result.name] = tuple(Shape(*facts) if facts else None for facts in result.items)
        outputs = tuple(Output(self._value(each.value), each.type) for each in self.old.outputs)
        return replace(self.old, calls=tuple(self.builder.calls), outputs=outputs)

    def _value(self, value: Value) -> Value:
        if isinstance(value, Ref):
            return self.replaced.get(value.name, value)
        if isinstance(value, Item) and isinstance(listed := self.replaced.get(value.name), Many):
            return listed.values[value.index]
        if isinstance(value, Many):
            return Many(tuple(map(self._value, value.values)))
        return value

    def _shape(self, value: Value) -> Shape | None:
        if isinstance(value, Item):
            items = self.items.get(value.name, ())
            return items[value.index] if 0 <= value.index < len(items) else None
        return self.shapes.get(value.name) if isinstance(value, Ref) else None

    def _broadcast(self, call: Call) -> bool:
        """Removes a broadcast of tensors of equal shapes: its results are its arguments."""
        tensors = call.arguments.get("tensors")
        if call.op != BROADCAST_TENSORS or not isinstance(tensors, Many):
            return False
        shapes = [self._shape(each) for each in tensors.values]
        if not all(shape is not None and shape.known for shape in shapes) or len({s.sizes for s in shapes if s}) != 1:
            return False
        self.replaced[call.results[0].name] = tensors
        return True

    def _decomposed(self, call: Call) -> bool:
        if call.op not in RULES or call.autocast or len(call.results) != 1:
            return False
        result = call.results[0]
        shapes = {name: self._shape(value) for name, value in call.arguments.items()}
        site = Site(call.arguments, {name: shape for name, shape in shapes.items() if shape is not None}, self.device)
        known = result.sizes is not None and all(
            shape.known for shape in (Shape(result.sizes, ""), *site.shapes.values())
        )
        rules = (rule for rule in RULES[call.op] if known or not rule.of_sizes)
        rule = next((rule for rule in rules if rule.applies(site)), None)
        return rule is not None and self._apply(rule, call, site, result)

    def _apply(self, rule: Rule, call: Call, site: Site, result: Result) -> bool:
        count = len(self.builder.calls)
        self.builder.place, self.builder.grad = call.place, call.grad
        scope: Scope = {name: operand(value) for name, value in call.arguments.items()}
        sizes = result.sizes or ()
        scope |= {name: operand(value) for name, value in numbers(site, sizes).items()}
        scope["sizes"] = Several(tuple(operand(Int(size)) for size in sizes), is_list=True)
        with suppress(SpecError):
            body = [ast.Return(ast.parse(rule.text, mode="eval").body)]
            lowered = Reader(self.builder, {}, {}).within(body, scope, result.name)
            if isinstance(lowered, TypedValue):
                self.replaced[result.name] = lowered.value
                if result.sizes is not None and isinstance(lowered.value, Ref):
                    self.shapes[lowered.value.name] = Shape(result.sizes, result.dtype)
                    if self.builder.calls[count:]:
                        self.builder.set_facts([(result.sizes, result.dtype)])
                return True
        del self.builder.calls[count:]  # the set lacks an operator of the decomposition
        return False


_TYPES: Mapping[str, str] = {"Int": "int", "Float": "float", "Bool": "bool", "Str": "str", "Nothing": "None"}


def operand(value: Value) -> Operand:
    """A value with its type, as an operand of expressions."""
    if isinstance(value, Many):
        return Several(tuple(map(operand, value.values)), is_list=True)
    return TypedValue(value, _TYPES.get(type(value).__name__, "Tensor"))
