"""An operator of one's own is not taken for one of a table, whatever it has in common with that one.

For each name in a table there are three operators with its schema and no formula: one of that name in another
namespace, one that is another overload of that name, and one whose name no table has. Graphs that call these differ in
the operators' names alone.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace
from project import ROOT

from gradmill.extensions.graphs import traits
from gradmill.extensions.graphs.ops import Op
from gradmill.extensions.graphs.queries import planned
from gradmill.extensions.graphs.queries.graphs import overloads
from gradmill.extensions.graphs.queries.operators import functional_variants, operator
from gradmill.extensions.graphs.read.exported import autocast
from gradmill.extensions.graphs.read.resolve.overloads import takes_numbers
from gradmill.grammar.buckets import bucket_of
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, OperatorName, schema_kind
from gradmill.problems.problem import Problem
from gradmill.releases import resolve
from gradmill.rules.native.dispatch import IMPLICIT
from gradmill.stages.schemas import bucket_of_function, function
from graphs.reading import Reading

pytestmark = pytest.mark.slow  # it compiles

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


# ---- the three operators of each name

# A view, and a product with a formula, which saves the results.
HELPERS = """
- func: looked(Tensor(a) self, int part) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: looked

- func: multiplied(Tensor self, Tensor other) -> Tensor
  dispatch:
    CompositeExplicitAutograd: multiplied
"""
FORMULAS = """
- name: looked(Tensor(a) self, int part) -> Tensor(a)
  self: grad

- name: multiplied(Tensor self, Tensor other) -> Tensor
  self: grad * other
  other: grad * self
"""
LITERALS = {  # of each type; also those that switch an operator off
    "int": ("2", "2"),
    "float": ("0.5", "0.0"),
    "bool": ("True", "False"),
    "str": ("'mean'", "'sum'"),
    "Scalar": ("2", "0"),
    "ScalarType": ("torch.float32", "torch.int64"),
    "Layout": ("torch.strided", "torch.strided"),
    "Device": ("'cpu'", "'cpu'"),
}
# How the operators are called, by the name of the one of torch and the number of its base name.
NAMES = {
    "another namespace": lambda name, number: ("toy", name),
    "another overload": lambda name, number: ("aten", replace(name, overload=f"{name.overload}own")),
    "another name": lambda name, number: ("toy", replace(name, base=f"zz{number}", dunder=False)),
}


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> list[NativeFunction]:
    """The functions of torch that tables name, and the functional ones of those in place or with an out argument. Of
    those that are in the longest table alone, which has one reader, a few; none that PyTorch's generator knows by its
    base name, and does not record."""
    folder = tmp_path_factory.mktemp("torch")
    (folder / "f.py").write_text(f"{HEAD}def f(x: Tensor) -> Tensor:\n    return x\n")
    db = Reading(folder / "f.py", folder / "cache", "torch").build.db
    apart = (traits.OVERLAPS, traits.TAKE_NUMBERS)
    wanted = {name for table in tables() if all(table is not each for each in apart) for name in table}
    wanted |= {*sorted(traits.OVERLAPS)[::10]}
    found: dict[str, NativeFunction] = {}
    for name in sorted({name.partition(".")[0] for name in wanted}):
        for identity in overloads.item(db, bucket_of(name), name) or ():
            one = operator(db, identity)
            assert one is not None
            if one.name in wanted and (one.tracked or schema_kind(one.schema) == "out"):
                functional = functional_variants.item(db, bucket_of_function(identity), identity)
                variant = None if functional is None else function(db, functional)
                found |= {traits.name_of(each): each for each in (one.function, variant) if each is not None}
    assert len(found.keys() & wanted) > 0.95 * len(wanted)
    return list(found.values())


def entry(one: NativeFunction, namespace: str, name: OperatorName) -> str:
    """The entry of an operator with the schema of another one. It has few tags, so that tables alone know it."""
    lines = [f"- func: {'' if namespace == 'aten' else f'{namespace}::'}{replace(one.func, name=name)}"]
    tags = [tag for tag in ("inplace_view", "nondeterministic_seeded") if tag in one.tags]
    lines += [f"  tags: [{', '.join(tags)}]"] if tags else []
    lines += [] if IMPLICIT in one.dispatch else ["  dispatch:", "    CompositeExplicitAutograd: kernel"]
    return "\n".join([*lines, ""])


def argument(of: Argument, number: int, way: int) -> str | None:
    """An argument of a call, None without one: all tensors are views of one. Raises a KeyError for other types."""
    base, listed, length = of.type.removesuffix("?").replace("SymInt", "int").partition("[")
    if base.removesuffix("?") == "Tensor":
        view = f"torch.ops.aten.looked(x, {number})"
        return f"[{view}, {view}]" if listed else view
    if base not in LITERALS and (of.default is not None or of.type.endswith("?")):
        return None
    literal = LITERALS[base][way]
    return f"[{', '.join([literal] * int(length.removesuffix(']') or 2))}]" if listed else literal


def graph(one: NativeFunction, called: str, at: str, way: int, mode: str) -> str:
    """The source of a graph that calls an operator and multiplies its result."""
    schema = one.func
    given = {each.name: argument(each, number, way) for number, each in enumerate(schema.arguments)}
    positional, named = schema.positional, schema.inputs[len(schema.positional) :]
    passed = [text for each in positional if (text := given[each.name]) is not None]
    passed += [f"{each.name}={given[each.name]}" for each in named if given[each.name] is not None]
    passed += [f"out=({', '.join(str(given[each.name]) for each in schema.out)},)"] if schema.out else []
    first = "y" if len(schema.returns) == 1 else "y[0]"
    lines = [f"def {at}(x: Tensor) -> Tensor:", f"    with torch.{mode}():"]
    lines += [f"        y = torch.ops.{called}({', '.join(passed)})"]
    returns = [each.type for each in schema.returns[:1]] == ["Tensor"]
    result = f"torch.ops.aten.multiplied({first}, torch.ops.aten.looked(x, 9))" if returns else "x"
    return "\n".join([*lines, f"    return {result}", ""])


def spec_set(folder: Path, *entries: str) -> str:
    """A set with the helpers and some more operators."""
    shutil.copytree(ROOT / "specs" / "core", folder / "set")
    (folder / "set" / "native_functions.yaml").write_text("\n".join([HELPERS, *entries]))
    (folder / "set" / "derivatives.yaml").write_text(FORMULAS)
    return str(folder / "set")


def written(kind: str, functions: list[NativeFunction], folder: Path, **more: str) -> dict[str, str]:
    """The C++ of each graph, or its errors, without the name of the operator."""
    bases = sorted({one.func.name.base for one in functions})
    operators = [NAMES[kind](one.func.name, bases.index(one.func.name.base)) for one in functions]
    specs = spec_set(folder, *map(entry, functions, *zip(*operators)))
    graphs: dict[str, tuple[str, OperatorName]] = {}
    source = [HEAD]
    for number, (one, (namespace, name)) in enumerate(zip(functions, operators)):
        called = f"{namespace}.{name.unqualified}.{name.overload or 'default'}"
        for way, mode in ((0, "enable_grad"), (1, "enable_grad"), (0, "no_grad")):
            with suppress(KeyError):
                at = f"f{number}_{way}_{mode}"
                source.append(graph(one, called, at, way, mode))
                graphs[at] = (namespace, name)
    (folder / "f.py").write_text("\n\n".join(source))
    db = Reading(folder / "f.py", folder / "cache", specs, **more).build.db
    found = {}
    for at, named in graphs.items():
        pieces = planned.pieces(db, f"f.py:{at}")
        found[at] = neutral("\n".join((pieces or {}).values()), *named)
    for _, problem in db.reports([(planned.plan, "f.py", at) for at in graphs], Problem):
        if problem.role == "graph":
            found[problem.entry] += neutral(problem.problem, *graphs[problem.entry])
    return found


def neutral(text: str, namespace: str, name: OperatorName) -> str:
    """A text without the name of an operator, or that of its functional variant."""
    text = re.sub(r"at::_ops::\w+::|(?<=derivative for )[\w:.]+|\w+(?=\(\): functions with out)", "", text)
    own = str(name) if namespace == "aten" else f"{namespace}::{name}"
    return re.sub(rf"'?(aten::)?{re.escape(own)}'?|'{re.escape(name.unqualified)}'", "NAME", text)


@pytest.mark.parametrize("more", [{"memory": "0"}, pytest.param({"double_backward": "1"}, marks=pytest.mark.slow)])
def test_an_operator_is_known_by_its_whole_identity(
    more: dict[str, str], functions: list[NativeFunction], tmp_path: Path
) -> None:
    found = {}
    for number, kind in enumerate(NAMES):
        (tmp_path / f"{number}").mkdir()
        found[kind] = written(kind, functions, tmp_path / f"{number}", **more)
    expected = found.pop("another name")
    assert sum("at::Tensor multiplied" in text for text in expected.values()) > 0.5 * len(expected) > 300
    for kind, texts in found.items():
        assert {at: text for at, text in texts.items() if text != expected[at]} == {}, kind


def test_autocast_and_numbers_know_an_operator_by_its_namespace(functions: list[NativeFunction]) -> None:
    release, known = resolve("2.13"), {traits.name_of(one): one for one in functions}
    cast = [one for name, one in known.items() if name in CASTS]
    assert len(cast) > 15
    for one in cast:
        own, aten = (Op("", replace(one, namespace=namespace, dispatch={})) for namespace in ("toy", "aten"))
        for device, dtypes in (("cpu", ["float32"]), ("cuda", ["float32"]), ("cpu", ["bfloat16"])):
            assert autocast.cast_to(own, device, dtypes, "float32", "float16", release) is None
            assert autocast.computes_in(own, device, dtypes) is None
        assert any(autocast.DEVICES[device].kinds.get(aten.name) for device in ("cpu", "cuda"))
    numbers = [one for name, one in known.items() if name.partition(".")[0] in traits.TAKE_NUMBERS]
    assert {takes_numbers(Op("", one)) for one in numbers} == {True}
    assert {takes_numbers(Op("", replace(one, namespace="toy"))) for one in numbers} == {False}


IN_PLACE = """
- func: toy::doubled_(Tensor(a!) self) -> Tensor(a!)

- func: doubled(Tensor self) -> Tensor
"""


def test_an_operator_in_place_is_not_replaced_by_one_of_another_namespace(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(f"{HEAD}def f(x: Tensor) -> Tensor:\n    return torch.ops.toy.doubled_(x)\n")
    db = Reading(tmp_path / "f.py", tmp_path / "cache", spec_set(tmp_path, IN_PLACE)).build.db
    text = "".join((planned.pieces(db, "f.py:f") or {}).values())
    assert "at::_ops::doubled_::call(" in text and "at::_ops::doubled::call(" not in text
