"""The store: artifacts by the digest of their content, and the journal that says which inputs made them.

Objects are files under `objects/`, named by digest, or records of the pack, where there are many small ones. They are
checked when they are read: a damaged one is as good as missing.
"""

from __future__ import annotations

import os
from typing import TypeVar

import msgspec

from pipeline.build.files import read_file, write_file
from pipeline.build.journal import Journal, Outputs
from pipeline.build.pack import Pack
from pipeline.build.state import StateDB
from pipeline.model.artifact import Artifact, digest, encode

A = TypeVar("A", bound=Artifact)


class Store:
    """The objects and the journal under one cache folder."""

    def __init__(self, folder: str, state: StateDB) -> None:
        self._objects = os.path.join(folder, "objects")
        self._journal = Journal(os.path.join(folder, "journal"))
        self._stamps = state.stamps
        self.pack = Pack(os.path.join(folder, "pack"), state)
        self._loaded: dict[bytes, Artifact] = {}

    def path(self, name: bytes) -> str:
        """Where the object called `name` is kept."""
        text = name.hex()
        return os.path.join(self._objects, text[:2], text[2:])

    def has(self, name: bytes) -> bool:
        """Whether the object is there and whole."""
        return name in self.pack or self._stamps.digest(self.path(name)) == name

    def put(self, artifact: Artifact, *, small: bool = False) -> bytes:
        """Keeps `artifact`; gives its name. Small ones, of which there are many, share a file."""
        data = encode(artifact)
        name = digest(data)
        self._loaded[name] = artifact
        if small:
            self.pack.add(name, data)
        elif not self.has(name):
            path = self.path(name)
            self._stamps.record(path, write_file(path, data), name)
        return name

    def get(self, name: bytes, type_: type[A]) -> A | None:
        """The artifact called `name`, None when it is missing, damaged or of another format."""
        loaded = self._loaded.get(name)
        if loaded is None:
            data = self.read(name)
            if data is None:
                return None
            try:
                loaded = msgspec.msgpack.decode(data, type=type_)
            except msgspec.MsgspecError:
                return None
            self._loaded[name] = loaded
        return loaded if isinstance(loaded, type_) else None

    def unload(self, keep: set[bytes]) -> None:
        """Lets go of the artifacts in memory, but for those called `keep`."""
        self._loaded = {name: artifact for name, artifact in self._loaded.items() if name in keep}

    def read(self, name: bytes) -> bytes | None:
        """The bytes of an object, None when it is missing or damaged."""
        if name in self.pack:
            return self.pack.read(name)
        try:
            data = read_file(self.path(name))
        except OSError:
            return None
        return data if digest(data) == name else None

    def recall(self, key: bytes) -> Outputs | None:
        """What the inputs with this key made, if all of it is still there."""
        outputs = self._journal.find(key)
        # Names that start with "=" are facts, not artifacts.
        if outputs is None or not all(self.has(name) for what, name in outputs.items() if what[0] != "="):
            return None
        return outputs

    def remember(self, key: bytes, outputs: Outputs) -> None:
        """Notes that the inputs with this key made `outputs`."""
        self._journal.add(key, outputs)
