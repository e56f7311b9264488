"""The texts that problems are about, as the build took them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.problems.problem import Problem, Role, SpecError
from pipeline.specs.text import decode_text

if TYPE_CHECKING:
    from pipeline.front.run.build import Build


class Sources:
    """The sources of one build."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._texts: dict[str, str] = {}
        self._entries: dict[Role, dict[str, tuple[int, str]]] = {}

    def path(self, problem: Problem) -> str:
        """The file that a problem is in."""
        if problem.role == "graph":
            return self._build.config.graphs.path(problem.file)
        specs = self._build.config.specs
        return str(specs.templates[problem.file] if problem.role == "template" else specs.files[problem.role])

    def text(self, problem: Problem) -> str:
        """Its text, "" where there is none that can be read."""
        from pipeline.stages.set import graph_label, spec_label, template_label

        named = {"template": template_label, "graph": graph_label}.get(problem.role)
        label = named(problem.file) if named is not None else spec_label(problem.role)
        if label not in self._texts:
            try:
                self._texts[label] = decode_text(self._build.db.input(label) or b"")
            except SpecError:
                self._texts[label] = ""
        return self._texts[label]

    def entry(self, problem: Problem) -> tuple[int, str] | None:
        """The line that the problem's entry starts at, and its text."""
        from pipeline.stages.specs import entries, texts

        if problem.role == "graph":
            from pipeline.stages.graphs import lines

            line = lines(self._build.db, problem.file).get(problem.entry)
            return None if line is None else (line, "")
        if problem.role not in self._entries:
            names = self._build.db.names(entries, problem.role)
            pieces = texts(self._build.db, problem.role)
            self._entries[problem.role] = {name: (piece.line, piece.text) for name, piece in zip(names, pieces)}
        return self._entries[problem.role].get(problem.entry)
