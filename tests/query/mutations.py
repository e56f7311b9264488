"""Mutations of the engine: each one must fail a test of tests/query.

python -m tests.campaigns code --only engine
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("pipeline", "tests", "specs", "examples", "docs", "dodo.py", "pyproject.toml", "README.md")


class Mutation(NamedTuple):
    """A piece of a file, and what it becomes."""

    file: str
    old: str
    new: str


ENGINE, INVALIDATION, DATABASE = "query/engine.py", "query/invalidation.py", "query/database.py"
TABLE, MEMO, EXPLAIN, COLLECT = "query/table.py", "query/memo.py", "query/explain.py", "store/collect.py"
SQLITE, VALUES = "store/sqlite.py", "store/values.py"

MUTATIONS = [
    # ---- verifying
    Mutation(ENGINE, "if memo is not None and call.row not in self.dirty:", "if memo is not None:"),
    Mutation(ENGINE, "if call.row not in self.unverified:", "if True:"),
    Mutation(ENGINE, "if dep.row in self.dirty or dep.row in self.changed)", "if dep.row in self.dirty)"),
    Mutation(ENGINE, "if dep.row in self.dirty or dep.row in self.changed)", "if dep.row in self.changed)"),
    Mutation(ENGINE, "if same and self._first_changed(past.deps) is None:", "if same:"),
    Mutation(ENGINE, "if same and self._first_changed(past.deps) is None:", "if False:"),
    Mutation(ENGINE, "all(dep.digest == now for dep", "all(dep.digest != now for dep"),
    Mutation(ENGINE, "        self.dirty.discard(call.row)\n        return valid", "        return valid"),
    Mutation(ENGINE, "if call.running:", "if False:"),
    Mutation(ENGINE, "            call.running = False\n", "            pass\n"),
    Mutation(ENGINE, 'return MISSING if dep.item is None else b""', "return MISSING"),
    Mutation(ENGINE, 'return MISSING if dep.item is None else b""', 'return b""'),
    # ---- running
    Mutation(ENGINE, "            self._frame = outer\n", "            self._frame = None\n"),
    Mutation(ENGINE, "[:PAST]", "[:1]"),
    Mutation(ENGINE, "[:PAST]", ""),
    Mutation(ENGINE, "if before is None or before.digest != memo.digest:", "if before is None:"),
    Mutation(ENGINE, "if (dep.row, dep.item) not in known)", "if not known)"),
    Mutation(ENGINE, "        self._readers.add(new, row)", "        pass"),
    Mutation(ENGINE, "if memo.diagnostics == NO_DIAGNOSTICS else self.reporting.add", ""),
    Mutation(ENGINE, "self.replaced.setdefault(row, before)", "self.replaced[row] = before"),
    Mutation(
        ENGINE, "elif self._run(call).digest != memo.digest:", "elif self._run(call).digest != memo.digest and False:"
    ),
    Mutation(ENGINE, "if height >= frame.height:", "if False:"),
    # ---- calls by name and number, values
    Mutation(ENGINE, "memo if memo is not None and memo.name == name else None", "memo"),
    Mutation(ENGINE, " or query.arity != len(memo.name) - 1:", ":"),
    Mutation(ENGINE, "if self._find(query.name) is not query:", "if False:"),
    Mutation(ENGINE, "            self._by_row[row].value = UNSET\n", "            pass\n"),
    # ---- failures
    Mutation(ENGINE, "                engine.start_over(damage)\n", ""),
    Mutation(ENGINE, "            engine.empty()\n", ""),
    Mutation(ENGINE, "if not engine.is_bug(error) or not engine.is_warm:", "if not engine.is_warm:"),
    Mutation(ENGINE, "if not engine.is_bug(error) or not engine.is_warm:", "if True:"),
    Mutation(ENGINE, "kept = self._store.set_aside()", 'kept = ""'),
    Mutation(ENGINE, "if self._depth > DEEPEST:", "if False:"),
    Mutation(DATABASE, "self.is_warm = same", "self.is_warm = False"),
    Mutation(DATABASE, "            return False  # who requests", "            raise  # who requests"),
    Mutation(INVALIDATION, "        return engine.all_readers(row)  # it", "        return ()  # it"),
    # ---- invalidation
    Mutation(INVALIDATION, "                waiting += engine.readers(row)", "                pass"),
    Mutation(INVALIDATION, "                tables.add(row)", "                pass"),
    Mutation(INVALIDATION, "filter(is_table, engine.dirty)", "()"),
    Mutation(
        INVALIDATION,
        "    if table is None:  # its query no longer exists\n        return engine.all_readers(row)",
        "    if table is None:\n        return ()",
    ),
    Mutation(INVALIDATION, "{None, *items}", "items"),
    # ---- revisions
    Mutation(DATABASE, "self.unverified = set(snapshot.dirty)", "self.unverified = set()"),
    Mutation(DATABASE, "set(snapshot.dirty), set(snapshot.reporting)", "set(), set(snapshot.reporting)"),
    Mutation(DATABASE, "set(snapshot.dirty), set(snapshot.reporting)", "set(snapshot.dirty), set()"),
    Mutation(DATABASE, "                if not same:\n                    self.reset(inputs)\n", ""),
    Mutation(DATABASE, "        if not kept:\n            self.reset(self.inputs)\n", ""),
    Mutation(
        DATABASE, "                if self._store.is_current():\n                    break", "                break"
    ),
    Mutation(DATABASE, "return reads and self.is_live(call, live, within)", "return self.is_live(call, live, within)"),
    Mutation(
        DATABASE,
        "self.inputs, self.ran, self._rows_read =",
        "self.replaced = {}\n        self.inputs, self.ran, self._rows_read =",
    ),
    Mutation(DATABASE, "labels = {**snapshot.inputs, **inputs}", "labels = {**inputs}"),
    # ---- tables
    Mutation(TABLE, "if item is NAMES:", "if item == '*':"),
    Mutation(TABLE, "{name: MISSING for name in old if name not in new}", "{}"),
    Mutation(TABLE, "return changed if self.outline.names == after.outline.names else", "return changed if True else"),
    Mutation(TABLE, "if id(value) not in entries:", "if not entries:"),
    # ---- the store
    Mutation(SQLITE, "if kept != _sum(table, (key, data)):", "if False:"),
    Mutation(SQLITE, "if self.empty or self._is_new(read))", "if self.empty)"),
    Mutation(SQLITE, "if self.empty or self._is_new(read))", ")"),
    Mutation(SQLITE, "while some := list(islice(entries, _MANY)):", "if some := list(islice(entries, _MANY)):"),
    Mutation(SQLITE, "if not same or known != state.sum:", "if not same and known != state.sum:"),
    Mutation(SQLITE, "if self._stats == seal_of(self.path) and is_checkpointed(self.path):", "if True:"),
    Mutation(SQLITE, "        if total & _ALL != self._sum:", "        if False:"),
    Mutation(SQLITE, "            if _key(digest(self._values.at(place))) != key:", "            if False:"),
    Mutation(SQLITE, "            if stat_of(self.path) != self._stats[0]:", "            if False:"),
    Mutation(SQLITE, "            if _sum(table, (key, data)) != kept:", "            if False:"),
    Mutation(SQLITE, "if self.problem and not self.is_current():", "if False:"),
    Mutation(SQLITE, "            os.unlink(self.path + _SEAL)\n", "            pass\n"),
    Mutation(SQLITE, "self._sum = self._sum - kept & _ALL", "pass"),
    Mutation(VALUES, "        if digest(data) != key:\n", "        if False:\n"),
    Mutation(VALUES, "begin += len(value)", "begin += 0"),
    # ---- explaining, collecting
    Mutation(EXPLAIN, "not in (None, dep.digest))", "!= dep.digest)"),
    Mutation(EXPLAIN, 'if digests[name] == MISSING else "changed" if', 'if False else "changed" if'),
    Mutation(COLLECT, "waiting += [dep.row for dep in live[row].deps]", "pass"),
    Mutation(COLLECT, "        readers.add(memo.deps, row)", "        pass"),
]


def count(mutation: Mutation) -> int:
    """At how many places of the code its piece is."""
    path = ROOT / "pipeline" / mutation.file
    return path.read_text().count(mutation.old) if path.is_file() else 0


def noticed_by(mutation: Mutation, folder: Path, tests: Sequence[str]) -> str:
    """The test that fails with a mutation, "" if none does."""
    path = folder / "pipeline" / mutation.file
    text = path.read_text()
    path.write_text(text.replace(mutation.old, mutation.new))
    try:
        words = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
        words += ["--tb=no", "--assert=plain"]  # what differs may be megabytes, and explaining it takes minutes
        words += [f"--basetemp={folder / 'tmp'}"]  # by default pytest deletes what earlier runs left
        env = os.environ | {"PYTHONPATH": str(folder)}
        ended = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=1200, check=False)
        lines = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if ended.returncode not in (0, 1):
            raise SystemExit(f"{mutation.file}: with {mutation.new!r} no test runs:\n{ended.stdout[-2000:]}")
        return lines[0].split("::")[-1].split(" - ")[0] if lines else ""
    except subprocess.TimeoutExpired:
        return "(it does not end)"
    finally:
        path.write_text(text)
