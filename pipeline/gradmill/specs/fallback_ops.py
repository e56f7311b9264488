"""Reads the Python module with the operators that AOTInductor calls by C functions. It is not executed: the lists must
be literals.

torchgen: `gen_aoti_c_shim.gen_declaration_and_definition`,
`gen_aoti_c_shim._get_earliest_torch_version_for_op_variant`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from gradmill.model.regex import regex
from gradmill.model.shims import FALLBACKS, SHIMIFIED, ShimVersion
from gradmill.problems.problem import SpecError, TextError, all_of
from gradmill.releases.model import Release
from gradmill.specs.text import assigned, parse_python, python_error

Versions = tuple[ShimVersion, ...]  # the newest first

_LISTS = (FALLBACKS, SHIMIFIED)
_MACRO = regex(r"TORCH_VERSION_\d+_\d+_\d+\n?")
_SINCE, _NEW = "since", "new_args"


def read_fallback_ops(text: str, release: Release) -> dict[str, dict[str, Versions]]:
    """The versions of each operator in each list, by the name of the list and `aten.add.Tensor`. Raises a TextError for
    what is not a literal, and for a version that upstream refuses."""
    module = parse_python(text)
    lists: dict[str, dict[str, Versions]] = {}
    errors: list[SpecError] = []
    for statement in module.body:
        name, value = assigned(statement) or ("", None)
        if value is not None and name in _LISTS:
            lists[name] = _list(value, release, errors)
        elif not _is_harmless(statement):
            hint = f"write only {' and '.join(_LISTS)}, as literals"
            problem = "the module is read as data, not executed: this is not one of its lists"
            errors.append(python_error(statement, problem, hint))
    for name in _LISTS if "aten" in release.shim_devices else _LISTS[:1]:
        if name not in lists:
            errors.append(TextError(f"the list {name} is missing", f"write {name} = {{…}}", 1, 1))
    if errors:
        raise all_of(errors)
    return lists


def _is_harmless(statement: ast.stmt) -> bool:
    """Whether a statement changes no list."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _list(value: ast.expr, release: Release, errors: list[SpecError]) -> dict[str, Versions]:
    """A list of operators. Up to 2.7 it is a set of names; upstream then also takes a dictionary, for its keys."""
    found: dict[str, Versions] = {}
    if isinstance(value, ast.Set) and not release.shim_versions:
        rows: list[tuple[ast.expr | None, ast.expr | None]] = [(element, None) for element in value.elts]
    elif isinstance(value, ast.Dict):
        rows = [*zip(value.keys, value.values)]
    else:
        expected = "a dictionary" if release.shim_versions else "a set"
        errors.append(python_error(value, f"not {expected}, written as a literal", "write the names between braces"))
        return {}
    for key, row in rows:
        try:
            name = _literal(key or value)
            if not isinstance(name, str):
                raise python_error(key or value, f"not the name of an operator: {name!r}", "write 'aten.add.Tensor'")
            found[name] = _versions(row, release) if row is not None else (ShimVersion(1, ()),)
        except SpecError as error:
            errors.append(error)
    return found


def _versions(row: ast.expr, release: Release) -> Versions:
    """The versions of an operator: the oldest releases know of one."""
    if not release.shim_versions:
        return (ShimVersion(1, ()),)
    value, has_since = _literal(row), release.shim_versions == "metadata"
    if not isinstance(value, dict):
        raise python_error(row, f"not a dictionary of versions: {value!r}", "write {} if there is one version")
    found = {1: ShimVersion(1, (), _since(value.get(_SINCE), row) if has_since else "")}
    for key, own in value.items():
        if key == _SINCE and has_since:
            continue
        number = _number(key, row)
        if number in found:
            raise python_error(row, f"version '{key}' is already defined", "number versions from v2")
        if has_since and not isinstance(own, dict):
            raise python_error(row, f"version '{key}' is not a dictionary", "write {'new_args': ['name']}")
        added = own.get(_NEW, []) if has_since else own
        if not isinstance(added, list) or not all(isinstance(each, str) for each in added):
            raise python_error(row, f"the new arguments of version '{key}' are not a list of names", "write ['name']")
        found[number] = ShimVersion(number, tuple(added), _since(own.get(_SINCE), row) if has_since else "")
    return tuple(found[number] for number in sorted(found, reverse=True))


def _number(key: object, row: ast.expr) -> int:
    try:
        if isinstance(key, str) and key.startswith("v"):
            return int(key[1:])
    except ValueError:
        pass
    raise python_error(row, f"not a version: {key!r}", "write 'v2'")


def _since(value: object, row: ast.expr) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or not _MACRO.fullmatch(value):
        raise python_error(row, f"'{_SINCE}' is not a macro of a release: {value!r}", "write 'TORCH_VERSION_2_13_0'")
    return value


def _literal(node: ast.expr) -> object:
    """The value of a literal of strings, numbers, lists, tuples and dictionaries. TextError for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_literal(each) for each in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        named: Mapping[object, object] = {
            _literal(key): _literal(value) for key, value in zip(node.keys, node.values) if key is not None
        }
        return named
    raise python_error(node, "this is computed, and the module is not executed", "write a literal")
