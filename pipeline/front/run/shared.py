"""A shared cache for first builds: `remote=URL`. What it returns is verified like an archive that `cache import` reads.

The results of a build are one archive, found by either of two keys. The first one is of all that makes its memos valid:
the contents of all inputs, gradmill's code and Python among them, and the layout. If the cache has nothing for it, the
second one leads to the results of other inputs, of which a run rebuilds what differs. Whatever goes wrong, the run goes
on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from pipeline import __version__
from pipeline.front.remote.action_result import Blob
from pipeline.front.remote.limits import RemoteFailed, RemoteWrong
from pipeline.front.run.collect import is_root
from pipeline.front.run.paths import TRANSFER, TRANSFER_ARCHIVE
from pipeline.front.run.shared_keys import compression, has_same_basis, key_of_equal, key_of_similar, names_paths
from pipeline.front.settings.config import Config
from pipeline.io.files import is_file, make_way
from pipeline.problems.plain import warn
from pipeline.query.memo import Input, Name, StoreDamaged, row_of
from pipeline.store.archive import Origin, Unusable, pack, part_of, unpack
from pipeline.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from pipeline.front.remote.http_cache import HttpCache
    from pipeline.front.settings.remote import RemoteSettings
    from pipeline.query.database import Database

_LITTLE = 10  # to rebuild one row of so many costs less than an upload, and than what a download of it saves


class _Lookup(Struct, frozen=True):
    """What a run looks up, and may upload."""

    equal: str  # the two keys
    similar: str
    digests: dict[str, bytes]  # of the inputs, by label


class SharedCache:
    """The shared cache of one build. `store`: the path of its store."""

    def __init__(self, config: Config, at: RemoteSettings, store: str) -> None:
        self._config = config
        self._at = at
        self._store = store
        self._scratch = os.path.join(config.folder, TRANSFER)
        self._archive = os.path.join(config.folder, TRANSFER_ARCHIVE)
        self._client: HttpCache | None = None  # one that connects
        self._warned = False
        self._pending: _Lookup | None = None  # what an upload is for
        self._replaces = False  # whether the server has something wrong, or less than it says
        self._restored = 0  # rows of the store that was made from other inputs

    def connect(self) -> None:
        """Begins to connect, if `restore` will ask: what it looks up takes time to compute."""
        if not names_paths(self._config) and not is_file(self._store):
            with suppress(RemoteFailed):  # `restore` reports it
                self._client = _client(self._at)
                self._client.open()

    def close(self) -> None:
        """Ends the connection."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def restore(self, inputs: Mapping[str, Input]) -> None:
        """Puts an archive for these inputs, or for similar ones, in the place of the store, unless the store is of use
        for them, or no archive is found. The caller has locked the cache."""
        digests = {label: each.digest for label, each in inputs.items()}
        if names_paths(self._config) or self._is_usable(digests):
            return
        arrangement = self._config.arrangement
        similar = key_of_similar(inputs, arrangement, self._config.specs.name)
        lookup = _Lookup(key_of_equal(inputs, arrangement), similar, digests)
        try:
            with self._remote() as remote:
                if self._find(remote, lookup):
                    return
        except (RemoteWrong, Unusable) as error:
            self._replaces = True
            self._warn(f"{error}; it is not used")
        except (RemoteFailed, OSError) as error:
            self._warn(f"{_reason(error)}; this run does without it")
            return
        if self._at.upload:
            self._pending = lookup

    def _find(self, remote: HttpCache, lookup: _Lookup) -> bool:
        """Restores an archive. Whether it was made from the same inputs."""
        blob = remote.find(lookup.equal)
        if blob is not None and self._take(remote, blob, lambda theirs: theirs == lookup.digests):
            return True
        other = remote.find(lookup.similar)
        if other is not None and other != blob:
            self._restored = self._take(remote, other, lambda theirs: has_same_basis(theirs, lookup.digests))
        return False

    def _take(self, remote: HttpCache, blob: Blob, accepts: Callable[[Mapping[str, bytes]], bool]) -> int:
        """Restores an archive; the number of its rows, 0 if the server no longer has it. `accepts`: as for `unpack`."""
        make_way(self._archive)
        if not remote.fetch(blob, self._archive):
            self._replaces = True
            return 0
        return unpack(self._archive, self._scratch, self._store, accepts, is_verified=True)[0].rows

    def upload(self, db: Database) -> None:
        """Uploads the store after a complete run, if `restore` found no archive for the same inputs, and none from
        which this run rebuilt only a little."""
        lookup, self._pending = self._pending, None
        if lookup is None or lookup.digests != {label: each.digest for label, each in db.inputs.items()}:
            return
        if len(db.ran) * _LITTLE < self._restored:
            return
        config, dirty = self._config, db.dirty

        def is_current(name: Name) -> bool:
            """Whether a row is a root of this run: what older runs left may have paths of this machine."""
            return is_root(name) and dirty.isdisjoint((row_of(name), row_of(name, table=True)))

        try:
            with self._remote() as remote:
                origin = Origin(__version__, config.specs.name, config.release)
                pack(self._store, self._scratch, self._archive, origin, is_current, compression())
                keys, part = (lookup.equal, lookup.similar), part_of(self._archive)
                remote.put(keys, Blob(part.sha256, part.size), self._archive, replaces=self._replaces)
        except (RemoteWrong, RemoteFailed, StoreDamaged, OSError) as error:
            self._warn(f"{_reason(error)}; the results are not uploaded")

    def _is_usable(self, digests: Mapping[str, bytes]) -> bool:
        """Whether the rows of the local store may be valid for these inputs: a download costs more than most edits."""
        if not is_file(self._store):
            return False
        store = SqliteStore(self._store)
        try:
            snapshot, _ = store.begin()
            return not store.empty and has_same_basis(snapshot.inputs, digests)
        except StoreDamaged:
            return False
        finally:
            store.close()

    @contextmanager
    def _remote(self) -> Iterator[HttpCache]:
        """The server. The archive exists within only."""
        self._client = self._client or _client(self._at)
        try:
            os.makedirs(self._config.folder, exist_ok=True)
            make_way(self._archive)
            yield self._client
        finally:
            self.close()
            with suppress(OSError):
                os.unlink(self._archive)

    def _warn(self, problem: str) -> None:
        """Reports a problem, the first one only."""
        if self._warned:
            return
        self._warned = True
        warn(f"remote={self._at.name}: {problem}")


def _client(at: RemoteSettings) -> HttpCache:
    """A client, which connects when it is first used. RemoteFailed if the token cannot be read."""
    from pipeline.front.remote.http_cache import HttpCache  # a run that does not ask does not load it

    return HttpCache(at)


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    return f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")
