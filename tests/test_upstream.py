"""docs/contributing/upstream.md: where each function of torchgen that a module here answers to is found. Its table is
made from the docstrings, which name them after `torchgen:`, as `module.function`; to rewrite it:

    UPDATE_GOLDEN=1 pytest -n 0 tests/test_upstream.py
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from project import ROOT

PAGE = ROOT / "docs" / "contributing" / "upstream.md"
_NAMES = re.compile(r"torchgen: ((?:`[\w.]+`(?:,\s+)?)+)\.")


@cache
def answered() -> dict[str, set[str]]:
    """The modules that name each function of torchgen, by its name there."""
    result = defaultdict(set)
    for path in sorted((ROOT / "pipeline" / "gradmill").rglob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
        found = _NAMES.search(text)
        assert "torchgen:" not in text or found, f"{path}: its docstring names no `module.function` of torchgen"
        for name in re.findall(r"`([\w.]+)`", found[1]) if found else ():
            result[name].add(path.relative_to(ROOT).as_posix())
    return result


def defined(package: Path) -> dict[str, str]:
    """The files of torchgen's classes, methods and functions, nested ones included, by `module.function`."""

    def names(node: ast.AST, prefix: str, module: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef):
                yield f"{prefix}{child.name}"
            is_class = isinstance(child, ast.ClassDef)
            yield from names(child, f"{module}{child.name}." if is_class else prefix, module)

    result = {}
    for path in package.rglob("*.py"):
        module = f"{path.stem}."
        result |= dict.fromkeys(
            names(ast.parse(path.read_text()), module, module), path.relative_to(package).as_posix()
        )
    return result


@pytest.fixture(scope="module")
def upstream() -> dict[str, str]:
    spec = find_spec("torchgen")
    if spec is None or spec.origin is None:
        pytest.skip("torch is not installed: pip install 'gradmill[test]'")
    return defined(Path(spec.origin).parent)


def test_the_functions_exist(upstream: dict[str, str]) -> None:
    assert [name for name in answered() if name not in upstream] == []


def test_every_rule_of_upstreams_names_its_function() -> None:
    """The other modules of `rules/` are about what torchgen does not have: descriptions."""
    ours = "layers/entry layers/facts layers/keys"
    modules = {path for path in (ROOT / "pipeline" / "gradmill" / "rules").rglob("*.py") if path.read_text()}
    named = {name for names in answered().values() for name in names}
    missing = {
        path.relative_to(ROOT / "pipeline" / "gradmill" / "rules").with_suffix("").as_posix() for path in modules
    } - {name.removeprefix("pipeline/gradmill/rules/").removesuffix(".py") for name in named}
    assert missing == set(ours.split())


@pytest.mark.golden
def test_the_page_lists_them(upstream: dict[str, str]) -> None:
    rows = []
    for name, modules in answered().items():
        links = ", ".join(f"[{each}](../../{each})" for each in sorted(modules))
        rows.append(f"| `{upstream[name]}` | `{name.partition('.')[2]}` | {links} |")
    head, line, _ = PAGE.read_text().partition("|---|---|---|\n")
    page = head + line + "\n".join(sorted(rows)) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page
