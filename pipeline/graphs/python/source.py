"""Splits a `.py` file of graphs into the text of each function, and the imports and constants that all share.

The file is parsed, never run. Its top level has imports, constants and functions; a function with a leading underscore
is not a graph. Other statements are ignored: they are for running the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from pipeline.problems.problem import SpecError, TextError, nearest
from pipeline.specs.text import conflict_marker, decode_text

MAY_ALIAS = "MAY_ALIAS"  # {"f": [("x", "y")]}: inputs of f that may share their storage

_CONSTANT = (ast.Constant, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.Name, ast.Attribute, ast.expr_context)
_SIMPLE = (*_CONSTANT, ast.operator, ast.unaryop)


class SourceError(Struct, frozen=True, array_like=True):
    """An error at the top level of a file."""

    problem: str
    hint: str
    line: int
    column: int


class Context(Struct, frozen=True):
    """The names that every function of a file can use."""

    imports: dict[str, str]  # local name to full name: `F` to `torch.nn.functional`
    constants: dict[str, str]  # name to expression
    aliasing: dict[str, list[list[str]]]  # by function, groups of inputs
    functions: list[str]  # the names of all functions, sorted: they cannot call one another


NOTHING = Context({}, {}, {}, [])


class Source(Struct, frozen=True):
    """The parts of a file."""

    functions: dict[str, str]  # name to text, in the order of the file
    lines: dict[str, int]  # the first line of each
    context: Context
    errors: list[SourceError]


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
        decode_error = SourceError(error.problem, error.hint, error.line, error.column)
        return Source({}, {}, NOTHING, [decode_error])
    source = Source({}, {}, Context({}, {}, {}, []), [])
    lines = text.split("\n")
    for node in module.body:
        try:
            _read(node, source, lines)
        except RecursionError:
            source.errors.append(
                SourceError("an expression is nested too deeply", "", node.lineno, node.col_offset + 1)
            )
    source.context.functions.extend(sorted(source.functions))
    for name in sorted(source.context.aliasing.keys() - source.functions.keys()):
        hint = str(nearest(name, source.functions)) or "name a function of this file"
        source.errors.append(SourceError(f"{MAY_ALIAS} names '{name}', which is not a function", hint, 1, 1))
    if not source.functions and not source.errors:
        hint = "write def f(x: Tensor) -> Tensor:"
        source.errors.append(SourceError("the file has no function that is a graph", hint, 1, 1))
    return source


def _read(node: ast.stmt, source: Source, lines: list[str]) -> None:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        source.context.imports.update(_imports(node))
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        _function(node, source, lines)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        _assigned(node, source)
    elif isinstance(node, ast.ClassDef):
        hint = "write functions; modules go through torch.export"
        source.errors.append(SourceError("a class is not a graph", hint, node.lineno, node.col_offset + 1))


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
    if node.name.startswith("_"):
        return
    if node.name in source.functions:
        hint = "give it another name"
        what = f"the function '{node.name}' is already defined"
        source.errors.append(SourceError(what, hint, node.lineno, node.col_offset + 1))
        return
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    source.functions[node.name] = "\n".join(lines[first - 1 : node.end_lineno]) + "\n"
    source.lines[node.name] = first


def _assigned(node: ast.Assign | ast.AnnAssign, source: Source) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if not isinstance(target, ast.Name) or node.value is None:
            continue
        if target.id == MAY_ALIAS:
            try:
                source.context.aliasing.update(_aliasing(node.value))
            except SpecError as error:
                source.errors.append(SourceError(error.problem, error.hint, node.lineno, node.col_offset + 1))
        elif all(isinstance(inner, _SIMPLE) for inner in ast.walk(node.value)):
            source.context.constants[target.id] = ast.unparse(node.value)


def _aliasing(node: ast.expr) -> dict[str, list[list[str]]]:
    try:
        value = ast.literal_eval(node)
        by_function = {str(name): [[str(each) for each in group] for group in groups] for name, groups in value.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        by_function = None
    if by_function is None or any(isinstance(group, str) for groups in value.values() for group in groups):
        raise SpecError(f"{MAY_ALIAS} cannot be read", f'write {MAY_ALIAS} = {{"f": [("x", "y")]}}')
    return by_function
