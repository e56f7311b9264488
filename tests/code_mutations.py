"""Mutations of gradmill's own code, found in its syntax tree: each should fail a test.

    python -m tests.campaigns code [PATH…] [--count N] [--seed N] [--minutes M] [--tests tests/query]

Conditions are negated, operands of `and` and `or` left out, comparisons and numbers changed, statements dropped: one at
a time, in a copy of the repository, whose tests for that folder then run until one fails. Prints which test that was.
If a mutation survives, a test is missing, or the code does the same without that part.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from never_wrong.campaign import Trial, options, run
from project import ROOT

COPIED = ("pipeline", "tests", "specs", "examples", "docs", "dodo.py", "pyproject.toml", "README.md")
EQUALITY = ("tests/stages/test_equality.py", "tests/families/test_odd.py", "tests/browse/test_bad.py")
TESTS = {  # of a folder of `gradmill`, with those in it: the tests that should notice, the fastest first
    ".": ("tests/cli", "tests/session"),
    "query": ("tests/query",),
    "store": ("tests/query", "tests/session/test_cache.py"),
    "io": ("tests/query", "tests/session/test_folder_record.py"),
    "problems": ("tests/browse/test_bad.py", "tests/problems"),
    "grammar": ("tests/grammar", *EQUALITY),
    "cpp": ("tests/cpp", "tests/rules", *EQUALITY),
    "model": EQUALITY,
    "releases": (*EQUALITY, "tests/releases"),
    "specs": ("tests/specs", *EQUALITY, "tests/vendors"),
    "specs/layers": ("tests/vendors",),
    "lints": ("tests/browse/test_bad.py", "tests/rules", "tests/problems"),
    "rules": (*EQUALITY, "tests/rules"),
    "rules/layers": ("tests/vendors",),
    "families": (*EQUALITY, "tests/families", "tests/aten"),
    "stages": (*EQUALITY, "tests/stages", "tests/aten/test_contract.py"),
    "reports": ("tests/reports", "tests/browse"),
    "graphs": ("tests/graphs",),
    "extensions": ("tests/browse", "tests/reports"),
    "extensions/graphs": ("tests/graphs",),
    "extensions/type_stubs": ("tests/type_stubs",),
    "extensions/verify": ("tests/verify",),
    "cli": ("tests/cli", "tests/session"),
    "builds": ("tests/builds", "tests/cli"),
    "session": ("tests/session", "tests/cli", "tests/stages", "tests/never_wrong"),
}
COMPARED = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip


class Mutation(NamedTuple):
    """A piece of a file, by its bytes, and what it becomes."""

    path: str
    line: int
    begin: int
    end: int
    new: str


def mutations(path: Path) -> list[Mutation]:
    """All mutations of a module."""
    data = path.read_bytes()
    lines = [0]
    for line in data.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def made(node: ast.expr | ast.stmt, new: str) -> Mutation:
        begin, end = lines[node.lineno - 1] + node.col_offset, lines[(node.end_lineno or 0) - 1]
        return Mutation(path.relative_to(ROOT).as_posix(), node.lineno, begin, end + (node.end_col_offset or 0), new)

    tree = ast.parse(data)
    typing = {id(inner) for node in ast.walk(tree) for each in _types(node) for inner in ast.walk(each)}
    nodes = [node for node in ast.walk(tree) if id(node) not in typing]
    return sorted({made(node, new) for each in nodes for node, new in _changed(each)})


def _types(node: ast.AST) -> Iterator[ast.AST]:
    """What of a node no run evaluates, or is so in every run: what is asserted."""
    places = (getattr(node, "annotation", None), getattr(node, "returns", None))
    yield from (each for each in places if each is not None)
    yield from node.keywords if isinstance(node, ast.ClassDef) else ()
    if isinstance(node, ast.Assert) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
        yield node


def _changed(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """The mutations at a node: what becomes what."""
    conditions = [node.test] if isinstance(node, ast.If | ast.IfExp | ast.While) else getattr(node, "ifs", [])
    for test in conditions:
        yield test, f"(not ({ast.unparse(test)}))"
    if isinstance(node, ast.BoolOp):
        for left_out in node.values:
            kept = [each for each in node.values if each is not left_out]
            word = " and " if isinstance(node.op, ast.And) else " or "
            yield node, f"({word.join(f'({ast.unparse(each)})' for each in kept)})"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        yield node, f"({left} {COMPARED[type(node.ops[0])]} {right})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield node, str(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield node, "pass"


def tests_of(path: str) -> tuple[str, ...]:
    """The tests that should notice what is wrong in a module."""
    folders = map(str, Path(path).relative_to("pipeline/gradmill").parents)
    return next(TESTS[folder] for folder in folders if folder in TESTS)


def noticed_by(mutation: Mutation, folder: Path, tests: Sequence[str]) -> str:
    """The test that fails with a mutation of the copy in a folder, "" if none does."""
    path = folder / mutation.path
    data = path.read_bytes()
    path.write_bytes(data[: mutation.begin] + mutation.new.encode() + data[mutation.end :])
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    words += ["--tb=no", "--assert=plain"]  # what differs may be megabytes, and explaining it takes minutes
    words += [f"--basetemp={folder / 'tmp'}"]  # by default pytest deletes what earlier runs left
    environment = os.environ | {"PYTHONPATH": str(folder / "pipeline")}
    try:
        done = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, timeout=1200, check=False
        )
    except subprocess.TimeoutExpired:
        return "(it does not end)"
    finally:
        path.write_bytes(data)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == 0:
        return ""
    return lines[0].split(" - ")[0] if lines else "(no test runs)"


def trials(chosen: Sequence[Mutation], tests: Sequence[str]) -> Iterator[Trial]:
    """Tries mutations, each with these tests, or with those of its folder if none are given."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, folder / name)
        for each in chosen:
            old = " ".join((ROOT / each.path).read_bytes()[each.begin : each.end].decode().split())
            what = f"{each.path}:{each.line}: {old[:60]}  ->  {each.new[:60]}"
            test = noticed_by(each, folder, tests or tests_of(each.path))
            print(f"{what}: {test or 'SURVIVES'}", flush=True)
            yield Trial(Path(each.path).parts[2], "" if test else "no test notices it", what)


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, 20)
    parser.add_argument("places", nargs="*", type=Path, metavar="PATH", help="modules or folders; all of gradmill")
    parser.add_argument("--tests", nargs="+", default=[], help="those to run; else by the folder")
    wanted = parser.parse_args(words)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    places = wanted.places or [ROOT / "pipeline" / "gradmill"]
    modules = (path for place in places for path in ([place] if place.is_file() else place.rglob("*.py")))
    found = [each for path in sorted(modules) for each in mutations(path.resolve())]
    chosen = Random(wanted.seed).sample(found, min(wanted.count, len(found)))
    return run(trials(chosen, wanted.tests), wanted)
