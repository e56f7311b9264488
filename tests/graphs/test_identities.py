"""An operator of one's own is not taken for one of a table, whatever it has in common with that one: tables have whole
identities, and nothing else names operators or looks for parts of their names."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest
from msgspec.structs import replace
from project import ROOT

from gradmill.extensions.graphs import traits
from gradmill.extensions.graphs.operator import Op
from gradmill.extensions.graphs.queries import planned
from gradmill.extensions.graphs.queries.graphs import overloads
from gradmill.extensions.graphs.queries.operators import operator
from gradmill.extensions.graphs.read.exported import autocast
from gradmill.extensions.graphs.read.resolve.overloads import takes_numbers
from gradmill.grammar.buckets import bucket_of
from gradmill.model.native import NativeFunction
from gradmill.releases import resolve
from graphs.reading import Reading

pytestmark = pytest.mark.slow

CASTS = frozenset().union(*(device.kinds for device in autocast.DEVICES.values()))
HEAD = "import torch\nfrom torch import Tensor\n"


def tables() -> list[Collection[str]]:
    """All tables of `traits.py`."""
    found = [table for name, table in vars(traits).items() if name.isupper() and not name.startswith("_")]
    return [[table] if isinstance(table, str) else table for table in found]


def test_tables_have_whole_identities() -> None:
    names = [name for table in (*tables(), CASTS) for name in table]
    assert len(names) > 600 and len(tables()) > 20
    assert [name for name in names if not re.fullmatch(r"\w+::\w+(\.\w+)?", name)] == []


def of_parts(node: ast.AST) -> bool:
    """Whether an expression looks for a part of an operator's name, or for its name in C++."""
    asked = (node.left, *node.comparators) if isinstance(node, ast.Compare) else ()
    asked = (node.slice,) if isinstance(node, ast.Subscript) else asked
    asked = node.args if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else asked
    parts = [each for each in asked if isinstance(each, ast.Attribute)]
    names = [each for each in parts if isinstance(each.value, ast.Attribute) and each.value.attr == "name"]
    return any(each.attr in ("base", "unqualified") for each in names) or any(e.attr == "struct" for e in parts)


def test_no_pass_looks_for_a_part_of_a_name() -> None:
    folder = ROOT / "pipeline" / "gradmill" / "extensions" / "graphs"
    sources = [path for path in sorted(folder.rglob("*.py")) if path.parent != folder / QUERIES]
    found = [(source.name, node) for source in sources for node in ast.walk(ast.parse(source.read_text()))]
    assert len(sources) > 60
    assert [f"{name}:{node.lineno}" for name, node in found if isinstance(node, ast.expr) and of_parts(node)] == []


READERS = ("read/",)  # they read names, and call operators
QUERIES = "queries/"  # they look operators up, as the stages do
NAMING = (*READERS, "passes/lower/rules.py", "tables/", "traits.py")


def naming(source: Path) -> list[str]:
    """The strings of a module that name operators of ATen; docstrings may."""
    tree = ast.parse(source.read_text())
    inner = (getattr(node, "body", None) for node in ast.walk(tree))
    docs = {id(body[0].value) for body in inner if isinstance(body, list) and body and isinstance(body[0], ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
    return [each.value for each in constants if isinstance(each.value, str) and "aten::" in each.value]


def test_no_other_module_names_an_operator() -> None:
    folder = ROOT / "pipeline" / "gradmill" / "extensions" / "graphs"
    named = {f"{path.relative_to(folder)}": naming(path) for path in sorted(folder.rglob("*.py"))}
    assert {path: found for path, found in named.items() if found and not path.startswith((*NAMING, QUERIES))} == {}
    assert [prefix for prefix in NAMING if not any(named[path] for path in named if path.startswith(prefix))] == []


# ---- operators of another namespace


@pytest.fixture
def functions(tmp_path: Path) -> dict[str, NativeFunction]:
    """The functions of torch that autocast casts for, and that take numbers for tensors."""
    (tmp_path / "f.py").write_text(f"{HEAD}def f(x: Tensor) -> Tensor:\n    return x\n")
    db, found = Reading(tmp_path / "f.py", "torch").build.db, {}
    for name in sorted({name.partition(".")[0] for name in (*CASTS, *traits.TAKE_NUMBERS)}):
        for identity in overloads.item(db, bucket_of(name), name) or ():
            one = operator(db, identity)
            assert one is not None
            found[one.name] = one.function
    return found


def test_autocast_and_numbers_know_an_operator_by_its_namespace(functions: dict[str, NativeFunction]) -> None:
    release, cast = resolve("2.13"), [one for name, one in functions.items() if name in CASTS]
    assert len(cast) > 15
    for one in cast:
        own, aten = (Op("", replace(one, namespace=namespace, dispatch={})) for namespace in ("toy", "aten"))
        for device, dtypes in (("cpu", ["float32"]), ("cuda", ["float32"]), ("cpu", ["bfloat16"])):
            assert autocast.cast_to(own, device, dtypes, "float32", "float16", release) is None
            assert autocast.computes_in(own, device, dtypes) is None
        assert any(autocast.DEVICES[device].kinds.get(aten.name) for device in ("cpu", "cuda"))
    numbers = [one for name, one in functions.items() if name.partition(".")[0] in traits.TAKE_NUMBERS]
    assert {takes_numbers(Op("", one)) for one in numbers} == {True}
    assert {takes_numbers(Op("", replace(one, namespace="toy"))) for one in numbers} == {False}


def test_an_operator_in_place_is_not_replaced_by_one_of_another_namespace(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "specs" / "core", tmp_path / "set")
    entries = "- func: toy::doubled_(Tensor(a!) self) -> Tensor(a!)\n\n- func: doubled(Tensor self) -> Tensor\n"
    (tmp_path / "set" / "native_functions.yaml").write_text(entries)
    (tmp_path / "set" / "derivatives.yaml").write_text("[]\n")
    (tmp_path / "f.py").write_text(f"{HEAD}def f(x: Tensor) -> Tensor:\n    return torch.ops.toy.doubled_(x)\n")
    db = Reading(tmp_path / "f.py", str(tmp_path / "set")).build.db
    text = "".join((planned.pieces(db, "f.py:f") or {}).values())
    assert "at::_ops::doubled_::call(" in text and "at::_ops::doubled::call(" not in text
