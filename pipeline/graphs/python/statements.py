"""Statements of a graph's source: assignments, in place or not, `with torch.no_grad():`, `return`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.graphs.model import Many, Output, Ref
from pipeline.graphs.python import subscripts
from pipeline.graphs.python.names import BINARY, GRAD_MODES, STATEMENTS
from pipeline.graphs.python.reader import Reader
from pipeline.graphs.resolve.things import (
    WRONG,
    Known,
    Several,
    Thing,
    Wrong,
    any_wrong,
    described,
    is_number,
    is_operand,
    is_tensor,
    items_of,
    number_in,
)
from pipeline.problems.problem import SpecError, TextMistake

TOO_DEEP = ("an expression is nested too deep", "write it in several statements")


class Body:
    """Reads the statements of one function. All mistakes are gathered; what they leave behind is not told again."""

    def __init__(self, reader: Reader, parameters: Mapping[str, str]) -> None:
        self.reader = reader
        self.parameters = parameters  # by name, their types
        self.mistakes: list[TextMistake] = []
        self.returned: ast.Return | None = None
        self.outputs: tuple[Output, ...] = ()
        self.single = False
        self.spoiled = False  # whether something that is returned is not known

    def read(self, statements: Sequence[ast.stmt]) -> None:
        """Reads statements in turn."""
        for node in statements:
            if self.returned is not None:
                self._say(node, "this comes after 'return'", "a function returns at its end")
                return
            self._try(node, self._statement)

    def _try(self, node: ast.stmt, do: Callable[[Any], None]) -> None:
        try:
            do(node)
        except TextMistake as error:
            self.mistakes.append(error)
            self._spoil(node)
        except SpecError as error:
            self._say(node, error.problem, error.hint)
            self._spoil(node)
        except RecursionError:
            self._say(node, *TOO_DEEP)
            self._spoil(node)

    def _say(self, node: ast.stmt | ast.expr, problem: str, hint: str) -> None:
        self.mistakes.append(TextMistake(problem, hint, *self.reader.where(node)))

    def _spoil(self, node: ast.stmt) -> None:
        """What a statement would have assigned is not known now."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self.reader.scope[inner.id] = WRONG
            elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.reader.scope[inner.name] = WRONG

    def _statement(self, node: ast.stmt) -> None:
        self.reader.at(node)
        read = _STATEMENTS.get(type(node))
        if read is None:
            what, advice = STATEMENTS.get(type(node), ("this statement", "write assignments and calls"))
            raise SpecError(f"{what} is nothing that a graph can have", advice)
        read(self, node)

    # ---- assignments

    def assign(self, node: ast.Assign) -> None:
        first = node.targets[0]
        value = self.reader.read(node.value, first.id if isinstance(first, ast.Name) else "")
        for target in node.targets:
            self.bind(target, value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.reader.read(node.value, getattr(node.target, "id", "")))

    def bind(self, target: ast.expr, value: Thing) -> None:
        """Gives a value to a name, to an item of a tensor, to several."""
        if isinstance(target, ast.Name):
            self._name(target, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self._into(target, value)
        elif isinstance(target, ast.Attribute) and target.attr == "data":
            self._say(target, "'.data' is nothing that a graph can have", "write with torch.no_grad(): x.copy_(…)")
        else:
            self._say(target, "this is nothing that a graph can assign to", "assign to names and to x[…]")

    def _name(self, target: ast.Name, value: Thing) -> None:
        type_ = self.parameters.get(target.id)
        if type_ is not None and not isinstance(value, Wrong) and not _is_of_kind(value, type_):
            self._say(target, f"the parameter '{target.id}', {type_}, becomes {described(value)}", "use another name")
            value = WRONG
        if target.id in self.reader.imports:
            self._say(target, f"'{target.id}' is imported: it cannot be assigned to", "use another name")
            return
        self.reader.scope[target.id] = value

    def _unpack(self, target: ast.Tuple | ast.List, value: Thing) -> None:
        count = len(target.elts)
        found = [WRONG] * count if isinstance(value, Wrong) else items_of(value, count)
        if found is None and is_tensor(value):
            assert isinstance(value, Known)
            self.reader.at(target)
            value = self.reader.builder.call("aten::unbind", [value])  # what iterating over a tensor does
            found = items_of(value, count)
        if found is None:
            raise SpecError(f"{described(value)} cannot be unpacked")
        if isinstance(value, Several) and len(value.items) != count:
            raise SpecError(f"{len(value.items)} values for {count} names")
        if isinstance(value, Known) and isinstance(value.value, Ref):
            self.reader.builder.expect(value.value.name, count)
        for inner, thing in zip(target.elts, found):
            if isinstance(inner, ast.Starred):
                raise SpecError("a '*' here is nothing that a graph can have", "write out each name")
            self.bind(inner, thing)

    def _into(self, target: ast.Subscript, value: Thing) -> None:
        """`x[…] = value`."""
        base = self.reader.read(target.value)
        found = subscripts.indices(self.reader, target)
        self.reader.at(target)
        if isinstance(base, Wrong) or isinstance(value, Wrong):
            return
        self._check_items(target, base)
        view, tensors = subscripts.viewed(self.reader, base, found, assigned=True)
        self._put(view, tensors, value)

    def _check_items(self, target: ast.Subscript, base: Thing) -> None:
        if not is_tensor(base):
            raise TextMistake(
                f"items of {described(base)} cannot be assigned to", "write a new list", *self.reader.where(target)
            )

    def _put(self, view: Thing, tensors: list[Thing], value: Thing) -> None:
        if isinstance(view, Wrong) or any_wrong(tensors):
            return
        call = self.reader.builder.call
        if tensors:
            if is_number(value):  # of the tensor's dtype, as in an assignment to a view
                dtype = self.reader.builder.scalar("dtype", [view])
                value = call("aten::scalar_tensor", [value], {"dtype": dtype})
            call("aten::index_put_", [view, Several(tuple(tensors), is_list=True), value])
        elif is_number(value):
            call("aten::fill_", [view, value])
        elif is_tensor(value):
            call("aten::copy_", [view, value])
        else:
            raise SpecError(f"{described(value)} cannot be assigned to items of a tensor")

    def augmented(self, node: ast.AugAssign) -> None:
        """`x *= y`, in place where `x` is a tensor; `x[…] *= y`."""
        reader, target = self.reader, node.target
        if isinstance(target, ast.Subscript):
            self._augmented_items(node, target)
            return
        if not isinstance(target, ast.Name):
            raise SpecError("this is nothing that a graph can assign to", "assign to names and to x[…]")
        left, right = reader.read(ast.copy_location(ast.Name(target.id, ast.Load()), target)), reader.read(node.value)
        reader.at(node)
        self._name(target, self._in_place(type(node.op), left, right, target.id))

    def _augmented_items(self, node: ast.AugAssign, target: ast.Subscript) -> None:
        reader = self.reader
        base = reader.read(target.value)
        found = subscripts.indices(reader, target)
        right = reader.read(node.value)
        reader.at(node)
        if isinstance(base, Wrong) or isinstance(right, Wrong):
            return
        self._check_items(target, base)
        view, tensors = subscripts.viewed(reader, base, found)
        if not tensors:
            self._in_place(type(node.op), view, right, "")
        elif not any_wrong(tensors):
            picked = reader.builder.call("aten::index", [view, Several(tuple(tensors), is_list=True)])
            self._put(view, tensors, self._in_place(type(node.op), picked, right, ""))

    def _in_place(self, kind: type[ast.operator], left: Thing, right: Thing, hint: str) -> Thing:
        name = BINARY[kind][2]
        if isinstance(left, Wrong) or isinstance(right, Wrong):
            return WRONG
        if name and is_tensor(left) and (is_tensor(right) or is_operand(right)):
            return self.reader.builder.call(f"aten::{name}", [left, right], hint=hint)
        return self.reader.operator(kind, left, right, hint)

    # ---- the rest

    def expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.reader.read(node.value)

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise SpecError("'del' of this is nothing that a graph can have", "delete names only")
            self.reader.scope.pop(target.id, None)

    def with_(self, node: ast.With) -> None:
        """`with torch.no_grad():` and the like."""
        outer = self.reader.builder.grad
        for item in node.items:
            self.reader.builder.grad = self._mode(item.context_expr)
            if item.optional_vars is not None:
                raise SpecError("'as' is nothing that a graph can have here", "write with torch.no_grad():")
        try:
            self.read(node.body)
        finally:
            self.reader.builder.grad = outer

    def _mode(self, node: ast.expr) -> bool:
        path = self.reader.path(node.func) if isinstance(node, ast.Call) else ""
        if path not in GRAD_MODES:
            raise SpecError(
                f"'with {ast.unparse(node)}' is nothing that a graph can have", "write with torch.no_grad():"
            )
        assert isinstance(node, ast.Call)
        mode = GRAD_MODES[path]
        if mode is None and len(node.args) == 1:
            found = number_in(self.reader.read(node.args[0]))
            mode = found if isinstance(found, bool) else None
        if mode is None:
            raise SpecError("this has to be known while the graph is read", "write True or False")
        return mode

    def return_(self, node: ast.Return) -> None:
        self.returned = node
        if node.value is None:
            return
        value = self.reader.read(node.value)
        if isinstance(value, Known) and value.type == "None":
            return
        self.single = not isinstance(value, Several) or value.is_list
        things = value.items if isinstance(value, Several) and not value.is_list else (value,)
        if isinstance(value, Several) and value.is_list:  # a list of tensors of its own
            things = (_listed(value),)
        self.spoiled = any_wrong(things)
        self.outputs = tuple(_output(thing) for thing in things if not isinstance(thing, Wrong))


def _listed(value: Several) -> Thing:
    if any_wrong([value]):
        return WRONG
    types = {item.type for item in value.items if isinstance(item, Known)}
    if len(types) != 1 or not all(isinstance(item, Known) for item in value.items):
        raise SpecError(f"{described(value)} cannot be returned", "return a tuple")
    return Known(Many(tuple(item.value for item in value.items if isinstance(item, Known))), f"{types.pop()}[]")


def _output(thing: Thing) -> Output:
    if isinstance(thing, Several):
        if thing.is_list and isinstance(listed := _listed(thing), Known):
            return Output(listed.value, listed.type)
        raise SpecError("a tuple within a tuple cannot be returned", "return its items")
    assert isinstance(thing, Known)
    if thing.type.strip("[]?") in ("str", "ScalarType", "Device", "Layout", "MemoryFormat"):
        raise SpecError(f"{described(thing)} cannot be returned", "return tensors and numbers")
    return Output(thing.value, "Tensor?" if thing.type == "None" else thing.type)


def _is_of_kind(value: Thing, type_: str) -> bool:
    """Whether a value is what a parameter of that type may become."""
    if isinstance(value, Several):
        return type_.endswith("[]")
    assert isinstance(value, Known)
    numbers = ("int", "float", "bool", "Scalar")
    return value.type == type_ or type_ == f"{value.type}?" or (value.type in numbers and type_ in numbers)


def _pass(body: Body, node: ast.Pass) -> None:
    """Nothing."""


_STATEMENTS: dict[type[ast.stmt], Callable[[Body, Any], None]] = {
    ast.Assign: Body.assign,
    ast.AnnAssign: Body.annotated,
    ast.AugAssign: Body.augmented,
    ast.Expr: Body.expression,
    ast.Delete: Body.delete,
    ast.With: Body.with_,
    ast.Return: Body.return_,
    ast.Pass: _pass,
}
