"""A `.py` file of graphs, cut into what each of its functions is read with: its own text, the imports, the constants.

The file is parsed, never run. At its top level stand imports, constants and functions; a function whose name begins
with an underscore is no graph. What else stands there is for whoever runs the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from pipeline.problems.problem import SpecError, TextMistake, nearest
from pipeline.specs.text import conflict_marker, decode_text

MAY_ALIAS = "MAY_ALIAS"  # {"f": [("x", "y")]}: inputs of f that may share their storage

_CONSTANT = (ast.Constant, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.Name, ast.Attribute, ast.expr_context)
_SIMPLE = (*_CONSTANT, ast.operator, ast.unaryop)


class Mistake(Struct, frozen=True, array_like=True):
    """What is wrong at the top level of a file."""

    problem: str
    hint: str
    line: int
    column: int


class Context(Struct, frozen=True):
    """What every function of a file can name."""

    imports: dict[str, str]  # under which name, what: `F`, `torch.nn.functional`
    constants: dict[str, str]  # name to expression
    aliasing: dict[str, list[list[str]]]  # by function, groups of inputs
    functions: list[str]  # the names of all, sorted: they cannot call one another


NOTHING = Context({}, {}, {}, [])


class Source(Struct, frozen=True):
    """What a file says."""

    functions: dict[str, str]  # name to text, in the order of the file
    lines: dict[str, int]  # where each begins
    context: Context
    mistakes: list[Mistake]


def parsed(text: str) -> ast.Module:
    """The syntax of a file; a TextMistake where it has none."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        if (conflict := conflict_marker(text)) is not None:
            raise conflict from None
        raise TextMistake(f"this is no Python: {error.msg}", "", error.lineno or 1, error.offset or 1) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise TextMistake(f"this is no Python that can be read: {error}", "", 1, 1) from None


def read_source(data: bytes) -> Source:
    """The parts of a file; none where it is no Python."""
    try:
        text = decode_text(data)
        module = parsed(text)
    except TextMistake as error:
        mistake = Mistake(error.problem, error.hint, error.line, error.column)
        return Source({}, {}, NOTHING, [mistake])
    found = Source({}, {}, Context({}, {}, {}, []), [])
    lines = text.split("\n")
    for node in module.body:
        try:
            _read(node, found, lines)
        except RecursionError:
            found.mistakes.append(Mistake("an expression is nested too deep", "", node.lineno, node.col_offset + 1))
    found.context.functions.extend(sorted(found.functions))
    for name in sorted(found.context.aliasing.keys() - found.functions.keys()):
        hint = str(nearest(name, found.functions)) or "name a function of this file"
        found.mistakes.append(Mistake(f"{MAY_ALIAS} has '{name}', which is no function", hint, 1, 1))
    if not found.functions and not found.mistakes:
        hint = "write def f(x: Tensor) -> Tensor:"
        found.mistakes.append(Mistake("the file has no function that is a graph", hint, 1, 1))
    return found


def _read(node: ast.stmt, found: Source, lines: list[str]) -> None:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        found.context.imports.update(_imports(node))
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        _function(node, found, lines)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        _assigned(node, found)
    elif isinstance(node, ast.ClassDef):
        hint = "write functions; modules go through torch.export"
        found.mistakes.append(Mistake("a class is no graph", hint, node.lineno, node.col_offset + 1))


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            first = alias.name.partition(".")[0]
            yield first, first


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, found: Source, lines: list[str]) -> None:
    if node.name.startswith("_"):
        return
    if node.name in found.functions:
        hint = "give it another name"
        what = f"the function '{node.name}' is there already"
        found.mistakes.append(Mistake(what, hint, node.lineno, node.col_offset + 1))
        return
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    found.functions[node.name] = "\n".join(lines[first - 1 : node.end_lineno]) + "\n"
    found.lines[node.name] = first


def _assigned(node: ast.Assign | ast.AnnAssign, found: Source) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if not isinstance(target, ast.Name) or node.value is None:
            continue
        if target.id == MAY_ALIAS:
            try:
                found.context.aliasing.update(_aliasing(node.value))
            except SpecError as error:
                found.mistakes.append(Mistake(error.problem, error.hint, node.lineno, node.col_offset + 1))
        elif all(isinstance(inner, _SIMPLE) for inner in ast.walk(node.value)):
            found.context.constants[target.id] = ast.unparse(node.value)


def _aliasing(node: ast.expr) -> dict[str, list[list[str]]]:
    try:
        value = ast.literal_eval(node)
        found = {str(name): [[str(each) for each in group] for group in groups] for name, groups in value.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        found = None
    if found is None or any(isinstance(group, str) for groups in value.values() for group in groups):
        raise SpecError(f"{MAY_ALIAS} cannot be read", f'write {MAY_ALIAS} = {{"f": [("x", "y")]}}')
    return found
