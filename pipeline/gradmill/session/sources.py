"""The texts that problems refer to, as in the input snapshot."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from gradmill.problems.problem import Problem, Role, SpecError
from gradmill.specs.location import BACKEND, DESCRIPTION, EXTERNAL, EXTERNAL_KERNELS, OPERATORS
from gradmill.specs.text import decode_text
from gradmill.stages.added import lines
from gradmill.stages.set import source, source_keys, sources, spec_label, template_label
from gradmill.stages.specs import entries, texts_of

if TYPE_CHECKING:
    from gradmill.query.database import Database
    from gradmill.session.settings.config import Config
    from gradmill.specs.layers.diff import Line


_ROLES_OF_ONE_FILE = (DESCRIPTION, OPERATORS, BACKEND, EXTERNAL, EXTERNAL_KERNELS)
_WITHOUT_KEY: tuple[Role, ...] = ("template", "added")  # files that are named by themselves


class Sources:
    """The sources of one build."""

    def __init__(self, config: Config, db: Database) -> None:
        self._config = config
        self._db = db
        self._texts: dict[str, str] = {}
        self._entries: dict[Role, dict[str, tuple[str, int, str]]] = {}

    def path(self, problem: Problem) -> str:
        """The path of the file that a problem is in."""
        if problem.role == "added":
            extension, _, name = problem.file.partition("/")
            return str(self._config.added[extension].path(name))
        specs = self._config.specs
        if problem.role in ("template", "generator"):
            return str((specs.templates if problem.role == "template" else specs.generator)[problem.file])
        return str(specs.files[self._key(problem)])

    def text(self, problem: Problem) -> str:
        """The text of that file, "" if it cannot be read."""
        key = "" if problem.role in _WITHOUT_KEY else self._key(problem)
        label = problem.file if problem.role == "added" else template_label(problem.file)
        label = spec_label(key) if key else label
        if label not in self._texts:
            self._texts[label] = self._read(label, key)
        return self._texts[label]

    def _read(self, label: str, key: str) -> str:
        if key and key in self._changed:
            return "\n".join(line.text for line in self._changed[key])
        try:
            return decode_text(self._db.input(label) or b"")
        except SpecError:
            return ""

    @cached_property
    def _changed(self) -> dict[str, list[Line]]:
        """The lines of the files that diffs change."""
        from gradmill.stages.layered.files import changed

        db = self._db
        by_key = {source.key: changed(db, source.key) for source in sources(db) if source.diffs}
        return {key: lines for key, lines in by_key.items() if lines is not None}

    def origin(self, problem: Problem, line: int) -> tuple[str, int]:
        """The file and the line that a line of the text comes from."""
        key = self._key(problem) if problem.role not in _WITHOUT_KEY and line else ""
        lines = self._changed.get(key, []) if key else []
        if not 0 < line <= len(lines):
            return self.path(problem), line
        origin = lines[line - 1]
        files = (key, *source(self._db, key).diffs)
        return str(self._config.specs.files[files[origin.file]]), origin.line

    def key(self, problem: Problem) -> tuple[int, int]:
        """The line and column of a key of the description, from 1; 0 if unknown."""
        from gradmill.specs.toml_text import place_in

        return place_in(self.text(problem), problem.field, problem.needle)

    def entry(self, problem: Problem) -> tuple[int, str] | None:
        """The line on which the problem's entry starts, from 1, and its text; None if there is no such entry."""
        if problem.role == "added":
            line = lines(self._db, problem.file).get(problem.entry)
            return None if line is None else (line, "")
        entry = self._entries_of(problem.role).get(problem.entry)
        return None if entry is None else entry[1:]

    def _entries_of(self, role: Role) -> dict[str, tuple[str, int, str]]:
        """The entries of a role: the key of the file, the line, the text."""
        if role not in self._entries:
            db = self._db
            placed = [(key, piece.line, piece.text) for key in source_keys(db, role) for piece in texts_of(db, key)]
            self._entries[role] = dict(zip(db.names(entries, role), placed))
        return self._entries[role]

    def _key(self, problem: Problem) -> str:
        """The key of the file that a problem is in."""
        if problem.file or problem.role in _ROLES_OF_ONE_FILE:
            return problem.file or problem.role
        entry = self._entries_of(problem.role).get(problem.entry) if problem.entry else None
        return entry[0] if entry is not None else next(iter(source_keys(self._db, problem.role)), "set")
