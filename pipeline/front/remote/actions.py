"""The action of a first build, as messages of the Remote Execution API, and what its result has to be.

An input root with one file, whose content is the key of the build, and a command that names its output: servers may ask
for all of it. It describes the build, and is not meant to be executed by a server.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple

from google.protobuf.message import Message

from pipeline.front.remote.limits import LARGEST
from pipeline.front.remote.proto.remote_execution_pb2 import (
    Action,
    ActionResult,
    Command,
    Digest,
    Directory,
    FileNode,
    OutputFile,
)
from pipeline.front.remote.protocol import OUTPUT, Blob, RemoteWrong

_KEY = "gradmill.key"  # the one input
_HEX = re.compile("[0-9a-f]{64}")


class Described(NamedTuple):
    """An action, and what describes it."""

    digest: Digest  # of the action
    blobs: dict[str, bytes]  # the action, its command, its input root and its input, by their SHA-256


def described(key: str) -> Described:
    """The action with a key."""
    blobs: dict[str, bytes] = {}
    command = Command(arguments=["gradmill", "cache", "import", OUTPUT], output_files=[OUTPUT], output_paths=[OUTPUT])
    content = _add(blobs, f"{key}\n".encode())
    root = Directory(files=[FileNode(name=_KEY, digest=content)])
    action = Action(command_digest=_add(blobs, _encoded(command)), input_root_digest=_add(blobs, _encoded(root)))
    return Described(_add(blobs, _encoded(action)), blobs)


def result_of(blob: Blob) -> ActionResult:
    """The result of an action whose output is a blob."""
    return ActionResult(output_files=[OutputFile(path=OUTPUT, digest=digest_of(blob))])


def output_of(result: ActionResult) -> tuple[Blob, bytes]:
    """The blob in the result of an action, and its content, b"" unless the server has sent it, too. RemoteWrong if
    there is not exactly one, the action failed, or the content is another one."""
    if result.exit_code:
        raise RemoteWrong("its entry is damaged: the action failed")
    files = [file for file in result.output_files if file.path == OUTPUT]
    if len(files) != 1:
        raise RemoteWrong("its entry is damaged: it has no output, or several")
    digest, contents = files[0].digest, files[0].contents
    if not _HEX.fullmatch(digest.hash):
        raise RemoteWrong("its entry is damaged: it has no digest")
    if not 0 < digest.size_bytes <= LARGEST:
        raise RemoteWrong(f"its entry is of {digest.size_bytes} bytes")
    blob = Blob(digest.hash, digest.size_bytes)
    if contents and not is_content(blob, contents):
        raise RemoteWrong("the archive has not the digest in its entry")
    return blob, contents


def is_content(blob: Blob, data: bytes) -> bool:
    """Whether `data` is the content of a blob."""
    return len(data) == blob.size and sha256(data).hexdigest() == blob.sha256


def digest_of(blob: Blob) -> Digest:
    """The digest of a blob, as a message."""
    return Digest(hash=blob.sha256, size_bytes=blob.size)


def _add(blobs: dict[str, bytes], data: bytes) -> Digest:
    name = sha256(data).hexdigest()
    blobs[name] = data
    return Digest(hash=name, size_bytes=len(data))


def _encoded(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)
