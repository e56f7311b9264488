"""Expressions of a graph's source: the operators that they call, and their values."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from gradmill.extensions.graphs.model import Place, Ref
from gradmill.extensions.graphs.read.python.names import (
    ATTRIBUTES,
    BINARY,
    COMPARE,
    CONSTANTS,
    DTYPE_NAMES,
    EXPRESSIONS,
    MODULES,
    PROPERTIES,
    REFUSED_ATTRIBUTES,
    UNARY,
)
from gradmill.extensions.graphs.read.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.read.resolve.operands import (
    Operand,
    Scope,
    Several,
    TypedValue,
    described,
    is_scalar,
    is_tensor,
    named,
    number_in,
    of_literal,
    of_number,
)
from gradmill.problems.problem import SpecError, TextError, nearest

_OWN = (ast.IfExp, ast.BoolOp)  # which only gradmill's own expressions may use


class Expressions:
    """Reads names, constants and operators. `scope` has the values of names, `imports` the full names of imports."""

    def __init__(self, builder: GraphBuilder, imports: Mapping[str, str], scope: Scope) -> None:
        self.builder = builder
        self.imports = imports
        self.scope = scope
        self.errors: list[TextError] = []  # of the function
        self.first_line = 1  # of the function; places count from it
        self.functions: frozenset[str] = frozenset()  # the functions of the same file
        self.unusable: dict[str, SpecError] = {}  # the names of the file that are no constants, and why
        self.depth = 0  # the nesting depth of functions of `prelude.py`

    # ---- reading and places

    def read(self, node: ast.expr, hint: str = "") -> Operand:
        """The value of an expression; its calls are added to the builder. Raises a TextError at an erroneous node."""
        try:
            visit = getattr(self, f"visit_{type(node).__name__}", None)  # as an ast.NodeVisitor does
            if visit is None or (isinstance(node, _OWN) and not self.depth):
                what, advice = EXPRESSIONS.get(type(node), (f"'{ast.unparse(node)}'", "write operators of tensors"))
                raise SpecError(f"{what} is not supported in a graph", advice)
            outer = self.builder.place
            self.at(node)
            value: Operand = visit(node, hint)
            self.builder.place = outer
            return value
        except SpecError as error:
            raise self.located(node, error) from None

    def error(self, node: ast.expr | ast.stmt | ast.arg, problem: str, hint: str = "") -> TextError:
        """An error at a node."""
        return TextError(problem, hint, *self.where(node))

    def say(self, node: ast.expr | ast.stmt | ast.arg, problem: str, hint: str = "") -> None:
        """Adds an error at a node."""
        self.errors.append(self.error(node, problem, hint))

    def located(self, node: ast.expr | ast.stmt | ast.arg, error: SpecError) -> TextError:
        """An error with its place: at a node, if it has none yet."""
        return error if isinstance(error, TextError) else self.error(node, error.problem, error.hint)

    def at(self, node: ast.expr | ast.stmt) -> None:
        """Sets the place of the next calls."""
        if not self.depth:
            self.builder.place = Place(*self.where(node))

    def where(self, node: ast.expr | ast.stmt | ast.arg) -> tuple[int, int]:
        """Line and column, counted from the function's first line."""
        if self.depth:
            return self.builder.place.line, self.builder.place.column
        return node.lineno - self.first_line + 1, node.col_offset + 1

    def path(self, node: ast.expr) -> str:
        """The full name of an imported object, `torch.nn.functional.relu`; "" for any other expression."""
        if isinstance(node, ast.Name):
            return "" if node.id in self.scope else self.imports.get(node.id, "")
        if isinstance(node, ast.Attribute):
            inner = self.path(node.value)
            return f"{inner}.{node.attr}" if inner else ""
        return ""

    def within(self, body: Sequence[ast.stmt], scope: Scope, hint: str) -> Operand:
        """What the body of a function of `prelude.py` returns, with its parameters in `scope`, at the current place."""
        outer, imports, self.depth = self.scope, self.imports, self.depth + 1
        self.scope, self.imports = scope, {"torch": "torch", "math": "math"}
        try:
            returned = self._run(body, hint)
            assert returned is not None
            return returned
        finally:
            self.scope, self.imports, self.depth = outer, imports, self.depth - 1

    def _run(self, body: Sequence[ast.stmt], hint: str) -> Operand | None:
        for statement in body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self.read(statement.value, hint)
            if isinstance(statement, ast.If):
                chosen = self._run(statement.body if self.decided(statement.test) else statement.orelse, hint)
                if chosen is not None:
                    return chosen
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self.scope[statement.targets[0].id] = self.read(statement.value)
            else:
                assert isinstance(statement, ast.Expr), ast.unparse(statement)
                self.read(statement.value)
        return None

    # ---- names and constants

    def visit_Name(self, node: ast.Name, hint: str) -> Operand:
        """The value of a local name."""
        if node.id in self.scope:
            return named(node.id, self.scope)
        if node.id in self.unusable:
            error = self.unusable[node.id]
            raise SpecError(f"'{node.id}' of the file cannot be used in a graph: {error.problem}", error.hint)
        what = f"'{node.id}' is a module" if node.id in self.imports else f"'{node.id}' is not defined here"
        raise SpecError(what, nearest(node.id, self.scope) or "assign it first, or make it a parameter")

    def visit_Constant(self, node: ast.Constant, hint: str) -> Operand:
        """A number of at most 64 bits, a string or None."""
        try:
            return of_literal(node.value)
        except ValueError:
            what = "'...'" if node.value is ... else f"'{ast.unparse(node)}'"
            raise SpecError(f"{what} is not supported here in a graph") from None

    def visit_Attribute(self, node: ast.Attribute, hint: str) -> Operand:
        """A constant of torch, a named result of an operator, or an attribute of a tensor."""
        path = self.path(node)
        if path:
            return self._imported(path)
        value, name = self.read(node.value), node.attr
        if isinstance(value, Several) and name in value.names:
            return value.items[value.names.index(name)]
        if not is_tensor(value):
            raise SpecError(f"{described(value)} has no attribute '{name}'{_perhaps_none(value)}")
        if name in PROPERTIES:
            return self.builder.scalar(PROPERTIES[name], [value], hint or name)
        if name in ATTRIBUTES:
            return self.builder.call(f"aten::{ATTRIBUTES[name]}", [value], hint=hint or name)
        if name in REFUSED_ATTRIBUTES:
            raise SpecError(f"'.{name}' of a tensor is not supported in a graph", REFUSED_ATTRIBUTES[name])
        known = [*PROPERTIES, *ATTRIBUTES]
        raise SpecError(f"a tensor has no attribute '{name}' that a graph supports", nearest(name, known))

    def _imported(self, path: str) -> Operand:
        module, _, name = path.rpartition(".")
        if path in CONSTANTS:
            return CONSTANTS[path]
        if module in MODULES and self.builder.ops.overloads(f"aten::{MODULES[module]}{name}"):
            raise SpecError(f"'{path}' is a function, and not a value of a graph", "call it")
        hint = nearest(name, DTYPE_NAMES) if module == "torch" else ""
        raise SpecError(f"the value '{path}' is not supported in a graph", hint or "write the value itself")

    def visit_Tuple(self, node: ast.Tuple, hint: str) -> Operand:
        """The items of a tuple."""
        return self.spread(node.elts, is_list=False)

    def visit_List(self, node: ast.List, hint: str) -> Operand:
        """The items of a list."""
        return self.spread(node.elts, is_list=True)

    def spread(self, nodes: Sequence[ast.expr], *, is_list: bool) -> Operand:
        """The items of a tuple, a list or a call's arguments, with `*items` unpacked."""
        items: list[Operand] = []
        runs = False
        for node in nodes:
            item = self.read(node.value if isinstance(node, ast.Starred) else node)
            if isinstance(node, ast.Starred) and isinstance(item, Several):
                items += item.items
            elif isinstance(node, ast.Starred) and isinstance(item, TypedValue) and item.type == "int[]":
                items.append(item)
                runs = True
            elif isinstance(node, ast.Starred):
                raise self.error(node, f"'*' before {described(item)}", "write out each item")
            else:
                items.append(item)
        if not runs:
            return Several(tuple(items), is_list=is_list)
        self.at(nodes[0])
        lists = [i if isinstance(i, TypedValue) and i.type == "int[]" else Several((i,), is_list=True) for i in items]
        return self.builder.scalar("concat", [Several(tuple(lists), is_list=True)])

    # ---- operators

    def visit_BinOp(self, node: ast.BinOp, hint: str) -> Operand:
        """The value of a binary operator on tensors, numbers or lists."""
        left, right = self.read(node.left), self.read(node.right)
        return self.operator(type(node.op), left, right, hint)

    def operator(self, kind: type[ast.operator], left: Operand, right: Operand, hint: str) -> Operand:
        """The value of `left op right`."""
        op = BINARY[kind]
        if is_tensor(left) and (is_tensor(right) or is_scalar(right)):
            return self.builder.call(f"aten::{op.tensors}", [left, right], hint=hint or op.tensors.strip("_"))
        if is_tensor(right) and is_scalar(left) and op.reflected:
            right = self.builder.call("aten::reciprocal", [right]) if kind is ast.Div else right
            given = [left, right] if op.number_first else [right, left]
            return self.builder.call(f"aten::{op.reflected}", given, hint=hint or op.reflected.strip("_"))
        if is_scalar(left) and is_scalar(right) and op.numbers:
            return self.builder.scalar(op.numbers, [left, right], hint)
        lists = [operand for operand in (left, right) if isinstance(operand, Several) or operand.type == "int[]"]
        if kind is ast.Add and len(lists) == 2:
            if isinstance(left, Several) and isinstance(right, Several):
                return Several((*left.items, *right.items), is_list=left.is_list)
            return self.builder.scalar("concat", [Several(tuple(lists), is_list=True)])
        maybe = _perhaps_none(left) or _perhaps_none(right)
        raise SpecError(f"this operator does not take {described(left)} and {described(right)}{maybe}")

    def visit_UnaryOp(self, node: ast.UnaryOp, hint: str) -> Operand:
        """The value of `-x`, `+x`, `~x` or `not x`."""
        value, kind = self.read(node.operand), type(node.op)
        if kind is ast.UAdd and is_tensor(value):
            return value
        if kind is ast.Not and self.depth:
            return of_number(not self.decided(node.operand))
        name, number = UNARY[kind]
        if is_scalar(value):
            return self.builder.scalar(number, [value], hint)
        if not name or not is_tensor(value):
            advice = "write ~x of a tensor of bool" if kind is ast.Not else ""
            raise SpecError(f"this operator does not take {described(value)}{_perhaps_none(value)}", advice)
        return self.builder.call(f"aten::{name}", [value], hint=hint)

    def visit_Compare(self, node: ast.Compare, hint: str) -> Operand:
        """The value of a comparison of tensors or numbers; in gradmill's own expressions also of `is` and strings."""
        if len(node.ops) > 1:
            raise SpecError("a chain of comparisons is a branch", "write (a < b) & (b < c)")
        left, right, kind = self.read(node.left), self.read(node.comparators[0]), type(node.ops[0])
        if kind in (ast.Is, ast.IsNot) and self.depth:
            return of_number((left == right) is (kind is ast.Is))
        if kind not in COMPARE:
            raise SpecError("this comparison is not supported in a graph", "compare tensors by == or <")
        name, swapped = COMPARE[kind]
        if is_tensor(left) and (is_tensor(right) or is_scalar(right)):
            return self.builder.call(f"aten::{name}", [left, right], hint=hint)
        if is_tensor(right) and is_scalar(left):
            return self.builder.call(f"aten::{swapped}", [right, left], hint=hint)
        if is_scalar(left) and is_scalar(right):
            return self.builder.scalar(name, [left, right], hint)
        if self.depth and any(isinstance(each, TypedValue) and isinstance(each.value, Ref) for each in (left, right)):
            raise SpecError("this must be known when the graph is read", "write the text itself, and not a variable")
        if self.depth:
            return of_number((left == right) is (kind is ast.Eq))
        raise SpecError(f"{described(left)} and {described(right)} cannot be compared{_perhaps_none(left)}")

    # ---- conditions, which are evaluated while the graph is read

    def visit_IfExp(self, node: ast.IfExp, hint: str) -> Operand:
        """The chosen branch of `a if b else c`."""
        return self.read(node.body if self.decided(node.test) else node.orelse, hint)

    def visit_BoolOp(self, node: ast.BoolOp, hint: str) -> Operand:
        """The value of `and` or `or`."""
        decide = any if isinstance(node.op, ast.Or) else all
        return of_number(decide(self.decided(value) for value in node.values))

    def decided(self, node: ast.expr) -> bool:
        """The value of a condition. Raises a SpecError if it is not constant."""
        number = number_in(self.read(node))
        if number is None:
            raise SpecError("this must be known when the graph is read", "write a constant, True or False")
        return bool(number)


def _perhaps_none(operand: Operand) -> str:
    optional = isinstance(operand, TypedValue) and operand.type == "Tensor?"
    return ": it may be None, which only optional arguments accept" if optional else ""
