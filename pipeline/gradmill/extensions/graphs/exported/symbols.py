"""Sizes of a `.pt2` file that are known at run time only: symbols, and expressions of them.

An input's size gives a symbol its value. All other sizes of inputs are guards: the graph computes what they must be,
and compares. So are the ranges of symbols. Guards run before any operator. As in the exported module, strides are free.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial, reduce

from gradmill.extensions.graphs.exported.format import Range, Size, TensorMeta
from gradmill.extensions.graphs.model import Place, Ref, Str
from gradmill.extensions.graphs.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.resolve.operands import Operand, TypedValue, of_number
from gradmill.problems.problem import SpecError

_HINT = "export the model with sizes that are symbols, sums and products of them, or fixed"
_MOST = 2**63 - 1
_ASSUMED = 2  # a lower bound that torch.export only assumes, and does not check (_get_input_guards_for_graph)
_FOLDED = {"Add": "add", "Mul": "mul", "Max": "max", "Min": "min"}
_OF_TWO = {"FloorDiv": "floordiv", "CleanDiv": "floordiv", "Mod": "mod", "PythonMod": "mod"}
_SHOWN = {"Add": " + ", "Mul": "*", "FloorDiv": "//", "Mod": " % ", "PythonMod": " % "}


def is_symbolic(size: Size) -> bool:
    """Whether a size is known at run time only."""
    return size.as_int is None


_Size = Callable[[], Operand]  # adds the call that computes a size when it is first used


class Symbols:
    """The symbols of a model. Adds the calls that bind and guard them to a builder."""

    def __init__(self, graph: str, builder: GraphBuilder, ranges: Mapping[str, Range]) -> None:
        self._graph, self._builder, self._ranges = graph, builder, ranges
        self._values: dict[str, _Size] = {}
        self._origins: dict[str, str] = {}  # the size that each symbol is from

    def add(self, tensors: Mapping[str, TensorMeta], numbers: Mapping[str, Size]) -> None:
        """Adds the calls for inputs: tensors, and whole numbers. Raises a SpecError for an unsupported expression."""
        sizes: list[tuple[str, ast.expr, _Size]] = [
            (f"input '{name}'", _parsed(number), partial(TypedValue, Ref(name), "int"))
            for name, number in numbers.items()
            if is_symbolic(number)
        ]
        for name, meta in tensors.items():
            for dim, size in enumerate(meta.sizes):
                if is_symbolic(size):
                    sizes.append((f"size {dim} of input '{name}'", _parsed(size), cache(partial(self._of, name, dim))))
        for operation in ("", "Mul", "Add"):
            for what, wanted, actual in sizes:
                self._bind(_with_number(wanted, operation) if operation else _itself(wanted), actual, what)
        for what, wanted, actual in sizes:
            bound = _itself(wanted)
            if bound is None or self._values[bound[0]] is not actual:
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

    def value(self, expression: ast.expr) -> Operand:
        """The value of an expression. Raises a SpecError for one that a graph does not support."""
        name, arguments = _call(expression)
        if name == "Integer":
            return of_number(_integer(arguments[0]))
        if name == "Symbol":
            symbol = _symbol(arguments[0])
            if symbol not in self._values:
                raise SpecError(f"no size of an input determines '{symbol}'", _HINT)
            return self._values[symbol]()
        values = [self.value(each) for each in arguments]
        if name in _FOLDED:
            return reduce(lambda one, other: self._builder.scalar(_FOLDED[name], [one, other]), values)
        if name in _OF_TWO and len(values) == 2:
            return self._builder.scalar(_OF_TWO[name], values)
        raise SpecError(f"the size '{shown(expression)}' is not supported in a graph", _HINT)


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
    return expression


def _call(expression: ast.expr) -> tuple[str, list[ast.expr]]:
    """The name and the arguments of a call."""
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and expression.args:
        return expression.func.id, expression.args
    raise _unsupported(expression)


def _integer(expression: ast.expr) -> int:
    value = _literal(expression)
    if not isinstance(value, int):
        raise _unsupported(expression)
    return value


def _symbol(expression: ast.expr) -> str:
    value = _literal(expression)
    if not isinstance(value, str):
        raise _unsupported(expression)
    return value


def _literal(expression: ast.expr) -> object:
    try:
        return ast.literal_eval(expression)
    except (ValueError, TypeError):
        raise _unsupported(expression) from None


def _unsupported(expression: ast.expr) -> SpecError:
    return SpecError(f"the size '{ast.unparse(expression)}' is not supported in a graph", _HINT)


def shown(expression: ast.expr) -> str:
    """An expression as a reader would write it."""
    name, arguments = _call(expression)
    if name in ("Integer", "Symbol"):
        return str((_integer if name == "Integer" else _symbol)(arguments[0]))
    parts = [shown(each) for each in arguments]
    return f"({_SHOWN[name].join(parts)})" if name in _SHOWN else f"{name}({', '.join(parts)})"


# ---- sizes that determine a symbol: its name, the computation from the size, and that computation's number


def _itself(expression: ast.expr) -> tuple[str, str, int] | None:
    name, arguments = _call(expression)
    return (_symbol(arguments[0]), "", 0) if name == "Symbol" else None


_INVERSE = {"Mul": "floordiv", "Add": "sub"}


def _with_number(expression: ast.expr, operation: str) -> tuple[str, str, int] | None:
    name, arguments = _call(expression)
    if name != operation or len(arguments) != 2:
        return None
    kinds: dict[str, Iterable[ast.expr]] = {_call(each)[0]: _call(each)[1] for each in arguments}
    if kinds.keys() != {"Integer", "Symbol"}:
        return None
    number, symbol = (next(iter(kinds[kind])) for kind in ("Integer", "Symbol"))
    return (_symbol(symbol), _INVERSE[operation], _integer(number)) if _integer(number) else None
