"""Reads Python scripts that compute tables of text, as PyTorch's generator of type stubs does, without executing them.

The syntax tree is interpreted: literals, loops over them, functions of the script. What a script imports is opaque,
unless the caller knows it; so is what is computed from it. Only a few methods of strings and collections can be called,
so a script can read and write nothing.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pprint import pformat
from typing import Any

from gradmill.problems.problem import TextError

_STEPS = 2_000_000  # of one script; PyTorch's take some 30,000
_BUILTINS = (list, dict, set, tuple, str, len, sorted, enumerate, filter, zip)
_KNOWN: dict[str, Any] = {each.__name__: each for each in _BUILTINS} | {
    "collections.defaultdict": defaultdict,
    "pprint.pformat": pformat,
    "re.compile": re.compile,
    "typing.TYPE_CHECKING": False,
}
_METHODS: dict[type, str] = {
    str: "endswith format join lower lstrip removeprefix removesuffix replace rstrip split startswith strip upper",
    list: "append copy extend index insert",
    dict: "copy get items keys pop setdefault update values",
    set: "add copy union update",
    re.Pattern: "split sub",
}
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_Scopes = tuple[dict[str, Any], ...]  # the innermost last


class Opaque:
    """What a script imports, with its dotted name, or computes from it."""

    def __init__(self, name: str = "") -> None:
        self.name = name


class Record:
    """A value that the caller passes to a script. Attributes that it lacks are opaque."""

    def __init__(self, **attributes: Any) -> None:
        self.attributes = attributes


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class Script:
    """A script, interpreted. `known`: what it imports, by dotted name; `names`: its global names; `locals`: those of
    each of its functions, as its last call left them. Raises a TextError for what is not read."""

    def __init__(self, text: str, known: Mapping[str, Any]) -> None:
        self._known, self._steps = {**_KNOWN, **known}, 0
        self.names: dict[str, Any] = {"__name__": ""}
        self.locals: dict[str, dict[str, Any]] = {}
        self._run_all(parsed(text).body, (self.names,))

    def _run_all(self, body: Iterable[ast.stmt], scopes: _Scopes) -> None:
        for statement in body:
            self._steps += 1
            try:
                if self._steps > _STEPS:
                    raise RecursionError("it has no end")
                self._run(statement, scopes)
            except (_Returned, TextError):
                raise
            except Exception as error:  # whatever the statement itself raises
                raise _error(statement, f"it fails here: {type(error).__name__}: {error}") from error

    def _run(self, node: ast.stmt, scopes: _Scopes) -> None:
        match node:
            case ast.Assign(targets=targets):
                value = self._value(node.value, scopes)
                for target in targets:
                    self._assign(target, value, scopes)
            case ast.AnnAssign(value=None) | ast.Assert() | ast.Pass() | ast.ClassDef():
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as own):
                self._assign(target, self._value(own, scopes), scopes)
            case ast.AugAssign(op=ast.Add()):
                self._assign(node.target, self._added(node.target, node.value, scopes), scopes)
            case ast.Expr():
                self._value(node.value, scopes)
            case ast.For():
                for item in _items(self._value(node.iter, scopes)):
                    self._assign(node.target, item, scopes)
                    self._run_all(node.body, scopes)
            case ast.If():
                self._run_all(node.body if self._test(node.test, scopes) else node.orelse, scopes)
            case ast.Return():
                raise _Returned(None if node.value is None else self._value(node.value, scopes))
            case ast.FunctionDef():
                scopes[-1][node.name] = self._function(node.name, node.args, node.body, scopes)
            case ast.Import(names=names):
                for each in names:
                    name = each.name if each.asname else each.name.partition(".")[0]
                    scopes[-1][each.asname or name] = self._imported(name)
            case ast.ImportFrom(names=names):
                for each in names:
                    scopes[-1][each.asname or each.name] = self._imported(f"{node.module}.{each.name}")
            case ast.Delete(targets=[ast.Subscript() as target]):
                del self._value(target.value, scopes)[self._value(target.slice, scopes)]
            case ast.With() | ast.Try():
                self._run_all(node.body, scopes)
            case _:
                raise _error(node, "gradmill does not read such a statement")

    def _imported(self, name: str) -> Any:
        return self._known[name] if name in self._known else Opaque(name)

    def _assign(self, target: ast.expr, value: Any, scopes: _Scopes) -> None:
        if isinstance(target, ast.Name):
            scopes[-1][target.id] = value
        elif isinstance(target, ast.Tuple):
            for each, item in zip(target.elts, value, strict=True):
                self._assign(each, item, scopes)
        elif isinstance(target, ast.Subscript):
            of = self._value(target.value, scopes)
            if not isinstance(of, Opaque):
                of[self._value(target.slice, scopes)] = value
        elif not isinstance(target, ast.Attribute):
            raise _error(target, "gradmill does not read such an assignment")

    def _test(self, node: ast.expr, scopes: _Scopes) -> bool:
        value = self._value(node, scopes)
        if isinstance(value, Opaque):
            raise _error(node, "this is not known without its imports")
        return bool(value)

    def _function(self, name: str, args: ast.arguments, body: list[ast.stmt], outer: _Scopes) -> Any:
        parameters = [each.arg for each in (*args.posonlyargs, *args.args)]
        defaults = dict(zip(reversed(parameters), (self._value(each, outer) for each in reversed(args.defaults))))

        def call(*given: Any, **named: Any) -> Any:
            own = {**defaults, **dict(zip(parameters, given)), **named}
            if args.vararg is not None:
                own[args.vararg.arg] = given[len(parameters) :]
            self.locals[name] = own
            try:
                self._run_all(body, (*outer, own))
            except _Returned as returned:
                return returned.value
            return None

        return call

    def _value(self, node: ast.expr, scopes: _Scopes) -> Any:
        value = self._value
        match node:
            case ast.Constant():
                return node.value
            case ast.Name(id=name):
                found = next((scope for scope in reversed(scopes) if name in scope), None)
                return self._imported(name) if found is None else found[name]
            case ast.JoinedStr(values=parts):
                texts = [value(each, scopes) for each in parts]
                return Opaque() if _is_opaque(texts) else "".join(texts)
            case ast.FormattedValue(value=own, conversion=conversion, format_spec=None):
                inner = value(own, scopes)
                return inner if isinstance(inner, Opaque) else repr(inner) if conversion == ord("r") else str(inner)
            case ast.List(elts=elts):
                return self._spread(elts, scopes)
            case ast.Tuple(elts=elts):
                return tuple(self._spread(elts, scopes))
            case ast.Set(elts=elts):
                return set(self._spread(elts, scopes))
            case ast.Dict(keys=keys, values=values):
                pairs = [({} if k is None else value(k, scopes), value(v, scopes)) for k, v in zip(keys, values)]
                return {k: v for key, own in pairs for k, v in (own.items() if key == {} else ((key, own),))}
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp() | ast.SetComp():
                return self._comprehension(node, scopes)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._added(left, right, scopes)
            case ast.BoolOp(op=op, values=values):
                stops = isinstance(op, ast.Or)
                return stops if any(self._test(each, scopes) == stops for each in values) else not stops
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._test(operand, scopes)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand, scopes)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                both = value(left, scopes), value(right, scopes)
                return Opaque() if _is_opaque(both) else _COMPARISONS[type(op)](*both)
            case ast.IfExp():
                return value(node.body if self._test(node.test, scopes) else node.orelse, scopes)
            case ast.Lambda(args=args, body=body):
                return self._function("", args, [ast.copy_location(ast.Return(body), body)], scopes)
            case ast.Attribute():
                return self._attribute(node, value(node.value, scopes))
            case ast.Subscript():
                of, at = value(node.value, scopes), value(node.slice, scopes)
                return Opaque() if _is_opaque((of, at)) else of[at]
            case ast.Slice(lower=lower, upper=upper, step=None):
                return slice(*(None if each is None else value(each, scopes) for each in (lower, upper)))
            case ast.Call():
                return self._call(node, scopes)
        raise _error(node, "gradmill does not read such an expression")

    def _added(self, left: ast.expr, right: ast.expr, scopes: _Scopes) -> Any:
        one, other = self._value(left, scopes), self._value(right, scopes)
        return Opaque() if _is_opaque((one, other)) else one + other

    def _spread(self, elts: Iterable[ast.expr], scopes: _Scopes) -> list[Any]:
        found: list[Any] = []
        for each in elts:
            if isinstance(each, ast.Starred):
                found += _items(self._value(each.value, scopes))
            else:
                found.append(self._value(each, scopes))
        return found

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp, scopes: _Scopes
    ) -> Any:
        rows: list[_Scopes] = [(*scopes, {})]
        for each in node.generators:
            found = [(row, self._value(each.iter, row)) for row in rows]
            if _is_opaque(items for _, items in found):
                return Opaque()
            rows = []
            for row, item in ((row, item) for row, items in found for item in items):
                self._assign(each.target, item, inner := (*row, {}))
                rows += [inner] if all(self._test(test, inner) for test in each.ifs) else []
        if isinstance(node, ast.DictComp):
            return {self._value(node.key, row): self._value(node.value, row) for row in rows}
        values = [self._value(node.elt, row) for row in rows]
        return set(values) if isinstance(node, ast.SetComp) else values

    def _attribute(self, node: ast.Attribute, of: Any) -> Any:
        if isinstance(of, Opaque):
            return self._imported(f"{of.name}.{node.attr}") if of.name else of
        if isinstance(of, Record):
            return of.attributes.get(node.attr, Opaque())
        if any(isinstance(of, kind) and node.attr in names.split() for kind, names in _METHODS.items()):
            return getattr(of, node.attr)
        raise _error(node, f"gradmill does not read .{node.attr} of such a value")

    def _call(self, node: ast.Call, scopes: _Scopes) -> Any:
        function, args = self._value(node.func, scopes), self._spread(node.args, scopes)
        named: dict[str, Any] = {}
        for each in node.keywords:
            own = self._value(each.value, scopes)
            named |= own if each.arg is None else {each.arg: own}
        if isinstance(function, Opaque):
            if function.name in ("getattr", "hasattr") and isinstance(args[0], Opaque):
                return function.name == "hasattr" or self._imported(f"{args[0].name}.{args[1]}")
            return Opaque()
        of_text = isinstance(getattr(function, "__self__", None), (str, set, re.Pattern))
        needs_all = of_text or function in _KNOWN.values()
        return Opaque() if needs_all and _is_opaque((*args, *named.values())) else function(*args, **named)


def parsed(text: str) -> ast.Module:
    """The syntax tree of a script. Raises a TextError for text that is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        raise TextError(f"not Python: {getattr(error, 'msg', error)}", "correct the file", line, column) from error


def members_of(text: str, name: str) -> list[str]:
    """The members of an enumeration in a script, in their order, without aliases; none if there is no such class."""
    classes = (node for node in parsed(text).body if isinstance(node, ast.ClassDef) and node.name == name)
    own = (node for found in classes for node in found.body if isinstance(node, ast.Assign))
    targets = (node.targets[0] for node in own if not isinstance(node.value, ast.Name))
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _items(value: Any) -> Iterable[Any]:
    return () if isinstance(value, Opaque) else value


def _is_opaque(values: Iterable[Any]) -> bool:
    return any(isinstance(each, Opaque) for each in values)


def _error(node: ast.stmt | ast.expr, problem: str) -> TextError:
    hint = "write it as PyTorch's releases do"
    return TextError(f"the script is read, not executed, and {problem}", hint, node.lineno, node.col_offset + 1)
