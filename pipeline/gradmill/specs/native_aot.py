"""Reads a module that declares kernels compiled ahead of time. It is not executed: its constants must be literals, each
assigned once. What it computes, such as the specializations of the kernels, is not checked.

torchgen since 2.15: `native_aot_decl.load_declarations`, `native_aot.is_unconditional`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradmill.model.native_aot import AotDeclaration
from gradmill.model.regex import regex
from gradmill.problems.problem import TextError
from gradmill.specs.text import assigned, parse_python, python_error

_OP, _KEY, _UNCONDITIONAL = "ATEN_OP", "DISPATCH_KEY", "UNCONDITIONAL"
_CONSTANTS = (_OP, _KEY, "KERNEL_MODULE")
# Functions of a module, each with the number of its parameters, None if that is the operator's; then optional ones.
_FUNCTIONS = {"kernel_precompile_grid": 0, "covered_axes": None, "cpp_dispatch": 1, "cpp_launch": 2}
_OPTIONAL = {"cpp_dispatch_prelude": 0, "cpp_helpers": 0, "cpp_covers": 0}
_ARCHS = "ARCHS"  # the architectures that the kernels are for
_ARCH = regex(r"sm_([1-9][0-9]{1,2})a?")
_MAJORS = range(3, 13)  # of the compute capabilities that upstream knows: 90 is 9.0
_SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)  # with names of their own
_FAMILY = "declarations"  # the function of a module that computes several declarations


def read_declaration(text: str) -> AotDeclaration:
    """The declaration. Raises a TextError for one that is computed, and for a module that upstream refuses."""
    module = parse_python(text)
    _check_names(module)
    constants = dict(filter(None, map(assigned, module.body)))
    for name in _CONSTANTS:
        if name not in constants:
            raise TextError(f"the module has no constant {name}", f"write {name} = '…'", 1, 1)
    op, key = (_literal(constants[name], str) for name in (_OP, _KEY))
    _literal(constants["KERNEL_MODULE"], str)
    _check_functions(module)
    if _ARCHS in constants:
        _check_archs(constants[_ARCHS])
    unconditional = _literal(constants[_UNCONDITIONAL], bool) if _UNCONDITIONAL in constants else False
    return AotDeclaration(str(op), str(key), bool(unconditional), constants[_OP].lineno)


def _check_names(module: ast.Module) -> None:
    """Refuses what may give another value to a constant than its one assignment, and declarations that are computed."""
    bound: set[str] = set()
    for node in _of_scope(module):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            raise python_error(node, "an import of all names may replace a constant", "import names one by one")
        names = _named(node)
        if _FAMILY in names and node in module.body:
            problem = "the declarations are computed, and the module is not executed"
            raise python_error(node, problem, "write a module each")
        for name in (*_CONSTANTS, _UNCONDITIONAL, _ARCHS):
            if name in names and name in bound:
                raise python_error(node, f"{name} is assigned again, and the module is not executed", "assign it once")
            bound.update({name} & names)


def _of_scope(module: ast.Module) -> Iterator[ast.AST]:
    """The nodes of a module that may bind its names: without the bodies of classes and functions, but with what these
    declare as global."""
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for node in reversed(module.body)]
    while waiting:
        node, inner = waiting.pop()
        if not inner or isinstance(node, ast.Global):
            yield node
        own = inner or isinstance(node, _SCOPES)
        waiting += [(child, own) for child in reversed(list(ast.iter_child_nodes(node)))]


def _named(node: ast.AST) -> set[str]:
    """The names that a node binds."""
    if isinstance(node, ast.Name):
        return {node.id} if not isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.alias):
        return {node.asname or node.name}
    return set(node.names) if isinstance(node, ast.Global) else set()


def _literal(node: ast.expr, kind: type) -> object:
    if isinstance(node, ast.Constant) and isinstance(node.value, kind):
        return node.value
    title = "a text" if kind is str else "True or False"
    raise python_error(node, f"this is not {title}, written as a literal: the module is not executed", f"write {title}")


def _check_archs(node: ast.expr) -> None:
    """Refuses architectures that upstream refuses, if they are literals."""
    try:
        value = ast.literal_eval(node)
    except ValueError:  # computed
        return
    archs = tuple(value) if isinstance(value, (str, list, tuple, set, dict)) else ()
    wrong = [each for each in archs if not isinstance(each, str) or not _is_arch(each)]
    if wrong or not archs:
        problem = f"{wrong[0]!r} is not an architecture that upstream knows" if wrong else f"{_ARCHS} names none"
        raise python_error(node, problem, f"write {_ARCHS} = ('sm_90a', 'sm_100a'), or leave it out")


def _is_arch(name: str) -> bool:
    match = _ARCH.fullmatch(name)
    return match is not None and int(match[1]) // 10 in _MAJORS


def _check_functions(module: ast.Module) -> None:
    """Refuses a module without a function that upstream calls, or with other parameters."""
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    for name, number in (*_FUNCTIONS.items(), *_OPTIONAL.items()):
        node = functions.get(name)
        if node is None:
            if name in _FUNCTIONS:
                raise TextError(f"the module has no function {name}", f"define {name}", 1, 1)
        elif number is not None and len(node.args.posonlyargs + node.args.args) != number:
            raise python_error(node, f"{name} needs {number} parameters", "give it as many")
