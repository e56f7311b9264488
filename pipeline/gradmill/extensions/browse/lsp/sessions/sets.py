"""The spec set of a file: the one that the command line names, or the nearest in the file's folder or above."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from gradmill.extensions.browse.lsp.sessions.session import Session
from gradmill.extensions.browse.lsp.sessions.set_files import SetFiles
from gradmill.families.table import FAMILIES
from gradmill.problems.problem import SpecError
from gradmill.session import SETTINGS_FILES
from gradmill.session.own_code import OwnCode
from gradmill.session.settings.config import Config, read_config
from gradmill.session.settings.reader import read_settings

NO_SET = "no native_functions.yaml"  # the end of the error message for a folder without a set
_NAMES = ("native_functions.yaml", "derivatives.yaml", "tags.yaml")  # names for which a missing set is reported


class Sets:
    """The spec sets of an editor's open files. `variables`: those of the command line; `code`: the
    snapshot of gradmill's own code."""

    def __init__(self, variables: Mapping[str, str], code: OwnCode) -> None:
        self._code = code
        self._variables = dict(variables)
        self._sessions: dict[str, Session] = {}  # by folder or name of the set
        self._of: dict[str, Session | None] = {}  # by file
        self._left: set[str] = set()  # files of sets that closed because their description changed
        self.why: dict[str, SpecError | None] = {}  # by file without a set: the error of its set, if there is one

    def of(self, path: str) -> Session | None:
        """The session of a file's set; None if the file is in no set, with the reason in `why`."""
        if path not in self._of:
            self.why.pop(path, None)
            self._of[path] = self._find(path)
        return self._of[path]

    def open(self) -> list[Session]:
        """The open sessions."""
        return list(self._sessions.values())

    def forget(self, path: str) -> None:
        """After a change of the file `path`: closes the sessions that it describes, all if it has settings, and
        forgets all missing sets. The next `of` looks them up again."""
        is_settings = os.path.basename(path) in SETTINGS_FILES
        for session in [each for each in self._sessions.values() if is_settings or each.files.describes(path)]:
            session.close()
            self._sessions = {name: other for name, other in self._sessions.items() if other is not session}
            self._left |= {each for each, other in self._of.items() if other is session}
            self._of = {each: other for each, other in self._of.items() if other is not session}
        self._of = {each: other for each, other in self._of.items() if other is not None}

    def close(self) -> None:
        """Closes all sessions."""
        for session in self._sessions.values():
            session.close()

    def _find(self, path: str) -> Session | None:
        for session in self._sessions.values():
            if session.files.has(path):
                return session
        errors = []
        try:
            for variables in self._candidates(path):
                try:
                    config = self._allowed(read_config(variables))
                except SpecError as error:
                    errors.append(error)
                    continue
                if SetFiles(config).has(path):
                    self._sessions[variables["specs"]] = session = Session(config, self._code)
                    return session
        except SpecError as error:  # in a settings file
            errors.append(error)
        if os.path.basename(path) in _NAMES or path in self._left:
            self.why[path] = next((error for error in errors if not error.problem.endswith(NO_SET)), None)
        return None

    def _allowed(self, config: Config) -> Config:
        """A configuration without hooks and families that run code of the set, unless the user allows them: editors
        open sets of others."""
        described = config.specs.described
        if self._variables.get("hooks") == "1":
            return config
        config = replace(config, families=tuple(name for name in config.families if not FAMILIES[name].runs_code))
        if described is None:
            return config
        return replace(config, specs=replace(config.specs, described=replace(described, hooks=None)))

    def _candidates(self, path: str) -> Iterator[Mapping[str, str]]:
        """The variables of the possible sets of a file: of the one in `specs=`, else of the one that the nearest
        settings file names, and of the file's folder and its parents. SpecError if the settings file is wrong."""
        folders = [*map(str, Path(os.path.abspath(path)).parents)]
        settings = read_settings(self._variables, folders[0], finds_set=False)
        if "specs" in settings:
            yield settings
        if "specs" not in self._variables:
            yield from ({**settings.of_any_set(), "specs": folder} for folder in folders)
