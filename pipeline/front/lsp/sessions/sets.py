"""Which spec set a file belongs to: the one that was asked for, or the nearest around the file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from pipeline.front.lsp.sessions.session import Session
from pipeline.front.lsp.sessions.set_files import SetFiles
from pipeline.front.settings.config import read_config
from pipeline.problems.problem import SpecError

NO_SET = "no native_functions.yaml"  # what is said of a folder that is none
_NAMES = ("native_functions.yaml", "derivatives.yaml", "tags.yaml")  # files that somebody may take for spec files


class Sets:
    """The spec sets that an editor has files of. `variables` are those of the command line."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = dict(variables)
        self._sessions: dict[str, Session] = {}  # by the folder or the name of the set
        self._of: dict[str, Session | None] = {}  # by file
        self._left: set[str] = set()  # files of sets that were described in another way
        self.why: dict[str, SpecError | None] = {}  # by file that is one of no set: the mistake, if it is for one

    def of(self, path: str) -> Session | None:
        """The session of a file's set, None where there is none."""
        if path not in self._of:
            self.why.pop(path, None)
            self._of[path] = self._find(path)
        return self._of[path]

    def open(self) -> list[Session]:
        """The sessions."""
        return list(self._sessions.values())

    def forget(self, path: str) -> None:
        """Looks anew, when somebody asks next, for the set of what depends on a description or a release."""
        for session in [found for found in self._sessions.values() if found.files.describes(path)]:
            session.close()
            self._sessions = {name: other for name, other in self._sessions.items() if other is not session}
            self._left |= {each for each, other in self._of.items() if other is session}
            self._of = {each: other for each, other in self._of.items() if other is not session}
        self._of = {each: other for each, other in self._of.items() if other is not None}

    def close(self) -> None:
        """Lets go of all."""
        for session in self._sessions.values():
            session.close()

    def _find(self, path: str) -> Session | None:
        for session in self._sessions.values():
            if session.files.has(path):
                return session
        errors = []
        for specs in self._candidates(path):
            try:
                config = read_config({**self._variables, "specs": specs})
            except SpecError as error:
                errors.append(error)
                continue
            if SetFiles(config).has(path):
                self._sessions[specs] = Session(config)
                return self._sessions[specs]
        if os.path.basename(path) in _NAMES or path in self._left:
            self.why[path] = next((error for error in errors if not error.problem.endswith(NO_SET)), None)
        return None

    def _candidates(self, path: str) -> Iterator[str]:
        """Where a set may be that has a file: from its folder upwards."""
        if "specs" in self._variables:
            yield self._variables["specs"]
            return
        folder = os.path.dirname(os.path.abspath(path))
        while True:
            yield folder
            above = os.path.dirname(folder)
            if above == folder:
                return
            folder = above
