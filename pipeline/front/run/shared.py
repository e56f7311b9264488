"""A shared cache for first builds: `remote=URL`. What it returns is verified like an archive that `cache import` reads.

The result of a first build is one archive. Its key is the SHA-256 of all that makes its memos valid for a run: the
contents of all inputs, gradmill's code and Python among them, and the layout. Whatever goes wrong, the run goes on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from pipeline import __version__
from pipeline.code.files import PREFIX
from pipeline.front.remote.connect import connect
from pipeline.front.remote.protocol import Blob, Remote, RemoteFailed, RemoteWrong
from pipeline.front.run.collect import is_root
from pipeline.front.run.paths import TRANSFER, TRANSFER_ARCHIVE
from pipeline.front.settings.config import Config
from pipeline.io.files import is_file, make_way
from pipeline.problems.plain import warn
from pipeline.query.database import ENGINE
from pipeline.query.memo import Input, Name, StoreDamaged, encode, row_of
from pipeline.stages.set import RELEASE
from pipeline.store.archive import FORMATS, Origin, Unusable, pack, unpack
from pipeline.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from pipeline.front.settings.remote import RemoteSettings
    from pipeline.query.database import Database

_KEY = "gradmill/1"  # of the key's own format
_BASIS = (ENGINE, RELEASE, f"{PREFIX}pipeline/__init__.py")  # inputs of every row: the last one has the version
_PART = 1 << 20


class SharedCache:
    """The shared cache of one build. `store`: the path of its store."""

    def __init__(self, config: Config, at: RemoteSettings, store: str) -> None:
        self._config = config
        self._at = at
        self._store = store
        self._scratch = os.path.join(config.folder, TRANSFER)
        self._archive = os.path.join(config.folder, TRANSFER_ARCHIVE)
        self._warned = False
        self._action = ""  # the key that an upload is for; "": there is nothing to upload
        self._digests: Mapping[str, bytes] = {}  # of the inputs of that key, by label

    def restore(self, inputs: Mapping[str, Input]) -> None:
        """Puts the archive for these inputs in the place of the store, unless the store is of use for them, or no
        archive is found. The caller has locked the cache."""
        if names_paths(self._config) or self._is_usable(inputs):
            return
        digests = {label: each.digest for label, each in inputs.items()}
        action = action_of(inputs, self._config.arrangement)
        try:
            with self._remote() as remote:
                blob = remote.find(action)
                if blob is not None and remote.fetch(blob, self._archive):
                    unpack(self._archive, self._scratch, self._store, digests)
                    return
        except (RemoteWrong, Unusable) as error:
            self._warn(f"{error}; it is not used")
        except (RemoteFailed, OSError) as error:
            return self._warn(f"{_reason(error)}; this run does without it")
        self._action, self._digests = (action, digests) if self._at.upload else ("", {})
        return None

    def upload(self, db: Database) -> None:
        """Uploads the store after a complete run, if `restore` found no archive for the same inputs."""
        action, self._action = self._action, ""
        if not action or self._digests != {label: each.digest for label, each in db.inputs.items()}:
            return
        config, dirty = self._config, db.dirty

        def is_current(name: Name) -> bool:
            """Whether a row is a root of this run: what older runs left may have paths of this machine."""
            return is_root(name) and dirty.isdisjoint((row_of(name), row_of(name, table=True)))

        try:
            with self._remote() as remote:
                origin = Origin(__version__, config.specs.name, config.release)
                deflate = not remote.compresses()
                pack(self._store, self._scratch, self._archive, origin, is_current, deflate=deflate)
                remote.put(action, _blob_of(self._archive), self._archive)
        except (RemoteWrong, RemoteFailed, StoreDamaged, OSError) as error:
            self._warn(f"{_reason(error)}; the results are not uploaded")

    def _is_usable(self, inputs: Mapping[str, Input]) -> bool:
        """Whether the rows of the local store may be valid for these inputs: a download costs more than most edits."""
        if not is_file(self._store):
            return False
        store = SqliteStore(self._store)
        try:
            snapshot, _ = store.begin()
            return not store.empty and all(snapshot.inputs.get(each) == inputs[each].digest for each in _BASIS)
        except StoreDamaged:
            return False
        finally:
            store.close()

    @contextmanager
    def _remote(self) -> Iterator[Remote]:
        """The server. The archive exists within only."""
        remote = connect(self._at)
        try:
            os.makedirs(self._config.folder, exist_ok=True)
            make_way(self._archive)
            yield remote
        finally:
            remote.close()
            with suppress(OSError):
                os.unlink(self._archive)

    def _warn(self, problem: str) -> None:
        """Reports a problem, the first one only."""
        if self._warned:
            return
        self._warned = True
        warn(f"remote={self._at.name}: {problem}")


def action_of(inputs: Mapping[str, Input], arrangement: Iterable[object]) -> str:
    """The key of a first build, in hexadecimal. CodeChanged as in `Source.read`."""
    contents = []
    for label in sorted(inputs):
        data = inputs[label].read()
        contents.append((label, None if data is None else sha256(data).digest()))
    return sha256(encode((_KEY, FORMATS, tuple(arrangement), contents))).hexdigest()


def names_paths(config: Config) -> bool:
    """Whether results have absolute paths, which are of this machine: `#line` directives, includes of a tree."""
    folders = (config.includes or {}).get("folders", {})
    specs = (config.line_paths or {}).get("specs", {})
    assert isinstance(folders, dict) and isinstance(specs, dict)
    named = [*folders.values(), *specs.values(), *([config.generated] if specs else [])]
    return any(map(os.path.isabs, named))


def _blob_of(path: str) -> Blob:
    size, digest = 0, sha256()
    with open(path, "rb") as file:
        while data := file.read(_PART):
            size += len(data)
            digest.update(data)
    return Blob(digest.hexdigest(), size)


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    return f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")
