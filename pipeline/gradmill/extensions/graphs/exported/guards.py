"""Guards of a `.pt2` file: what the traced code decided about sizes, as Python over the inputs, `L['x'].size()[0] > 3`.

A call with other sizes would have taken another path through that code, so the graph refuses it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from gradmill.extensions.graphs.model import Str
from gradmill.extensions.graphs.python.names import BINARY, COMPARE
from gradmill.extensions.graphs.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.resolve.operands import Operand, TypedValue, is_number, is_tensor, of_number
from gradmill.problems.problem import SpecError

_INPUTS = "L"  # the inputs by the names of `forward`'s parameters
_BINARY = {kind: number for kind, (_, number, _) in BINARY.items() if number}
_COMPARE = {kind: name for kind, (name, _) in COMPARE.items()}
_CALLS = {"max": "max", "min": "min", "int": "int", "float": "float", "abs": "abs"}
_CALLS |= {"torch.sym_max": "max", "torch.sym_min": "min", "math.sqrt": "sqrt"}
_LISTS = {"size": "size", "stride": "stride"}
_OTHER = re.compile(r"[^a-zA-Z0-9]")


def add_guards(graph: str, builder: GraphBuilder, codes: Iterable[str], inputs: Mapping[str, Operand]) -> None:
    """Adds the checks of guards; `inputs` by their names in the file. A SpecError for one that cannot be checked."""
    for code in codes:
        try:
            holds = _Guard(builder, inputs).truth(ast.parse(code.strip(), mode="eval").body)
        except (SpecError, SyntaxError, TypeError, ValueError, MemoryError, RecursionError):
            what = f"the export depends on '{code}', which a graph cannot check"
            raise SpecError(what, "export the model with fixed sizes, or without a branch on this") from None
        shown = code.strip().replace(f"{_INPUTS}['", "").replace("']", "")
        what = f"{graph}: the model was exported for inputs with {shown}"
        builder.scalar("guard", [holds, TypedValue(Str(what), "str")])


class _Guard:
    """Adds the computations of one guard."""

    def __init__(self, builder: GraphBuilder, inputs: Mapping[str, Operand]) -> None:
        self._builder, self._inputs = builder, inputs

    def truth(self, node: ast.expr) -> Operand:
        """Whether an expression is true. Raises a SpecError for one that a graph does not support."""
        value = self.value(node)
        is_bool = isinstance(value, TypedValue) and value.type == "bool"
        return value if is_bool else self._builder.scalar("bool", [value])

    def value(self, node: ast.expr) -> Operand:
        """The number that an expression computes. Raises a SpecError for one that a graph does not support."""
        scalar = self._builder.scalar
        if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            return of_number(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return scalar(_BINARY[type(node.op)], [self.value(node.left), self.value(node.right)])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return scalar("neg", [self.value(node.operand)])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return scalar("not", [self.value(node.operand)])
        if isinstance(node, ast.BoolOp):
            return self._joined("and" if isinstance(node.op, ast.And) else "or", map(self.truth, node.values))
        if isinstance(node, ast.Compare) and all(type(each) in _COMPARE for each in node.ops):
            values = [self.value(each) for each in (node.left, *node.comparators)]
            pairs = zip(node.ops, values, values[1:], strict=False)
            return self._joined("and", (scalar(_COMPARE[type(op)], [one, other]) for op, one, other in pairs))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _CALLS and not node.keywords:
            name = _CALLS[ast.unparse(node.func)]
            values = [self.value(each) for each in node.args]
            return self._joined(name, values) if name in ("max", "min") else scalar(name, values[:1])
        return self._of_input(node)

    def _joined(self, name: str, values: Iterable[Operand]) -> Operand:
        first, *rest = values
        for each in rest:
            first = self._builder.scalar(name, [first, each])
        return first

    def _of_input(self, node: ast.expr) -> Operand:
        """A size or a stride of a tensor, or a number that is an input."""
        inner = node.value if isinstance(node, ast.Subscript) else None
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in _LISTS:
            dim = ast.literal_eval(node.slice) if isinstance(node, ast.Subscript) else None
            tensor = self._input(inner.func.value)
            if is_tensor(tensor) and isinstance(dim, int):
                return self._builder.scalar(_LISTS[inner.func.attr], [tensor, of_number(dim)])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "storage_offset":
            return self._builder.scalar("storage_offset", [self._input(node.func.value)])
        elif is_number(number := self._input(node)):
            return number
        raise SpecError("it is neither a size nor a number")

    def _input(self, node: ast.expr) -> Operand:
        """The input at a path, `L['xs'][0]`: the name in the file joins its keys."""
        keys: list[str] = []
        while isinstance(node, ast.Subscript):
            keys.insert(0, _OTHER.sub("_", str(ast.literal_eval(node.slice))))
            node = node.value
        name = "_".join(keys).lower()
        if not isinstance(node, ast.Name) or node.id != _INPUTS or name not in self._inputs:
            raise SpecError("it is not an input")
        return self._inputs[name]
