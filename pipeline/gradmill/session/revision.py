"""A spec set as it was in a revision of its git repository, for `diff against=git:REV`.

Only git's reading commands run, each with its arguments as a list. Files are written to a given folder alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from gradmill.io.files import replace_file
from gradmill.problems.problem import SpecError, nearest
from gradmill.session.settings.variables import REVISION
from gradmill.specs.location import DESCRIPTION, Location
from gradmill.specs.spec_set import SpecSet

_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")  # relative to another folder
_LINK, _FILE = "120000", "blob"


class _Entry(Struct, frozen=True):
    """A file of a revision, or a submodule."""

    mode: str
    kind: str
    digest: str
    path: str


class Repository:
    """The repository around a spec set, and one revision of it. SpecError if there is none."""

    def __init__(self, folder: str, revision: str) -> None:
        self._git = shutil.which("git") or ""
        self._revision = revision
        if not self._git:
            raise self._error("git is not installed", "install git, or name a folder: against=FOLDER")
        if not revision:
            raise self._error("it names no revision", "write against=git:HEAD, a branch, a tag or a commit")
        self._folder = folder
        top = self._run("rev-parse", "--show-toplevel")
        if top.returncode:
            hint = "name a set in a repository, or compare with a folder: against=FOLDER"
            raise self._error(f"{folder} is in no git repository", hint)
        self.root = self._folder = os.path.realpath(os.fsdecode(top.stdout.removesuffix(b"\n")))
        commit = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if commit.returncode:
            named = self._run("for-each-ref", "--format=%(refname:short)").stdout.decode(errors="replace").split()
            hint = nearest(revision, named) or "git log lists the commits"
            raise self._error(f"{self.root} has no such revision", hint)
        self._commit = commit.stdout.decode().strip()

    def _error(self, problem: str, hint: str) -> SpecError:
        return SpecError(f"against={REVISION}{self._revision}: {problem}", hint)

    def _run(self, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return _run(self._git, self._folder, *words, data=data)

    def has(self, path: str) -> bool:
        """Whether the revision has a file, by its path relative to the root."""
        return bool(self._run("ls-tree", "--full-tree", self._commit, "--", path).stdout)

    def write(self, paths: Sequence[str], into: str) -> None:
        """Writes the files of the revision that are at `paths` or below, relative to the root, to a folder. SpecError
        if there are none, or some are in a submodule."""
        entries = list(self._entries())
        for each in entries:
            inside = next((path for path in paths if path == each.path or path.startswith(f"{each.path}/")), "")
            if each.kind != _FILE and inside:
                hint = "check the revision out into another folder with its submodules, and write against=FOLDER"
                raise self._error(f"{inside} is in the submodule {each.path}", hint)
        below = tuple("" if path == os.curdir else f"{path}/" for path in paths)
        files = [each for each in entries if each.kind == _FILE and (each.path in paths or each.path.startswith(below))]
        if not files:
            raise self._error(f"the revision has no {paths[0]}", "name a revision that has the spec set")
        for each, content in zip(files, self._contents(files)):
            if each.mode == _LINK:
                raise self._error(f"{each.path} is a symbolic link", "write against=FOLDER, with the revision there")
            path = os.path.join(into, each.path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            replace_file(path, content)

    def _entries(self) -> Iterator[_Entry]:
        listed = self._run("ls-tree", "-r", "-z", "--full-tree", self._commit).stdout
        for line in filter(None, listed.split(b"\0")):
            head, _, path = line.partition(b"\t")
            mode, kind, digest = head.decode().split()
            yield _Entry(mode, kind, digest, os.fsdecode(path))

    def _contents(self, files: Iterable[_Entry]) -> Iterator[bytes]:
        """The bytes of files, in their order: each follows a line that ends with its size."""
        asked = "".join(f"{each.digest}\n" for each in files).encode()
        data, at = self._run("cat-file", "--batch", data=asked).stdout, 0
        while at < len(data):
            start = data.index(b"\n", at) + 1
            end = start + int(data[at : start - 1].rpartition(b" ")[2])
            yield data[start:end]
            at = end + 1


def _run(git: str, folder: str, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [git, "-C", folder, "--no-optional-locks", *words]
    environment = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    return subprocess.run(command, input=data, capture_output=True, check=False, env=environment)  # noqa: S603


def has_revision(specs: SpecSet, revision: str) -> bool:
    """Whether a set's first file is in a revision of a git repository around it."""
    try:
        repository = _repository(specs, revision)
    except SpecError:
        return False
    return repository.has(_within(repository.root, _first(specs).path))


def _first(specs: SpecSet) -> Location:
    """The file of a set that decides which repository is around it."""
    return specs.files.get(DESCRIPTION) or next(iter(specs.files.values()))


def _repository(specs: SpecSet, revision: str) -> Repository:
    """The repository around a set, and a revision of it. SpecError if there is none."""
    first = _first(specs)
    if first.member:
        raise SpecError(
            f"against={REVISION}{revision}: {first.path} is not a directory", "write specs=FOLDER, in a repository"
        )
    return Repository(os.path.dirname(os.path.abspath(first.path)), revision)


def write_revision(specs: SpecSet, revision: str, into: str) -> str:
    """Writes the files of a set, as they are in a revision of the repository around it, to the folder `into`. Returns
    the value of `specs=` for them. SpecError if that cannot be done."""
    repository, described = _repository(specs, revision), specs.files.get(DESCRIPTION)
    paths = [_within(repository.root, path) for path in _paths(specs)]
    root = os.path.join(into, os.path.basename(repository.root) or "root")
    repository.write(paths, root)
    place = described.path if described is not None else _common(specs)
    return os.path.normpath(os.path.join(root, _within(repository.root, place)))


def _common(specs: SpecSet) -> str:
    """The folder of a set that has no description."""
    paths = [at.path for at in specs.files.values()] + ([specs.version_file] if specs.in_development else [])
    return os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in filter(None, paths)])


def _paths(specs: SpecSet) -> list[str]:
    """Where a set's files may be in another revision: in the same places, in the folders of its templates, and, unless
    it is a checkout, anywhere in its own folder."""
    description = specs.files.get(DESCRIPTION)
    own = [] if specs.in_development else [os.path.dirname(description.path) if description else _common(specs)]
    templates = [os.path.dirname(at.path) for at in specs.templates.values() if not at.member]
    files = [at.path for at in (*specs.files.values(), *specs.headers.values()) if not at.member]
    return list(dict.fromkeys([*own, *files, *templates, *specs.looked_for, *filter(None, [specs.version_file])]))


def _within(root: str, path: str) -> str:
    """A path relative to the root of a repository."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.relpath(os.path.join(os.path.realpath(folder), name), root)
