"""A spec set as an editor sees it: the texts of open files over those on the disk, brought up to date in memory.

It is a build like any other: the same queries, the same problems. Its rows are this process's own, and it writes no
generated file. What counts as changed, counts from the last run on, not from the last key that was pressed.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.front.lsp.sessions import broken
from pipeline.front.lsp.sessions.private import Private
from pipeline.front.lsp.sessions.rounds import Rounds
from pipeline.front.lsp.sessions.set_files import SetFiles
from pipeline.front.run.build import Build
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
    """One spec set, open in an editor."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.files = SetFiles(config)
        self._roles: dict[str, Role] = {spec_label(role): role for role in ROLES if role in config.specs.files}
        self._open()

    def _open(self) -> None:
        """Starts from what the last run left."""
        private = self._place("")
        self._last_run = private.left
        self._whole = Rounds(self.config, Stages.roots, private, runs=True)
        self._quick: Rounds | None = None
        self._current = self._whole  # what answers are made from
        self._texts: dict[str, bytes] = {}
        self._behind = False  # whether the whole set has to be looked at
        self._read: dict[str, tuple[bytes, broken.Read]] = {}  # what files said last, and what that came to
        self._good: dict[str, bytes] = {}  # what files said when they could last be read
        self._found: list[Problem] = []
        self._late: list[Problem] = []  # of these, what only a look at the whole set finds
        self.mistakes: list[Problem] = []  # of files that cannot be read

    def _place(self, mark: str) -> Private:
        return Private(paths_of(self.config).store, self.config.specs.owner, mark)

    # ---- keeping up

    def update(self, opened: Mapping[str, bytes]) -> None:
        """Brings everything up to date with the texts of open files, by path, and the disk."""
        self.look(opened)
        self.complete()

    def look(self, opened: Mapping[str, bytes]) -> None:
        """The same as far as it takes to see nearly all that is wrong: up to the stage `match`, without what is made
        of it. What the rest had to tell before is told on."""
        if self.is_outrun:
            self.close()
            self._open()
        found = ((self.files.label(path), data) for path, data in opened.items())
        texts = {label: data for label, data in found if label}
        self.mistakes = []
        self._texts = {label: self._readable(label, data) for label, data in texts.items()}
        self._behind = True
        if self._quick is None and self._whole.had_run:
            self.complete()  # as quick, this once
        else:
            self._look_quickly()

    def _look_quickly(self) -> None:
        if self._quick is None:
            self._quick = Rounds(self.config, _analysis, self._place("quick"))
        self._quick.update(self._texts)
        self._current = self._quick
        self._found = [*self._quick.found, *self._late]

    @property
    def is_outrun(self) -> bool:
        """Whether somebody ran since this began with what the last run left."""
        return self._place("").left != self._last_run

    def complete(self) -> None:
        """Brings up to date what a look leaves out."""
        if not self._behind:
            return
        self._behind = False
        self._whole.update(self._texts)
        self._current, self._found = self._whole, self._whole.found
        if self._quick is not None:
            known = set(self._quick.found)
            self._late = [problem for problem in self._found if problem not in known]

    def prepare(self) -> None:
        """Makes the next look a quick one; takes a while, once."""
        if self._quick is None and not self._behind:
            current, found = self._current, self._found
            self._look_quickly()
            known = set(self._found)
            self._late = [problem for problem in found if problem not in known]
            self._current, self._found = current, found

    def _readable(self, label: str, data: bytes) -> bytes:
        """The bytes of a file, or what it said when it could last be read."""
        role = self._roles.get(label)
        if role is None:
            return data
        before, found = self._read.get(label, (b"", broken.Read()))
        if before != data:
            found = broken.read(data, role, found.good)
            self._read[label] = data, found
        if found.mistake is None:
            self._good[label] = data
        elif label in self._good:
            self.mistakes.append(of_file(role, found.mistake))
            return self._good[label]
        return data

    def settle(self) -> None:
        """Keeps what was found for the next key that is pressed; apart from `update`, as nobody waits for it."""
        for rounds in filter(None, (self._whole, self._quick)):
            rounds.settle()

    # ---- what there is to tell

    @property
    def failed(self) -> bool:
        """Whether the set has mistakes that stop a build."""
        return bool(self.mistakes) or fails(self.config, self._found)

    def report(self) -> Report:
        """What a run would tell, in its order, as far as it tells it."""
        roles = {problem.role for problem in self.mistakes}
        found = broken.beside(self._found, roles, self.mistakes) if roles else causes(self._found)
        texts = {label: text for label, (text, _) in self._read.items() if self._roles[label] in roles}
        sources = Typed(self._current.build, texts)
        return report_of(found, sources, strict=self.config.strict, most=MAX_SHOWN)

    # ---- what answers are made from

    @property
    def db(self) -> Database:
        """The database that has looked at the texts as they are."""
        return self._current.build.db

    def close(self) -> None:
        """Lets go of the databases, and removes them."""
        for rounds in filter(None, (self._whole, self._quick)):
            rounds.close()


def _analysis(stages: Stages) -> list[Root]:
    """The stages up to `match`, what comes before any unit is printed; of `specs` what the others read of it."""
    return [stages.root(stage) for stage in stages.analysis if stage != "specs"]


class Typed(Sources):
    """The sources of a build, and of files that cannot be read the texts that the build has not."""

    def __init__(self, build: Build, texts: Mapping[str, bytes]) -> None:
        super().__init__(build.config, build.db)
        self._typed = texts

    def text(self, problem: Problem) -> str:
        typed = None if problem.file else self._typed.get(spec_label(problem.role))
        if typed is None:
            return super().text(problem)
        try:
            return decode_text(typed)
        except SpecError:
            return ""
