"""Runs of one case, in a folder of its own."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from forked import Run
from manifests import manifest_in
from project import ROOT, files_in
from small import Small

from gradmill.families.rows import FAMILY_ROWS
from pairs.sets import GRAPH, NEWER, SETS
from pairs.settings import CACHE, GENERATED, LISTS, NAMES, NEWEST, STAMP, Case

LIST = "selected_operators.yaml"
TICK = 0.025  # seconds after which what is written has another time, and is not too new to be relied on
TEXTS: dict[str, Callable[[str], str]] = {
    "a warning": lambda line: f"{line} * mistyped",
    "an error": lambda line: line.replace("self:", "slef:", 1),
}
MISTYPED = {"right": "", "a warning": "mistyped", "an error": "slef"}  # words of what is reported
Tree = dict[str, tuple[int, int, int]]


class Programs(NamedTuple):
    """The processes that runs are copies of: by how gradmill is installed."""

    editable: Small
    wheel: Small


class Work:
    """The folder of a case, with the spec set in it, and its runs."""

    def __init__(self, case: Case, folder: Path, programs: Programs) -> None:
        self.case, self.folder, self.form = case, folder, SETS[case["set"]]
        self._small: Small = getattr(programs, case["install"])
        message = {"the set": case["release"], "the command": "", "newer": NEWER}[case["release is in"]]
        self.form.make(folder, message)
        self.specs = folder / self.form.specs
        self.cwd = self.specs if case["place"] == "inside" else folder
        if case["place"] == "link":
            self._link.symlink_to(self.form.specs)
        if case["graphs"]:
            (self.cwd / "graphs").mkdir()
            (self.cwd / "graphs" / "model.py").write_text(GRAPH)
        if case["operators"] in LISTS:
            (self.cwd / LIST).write_text(LISTS[case["operators"]])
        if case["program"] != "gradmill":
            shutil.copyfile(ROOT / "dodo.py", self.cwd / "dodo.py")

    @property
    def _link(self) -> Path:
        return self.folder / ("link-0-none-any.whl" if self.form.is_file else "link")

    @property
    def name(self) -> str:
        """What the set is called."""
        if self.case["place"] == "link" and not self.form.described:
            return "link-0" if self.form.is_file else "link"
        return self.form.called or self.form.specs

    # ---- where things are

    @cached_property
    def generated(self) -> Path:
        """The folder of the generated files."""
        return self.cwd / (self._filled(GENERATED) or f"generated/{self.name}")

    @property
    def _inner(self) -> str:
        """The folder of a family's files below the folder of all, with a slash."""
        tree = self.case["tree"]
        folder = getattr(FAMILY_ROWS["nodes"].in_trees, tree) if tree else ""
        return f"{folder}/" if folder else ""

    @cached_property
    def root(self) -> Path:
        """The folder of the families' files."""
        return self.generated / self._inner

    @cached_property
    def cache(self) -> Path:
        return self.cwd / (self._filled(CACHE) or "cache")

    @cached_property
    def stamp(self) -> Path | None:
        result = self._filled(STAMP)
        return self.cwd / result if result else None

    def _filled(self, values: dict[str, str]) -> str:
        """The value of a setting that is a path, as the command line has it."""
        name = {id(GENERATED): "generated", id(CACHE): "cache", id(STAMP): "stamp"}[id(values)]
        text = values[self.case[name]]
        generated = self._filled(GENERATED) if "{generated}" in text else ""
        inside = "." if self.case["place"] == "inside" else "set"
        return text.format(folder=self.folder, set=inside, generated=generated or f"generated/{self.name}")

    def files(self) -> dict[str, bytes]:
        """The generated files; not what else was asked to be put among them."""
        others = [path for path in (self.cache, self.stamp) if path is not None]
        result = files_in(self.root) if self.root.is_dir() else {}
        return {name: data for name, data in result.items() if not _is_in(self.root / name, others)}

    def manifest(self) -> Any:
        """The manifest, None where there is none."""
        text = manifest_in(self.cache / self.name)
        if not text:
            return None
        data = json.loads(text)
        for each in data["files"]:  # by the names that files have without a tree
            each["path"] = each["path"].removeprefix(self._inner)
        return data

    def tree(self) -> Tree:
        """Every file and folder, with inode, size and time of change."""
        paths = [path for path in sorted(self.folder.rglob("*")) if "__pycache__" not in path.parts]
        stats = {str(path.relative_to(self.folder)): path.lstat() for path in paths}
        return {name: (stat.st_ino, stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}

    # ---- runs

    def run(self, *command: str, **changed: str) -> Run:
        """A run with the settings of the case, but for those that are `changed`; or a command."""
        program, *options = self.case["program"].split() if not command else ["gradmill"]
        words = [*command, *([options[0], str(self.cwd / "dodo.py")] if options else [])]
        words += self._variables({**self.case, **changed})
        return self._small.run(program, words, self.folder.parent if options else self.cwd)

    def check(self) -> str:
        """What `check` reports, with an empty cache in another place."""
        run = self.run("check", **{"checked in": str(self.folder.with_name(f"{self.folder.name} checked"))})
        return re.sub(r"(?m)^.*: no problems\n\Z", "", run.stderr + run.stdout)

    def _variables(self, case: Case) -> list[str]:
        result = {
            "specs": self._specs(),
            "release": self._release(),
            "generated": self._filled(GENERATED),
            "cache": case.get("checked in", self._filled(CACHE)),
            "stamp": self._filled(STAMP),
            "operators": LIST if case["operators"] in LISTS and case["operators"] else "",
            "operator_names": NAMES if case["operators"] == "names" else "",
            **{name: case[name] for name in ("shards", "families", "graphs", "tree")},
        }
        usual = {"strict": "0", "autograd": "1", "layout": "upstream", "lines": "0", "format": "text"}
        result |= {name: case[name] for name, value in usual.items() if case[name] != value}
        return [f"{name}={value}" for name, value in result.items() if value]

    def _specs(self) -> str:
        if self.form.named:
            return self.form.specs
        absolute = self.specs / "specset.toml" if self.form.described else self.specs
        return {"relative": self.form.specs, "absolute": str(absolute), "inside": ".", "link": self._link.name}[
            self.case["place"]
        ]

    def _release(self) -> str:
        """What the command says: where the set does not, or where it is a checkout of one that is not known."""
        asked = self.case["release is in"] == "the command"
        if self.case["release is in"] == "newer" and self.case["set"] == "checkout":
            return NEWEST
        return self.case["release"] if asked else ""

    # ---- the case

    def prepare(self) -> str:
        """What was there before the run that counts, and the text that it is to find; what failed of that."""
        before, failed = self.case["before"], ""
        if before == "an edit":
            with _edited(self, lambda line: f"{line} * 1"):
                failed = self._succeeds()
        elif before == "check":
            failed = self._succeeds("check")
        elif before == "other layout":
            other = {"upstream": "split", "split": "upstream"}[self.case["layout"]]
            failed = self._succeeds(layout=other, lines="0")
        elif before == "other families":
            failed = self._succeeds(families="" if self.case["families"] else "nodes")
        if self.case["text"] in TEXTS:
            self.form.edit(self.folder, TEXTS[self.case["text"]])
        time.sleep(TICK)
        return failed

    def _succeeds(self, *command: str, **changed: str) -> str:
        time.sleep(TICK)
        run = self.run(*command, **changed)
        return "" if run.status == 0 else f"before the run: status {run.status}: {run.stderr[-500:]}"


@contextmanager
def _edited(work: Work, change: Callable[[str], str]) -> Iterator[None]:
    """While it lasts, the set has another line."""
    path = work.folder / work.form.line[0].partition("!")[0]
    data = path.read_bytes()
    work.form.edit(work.folder, change)
    yield
    path.write_bytes(data)


def _is_in(path: Path, others: list[Path]) -> bool:
    return any(path == other or other in path.parents for other in others)
