"""The files of a spec set, by an editor's paths."""

from __future__ import annotations

import os

from gradmill.model.layers import role_of
from gradmill.problems.problem import Role
from gradmill.session.settings.config import Config
from gradmill.specs.location import DESCRIPTION, Location
from gradmill.specs.spec_set import FILE_NAMES, ROLES
from gradmill.stages.set import spec_label, template_label


class SetFiles:
    """The files of one set, by real path. Files inside an archive are left out."""

    def __init__(self, config: Config) -> None:
        self._specs = specs = config.specs
        located = {spec_label(key): at for key, at in specs.files.items()}
        located |= {template_label(name): at for name, at in specs.templates.items()}
        self._labels = {os.path.realpath(at.path): label for label, at in located.items() if not at.member}

    def has(self, path: str) -> bool:
        """Whether a file is one of the set's."""
        return os.path.realpath(path) in self._labels

    def label(self, path: str) -> str:
        """The input label of a file; "" if the set does not have the file."""
        return self._labels.get(os.path.realpath(path), "")

    def key(self, path: str) -> str:
        """The key of a spec file in the set; "" if the set does not have the file."""
        return self.label(path).removeprefix(spec_label(""))

    def role(self, path: str) -> Role | None:
        """The role of a file's entries; None if the file has no entries."""
        name = self.key(path).partition(":")[0]
        return next((role for role in ROLES if role == name), None)

    def describes(self, path: str) -> bool:
        """Whether a file defines the set: its description, its version, or a path in which one was looked up."""
        specs = self._specs
        defining = [specs.version_file, *(at.path for key, at in specs.files.items() if role_of(key) == DESCRIPTION)]
        defining += specs.looked_for
        return os.path.realpath(path) in [os.path.realpath(each) for each in defining if each]

    def locations(self, role: Role) -> list[Location]:
        """The files of a role."""
        return [at for key, at in self._specs.files.items() if key.partition(":")[0] == role]

    def unread(self, role: Role) -> list[str]:
        """The paths of the set's files of an optional role that no generated family reads."""
        if self.locations(role):
            return []
        named = [path for path in self._specs.looked_for if os.path.basename(path) == FILE_NAMES[role]]
        return [os.path.realpath(path) for path in named if os.path.isfile(path)]

    def headers(self) -> dict[str, Location]:
        """The headers that declare the functions that formulas call, by name."""
        return {name: at for name, at in self._specs.headers.items() if not at.member}
