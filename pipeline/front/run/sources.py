"""The texts that problems are about, as the build took them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.problems.problem import Problem, Role, SpecError
from pipeline.specs.text import decode_text
from pipeline.stages.set import source_keys, spec_label, template_label
from pipeline.stages.specs import entries, texts_of

if TYPE_CHECKING:
    from pipeline.front.run.build import Build


class Sources:
    """The sources of one build."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._texts: dict[str, str] = {}
        self._entries: dict[Role, dict[str, tuple[str, int, str]]] = {}

    def path(self, problem: Problem) -> str:
        """The file that a problem is in."""
        specs = self._build.config.specs
        return str(specs.templates[problem.file] if problem.role == "template" else specs.files[self._key(problem)])

    def text(self, problem: Problem) -> str:
        """Its text, "" where there is none that can be read."""
        template = problem.role == "template"
        label = template_label(problem.file) if template else spec_label(self._key(problem))
        if label not in self._texts:
            try:
                self._texts[label] = decode_text(self._build.db.input(label) or b"")
            except SpecError:
                self._texts[label] = ""
        return self._texts[label]

    def entry(self, problem: Problem) -> tuple[int, str] | None:
        """The line that the problem's entry starts at, and its text."""
        found = self._found(problem.role).get(problem.entry)
        return None if found is None else found[1:]

    def _found(self, role: Role) -> dict[str, tuple[str, int, str]]:
        """The entries of a role: the key of the file, the line, the text."""
        if role not in self._entries:
            db = self._build.db
            placed = [(key, *piece) for key in source_keys(db, role) for piece in texts_of(db, key)]
            self._entries[role] = dict(zip(db.names(entries, role), placed))
        return self._entries[role]

    def _key(self, problem: Problem) -> str:
        """The key of the file that a problem is in."""
        if problem.file or problem.role == "set":
            return problem.file or "set"
        found = self._found(problem.role).get(problem.entry) if problem.entry else None
        return found[0] if found is not None else self._first(problem.role)

    def _first(self, role: Role) -> str:
        keys = source_keys(self._build.db, role)
        return keys[0] if keys else "set"
