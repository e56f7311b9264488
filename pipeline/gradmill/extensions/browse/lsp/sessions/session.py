"""A spec set in an editor: the texts of open files replace those on the disk.

A session uses the same queries as a run and reports the same problems. It starts with the rows of the last run, keeps
its own in memory and writes no file. Changes are relative to the last run, not to the last edit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from gradmill.doors import checker
from gradmill.extensions.browse.editor.words import Reader
from gradmill.extensions.browse.lsp.sessions import broken
from gradmill.extensions.browse.lsp.sessions.set_files import SetFiles
from gradmill.io.files import is_file, stat_of
from gradmill.problems.causes import causes
from gradmill.problems.formats import MAX_SHOWN
from gradmill.problems.problem import Problem, Role, SpecError
from gradmill.problems.report import Report, report_of
from gradmill.query.database import Database
from gradmill.session.build import BUDGET, Build
from gradmill.session.inputs import Inputs
from gradmill.session.own_code import OwnCode
from gradmill.session.paths import owner_of, paths_of
from gradmill.session.problems import all_problems, doubt_of, fails
from gradmill.session.roots import Root
from gradmill.session.settings.config import Config
from gradmill.session.sources import Sources
from gradmill.specs.spec_set import ROLES
from gradmill.specs.text import decode_text
from gradmill.stages.set import spec_label
from gradmill.stages.spec_files import of_file
from gradmill.store.memory import MemoryStore


class Session:
    """One spec set, open in an editor. `code`: the snapshot of gradmill's own code."""

    def __init__(self, config: Config, code: OwnCode) -> None:
        self.config = config
        self._code = code
        self.files = SetFiles(config)
        self._roles: dict[str, Role] = {spec_label(role): role for role in ROLES if role in config.specs.files}
        self._store = paths_of(config).store(code.digest)
        self.has_changes = False  # that were not processed
        self.rests = True  # whether the whole set was checked since the last changes, or could not be
        self._reader = Reader()
        self.names: tuple[object, ...] | None = None  # what names depend on, as the editor knows them
        self._open()

    def _open(self) -> None:
        """Starts from the last run's rows, unless they are of another set with the same name."""
        self._last_run = stat_of(self._store)
        is_ours = owner_of(os.path.dirname(self._store)) == self.config.specs.owner
        self._had_run = is_ours and is_file(self._store)
        self._memory = MemoryStore(self._store if self._had_run else "")
        inputs, budget = Inputs(self.config, self._code), BUDGET if self._had_run else 0
        self._build = Build(self.config, inputs=inputs, budget=budget, memory=self._memory)
        self._is_new = True  # whether nothing was requested yet
        self._behind = False  # whether the whole set has to be checked
        self._unkept = False
        self._read: dict[str, tuple[bytes, broken.Read]] = {}  # the last text of each file, and its result
        self._good: dict[str, bytes] = {}  # the last readable text of each file
        self._problems: list[Problem] = []
        self._early: list[Problem] = []  # those of them that `check` reports
        self._late: list[Problem] = []  # those that only a check of the whole set reports
        self.errors: list[Problem] = []  # of unreadable files
        self.verified: Any = None  # `known` of doors.py: what is remembered of the formulas of the last complete check
        self.verifying: set[str] = set()  # the entries whose formulas are being verified
        self._findings: list[Problem] = []  # of earlier verifications

    # ---- keeping up

    def check(self, opened: Mapping[str, bytes]) -> None:
        """Brings the stages up to `match`, which report nearly all problems, up to date with the disk and with the
        texts of open files, by path. Problems of later stages are kept from the last complete check. CodeChanged if
        gradmill's code changed."""
        if self.is_outrun or self._memory.is_overgrown:
            self.close()
            self._open()
        self.settle()
        labelled = ((self.files.label(path), data) for path, data in opened.items())
        texts = {label: data for label, data in labelled if label}
        self.errors = []
        self._build.inputs.opened = {label: self._readable(label, data) for label, data in texts.items()}
        self._behind = self._unkept = True
        if self._is_new:
            self._build.begin()
        else:
            self._build.refresh()
        self._is_new = False
        stages = self._build.stages
        # `specs` is left out: the other stages request the rows they need.
        self._early = self._problems_of([stages.root(stage) for stage in stages.analysis if stage != "specs"])
        self._problems = [*self._early, *self._late]

    @property
    def is_outrun(self) -> bool:
        """Whether another run has committed results since this session started."""
        return stat_of(self._store) != self._last_run

    def complete(self) -> None:
        """Brings up to date what `check` leaves out."""
        if not self._behind:
            return
        early = set(self._early)
        self._problems = self._problems_of(self._build.stages.roots())
        self._late = [problem for problem in self._problems if problem not in early]
        self._behind, self._unkept = False, True
        if not self._had_run:  # without a run, the first complete check is the base of comparison
            self._had_run = True
            self.db.compare_from_here()
        self.recall()

    def recall(self) -> None:
        """Reads what earlier verifications found about the current formulas."""
        verdicts = checker()
        self.verified = None if self.failed or verdicts is None else verdicts.known(self._build)
        self._findings = self.verified.problems(self._build) if self.verified is not None else []

    def verification(self, entry: str) -> Callable[[], object]:
        """The verification of an entry of derivatives.yaml. SpecError for a release that cannot be verified."""
        verify: Callable[[], object] = checker().verification(self._build, entry)
        return verify

    def _problems_of(self, roots: list[Root]) -> list[Problem]:
        problems = all_problems(self.config, self.db, roots)
        self._code.check()
        return problems

    def _readable(self, label: str, data: bytes) -> bytes:
        """The bytes of a file or, if they cannot be read, its last readable text. Records the error in `errors`."""
        role = self._roles.get(label)
        if role is None:
            return data
        before, result = self._read.get(label, (b"", broken.Read()))
        if before != data:
            result = broken.read(data, role, result.good)
            self._read[label] = data, result
        if result.error is None:
            self._good[label] = data
        elif label in self._good:
            self.errors.append(of_file(role, result.error))
            return self._good[label]
        return data

    def settle(self) -> None:
        """Keeps the results; separate from `check`, so that the editor does not wait for it."""
        if self._unkept:
            self._unkept = False
            if self._code.is_sound():
                self.db.commit()

    # ---- reports

    @property
    def failed(self) -> bool:
        """Whether the set has errors that stop a build."""
        return bool(self.errors) or fails(self.config, self._problems)

    def report(self) -> Report:
        """The report of a run on these texts, in the same order and with the same limit."""
        roles = {problem.role for problem in self.errors}
        others = (problem for problem in self._problems if problem.role not in roles)  # than about unreadable files
        problems = [*causes([*self.errors, *others]), *self._findings]
        texts = {label: text for label, (text, _) in self._read.items() if self._roles[label] in roles}
        sources = Typed(self._build, texts)
        notes = [doubt_of(self.config, problems)]
        return report_of(problems, sources, strict=self.config.strict, most=MAX_SHOWN, notes=notes)

    # ---- the source of answers

    @property
    def db(self) -> Database:
        """The database that is up to date with the current texts."""
        return self._build.db

    @property
    def reader(self) -> Reader:
        """The reader of the set's formulas, for the names that they may call now."""
        self._reader.update(self.db)
        return self._reader

    def close(self) -> None:
        """Closes the database."""
        self._build.close()


class Typed(Sources):
    """The sources of a build, and the current texts of unreadable files, which the build does not have."""

    def __init__(self, build: Build, texts: Mapping[str, bytes]) -> None:
        super().__init__(build.config, build.db)
        self._typed = texts

    def text(self, problem: Problem) -> str:
        """The text of the problem's file: as typed if the build cannot read it, "" if that is not UTF-8."""
        typed = None if problem.file else self._typed.get(spec_label(problem.role))
        if typed is None:
            return super().text(problem)
        try:
            return decode_text(typed)
        except SpecError:
            return ""
