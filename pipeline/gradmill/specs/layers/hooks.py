"""Reads the hooks of a description: the modules of their folder that they import, and the hooks that they define."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator

from gradmill.model.layers import HookFile
from gradmill.problems.problem import SpecError, TextError, nearest
from gradmill.specs.text import decode_text, parse_python

HOOKS = ("select", "unit", "files")
MAIN = "hooks"  # the name of the module, whatever its file is called
_KEY = "hooks:"  # begins the keys of these files among those of the set


def read_hooks(path: str, read: Callable[[str], bytes | None]) -> HookFile:
    """The hooks in the file at `path`, with all modules of its folder that it imports. `read` returns the bytes of a
    file; None if it is missing. SpecError for what is not Python, or imports other modules than the standard
    library's."""
    folder = os.path.dirname(path)
    modules, lines, files = {MAIN: path}, {}, [path]
    for file in files:
        tree = _parsed(file, read(file) or b"")
        if file == path:
            lines = _hooks_in(file, tree)
        for name, node in _imported(file, tree):
            own = os.path.join(folder, f"{name}.py")
            if name in sys.stdlib_module_names or name in modules:
                continue
            if read(own) is None:
                hint = f"write {name}.py next to it, or use the standard library alone"
                raise _error(file, node, f"'{name}' is neither in Python's library nor next to the hooks", hint)
            modules[name] = own
            files.append(own)
    return HookFile({name: f"{_KEY}{os.path.relpath(at, folder)}" for name, at in modules.items()}, lines)


def path_of(path: str, key: str) -> str:
    """The path of one of the files of the hooks at `path`, by its key."""
    return os.path.join(os.path.dirname(path), key.removeprefix(_KEY))


def _parsed(file: str, data: bytes) -> ast.Module:
    try:
        return parse_python(decode_text(data))
    except TextError as error:
        raise SpecError(f"{file}:{error.line}:{error.column}: {error.problem}", error.hint) from error


def _hooks_in(file: str, tree: ast.Module) -> dict[str, int]:
    """The hooks that the statements of a module define, or import, with their lines."""
    found: dict[str, int] = {}
    for node in tree.body:
        names = [node.name] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign)):
            targets = [each for each in ast.walk(node) if isinstance(each, (ast.alias, ast.Name))]
            names = [(each.asname or each.name) if isinstance(each, ast.alias) else each.id for each in targets]
        found |= {name: node.lineno for name in names if name in HOOKS}
    if not found:
        defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        near = next(filter(None, (nearest(name, HOOKS) for name in defined)), "")
        raise _error(file, None, "no hook is defined", near or _FORM)
    return found


_FORM = (
    "write select(function, family), unit(family, piece, function, text, release), files(functions, release), or some"
)


def _imported(file: str, tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """The first parts of the names of all modules that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise _error(file, node, "hooks are no package: an import may not begin with '.'", "name the module")
            yield (node.module or "").partition(".")[0], node


def _error(file: str, node: ast.stmt | None, problem: str, hint: str) -> SpecError:
    line, column = (node.lineno, node.col_offset + 1) if node is not None else (1, 1)
    return SpecError(f"{file}:{line}:{column}: {problem}", hint)
