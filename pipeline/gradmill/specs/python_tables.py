"""Reads Python scripts that compute tables of text, as PyTorch's generator of type stubs does, without executing them.

The syntax tree is interpreted: literals, strings, loops over them, functions of the script. What a script imports is
opaque, but for what the caller knows: it has a name, and what is computed from it is opaque, too. Only a few methods of
strings and collections can be called, so a script can read and write nothing.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pprint import pformat
from types import ModuleType
from typing import Any

from gradmill.problems.problem import TextError

_STEPS = 2_000_000  # of one script; PyTorch's take 30,000
_SAFE: dict[str, Any] = {
    each.__name__: each
    for each in (list, dict, set, tuple, str, len, sorted, enumerate, filter, zip, any, all)  # fmt: skip
} | {"object": object, "print": lambda *words: None}
_MODULES: dict[str, Any] = {
    "collections.defaultdict": defaultdict,
    "pprint.pformat": pformat,
    "re.compile": re.compile,
    "typing.TYPE_CHECKING": False,
}
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        """endswith format join lower lstrip removeprefix removesuffix replace rstrip split splitlines startswith strip
        title upper""".split()
    ),
    list: frozenset(("append", "copy", "extend", "index", "insert", "items")),
    dict: frozenset(("copy", "get", "items", "keys", "pop", "setdefault", "update", "values")),
    set: frozenset(("add", "copy", "union", "update")),
    re.Pattern: frozenset(("split", "sub")),
}
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_Scope = dict[str, Any]


class Opaque:
    """What a script imports, or computes from it. `name`: of what is imported."""

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
    """A script, interpreted. `known`: what it imports, by dotted name; others are opaque. `names`: its global names;
    `locals`: those of each of its functions, as its last call left them. Raises a TextError for what is not read."""

    def __init__(self, text: str, known: Mapping[str, Any]) -> None:
        self._known = {**_MODULES, **known}
        self._steps = 0
        self.names: _Scope = {"__name__": ""}
        self.locals: dict[str, _Scope] = {}
        self._run_all(parsed(text).body, (self.names,))

    # ---- statements

    def _run_all(self, body: Iterable[ast.stmt], scopes: tuple[_Scope, ...]) -> None:
        for statement in body:
            try:
                self._run(statement, scopes)
            except (_Returned, TextError):
                raise
            except RecursionError:
                raise _error(statement, "it calls itself without an end") from None
            except Exception as error:  # what the statement itself raises
                raise _error(statement, f"it fails here: {type(error).__name__}: {error}") from error

    def _run(self, node: ast.stmt, scopes: tuple[_Scope, ...]) -> None:
        self._steps += 1
        if self._steps > _STEPS:
            raise _error(node, "it has no end")
        value = self._value
        match node:
            case ast.Assign(targets=targets):
                result = value(node.value, scopes)
                for target in targets:
                    self._assign(target, result, scopes)
            case ast.AnnAssign():
                if node.value is not None:
                    self._assign(node.target, value(node.value, scopes), scopes)
            case ast.AugAssign(op=ast.Add()):
                load = ast.parse(ast.unparse(node.target), mode="eval").body
                before, more = value(load, scopes), value(node.value, scopes)
                if isinstance(before, list) and not isinstance(more, Opaque):
                    before += more
                self._assign(node.target, before if isinstance(before, list) else _added(before, more), scopes)
            case ast.Expr():
                value(node.value, scopes)
            case ast.For():
                for item in _items(value(node.iter, scopes)):
                    self._assign(node.target, item, scopes)
                    self._run_all(node.body, scopes)
            case ast.If():
                self._run_all(node.body if self._test(node.test, scopes) else node.orelse, scopes)
            case ast.Return():
                raise _Returned(None if node.value is None else value(node.value, scopes))
            case ast.FunctionDef():
                scopes[-1][node.name] = self._function(node.name, node.args, node.body, scopes)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for each in names:
                    self._import(node, each, scopes[-1])
            case ast.Delete(targets=[ast.Subscript() as target]):
                del value(target.value, scopes)[value(target.slice, scopes)]
            case ast.With() | ast.Try():
                self._run_all(node.body, scopes)
            case ast.Raise():
                raise _error(node, "it raises an error here")
            case ast.Assert() | ast.Pass() | ast.ClassDef():
                pass
            case _:
                raise _error(node, "gradmill does not read such a statement")

    def _import(self, node: ast.Import | ast.ImportFrom, alias: ast.alias, scope: _Scope) -> None:
        if isinstance(node, ast.ImportFrom):
            scope[alias.asname or alias.name] = self._imported(f"{node.module}.{alias.name}")
        else:
            scope[alias.asname or alias.name.partition(".")[0]] = self._imported(
                alias.name if alias.asname else alias.name.partition(".")[0]
            )

    def _imported(self, name: str) -> Any:
        return self._known[name] if name in self._known else Opaque(name)

    def _assign(self, target: ast.expr, value: Any, scopes: tuple[_Scope, ...]) -> None:
        if isinstance(target, ast.Name):
            scopes[-1][target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = [*_items(value)] or [value] * len(target.elts)
            for each, item in zip(target.elts, items, strict=True):
                self._assign(each, item, scopes)
        elif isinstance(target, ast.Subscript):
            of = self._value(target.value, scopes)
            if not isinstance(of, Opaque):
                of[self._value(target.slice, scopes)] = value
        elif not isinstance(target, ast.Attribute):
            raise _error(target, "gradmill does not read such an assignment")

    def _test(self, node: ast.expr, scopes: tuple[_Scope, ...]) -> bool:
        value = self._value(node, scopes)
        if isinstance(value, Opaque):
            raise _error(node, "this depends on what only the script itself knows")
        return bool(value)

    def _function(self, name: str, args: ast.arguments, body: list[ast.stmt], outer: tuple[_Scope, ...]) -> Any:
        parameters = [each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        positional = len(args.posonlyargs) + len(args.args)
        plain = [self._value(each, outer) for each in args.defaults]
        defaults = dict(zip(parameters[positional - len(plain) : positional], plain))
        defaults |= {
            each.arg: self._value(default, outer)
            for each, default in zip(args.kwonlyargs, args.kw_defaults)
            if default is not None
        }

        def call(*given: Any, **named: Any) -> Any:
            own = {**defaults, **dict(zip(parameters, given)), **named}
            if args.vararg is not None:
                own[args.vararg.arg] = given[positional:]
            self.locals[name] = own
            try:
                self._run_all(body, (*outer, own))
            except _Returned as returned:
                return returned.value
            return None

        return call

    # ---- expressions

    def _value(self, node: ast.expr, scopes: tuple[_Scope, ...]) -> Any:
        value = self._value
        match node:
            case ast.Constant():
                return node.value
            case ast.Name(id=name):
                found = next((scope for scope in reversed(scopes) if name in scope), _SAFE)
                return found[name] if name in found else Opaque(name)
            case ast.JoinedStr(values=parts):
                texts = [value(each, scopes) for each in parts]
                return Opaque() if _is_opaque(texts) else "".join(texts)
            case ast.FormattedValue(format_spec=None):
                inner = value(node.value, scopes)
                return (
                    inner if isinstance(inner, Opaque) else repr(inner) if node.conversion == ord("r") else str(inner)
                )
            case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
                kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
                return kind(self._spread(elts, scopes))
            case ast.Dict():
                pairs = [
                    (None if k is None else value(k, scopes), value(v, scopes)) for k, v in zip(node.keys, node.values)
                ]
                return {k: v for key, own in pairs for k, v in (own.items() if key is None else ((key, own),))}
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return self._comprehension(node, scopes)
            case ast.BinOp(op=ast.Add()):
                return _added(value(node.left, scopes), value(node.right, scopes))
            case ast.BoolOp():
                stops = isinstance(node.op, ast.Or)
                return next((True for each in node.values if self._test(each, scopes) == stops), False) == stops
            case ast.UnaryOp(op=ast.Not()):
                return not self._test(node.operand, scopes)
            case ast.UnaryOp(op=ast.USub()):
                return -value(node.operand, scopes)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                both = value(left, scopes), value(right, scopes)
                return Opaque() if _is_opaque(both) else _COMPARISONS[type(op)](*both)
            case ast.IfExp():
                return value(node.body if self._test(node.test, scopes) else node.orelse, scopes)
            case ast.Lambda():
                return self._function("", node.args, [ast.copy_location(ast.Return(node.body), node)], scopes)
            case ast.Attribute():
                return self._attribute(node, value(node.value, scopes))
            case ast.Subscript():
                of, at = value(node.value, scopes), value(node.slice, scopes)
                return Opaque() if _is_opaque((of, at)) else of[at]
            case ast.Slice():
                ends = (None if each is None else value(each, scopes) for each in (node.lower, node.upper, node.step))
                return slice(*ends)
            case ast.Call():
                return self._call(node, scopes)
        raise _error(node, "gradmill does not read such an expression")

    def _spread(self, elts: Iterable[ast.expr], scopes: tuple[_Scope, ...]) -> list[Any]:
        found: list[Any] = []
        for each in elts:
            found += (
                _items(self._value(each.value, scopes))
                if isinstance(each, ast.Starred)
                else [self._value(each, scopes)]
            )
        return found

    def _comprehension(self, node: Any, scopes: tuple[_Scope, ...]) -> Any:
        rows: list[_Scope] = [{}]
        for each in node.generators:
            inner = []
            for row in rows:
                values = self._value(each.iter, (*scopes, row))
                if isinstance(values, Opaque):
                    return Opaque()
                for item in values:
                    own = dict(row)
                    self._assign(each.target, item, (*scopes, own))
                    if all(self._test(test, (*scopes, own)) for test in each.ifs):
                        inner.append(own)
            rows = inner
        if isinstance(node, ast.DictComp):
            return {self._value(node.key, (*scopes, row)): self._value(node.value, (*scopes, row)) for row in rows}
        found = [self._value(node.elt, (*scopes, row)) for row in rows]
        return set(found) if isinstance(node, ast.SetComp) else found

    def _attribute(self, node: ast.Attribute, of: Any) -> Any:
        if isinstance(of, Opaque):
            return self._imported(f"{of.name}.{node.attr}") if of.name else Opaque()
        if isinstance(of, Record):
            return of.attributes.get(node.attr, Opaque())
        if any(isinstance(of, kind) and node.attr in names for kind, names in _METHODS.items()):
            return getattr(of, node.attr)
        raise _error(node, f"gradmill does not read .{node.attr} of such a value")

    def _call(self, node: ast.Call, scopes: tuple[_Scope, ...]) -> Any:
        function, args = self._value(node.func, scopes), self._spread(node.args, scopes)
        named: dict[str, Any] = {}
        for each in node.keywords:
            own = self._value(each.value, scopes)
            named |= own if each.arg is None else {each.arg: own}
        if isinstance(function, Opaque):
            if function.name in ("getattr", "hasattr") and isinstance(args[0], Opaque):
                return function.name == "hasattr" or self._imported(f"{args[0].name}.{args[1]}")
            return Opaque()
        of = getattr(function, "__self__", None)  # of a method, or the module of a function of Python's
        needs_all = (
            isinstance(of, (str, set, re.Pattern, ModuleType))
            or function in _SAFE.values()
            or function in _MODULES.values()
        )
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
    assigned = [node for found in classes for node in found.body if isinstance(node, ast.Assign)]
    own = [node.targets[0] for node in assigned if not isinstance(node.value, ast.Name)]
    return [target.id for target in own if isinstance(target, ast.Name)]


def _items(value: Any) -> Iterable[Any]:
    return () if isinstance(value, Opaque) else value


def _is_opaque(values: Iterable[Any]) -> bool:
    return any(isinstance(each, Opaque) for each in values)


def _added(one: Any, other: Any) -> Any:
    return Opaque() if _is_opaque((one, other)) else one + other


def _error(node: ast.AST, problem: str) -> TextError:
    place = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
    return TextError(f"the script is read, not executed, and {problem}", "write it as PyTorch's releases do", *place)
