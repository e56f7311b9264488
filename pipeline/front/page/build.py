"""The folder of pages of one build: what it is made from, which files are written, what is left of earlier ones.

Pages have a store of their own, in a folder of the cache beside that of the generated files: a run that makes no page
looks at no row of theirs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Set
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from pipeline.front.config import Config
from pipeline.front.console.progress import Progress
from pipeline.front.run import last as last_run
from pipeline.front.run.build import Build, Root
from pipeline.front.run.collect import PAGES
from pipeline.front.run.inputs import Inputs
from pipeline.front.run.last import Last
from pipeline.front.run.outputs import is_generated, remove_abandoned
from pipeline.front.run.places import claim_places
from pipeline.problems.problem import SpecError
from pipeline.query.files import Stat, stat_of
from pipeline.query.query import Parts

if TYPE_CHECKING:
    from pipeline.query.row import Taken

FOLDER = PAGES  # beneath that of the generated files, and in the cache
_SUFFIXES = (".html", ".js", ".css")


class Written(Struct, frozen=True):
    """What one run did."""

    files: int
    written: tuple[str, ...]
    removed: int


class PageInputs(Inputs):
    """The inputs of pages: beside the usual ones, what is compared with, and the library that fills templates."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.against: bytes | None = None
        self._version = config.specs.version

    def take(self, last: Last | None) -> Mapping[str, Taken]:
        from pipeline.query.code import Source, library_files
        from pipeline.query.files import Input
        from pipeline.reports.page.changes import AGAINST, VERSION
        from pipeline.reports.page.pages import JINJA

        found: dict[str, Taken] = {**super().take(last), VERSION: Input(self._version.encode())}
        if self.against is not None:
            found[AGAINST] = Input(self.against)
        for name, path in library_files(("jinja2",)).items():
            found[JINJA if name == "jinja2" else name] = Source(path)
            self.stats[path] = stat_of(path)
        return found


class PageBuild(Build):
    """A build as far as its pages need it."""

    inputs: PageInputs

    def __init__(self, config: Config, against: str = "") -> None:
        self._against = against  # what the other set is called, and read as
        super().__init__(config)
        self.folder = os.path.join(config.folder, FOLDER)
        self.store_path, self.notes_path = os.path.join(self.folder, "rows"), os.path.join(self.folder, "doit")
        self.inputs = PageInputs(config)
        self.stats: dict[str, Stat | None] = {}  # of the files of the other set

    @property
    def last_path(self) -> str:
        from xxhash import xxh3_64_hexdigest

        compared = f"-{xxh3_64_hexdigest(self._against.encode())[:6]}" if self._against else ""
        return os.path.join(self.config.folder, FOLDER, os.path.basename(super().last_path) + compared)

    def path(self, name: str) -> str:
        """Where a file of the folder goes."""
        return os.path.join(self.config.generated, FOLDER, *name.split("/"))

    @property
    def page_root(self) -> Root:
        """The query that stands for all pages."""
        from pipeline.reports.page.pages import stage

        return (stage, *self.layout)

    def bring(self) -> None:
        """Brings all pages up to date; a terminal shows how far that is."""
        from pipeline.reports.page.pages import files

        named, progress = files(self.db, *self.layout), Progress(sys.stderr)
        for count, file in enumerate(named.values()):
            progress.show(f"page {count} of {len(named)}")
            self.db.digest(*file)
        progress.clear()

    def write(self) -> Written:
        """Writes the pages whose bytes changed, and removes those of what is no more; SpecError where something that is
        not ours is in the way. The specs have no mistakes."""
        from pipeline.reports.page.pages import bytes_of, files

        if self.db.problem:
            raise SpecError(self.db.problem, "nothing was written; name another place: cache=DIR")
        self.inputs.check_code()
        found = {self.path(name): file for name, file in files(self.db, *self.layout).items()}
        claim_places(self)
        for path in found:
            self.outputs.check(path)
        written = []
        for path, file in found.items():
            digest = self.db.digest(*file)
            if not self.outputs.holds(path, digest):
                self.outputs.write(path, Parts([bytes_of(self.db, file)]))
                written.append(path)
        return Written(len(found), tuple(written), self._remove({os.path.abspath(path) for path in found}))

    def _remove(self, current: Set[str]) -> int:
        """Removes pages of what is no more, and what killed runs left half-written."""
        there = [path for path in map(os.path.abspath, self._pages()) if path not in current]
        known = [path for path in self.outputs.known if path not in current]
        lost = [path for path in there if path not in self.outputs and is_generated(path)]
        old = dict.fromkeys([*known, *lost])
        self.outputs.remove(old)
        for folder in {os.path.dirname(path) for path in current}:
            remove_abandoned(folder, map(os.path.basename, current))
        return len(old)

    def _pages(self) -> Iterator[str]:
        """The files that are in the folders of pages."""
        for folder in (self.path("op"), self.path("source"), self.path("")):
            with suppress(OSError):
                names = sorted(os.listdir(folder))
                yield from (os.path.join(folder, name) for name in names if name.endswith(_SUFFIXES))

    def keep(self, report: str, names: int) -> None:
        """Keeps what this run found, so that the next one may find its work done."""
        if not self.inputs.code_is_the_same():
            return
        kept = self.db.commit()
        beside = (self.store_path, f"{self.store_path}.values")
        stats = self.inputs.evidence() | self.stats | {path: stat_of(path) for path in beside}
        outputs = self.outputs.there(self.inputs.now)
        complete = kept and len(outputs) == names
        how, whose = (self.warned, self.config.format), self.inputs.whose()
        self.last = Last(stats, self.inputs.code(), outputs, (), names, report, complete, *how, whose)
        last_run.keep(self.last_path, self.last, "" if kept else self.db.problem)


def set_name(config: Config) -> str:
    """What tells a set that is compared with from others."""
    return "\n".join([config.release, *sorted(os.path.abspath(at.path) for at in config.specs.files.values())])


def facts_of(config: Config) -> tuple[bytes, dict[str, Stat | None], str]:
    """What another set says of derivatives, encoded; what it was read from; the report of mistakes, "" for none."""
    from pipeline.problems.causes import causes
    from pipeline.problems.problem import Problem
    from pipeline.query.account import problems
    from pipeline.query.row import encode
    from pipeline.reports.page.changes import autograd

    with closing(PageBuild(config)) as build:
        root = build.root("match")
        build.db.digest(*root)
        found = causes(problems(build.db, [root], Problem))
        if build.failed(found):
            return b"", {}, build.report(found)
        facts = encode(autograd(build.db))
        if build.inputs.code_is_the_same():
            build.db.commit()
        return facts, build.inputs.evidence(), ""
