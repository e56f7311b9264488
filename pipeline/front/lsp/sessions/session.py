"""A spec set in an editor: the texts of open files replace those on the disk.

A session uses the same queries as a run and reports the same problems. It has a private store and writes no generated
file. Changes are relative to the last run, not to the last edit.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.front.lsp.sessions import broken
from pipeline.front.lsp.sessions.private import Private
from pipeline.front.lsp.sessions.rounds import Rounds
from pipeline.front.lsp.sessions.set_files import SetFiles
from pipeline.front.run.build import Build
from pipeline.front.run.own_code import OwnCode
from pipeline.front.run.paths import paths_of
from pipeline.front.run.problems import fails
from pipeline.front.run.roots import Root, Stages
from pipeline.front.run.sources import Sources
from pipeline.front.settings.config import Config
from pipeline.problems.causes import causes
from pipeline.problems.problem import Problem, Role, SpecError
from pipeline.problems.render import MAX_SHOWN
from pipeline.problems.report import Report, report_of
from pipeline.query.database import Database
from pipeline.specs.spec_set import ROLES
from pipeline.specs.text import decode_text
from pipeline.stages.layered.files import of_file
from pipeline.stages.set import spec_label


class Session:
    """One spec set, open in an editor. `code`: the snapshot of gradmill's own code."""

    def __init__(self, config: Config, code: OwnCode) -> None:
        self.config = config
        self._code = code
        self.files = SetFiles(config)
        self._roles: dict[str, Role] = {spec_label(role): role for role in ROLES if role in config.specs.files}
        self._open()

    def _open(self) -> None:
        """Starts from the last run's rows."""
        private = self._place("")
        self._last_run = private.left
        self._whole = Rounds(self.config, self._code, Stages.roots, private, runs=True)
        self._quick: Rounds | None = None
        self._current = self._whole  # the source of answers
        self._texts: dict[str, bytes] = {}
        self._behind = False  # whether the whole set has to be checked
        self._read: dict[str, tuple[bytes, broken.Read]] = {}  # the last text of each file, and its result
        self._good: dict[str, bytes] = {}  # the last readable text of each file
        self._problems: list[Problem] = []
        self._late: list[Problem] = []  # those of them that only a check of the whole set reports
        self.errors: list[Problem] = []  # of unreadable files

    def _place(self, mark: str) -> Private:
        return Private(paths_of(self.config).store(self._code.digest), self.config.specs.owner, mark)

    # ---- keeping up

    def update(self, opened: Mapping[str, bytes]) -> None:
        """Brings everything up to date with the texts of open files, by path, and the disk."""
        self.look(opened)
        self.complete()

    def look(self, opened: Mapping[str, bytes]) -> None:
        """Like `update`, but only up to the stage `match`, which reports nearly all problems. Problems of later stages
        are kept from the last complete check."""
        if self.is_outrun:
            self.close()
            self._open()
        labelled = ((self.files.label(path), data) for path, data in opened.items())
        texts = {label: data for label, data in labelled if label}
        self.errors = []
        self._texts = {label: self._readable(label, data) for label, data in texts.items()}
        self._behind = True
        if self._quick is None and self._whole.had_run:
            self.complete()  # the first time, this is as fast
        else:
            self._look_quickly()

    def _look_quickly(self) -> None:
        if self._quick is None:
            self._quick = Rounds(self.config, self._code, _analysis, self._place("quick"))
        self._quick.update(self._texts)
        self._current = self._quick
        self._problems = [*self._quick.problems, *self._late]

    @property
    def is_outrun(self) -> bool:
        """Whether another run has committed results since this session started."""
        return self._place("").left != self._last_run

    def complete(self) -> None:
        """Brings up to date what `look` leaves out."""
        if not self._behind:
            return
        self._behind = False
        self._whole.update(self._texts)
        self._current, self._problems = self._whole, self._whole.problems
        if self._quick is not None:
            known = set(self._quick.problems)
            self._late = [problem for problem in self._problems if problem not in known]

    def prepare(self) -> None:
        """Prepares the quick database for the next `look`; slow the first time."""
        if self._quick is None and not self._behind:
            current, problems = self._current, self._problems
            self._look_quickly()
            known = set(self._problems)
            self._late = [problem for problem in problems if problem not in known]
            self._current, self._problems = current, problems

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
        """Commits the results; separate from `update`, so that the editor does not wait for it."""
        for rounds in filter(None, (self._whole, self._quick)):
            rounds.settle()

    # ---- reports

    @property
    def failed(self) -> bool:
        """Whether the set has errors that stop a build."""
        return bool(self.errors) or fails(self.config, self._problems)

    def report(self) -> Report:
        """The report of a run on these texts, in the same order and with the same limit."""
        roles = {problem.role for problem in self.errors}
        problems = broken.merged(self._problems, roles, self.errors) if roles else causes(self._problems)
        texts = {label: text for label, (text, _) in self._read.items() if self._roles[label] in roles}
        sources = Typed(self._current.build, texts)
        return report_of(problems, sources, strict=self.config.strict, most=MAX_SHOWN)

    # ---- the source of answers

    @property
    def db(self) -> Database:
        """The database that is up to date with the current texts."""
        return self._current.build.db

    def close(self) -> None:
        """Closes the databases and removes their files."""
        for rounds in filter(None, (self._quick, self._whole)):
            rounds.close()

    def discard(self) -> None:
        """Removes the files of the databases, which stay open: the process ends."""
        for rounds in filter(None, (self._quick, self._whole)):
            rounds.discard()


def _analysis(stages: Stages) -> list[Root]:
    """The roots of the stages before the units. `specs` is left out: the other stages request the rows they need."""
    return [stages.root(stage) for stage in stages.analysis if stage != "specs"]


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
