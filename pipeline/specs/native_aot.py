"""Reads a module that declares kernels compiled ahead of time. It is not executed: its constants must be literals, each
assigned once. What it computes, such as the specializations of the kernels, is not checked.

torchgen since 2.15: `native_aot_decl.load_declarations`, `native_aot.is_unconditional`.
"""

from __future__ import annotations

import ast

from pipeline.model.native_aot import AotDeclaration
from pipeline.problems.problem import TextError

_OP, _KEY, _UNCONDITIONAL = "ATEN_OP", "DISPATCH_KEY", "UNCONDITIONAL"
_CONSTANTS = (_OP, _KEY, "KERNEL_MODULE")
# Functions of a module, each with the number of its parameters, None if that is the operator's; then optional ones.
_FUNCTIONS = {"kernel_precompile_grid": 0, "covered_axes": None, "cpp_dispatch": 1, "cpp_launch": 2}
_OPTIONAL = {"cpp_dispatch_prelude": 0, "cpp_helpers": 0, "cpp_covers": 0}
_FAMILY = "declarations"  # the function of a module that computes several declarations


def read_declaration(text: str) -> AotDeclaration:
    """The declaration. Raises a TextError for one that is computed, and for a module that upstream refuses."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        raise TextError(f"not Python: {getattr(error, 'msg', error)}", "correct the file", line, column) from error
    _check_names(module)
    constants = _constants(module)
    for name in _CONSTANTS:
        if name not in constants:
            raise TextError(f"the module has no constant {name}", f"write {name} = '…'", 1, 1)
    op, key = (_literal(constants[name], str) for name in (_OP, _KEY))
    _literal(constants["KERNEL_MODULE"], str)
    _check_functions(module)
    unconditional = _literal(constants[_UNCONDITIONAL], bool) if _UNCONDITIONAL in constants else False
    return AotDeclaration(str(op), str(key), bool(unconditional), constants[_OP].lineno)


def _check_names(module: ast.Module) -> None:
    """Refuses what may give another value to a constant than its one assignment, and declarations that are computed."""
    assigned: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            raise _error(node, "an import of all names may replace a constant", "import names one by one")
        names = _named(node)
        if _FAMILY in names and node in module.body:
            raise _error(node, "the declarations are computed, and the module is not executed", "write a module each")
        for name in (*_CONSTANTS, _UNCONDITIONAL):
            if name in names and name in assigned:
                raise _error(node, f"{name} is assigned again, and the module is not executed", "assign it once")
            assigned.update({name} & names)


def _named(node: ast.AST) -> set[str]:
    """The names that a node binds."""
    if isinstance(node, ast.Name):
        return {node.id} if not isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.alias):
        return {node.asname or node.name}
    return set(node.names) if isinstance(node, ast.Global) else set()


def _constants(module: ast.Module) -> dict[str, ast.expr]:
    """The values that the module assigns to single names."""
    found: dict[str, ast.expr] = {}
    for node in module.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if value is not None and len(targets) == 1 and isinstance(targets[0], ast.Name):
            found[targets[0].id] = value
    return found


def _literal(node: ast.expr, kind: type) -> object:
    if isinstance(node, ast.Constant) and isinstance(node.value, kind):
        return node.value
    title = "a text" if kind is str else "True or False"
    raise _error(node, f"this is not {title}, written as a literal: the module is not executed", f"write {title}")


def _check_functions(module: ast.Module) -> None:
    """Refuses a module without a function that upstream calls, or with other parameters."""
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    for name, number in (*_FUNCTIONS.items(), *_OPTIONAL.items()):
        node = functions.get(name)
        if node is None:
            if name in _FUNCTIONS:
                raise TextError(f"the module has no function {name}", f"define {name}", 1, 1)
        elif number is not None and len(node.args.posonlyargs + node.args.args) != number:
            raise _error(node, f"{name} needs {number} parameters", "give it as many")


def _error(node: ast.stmt | ast.expr | ast.AST, problem: str, hint: str) -> TextError:
    return TextError(problem, hint, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
