"""Reads the hooks of a description: the modules of their folder that they import, and the hooks that they define."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator

from gradmill.io.files import read_file
from gradmill.problems.problem import TextError, nearest
from gradmill.specs.text import decode_text, parse_python, python_error

HOOKS = ("select", "unit", "files")
MAIN = "hooks"  # the name of the module, whatever its file is called
_FORMS = "select(function, family), unit(family, piece, function, text, release), files(functions, release)"


def read_hooks(path: str) -> tuple[dict[str, str], dict[str, int]]:
    """The paths of all modules of its folder that the file at `path` consists of, itself first, and the lines of the
    hooks that it defines. SpecError for what is not Python, or imports other modules than the standard library's."""
    folder = os.path.dirname(path)
    modules, files = {MAIN: path}, [path]
    lines: dict[str, int] = {}
    for file in files:
        try:
            tree = parse_python(decode_text(read_file(file) or b""))
            lines = lines or _hooks_in(tree)
            for name, node in _imported(tree):
                own = os.path.join(folder, f"{name}.py")
                if name in sys.stdlib_module_names or name in modules:
                    continue
                if read_file(own) is None:
                    hint = f"write {name}.py next to it, or use the standard library alone"
                    raise python_error(node, f"'{name}' is neither in Python's library nor next to the hooks", hint)
                modules[name] = own
                files.append(own)
        except TextError as error:
            raise error.in_file(file) from error
    return modules, lines


def _hooks_in(tree: ast.Module) -> dict[str, int]:
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
        raise python_error(tree, "no hook is defined", near or f"write {_FORMS}, or some")
    return found


def _imported(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """The first parts of the names of all modules that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise python_error(node, "hooks are no package: an import may not begin with '.'", "name the module")
            yield (node.module or "").partition(".")[0], node
