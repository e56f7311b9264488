"""The described sets that the tests edit: as a rule a small base, three layers over it, one of each feature."""

from __future__ import annotations

import shutil
from copy import copy
from pathlib import Path

import forked
from project import ROOT, Run, files_in

SET = ROOT / "tests" / "vendors" / "set"
BASE = ROOT / "tests" / "bad" / "base"


class Vendor:
    """A copy of a set in `folder`/set, the base of that of layers beside it, and runs of gradmill on it."""

    def __init__(self, folder: Path, source: Path = SET) -> None:
        self.folder, self.source = folder, source
        shutil.copytree(source, folder / "set")
        shutil.copytree(BASE, folder / "base")

    def copy(self, folder: Path) -> Vendor:
        """A copy of all in another folder, with what earlier runs left."""
        other = copy(self)
        other.folder = Path(shutil.copytree(self.folder, folder, dirs_exist_ok=True))
        return other

    def restore(self, name: str) -> None:
        """Undoes all edits of a file; one that was added is deleted."""
        self.path(name).unlink(missing_ok=True)
        if (self.source / name).exists():
            shutil.copyfile(self.source / name, self.path(name))

    def path(self, name: str) -> Path:
        return self.folder / "set" / name

    def replace(self, name: str, old: str, new: str, count: int = 1) -> None:
        """Replaces the one place in a file of the set where `old` stands; or as many as `count` says."""
        text = self.path(name).read_text()
        assert text.count(old) == count, f"{name} has {text.count(old)} of: {old}"
        self.path(name).write_text(text.replace(old, new))

    def append(self, name: str, text: str) -> None:
        with self.path(name).open("a") as file:
            file.write(text)

    def run(self, *arguments: str, **variables: object) -> Run:
        """`gradmill`, in the folder."""
        values = {"specs": "set", "generated": "generated", "cache": "cache", **variables}
        words = [*arguments, *(f"{name}={value}" for name, value in values.items())]
        return forked.gradmill(words, self.folder)

    def build(self, **variables: object) -> dict[str, str]:
        """The generated files of a run, which must succeed."""
        self.run(**variables).ok()
        return self.files()

    def files(self) -> dict[str, str]:
        return {name: data.decode() for name, data in files_in(self.folder / "generated").items()}


def kernel(text: str, name: str) -> str:
    """The kernel of a name in a file; "" where there is none."""
    parts = text.split(f" {name}(c10::DispatchKeySet ks")
    return parts[1].partition("\n}\n")[0] if len(parts) > 1 else ""


def block(text: str, library: str) -> str:
    """The registrations in a library."""
    return text.partition(f"TORCH_LIBRARY_IMPL({library}, ")[2].partition("\n}\n")[0]


def registered(text: str) -> list[str]:
    """The operators that are registered, in their order."""
    return [part.partition('"')[0] for part in text.split('m.impl("')[1:]]
