"""Statements of a graph's source: assignments, in place or not, `with torch.no_grad():`, `return`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from gradmill.extensions.graphs.model import Many, Output
from gradmill.extensions.graphs.read.python import calls, subscripts
from gradmill.extensions.graphs.read.python.expressions import Expressions
from gradmill.extensions.graphs.read.python.names import BINARY, GRAD_MODES, MODES, STATEMENTS
from gradmill.extensions.graphs.read.resolve.operands import (
    Operand,
    Several,
    Spoiled,
    TypedValue,
    described,
    is_scalar,
    is_tensor,
    items_of,
    number_in,
)
from gradmill.problems.problem import SpecError


class Reader(Expressions):
    """Reads every kind of expression that a graph supports."""

    visit_Subscript = subscripts.read
    visit_Call = calls.read


_OTHER_MODE = f"leave it out, or enter it around the call of the graph: a graph has {', '.join(GRAD_MODES)}"
TOO_DEEP = ("an expression is nested too deeply", "write it in several statements")


class Body(ast.NodeVisitor):
    """Reads the statements of one function; all errors are added to the reader's. Names that an erroneous statement
    assigns have no value, and their uses are not reported again."""

    def __init__(self, reader: Reader, parameters: Mapping[str, str]) -> None:
        self.reader = reader
        self.parameters = parameters  # name to type
        self.before = len(reader.errors)
        self.returned: ast.Return | None = None
        self.outputs: tuple[Output, ...] = ()
        self.single = False
        self.spoiled = False  # whether a statement uses a value that an error left out

    @property
    def is_complete(self) -> bool:
        """Whether all statements were read."""
        return len(self.reader.errors) == self.before and not self.spoiled

    def read(self, statements: Sequence[ast.stmt]) -> None:
        """Reads statements in order."""
        for node in statements:
            if self.returned is not None:
                self.reader.say(node, "this statement is after 'return'", "a function returns at its end")
                return
            try:
                self.reader.at(node)
                self.visit(node)
                continue
            except SpecError as error:
                self.reader.errors.append(self.reader.located(node, error))
            except RecursionError:
                self.reader.say(node, *TOO_DEEP)
            except Spoiled:
                self.spoiled = True
            self._spoil(node)

    def _spoil(self, node: ast.stmt) -> None:
        """Marks the names that a statement would have assigned as without a value."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self.reader.scope[inner.id] = None
            elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.reader.scope[inner.name] = None

    def generic_visit(self, node: ast.AST) -> None:
        """Raises a SpecError for a statement that a graph does not support."""
        assert isinstance(node, ast.stmt)
        what, advice = STATEMENTS.get(type(node), ("this statement", "write assignments and calls"))
        raise SpecError(f"{what} is not supported in a graph", advice)

    def visit_Pass(self, node: ast.Pass) -> None:
        """`pass`."""

    # ---- assignments

    def visit_Assign(self, node: ast.Assign) -> None:
        """`a = value`, `a = b = value`, `a, b = value`, `x[…] = value`."""
        first = node.targets[0]
        value = self.reader.read(node.value, first.id if isinstance(first, ast.Name) else "")
        for target in node.targets:
            self.bind(target, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`a: Tensor = value`; the annotation is not checked."""
        if node.value is not None:
            self.bind(node.target, self.reader.read(node.value, getattr(node.target, "id", "")))

    def bind(self, target: ast.expr, value: Operand) -> None:
        """Assigns a value to a target: a name, items of a tensor, or a tuple of targets."""
        if isinstance(target, ast.Name):
            self._name(target, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self._into(target, value)
        elif isinstance(target, ast.Attribute) and target.attr == "data":
            self.reader.say(target, "'.data' is not supported in a graph", "write with torch.no_grad(): x.copy_(…)")
        else:
            self.reader.say(target, "a graph cannot assign to this", "assign to names and to x[…]")

    def _name(self, target: ast.Name, value: Operand) -> None:
        type_ = self.parameters.get(target.id)
        if type_ is not None and not _is_of_kind(value, type_):
            what = f"{described(value)} is assigned to the parameter '{target.id}', which is {type_}"
            raise self.reader.error(target, what, "use another name")
        if target.id in self.reader.imports:
            self.reader.say(target, f"'{target.id}' is imported: it cannot be assigned to", "use another name")
            return
        self.reader.scope[target.id] = value

    def _unpack(self, target: ast.Tuple | ast.List, value: Operand) -> None:
        for inner in target.elts:
            if isinstance(inner, ast.Starred):
                raise self.reader.error(inner, "a '*' here is not supported in a graph", "write out each name")
        count = len(target.elts)
        items = items_of(value, count)
        if items is None and is_tensor(value):
            assert isinstance(value, TypedValue)
            self.reader.at(target)
            value = self.reader.builder.call("aten::unbind", [value])  # iteration over a tensor unbinds it
            items = items_of(value, count)
        if items is None:
            raise SpecError(f"{described(value)} cannot be unpacked")
        if isinstance(value, Several) and len(value.items) != count:
            raise SpecError(f"cannot unpack {len(value.items)} values into {count} names")
        if isinstance(value, TypedValue):
            self.reader.at(target)
            self.reader.builder.expect_length(value, count)
        for inner, operand in zip(target.elts, items):
            self.bind(inner, operand)

    def _into(self, target: ast.Subscript, value: Operand) -> None:
        """`x[…] = value`."""
        base = self.reader.read(target.value)
        indices = subscripts.indices(self.reader, target)
        self.reader.at(target)
        self._check_items(target, base)
        view, tensors = subscripts.viewed(self.reader, base, indices, assigned=True)
        if tensors and not is_scalar(value):  # a number is also written by a mask without dimensions
            subscripts.check(self.reader, tensors)
        self._put(view, tensors, value)

    def _check_items(self, target: ast.Subscript, base: Operand) -> None:
        if not is_tensor(base):
            raise self.reader.error(target, f"items of {described(base)} cannot be assigned to", "write a new list")

    def _put(self, view: Operand, tensors: list[Operand], value: Operand) -> None:
        call = self.reader.builder.call
        if tensors:
            if is_scalar(value):  # of the tensor's dtype, as in an assignment to a view
                dtype = self.reader.builder.scalar("dtype", [view])
                value = call("aten::scalar_tensor", [value], {"dtype": dtype})
            call("aten::index_put_", [view, Several(tuple(tensors), is_list=True), value])
        elif is_scalar(value):
            call("aten::fill_", [view, value])
        elif is_tensor(value):
            call("aten::copy_", [view, value])
            self.reader.builder.annotate(assigns=True)
        else:
            raise SpecError(f"{described(value)} cannot be assigned to items of a tensor")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`x *= y`, in place if `x` is a tensor; `x[…] *= y`."""
        reader, target = self.reader, node.target
        if isinstance(target, ast.Subscript):
            self._augmented_items(node, target)
            return
        if not isinstance(target, ast.Name):
            raise SpecError("a graph cannot assign to this", "assign to names and to x[…]")
        left, right = reader.read(ast.copy_location(ast.Name(target.id, ast.Load()), target)), reader.read(node.value)
        self._name(target, self._in_place(type(node.op), left, right, target.id))

    def _augmented_items(self, node: ast.AugAssign, target: ast.Subscript) -> None:
        reader = self.reader
        base = reader.read(target.value)
        indices = subscripts.indices(reader, target)
        self._check_items(target, base)
        view, tensors = subscripts.viewed(reader, base, indices)
        picked = view
        if tensors:
            subscripts.check(reader, tensors)
            picked = reader.builder.call("aten::index", [view, Several(tuple(tensors), is_list=True)])
        value = self._in_place(type(node.op), picked, reader.read(node.value), "")
        if tensors:
            self._put(view, tensors, value)

    def _in_place(self, kind: type[ast.operator], left: Operand, right: Operand, hint: str) -> Operand:
        name = BINARY[kind].in_place
        if name and is_tensor(left) and (is_tensor(right) or is_scalar(right)):
            return self.reader.builder.call(f"aten::{name}", [left, right], hint=hint)
        return self.reader.operator(kind, left, right, hint)

    # ---- other statements

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for its effect, or a docstring."""
        if not isinstance(node.value, ast.Constant):
            self.reader.read(node.value)

    def visit_Delete(self, node: ast.Delete) -> None:
        """`del a`."""
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise SpecError("'del' of this is not supported in a graph", "delete names only")
            self.reader.scope.pop(target.id, None)

    def visit_With(self, node: ast.With) -> None:
        """`with torch.no_grad():` and the like."""
        outer = self.reader.builder.grad
        for item in node.items:
            self.reader.builder.grad = self._mode(item.context_expr)
            self.reader.builder.enables_grad |= self.reader.builder.grad
            if item.optional_vars is not None:
                raise SpecError("'as' is not supported here in a graph", "write with torch.no_grad():")
        try:
            self.read(node.body)
        finally:
            self.reader.builder.grad = outer

    def _mode(self, node: ast.expr) -> bool:
        path = self.reader.path(node.func) if isinstance(node, ast.Call) else ""
        if path not in GRAD_MODES:
            name = (path or ast.unparse(node)).rpartition(".")[2]
            raise SpecError(f"'with {ast.unparse(node)}' is not supported in a graph", MODES.get(name, _OTHER_MODE))
        assert isinstance(node, ast.Call)
        mode = GRAD_MODES[path]
        if mode is None and len(node.args) == 1:
            number = number_in(self.reader.read(node.args[0]))
            mode = number if isinstance(number, bool) else None
        if mode is None:
            raise SpecError("this must be known when the graph is read", "write True or False")
        return mode

    def visit_Return(self, node: ast.Return) -> None:
        """`return value`: sets the outputs."""
        self.returned = node
        if node.value is None:
            return
        value = self.reader.read(node.value)
        if isinstance(value, TypedValue) and value.type == "None":
            return
        self.single = not isinstance(value, Several) or value.is_list
        operands = value.items if isinstance(value, Several) and not value.is_list else (value,)
        self.outputs = tuple(map(_output, operands))


def _listed(value: Several) -> Operand:
    types = {item.type for item in value.items if isinstance(item, TypedValue)}
    if len(types) != 1 or not all(isinstance(item, TypedValue) for item in value.items):
        raise SpecError(f"{described(value)} cannot be returned", "return a tuple")
    return TypedValue(
        Many(tuple(item.value for item in value.items if isinstance(item, TypedValue))), f"{types.pop()}[]"
    )


def _output(operand: Operand) -> Output:
    if isinstance(operand, Several):
        if operand.is_list:  # a new list of tensors
            return _output(_listed(operand))
        raise SpecError("a tuple within a tuple cannot be returned", "return its items")
    assert isinstance(operand, TypedValue)
    if operand.type.strip("[]?") in ("str", "ScalarType", "Device", "Layout", "MemoryFormat"):
        raise SpecError(f"{described(operand)} cannot be returned", "return tensors and numbers")
    return Output(operand.value, "Tensor?" if operand.type == "None" else operand.type)


def _is_of_kind(value: Operand, type_: str) -> bool:
    """Whether a value may be assigned to a parameter of that type."""
    if isinstance(value, Several):
        return type_.endswith("[]")
    assert isinstance(value, TypedValue)
    numbers = ("int", "float", "bool", "Scalar")
    return value.type == type_ or type_ == f"{value.type}?" or (value.type in numbers and type_ in numbers)
