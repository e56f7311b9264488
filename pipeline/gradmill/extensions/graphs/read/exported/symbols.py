"""Sizes of a `.pt2` file that are known at run time only: symbols, expressions of them, and guards.

An input's size gives a symbol its value. All other sizes of inputs are guards: the graph computes what they must be,
and compares. So are the ranges of symbols, and what the traced code decided about sizes, `L['x'].size()[0] > 3`: a call
with other sizes would have taken another path through that code. Guards run before any operator. As in the exported
module, strides are free.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial, reduce

from gradmill.extensions.graphs.model import Place, Ref, Str
from gradmill.extensions.graphs.read.exported.format import Range, Size, TensorMeta
from gradmill.extensions.graphs.read.python.names import BINARY, COMPARE
from gradmill.extensions.graphs.read.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.read.resolve.operands import Operand, TypedValue, is_number, is_tensor, named, of_number
from gradmill.problems.problem import SpecError

_HINT = "export the model with sizes that are symbols, sums and products of them, or fixed"
_MOST = 2**63 - 1
_ASSUMED = 2  # a lower bound that torch.export only assumes, and does not check (_get_input_guards_for_graph)
_BINARY = {kind: each.numbers for kind, each in BINARY.items() if each.numbers}
_COMPARE = {kind: name for kind, (name, _) in COMPARE.items()}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.Not: "not"}
# Functions of expressions, by their names in sympy and in Python.
_CALLS = {"Add": "add", "Mul": "mul", "Max": "max", "Min": "min", "FloorDiv": "floordiv", "CleanDiv": "floordiv"}
_CALLS |= {"Mod": "mod", "PythonMod": "mod"}
_CALLS |= {"max": "max", "min": "min", "int": "int", "float": "float", "abs": "abs"}
_CALLS |= {"torch.sym_max": "max", "torch.sym_min": "min", "math.sqrt": "sqrt"}
_FOLDED = ("add", "mul", "max", "min")
_OF_ONE = ("int", "float", "abs", "sqrt")
_LISTS = {"size": "size", "stride": "stride"}
_SHOWN = {"Add": " + ", "Mul": "*", "FloorDiv": "//", "Mod": " % ", "PythonMod": " % "}
_INPUTS = "L"  # the inputs by the names of `forward`'s parameters
_OTHER = re.compile(r"[^a-zA-Z0-9]")


_Size = Callable[[], Operand]  # adds the call that computes a size when it is first used


class Symbols:
    """The symbols of a model. Adds the calls that bind and guard them to a builder. `inputs`: by names in the file."""

    def __init__(
        self, graph: str, builder: GraphBuilder, ranges: Mapping[str, Range], inputs: Mapping[str, Operand | None]
    ) -> None:
        self._graph, self._builder, self._ranges, self._inputs = graph, builder, ranges, inputs
        self._values: dict[str, _Size] = {}
        self._origins: dict[str, str] = {}  # the size that each symbol is from

    def add(self, tensors: Mapping[str, TensorMeta], numbers: Mapping[str, Size]) -> None:
        """Adds the calls for inputs: tensors, and whole numbers. Raises a SpecError for an unsupported expression."""
        sizes: list[tuple[str, ast.expr, _Size]] = [
            (f"input '{name}'", _parsed(number), partial(TypedValue, Ref(name), "int"))
            for name, number in numbers.items()
            if number.as_int is None
        ]
        for name, meta in tensors.items():
            for dim, size in enumerate(meta.sizes):
                if size.as_int is None:
                    sizes.append((f"size {dim} of input '{name}'", _parsed(size), cache(partial(self._of, name, dim))))
        for operation in ("", "Mul", "Add"):
            for what, wanted, actual in sizes:
                self._bind(_solved(wanted, operation), actual, what)
        for what, wanted, actual in sizes:
            if not isinstance(wanted, ast.Name) or self._values[wanted.id] is not actual:
                text = f"{self._graph}: {what} must be {shown(wanted)}"
                self._builder.scalar("expect", [actual(), self.value(wanted), TypedValue(Str(text), "str")])
        for symbol, value in self._values.items():
            self._within(symbol, value)

    def _of(self, name: str, dim: int) -> Operand:
        self._builder.place = Place(node=name)
        return self._builder.scalar("size", [TypedValue(Ref(name), "Tensor"), of_number(dim)], f"{name}_size_{dim}")

    def _bind(self, solved: tuple[str, str, int] | None, actual: _Size, what: str) -> None:
        """Binds a symbol that a size determines: itself, or by the inverse computation with a number."""
        if solved is None or solved[0] in self._values:
            return
        symbol, inverse, number = solved

        def inverted() -> Operand:
            return self._builder.scalar(inverse, [actual(), of_number(number)], symbol)

        self._values[symbol], self._origins[symbol] = cache(inverted) if inverse else actual, what

    def _within(self, symbol: str, value: _Size) -> None:
        limits = self._ranges.get(symbol, Range())
        least, most = limits.min_val or 0, _MOST if limits.max_val is None else limits.max_val
        least = least if least > _ASSUMED else 0
        if least > 0 or most < _MOST:
            text = TypedValue(Str(f"{self._graph}: {symbol}, from {self._origins[symbol]},"), "str")
            self._builder.scalar("within", [value(), of_number(least), of_number(most), text])

    def guard(self, codes: Iterable[str]) -> None:
        """Adds the checks of what the traced code decided. Raises a SpecError for one that cannot be checked."""
        for code in codes:
            try:
                holds = self._truth(ast.parse(code.strip(), mode="eval").body)
            except (SpecError, SyntaxError, TypeError, ValueError, MemoryError, RecursionError):
                what = f"the export depends on '{code}', which a graph cannot check"
                raise SpecError(what, "export the model with fixed sizes, or without a branch on this") from None
            written = code.strip().replace(f"{_INPUTS}['", "").replace("']", "")
            what = f"{self._graph}: the model was exported for inputs with {written}"
            self._builder.scalar("guard", [holds, TypedValue(Str(what), "str")])

    # ---- expressions

    def _truth(self, node: ast.expr) -> Operand:
        """Whether an expression is true."""
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
        if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            return scalar(_UNARY[type(node.op)], [self.value(node.operand)])
        if isinstance(node, ast.BoolOp):
            return self._joined("and" if isinstance(node.op, ast.And) else "or", map(self._truth, node.values))
        if isinstance(node, ast.Compare) and all(type(each) in _COMPARE for each in node.ops):
            values = [self.value(each) for each in (node.left, *node.comparators)]
            pairs = zip(node.ops, values, values[1:], strict=False)
            return self._joined("and", (scalar(_COMPARE[type(op)], [one, other]) for op, one, other in pairs))
        if isinstance(node, ast.Name):
            if node.id not in self._values:
                raise SpecError(f"no size of an input determines '{node.id}'", _HINT)
            return self._values[node.id]()
        if isinstance(node, ast.Call) and (not isinstance(node.func, ast.Attribute) or _name(node) in _CALLS):
            return self._called(node)
        return self._of_input(node)

    def _called(self, node: ast.Call) -> Operand:
        name, values = _CALLS.get(_name(node), ""), [self.value(each) for each in node.args]
        if name in _FOLDED and values:
            return self._joined(name, values)
        if name and len(values) == (1 if name in _OF_ONE else 2):
            return self._builder.scalar(name, values)
        raise SpecError(f"the size '{shown(node)}' is not supported in a graph", _HINT)

    def _joined(self, name: str, values: Iterable[Operand]) -> Operand:
        return reduce(lambda one, other: self._builder.scalar(name, [one, other]), values)

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
        return named(name, self._inputs)


def _parsed(size: Size) -> ast.expr:
    """The expression of a size."""
    text = (size.as_expr or {}).get("expr_str")
    try:
        expression = ast.parse(str(text), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise SpecError("the size of an input cannot be read", "the file is damaged: export the model again") from None
    numbers = (each.value for each in ast.walk(expression) if isinstance(each, ast.Constant))
    if any(isinstance(number, int) and number > _MOST for number in numbers):
        raise SpecError("the size of an input has a number of more than 64 bits", "export the model again")
    return _plain(expression)


def _plain(node: ast.expr) -> ast.expr:
    """An expression of sympy in Python: `s77` for Symbol('s77'), 2 for Integer(2). Raises a SpecError for other parts
    than these and calls of functions."""
    match node:
        case ast.Call(ast.Name("Symbol"), [ast.Constant(str(name)), *_]):
            return ast.Name(name)
        case ast.Call(ast.Name("Integer"), [ast.Constant(int(number))]):
            return ast.Constant(number)
        case ast.Call(ast.Name("Integer"), [ast.UnaryOp(ast.USub(), ast.Constant(int(number)))]):
            return ast.Constant(-number)
        case ast.Call(ast.Name(name), [_, *_]) if name not in ("Symbol", "Integer"):
            return ast.Call(node.func, [_plain(each) for each in node.args], [])
        case ast.Call(ast.Name("Symbol" | "Integer"), [inner, *_]):
            node = inner
    raise SpecError(f"the size '{ast.unparse(node)}' is not supported in a graph", _HINT)


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def shown(node: ast.expr) -> str:
    """An expression as a reader would write it."""
    if not isinstance(node, ast.Call):
        return ast.unparse(node)
    name, parts = _name(node), [shown(each) for each in node.args]
    return f"({_SHOWN[name].join(parts)})" if name in _SHOWN else f"{name}({', '.join(parts)})"


_INVERSE = {"Mul": "floordiv", "Add": "sub"}


def _solved(node: ast.expr, operation: str) -> tuple[str, str, int] | None:
    """The symbol that a size determines, itself or by an operation with a number: its name, the computation from the
    size, and that computation's number."""
    match node:
        case ast.Name(symbol) if not operation:
            return symbol, "", 0
        case ast.Call(
            ast.Name(name),
            [ast.Name(symbol), ast.Constant(int(number))] | [ast.Constant(int(number)), ast.Name(symbol)],
        ) if name == operation and number:
            return symbol, _INVERSE[operation], number
    return None
