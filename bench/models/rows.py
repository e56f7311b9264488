"""The steps of a model, each in its own process, and the table that keeps what they gave."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

from bench.models import zoo
from bench.models.table import table

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from cpp import toolchain  # noqa: E402
from graphs import library  # noqa: E402

Row = dict[str, Any]


class How(NamedTuple):
    """What a run does."""

    skip_compile: bool
    ways: tuple[str, ...]  # to measure a step of
    again: bool
    limit: int  # seconds that a process may take
    device: str
    batch: int
    optimize: str  # the compiler's option
    memory: float = 1.0  # the budget of graphs
    namespace: str = "zoo"  # of their operators

    @property
    def where(self) -> list[str]:
        """The batch size and the device, as the processes take them."""
        return [str(self.batch), self.device]


class Failed(Exception):
    """A step did not end well: its name, and the last lines it printed."""


def row(name: str, folder: Path, old: Row, how: How) -> Row:
    """A model's row: what its steps gave; `failed` has the step and the reason if one did not end well."""
    new: Row = {"package": zoo.CASES[name].package, "note": zoo.CASES[name].note}
    try:
        new |= exported(name, folder, how)
        new |= generated(name, folder, how)
        if old.get("digest") == new["digest"] and _whole(old, how):
            return old
        if not how.skip_compile:
            new |= compiled(name, folder, how)
            new |= compared(name, folder, how)
    except Failed as error:
        new["failed"] = list(error.args)
    return new


def _whole(old: Row, how: How) -> bool:
    if how.skip_compile:
        return True
    if "failed" in old:
        return not how.again
    return "steps" in old and not {*how.ways} - {*old.get("seconds", ())}


def run(step: str, words: list[str], limit: int) -> tuple[str, float]:
    """Runs a process, which yields to one that measures. Returns its output, and its CPU seconds."""
    words = words if step == "compare" else ["nice", *words]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(words, cwd=ROOT, stdout=output, stderr=errors)
        timer = Timer(limit, process.kill)
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        late = not timer.is_alive()
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if late:
            raise Failed(step, f"takes more than {limit} s")
        errors.seek(0)
        if process.returncode:
            lines = [line for line in errors.read().splitlines() if line.strip()]
            named = re.compile(r"(\w+\.)*\w+: \w" if step == "export" else r".*\b[eE]rror\b")
            wanted = [line for line in lines if named.match(line)]
            raise Failed(step, "\n".join((wanted or lines)[:8])[:1500] or f"ended with {process.returncode}")
        output.seek(0)
        return output.read(), used.ru_utime + used.ru_stime


def exported(name: str, folder: Path, how: How) -> Row:
    """Exports a model, once for each version of its packages."""
    case = zoo.CASES[name]
    where = [str(how.batch), case.exported or how.device]
    key = " ".join([case.key, *(f"{each} {version(each)}" for each in (case.package, "torch")), *where])
    kept = folder / "export.json"
    if kept.exists() and (found := json.loads(kept.read_text()))["key"] == key:
        if "failed" in found:
            raise Failed(*found["failed"])
        return dict(found["row"])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        output, _ = run("export", [sys.executable, "-m", "bench.models.export", name, str(folder), *where], how.limit)
    except Failed as error:
        kept.write_text(json.dumps({"key": key, "failed": error.args}))
        raise
    found = json.loads(output.splitlines()[-1])
    kept.write_text(json.dumps({"key": key, "row": found}))
    return dict(found)


def generated(name: str, folder: Path, how: How) -> Row:
    """Generates the C++. The time is that of a first build, with all of the set; None if it is not the first."""
    words = ["specs=torch", f"graphs={folder / name}.pt2", "families=graphs", f"namespace={how.namespace}"]
    words += [f"generated={folder / 'generated'}", f"cache={folder / 'cache'}", f"memory={how.memory}"]
    words += [f"device={how.device}"] if zoo.CASES[name].exported not in ("", how.device) else []
    first = not (folder / "cache").exists()
    _, seconds = run("generate", [sys.executable, "-m", "gradmill", *words], how.limit)
    files = sources(folder)
    return {
        "digest": _digest(*sorted((folder / "generated" / "graphs").iterdir())),
        "bytes": sum(file.stat().st_size for file in files),
        "sources": len(files),
        "generate": seconds if first else None,
    }


def sources(folder: Path) -> list[Path]:
    """The generated C++."""
    return sorted((folder / "generated" / "graphs").glob("*.cpp"))


def compiled(name: str, folder: Path, how: How) -> Row:
    """Compiles and links. The CPU seconds of an object are kept next to it."""
    generated = folder / "generated"
    headers = sorted((generated / "graphs").glob("*.h"))
    flags = [*library.flags(how.optimize), "-include", str(toolchain.precompiled(how.optimize)), f"-I{generated}"]
    objects, commands = [], []
    for source in sources(folder):
        target = folder / f"{source.stem}-{_digest(source, *headers)[:16]}{how.optimize}.o"
        objects.append(target)
        if not target.with_suffix(".seconds").exists():
            commands.append((target, ["c++", *flags, "-c", str(source), "-o", str(target)]))
    with ThreadPoolExecutor(1 if how.device == "cpu" else 8) as pool:
        for (target, _), (_, used) in zip(
            commands, pool.map(lambda each: run("compile", each[1], how.limit), commands)
        ):
            target.with_suffix(".seconds").write_text(str(used))
    library.linked(objects, folder / f"{name}.so")
    seconds = sum(float(each.with_suffix(".seconds").read_text()) for each in objects)
    return {"compile": seconds, "optimize": how.optimize}


def compared(name: str, folder: Path, how: How) -> Row:
    """Compares with eager, and trains."""
    words = [sys.executable, "-m", "bench.models.check", name, str(folder), *how.where, *how.ways]
    found: Row = json.loads(run("compare", words, how.limit)[0].splitlines()[-1])
    far = too_far(found, zoo.CASES[name].tolerance)
    if far:
        found["failed"] = ["compare", f"{far}, {found['worst']}"]
    return found


def too_far(found: Row, tolerance: float = zoo.TOLERANCE) -> dict[str, float]:
    """The distances that are too large. Steps may go apart as far as eager itself does for another last bit, and
    gradients ten times as far as those of eager, computed twice. None if the graph is the exported program, which may
    call other kernels than the model."""
    limits = dict.fromkeys(("forward", "gradients", "buffers"), tolerance)
    limits["gradients"] = max(tolerance, 10 * (found.get("again") or 0.0))
    limits["steps"] = max(tolerance, found.get("drift") or 0.0)
    program = found.get("exported")
    if program is not None and all(program[each] <= limits[each] for each in ("forward", "gradients")):
        return {}
    return {each: found[each] for each, limit in limits.items() if not found[each] <= limit}


def _digest(*files: Path) -> str:
    digest = sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)} ".encode() + content)
    return digest.hexdigest()


def summary(row: Row) -> str:
    """A row in a line."""
    parts = [f"{row['bytes']:,} bytes in {row['sources']}"] if "bytes" in row else []
    parts += [f"{row['compile']:.0f} s {row['optimize']}"] if "compile" in row else []
    parts += [f"{each} {row[each]:.1e}" for each in ("forward", "gradients", "buffers", "steps") if each in row]
    parts += [f"FAILED: {row['failed'][0]}: {row['failed'][1]}"] if "failed" in row else []
    return "; ".join(parts)


class Results:
    """The rows, in a file that is replaced after each model. Several runs, with other models each, can share it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "results.json"

    @property
    def rows(self) -> dict[str, Row]:
        """All rows by now, by the models' names."""
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def put(self, name: str, row: Row) -> None:
        """Adds or replaces a row."""
        with open(self.path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            rows = self.rows  # those that other runs wrote, too
            if row.get("generate") is None and rows.get(name, {}).get("generate") is not None:
                row["generate"] = rows[name]["generate"]
            temporary = self.path.with_suffix(".tmp")
            rows[name] = row
            temporary.write_text(json.dumps(rows, indent=1) + "\n")
            temporary.replace(self.path)
            self.path.with_suffix(".md").write_text(table(rows))
