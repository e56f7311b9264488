"""Splits a `.py` file of graphs into the text of each function, and the imports and constants that all share.

The file is parsed, never run. Its top level has imports, constants and functions; a function with a leading underscore
is not a graph. Other statements are ignored: they are for running the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from gradmill.problems.problem import TextError
from gradmill.specs.text import conflict_marker, decode_text

_MAIN = "__name__"  # in the condition of what only runs with the file


class SourceError(Struct, frozen=True, array_like=True):
    """An error at the top level of a file."""

    problem: str
    hint: str
    line: int
    column: int


class Context(Struct, frozen=True):
    """The names that every function of a file can use."""

    imports: dict[str, str]  # local name to full name: `F` to `torch.nn.functional`
    constants: dict[str, str]  # name to expression; "" if the name is assigned otherwise
    functions: list[str]  # the names of all functions, also of those that are no graphs; they cannot call one another


NOTHING = Context({}, {}, [])


class Source(Struct, frozen=True):
    """The parts of a file."""

    functions: dict[str, str]  # name to text, in the order of the file
    lines: dict[str, int]  # the first line of each
    context: Context
    errors: list[SourceError]
    defaults: list[str]  # the names that defaults of parameters were computed from


def parsed(text: str) -> ast.Module:
    """The syntax tree of a file. Raises a TextError if the file is not valid Python."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        if (conflict := conflict_marker(text)) is not None:
            raise conflict from None
        raise TextError(f"this is not valid Python: {error.msg}", "", error.lineno or 1, error.offset or 1) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise TextError(f"this Python cannot be parsed: {error}", "", 1, 1) from None


def read_source(data: bytes) -> Source:
    """The parts of a file, with its errors; no functions if it is not valid Python."""
    try:
        text = decode_text(data)
        module = parsed(text)
    except TextError as error:
        return Source({}, {}, NOTHING, [SourceError(error.problem, error.hint, error.line, error.column)], [])
    source = Source({}, {}, Context({}, {}, []), [], [])
    lines = text.split("\n")
    for node in module.body:
        try:
            _read(node, source, lines)
        except RecursionError:
            _say(source, node, "an expression is nested too deeply", "")
    source.context.functions.sort()
    if not source.functions and not source.errors:
        hint = "write def f(x: Tensor) -> Tensor:"
        if source.context.functions:
            hint = "functions whose names begin with '_' are left out: rename one"
        source.errors.append(SourceError("the file has no function that is a graph", hint, 1, 1))
    return source


def _read(node: ast.stmt, source: Source, lines: list[str]) -> None:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        source.context.imports.update(_imports(node))
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        _function(node, source, lines)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if node.value is not None:
                _bound(target, node.value, source)
    elif isinstance(node, ast.ClassDef):
        _say(source, node, "a class is not a graph", "write functions; modules go through torch.export")
    elif not (isinstance(node, ast.If) and _MAIN in ast.unparse(node.test)):
        _unknown(node, source)


def _say(source: Source, node: ast.stmt | ast.expr, problem: str, hint: str) -> None:
    source.errors.append(SourceError(problem, hint, node.lineno, node.col_offset + 1))


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            first = alias.name.partition(".")[0]
            yield first, first


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, source: Source, lines: list[str]) -> None:
    source.context.functions.append(node.name)
    if node.name.startswith("_"):
        return
    if node.name in source.functions:
        _say(source, node, f"the function '{node.name}' is already defined", "give it another name")
        return
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    for default in filter(None, (*node.args.defaults, *node.args.kw_defaults)):
        source.defaults.extend(each.id for each in ast.walk(default) if isinstance(each, ast.Name))
    source.functions[node.name] = "\n".join(lines[first - 1 : node.end_lineno]) + "\n"
    source.lines[node.name] = first


def _bound(target: ast.expr, value: ast.expr, source: Source) -> None:
    """Notes what a name, or each of several, is assigned."""
    if isinstance(target, ast.Name):
        if target.id in source.defaults:
            what = f"'{target.id}' is assigned after it was the default of a parameter"
            _say(source, target, what, "use another name")
        source.context.constants.pop(target.id, None)  # what was computed from its former value is not known
        source.context.constants[target.id] = ast.unparse(value)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and _each_alone(target, value):
        for one, other in zip(target.elts, value.elts, strict=True):
            _bound(one, other, source)
    else:
        _unknown(target, source)


def _each_alone(target: ast.Tuple, value: ast.Tuple) -> bool:
    """Whether each item of a tuple is assigned to one target, and to none that another item is computed from."""
    inner = [*ast.walk(target), *ast.walk(value)]
    names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
    computed = any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(value))
    return len(target.elts) == len(value.elts) and not computed and not any(isinstance(e, ast.Starred) for e in inner)


def _unknown(node: ast.stmt | ast.expr, source: Source) -> None:
    """Notes the names that a statement, or a target, assigns in another way than `NAME = value`."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            source.context.constants.pop(inner.id, None)
            source.context.constants[inner.id] = ""
