"""The client of the Remote Execution API: what it sends, and that no answer of a server is believed."""

from __future__ import annotations

import hashlib
import random
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any, NamedTuple

import certificates
import grpc
import pytest
from execution_server import Answer, Call, Server, chunks, packed, serving

from pipeline.front.remote import channel, limits
from pipeline.front.remote.actions import described, result_of
from pipeline.front.remote.grpc_cache import GrpcCache
from pipeline.front.remote.proto import byte_stream_pb2 as streams
from pipeline.front.remote.proto import remote_execution_pb2 as api
from pipeline.front.remote.protocol import OUTPUT, Blob, RemoteFailed, RemoteWrong
from pipeline.front.settings.remote import read_remote

KEY = hashlib.sha256(b"a key").hexdigest()
ACTION = described(KEY).digest.hash
DATA = random.Random(1).randbytes(400_000)
BLOB = Blob(hashlib.sha256(DATA).hexdigest(), len(DATA))
TOKEN = "s3cret"  # noqa: S105
LONGEST = 10.0  # seconds of a call whose limit is 0.4
STREAMED = 100_000  # a limit of batches that makes DATA a stream


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short pauses between tries."""
    monkeypatch.setattr(channel, "_PAUSES", (0.01, 0.02))


def wait(monkeypatch: pytest.MonkeyPatch, outcome: str) -> None:
    """Sets short limits, if a limit is what ends the call."""
    if "in time" in outcome:
        for name in ("FIND", "FETCH", "PUT"):
            monkeypatch.setattr(limits, name, 0.4)
        monkeypatch.setattr(limits, "CONNECT", 0.3)


@contextmanager
def client(url: str, **variables: str) -> Iterator[GrpcCache]:
    cache = GrpcCache(read_remote({"remote": url, **variables}, upload=True))
    try:
        yield cache
    finally:
        cache.close()


@contextmanager
def filled(answers: Mapping[str, Answer] = MappingProxyType({}), **settings: Any) -> Iterator[Server]:
    """A server that has DATA."""
    with serving(answers, **settings) as server:
        server.stored[BLOB.sha256] = DATA
        server.results[ACTION] = result_of(BLOB).SerializeToString()
        yield server


def download(url: str, folder: Path, **variables: str) -> bytes | None:
    """What a client gets; None if there is nothing."""
    file = folder / "downloaded"
    with client(url, **variables) as cache:
        blob = cache.find(KEY)
        if blob is None or not cache.fetch(blob, str(file)):
            return None
    return file.read_bytes()


def upload(url: str, folder: Path, **variables: str) -> None:
    file = folder / "archive"
    file.write_bytes(DATA)
    with client(url, **variables) as cache:
        cache.check_uploads()
        cache.put([KEY], BLOB, str(file))


# ---- a server that works

LOOK = ["GetActionResult", "GetCapabilities"]  # the calls of a download, but for the one that fetches
KINDS: dict[str, tuple[dict[str, Any], list[str]]] = {  # how a server is, and the call that fetches from it
    "batches": ({}, ["BatchReadBlobs"]),
    "streams": ({"batch": STREAMED}, ["Read"]),
    "batches, zstd": ({"zstd": True}, ["BatchReadBlobs"]),
    "streams, zstd": ({"zstd": True, "batch": STREAMED}, ["Read"]),
    "contents in the result": ({"inline": True}, []),
    "an instance": ({"instance": "team/a", "batch": STREAMED}, ["Read"]),
    "an instance, zstd": ({"instance": "team/a", "batch": STREAMED, "zstd": True}, ["Read"]),
    "a token": ({"token": TOKEN}, ["BatchReadBlobs"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_uploaded_is_downloaded(tmp_path: Path, kind: str) -> None:
    (settings, fetching), variables = KINDS[kind], {}
    if "token" in settings:
        (tmp_path / "token").write_text(f"{settings['token']}\n")
        variables["remote_token"] = str(tmp_path / "token")
    with serving(**settings) as server:
        assert download(server.url, tmp_path, **variables) is None
        (tmp_path / "downloaded").unlink(missing_ok=True)
        upload(server.url, tmp_path, **variables)
        before = len(server.calls)
        assert download(server.url, tmp_path, **variables) == DATA
    assert sorted(server.calls[before:]) == sorted([*LOOK, *fetching])


def test_an_upload_stores_the_action_with_all_that_it_names(tmp_path: Path) -> None:
    with serving() as server:
        upload(server.url, tmp_path)
        assert server.calls == ["GetCapabilities", "FindMissingBlobs", "BatchUpdateBlobs", "UpdateActionResult"]
    action = api.Action.FromString(server.stored[ACTION])
    command = api.Command.FromString(server.stored[action.command_digest.hash])
    root = api.Directory.FromString(server.stored[action.input_root_digest.hash])
    assert list(command.output_paths) == list(command.output_files) == [OUTPUT]
    assert [server.stored[file.digest.hash] for file in root.files] == [f"{KEY}\n".encode()]
    assert server.results.keys() == {ACTION}
    assert len(server.stored) == 5


def test_what_the_server_has_is_not_uploaded_again(tmp_path: Path) -> None:
    with serving(batch=STREAMED) as server:
        upload(server.url, tmp_path)
        upload(server.url, tmp_path)
        assert server.calls.count("Write") == server.calls.count("BatchUpdateBlobs") == 1
        assert server.calls.count("UpdateActionResult") == 2


def test_a_key_has_one_action_for_all_time() -> None:
    """Another encoding would lose what servers have."""
    assert described("0" * 64).digest.hash == "4db168ab83a2c8740b720197bb61d9d60e9a616bb14704c7d7759152062bb67d"
    assert described("0" * 64).digest.hash != described("1" * 64).digest.hash


def test_each_upload_of_a_stream_has_a_name_of_its_own(tmp_path: Path) -> None:
    with serving(batch=STREAMED) as server:
        for _ in range(2):
            upload(server.url, tmp_path)
            server.stored.clear()
    names = [resource.split("/") for resource in server.resources]
    assert [name[2:] for name in names] == 2 * [["blobs", BLOB.sha256, str(BLOB.size)]]
    assert len({name[1] for name in names}) == 2


def test_nothing_is_sent_but_the_protocol(tmp_path: Path) -> None:
    with serving() as server:
        upload(server.url, tmp_path)
        download(server.url, tmp_path)
    assert {name for each in server.metadata for name in each} == {"user-agent"}
    assert {str(each["user-agent"]).split()[0] for each in server.metadata} == {"gradmill"}


def test_proxies_of_the_environment_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with filled() as server:
        assert download(server.url, tmp_path) == DATA


# ---- faults


def status(name: str, details: str = "") -> Answer:
    return lambda call: call.abort(name, details)


def gives(data: Any) -> Answer:
    return lambda call: data if isinstance(data, bytes) else data.SerializeToString()


def first(times: int, answer: Answer) -> Answer:
    """An answer so many times, then the usual."""
    left = [times]

    def one(call: Call) -> Any:
        left[0] -= 1
        return answer(call) if left[0] >= 0 else call.usual()

    return one


def capable(**fields: Any) -> Answer:
    return gives(api.ServerCapabilities(cache_capabilities=api.CacheCapabilities(**fields)))


def entry(*files: tuple[str, str, int], exit_code: int = 0, contents: bytes = b"") -> Answer:
    outputs = [
        api.OutputFile(path=path, digest=api.Digest(hash=name, size_bytes=size), contents=contents)
        for path, name, size in files
    ]
    return gives(api.ActionResult(output_files=outputs, exit_code=exit_code))


def output(name: str = BLOB.sha256, size: int = BLOB.size, **more: Any) -> Answer:
    return entry((OUTPUT, name, size), **more)


def batch(data: bytes = DATA, code: int = 0, name: str = BLOB.sha256, compressor: int = 0, times: int = 1) -> Answer:
    response = api.BatchReadBlobsResponse.Response(
        digest=api.Digest(hash=name, size_bytes=BLOB.size),
        data=data,
        compressor=compressor,  # type: ignore[arg-type]
        status=api.Status(code=code, message="a\nreason"),
    )
    return gives(api.BatchReadBlobsResponse(responses=[response] * times))


def stream(data: bytes) -> Answer:
    return lambda call: chunks(data)


def broken(how: str) -> Answer:
    """Half of the data, then an error."""

    def answer(call: Call) -> Iterator[bytes]:
        yield from [*call.usual()][:3]
        call.abort(how)

    return answer


def stuck(call: Call) -> Iterator[bytes]:
    yield from [*call.usual()][:3]
    yield call.hang()


def dripping(call: Call) -> Iterator[bytes]:
    for at in range(len(DATA)):
        yield streams.ReadResponse(data=DATA[at : at + 1]).SerializeToString()
        if call.server.ended.wait(0.02):
            return


def empty_messages(call: Call) -> Iterator[bytes]:
    while call.context.is_active() and not call.server.ended.wait(0.005):
        yield b""


def endless(call: Call) -> Iterator[bytes]:
    while call.context.is_active():
        yield streams.ReadResponse(data=bytes(65536)).SerializeToString()


def dying(call: Call) -> Iterator[bytes]:
    yield from [*call.usual()][:3]
    call.server.grpc.stop(0)
    call.server.ended.wait(0.2)


def altered() -> bytes:
    data = bytearray(DATA)
    data[len(data) // 2] ^= 1
    return bytes(data)


BOMB = packed(bytes(50_000_000))
FAR = packed(DATA)[:-2000]

MISSED = "nothing"
RIGHT = "DATA"
NOT_DIGEST = "the archive has not the digest in its entry"
DAMAGED = "its entry is damaged: "
NO_ACCESS = "it refuses access: name the token with remote_token=FILE"


class Fault(NamedTuple):
    """What a server does, and what comes of it: a message, DATA, nothing."""

    answers: dict[str, Answer]
    outcome: str
    settings: dict[str, Any] = {}


S = {"batch": STREAMED}
Z = {"zstd": True}
LOOKUPS: dict[str, Fault] = {
    # what it can do
    "capabilities: none": Fault({"GetCapabilities": status("UNIMPLEMENTED")}, RIGHT),
    "capabilities: empty": Fault({"GetCapabilities": gives(b"")}, RIGHT),
    "capabilities: no digest function": Fault({"GetCapabilities": capable()}, RIGHT),
    "capabilities: negative": Fault({"GetCapabilities": capable(max_batch_total_size_bytes=-1)}, RIGHT),
    "capabilities: damaged": Fault({"GetCapabilities": gives(b"\x0a\xff")}, "its answer to GetCapabilities is damaged"),
    "capabilities: MD5": Fault(
        {"GetCapabilities": capable(digest_functions=[api.DigestFunction.MD5])}, "it has no SHA-256"
    ),
    "capabilities: version 3": Fault(
        {
            "GetCapabilities": gives(
                api.ServerCapabilities(low_api_version=api.SemVer(major=3), high_api_version=api.SemVer(major=3))
            )
        },
        "it has version 3 of the protocol, not 2",
    ),
    "capabilities: internal": Fault({"GetCapabilities": status("INTERNAL", "oh")}, "INTERNAL: oh"),
    "capabilities: once unavailable": Fault({"GetCapabilities": first(1, status("UNAVAILABLE"))}, RIGHT),
    "capabilities: no answer": Fault({"GetCapabilities": Call.hang}, "no answer in time"),
    # the result
    "result: not found": Fault({"GetActionResult": status("NOT_FOUND")}, MISSED),
    "result: unauthenticated": Fault({"GetActionResult": status("UNAUTHENTICATED")}, f"UNAUTHENTICATED, {NO_ACCESS}"),
    "result: denied": Fault({"GetActionResult": status("PERMISSION_DENIED")}, f"PERMISSION_DENIED, {NO_ACCESS}"),
    "result: unimplemented": Fault({"GetActionResult": status("UNIMPLEMENTED")}, "UNIMPLEMENTED"),
    "result: invalid": Fault({"GetActionResult": status("INVALID_ARGUMENT", "no")}, "INVALID_ARGUMENT: no"),
    "result: unknown": Fault({"GetActionResult": status("UNKNOWN", "?")}, r"UNKNOWN: \?"),
    "result: cancelled": Fault({"GetActionResult": status("CANCELLED")}, "it has cancelled the call"),
    "result: data loss": Fault({"GetActionResult": status("DATA_LOSS")}, "DATA_LOSS"),
    "result: busy": Fault({"GetActionResult": status("RESOURCE_EXHAUSTED", "quota")}, "RESOURCE_EXHAUSTED: quota"),
    "result: twice unavailable": Fault({"GetActionResult": first(2, status("UNAVAILABLE"))}, RIGHT),
    "result: aborted once": Fault({"GetActionResult": first(1, status("ABORTED"))}, RIGHT),
    "result: unavailable": Fault({"GetActionResult": status("UNAVAILABLE", "later")}, "UNAVAILABLE: later"),
    "result: no answer": Fault({"GetActionResult": Call.hang}, "no answer in time"),
    "result: control characters": Fault(
        {"GetActionResult": status("INTERNAL", "a\x1b[31m\r\n\tb")}, r"INTERNAL: a \[31m b"
    ),
    "result: a long reason": Fault({"GetActionResult": status("INTERNAL", "x" * 3000)}, "INTERNAL: x{200}"),
    "result: an exception": Fault({"GetActionResult": lambda call: 1 / 0}, "UNKNOWN: .*"),
    "result: damaged": Fault({"GetActionResult": gives(b"\xff" * 90)}, "its answer to GetActionResult is damaged"),
    "result: too large": Fault({"GetActionResult": gives(bytes(1 << 25))}, "RESOURCE_EXHAUSTED: .*"),
    "result: empty": Fault({"GetActionResult": gives(b"")}, f"{DAMAGED}it has no output, or several"),
    "result: another output": Fault(
        {"GetActionResult": entry(("other", BLOB.sha256, 1))}, f"{DAMAGED}it has no output.*"
    ),
    "result: two outputs": Fault(
        {"GetActionResult": entry((OUTPUT, BLOB.sha256, 1), (OUTPUT, BLOB.sha256, 2))}, f"{DAMAGED}it has no output.*"
    ),
    "result: a failed action": Fault({"GetActionResult": output(exit_code=1)}, f"{DAMAGED}the action failed"),
    "result: a short digest": Fault({"GetActionResult": output("0" * 40)}, f"{DAMAGED}it has no digest"),
    "result: a path for a digest": Fault({"GetActionResult": output("../" * 21 + "x")}, f"{DAMAGED}it has no digest"),
    "result: a digest in upper case": Fault({"GetActionResult": output("A" * 64)}, f"{DAMAGED}it has no digest"),
    "result: no bytes": Fault({"GetActionResult": output(size=0)}, "its entry is of 0 bytes"),
    "result: fewer than no bytes": Fault({"GetActionResult": output(size=-5)}, "its entry is of -5 bytes"),
    "result: too many bytes": Fault({"GetActionResult": output(size=1 << 62)}, f"its entry is of {1 << 62} bytes"),
    "result: other contents": Fault({"GetActionResult": output(contents=altered())}, NOT_DIGEST),
    "result: short contents": Fault({"GetActionResult": output(contents=DATA[:-1])}, NOT_DIGEST),
    "result: another blob": Fault({"GetActionResult": output("0" * 64)}, MISSED),
    # a blob in one message
    "batch: not found": Fault({"BatchReadBlobs": batch(b"", code=5)}, MISSED),
    "batch: denied": Fault({"BatchReadBlobs": batch(b"", code=7)}, NO_ACCESS),
    "batch: internal": Fault({"BatchReadBlobs": batch(b"", code=13)}, "status 13: a reason"),
    "batch: aborts": Fault({"BatchReadBlobs": status("INTERNAL")}, "INTERNAL"),
    "batch: no blob": Fault({"BatchReadBlobs": gives(b"")}, "its answer to BatchReadBlobs is about other blobs"),
    "batch: two blobs": Fault({"BatchReadBlobs": batch(times=2)}, "its answer to BatchReadBlobs is about other blobs"),
    "batch: another blob": Fault({"BatchReadBlobs": batch(name="0" * 64)}, ".* is about other blobs"),
    "batch: altered": Fault({"BatchReadBlobs": batch(altered())}, NOT_DIGEST),
    "batch: empty": Fault({"BatchReadBlobs": batch(b"")}, NOT_DIGEST),
    "batch: cut off": Fault({"BatchReadBlobs": batch(DATA[:-1])}, NOT_DIGEST),
    "batch: longer": Fault({"BatchReadBlobs": batch(DATA + b"x")}, NOT_DIGEST),
    "batch: damaged": Fault({"BatchReadBlobs": gives(b"\x0a\xff\xff")}, "its answer to BatchReadBlobs is damaged"),
    "batch: zstd, not asked for": Fault({"BatchReadBlobs": batch(packed(DATA), compressor=1)}, ".* not asked for"),
    "batch: another compressor": Fault({"BatchReadBlobs": batch(compressor=3)}, ".* not asked for", Z),
    "batch: no zstd": Fault({"BatchReadBlobs": batch(DATA, compressor=1)}, "a compressed blob is damaged", Z),
    "batch: zstd cut off": Fault({"BatchReadBlobs": batch(FAR, compressor=1)}, NOT_DIGEST, Z),
    "batch: a bomb": Fault({"BatchReadBlobs": batch(BOMB, compressor=1)}, NOT_DIGEST, Z),
    "batch: uncompressed": Fault({"BatchReadBlobs": batch()}, RIGHT, Z),
    "batch: no answer": Fault({"BatchReadBlobs": Call.hang}, "no answer in time"),
    # a blob as a stream
    "stream: not found": Fault({"Read": status("NOT_FOUND")}, MISSED, S),
    "stream: denied": Fault({"Read": status("PERMISSION_DENIED")}, f"PERMISSION_DENIED, {NO_ACCESS}", S),
    "stream: empty": Fault({"Read": stream(b"")}, NOT_DIGEST, S),
    "stream: altered": Fault({"Read": stream(altered())}, NOT_DIGEST, S),
    "stream: cut off": Fault({"Read": stream(DATA[:-1])}, NOT_DIGEST, S),
    "stream: longer": Fault({"Read": stream(DATA + b"x")}, NOT_DIGEST, S),
    "stream: endless": Fault({"Read": endless}, NOT_DIGEST, S),
    "stream: damaged": Fault({"Read": lambda call: [b"\xff\xff"]}, "its answer to Read is damaged", S),
    "stream: breaks once": Fault({"Read": first(1, broken("UNAVAILABLE"))}, RIGHT, S),
    "stream: breaks twice": Fault({"Read": first(2, broken("UNAVAILABLE"))}, RIGHT, S),
    "stream: breaks for good": Fault({"Read": broken("INTERNAL")}, "INTERNAL", S),
    "stream: stuck": Fault({"Read": stuck}, "no answer in time", S),
    "stream: drips": Fault({"Read": dripping}, "no answer in time", S),
    "stream: empty messages": Fault({"Read": empty_messages}, "no answer in time", S),
    "stream: dies": Fault({"Read": dying}, ".*", S),
    "stream: no zstd": Fault({"Read": stream(DATA)}, "a compressed blob is damaged", S | Z),
    "stream: zstd cut off": Fault({"Read": stream(FAR)}, NOT_DIGEST, S | Z),
    "stream: zstd altered": Fault({"Read": stream(packed(altered()))}, NOT_DIGEST, S | Z),
    "stream: zstd, then more": Fault({"Read": stream(packed(DATA) + b"more")}, ".*", S | Z),
    "stream: zstd in two frames": Fault({"Read": stream(packed(DATA[:500]) + packed(DATA[500:]))}, RIGHT, S | Z),
    "stream: zstd breaks once": Fault({"Read": first(1, broken("UNAVAILABLE"))}, RIGHT, S | Z),
    "stream: a bomb": Fault({"Read": stream(BOMB)}, NOT_DIGEST, S | Z),
}


def outcome_of(work: Callable[[], bytes | None]) -> str:
    start = time.monotonic()
    try:
        data = work()
    except (RemoteFailed, RemoteWrong) as error:
        assert str(error).isprintable()
        assert len(str(error)) < 300
        assert time.monotonic() - start < LONGEST
        return str(error)
    assert data in (None, DATA)
    return RIGHT if data else MISSED


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", LOOKUPS)
def test_a_lookup_ends_with_the_right_bytes_or_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    answers, outcome, settings = LOOKUPS[fault]
    wait(monkeypatch, outcome)
    with filled(answers, **settings) as server:
        actual = outcome_of(lambda: download(server.url, tmp_path))
    assert re.fullmatch(outcome, actual), actual


def test_after_a_break_only_the_rest_is_read(tmp_path: Path) -> None:
    offsets = []

    def answer(call: Call) -> Any:
        offsets.append(call.request.read_offset)
        return (broken("UNAVAILABLE") if len(offsets) == 1 else Call.usual)(call)

    with filled({"Read": answer}, batch=STREAMED) as server:
        assert download(server.url, tmp_path) == DATA
    assert offsets == [0, 3 * 65536]


# ---- faults of uploads


def rejects(code: int) -> Answer:
    def answer(call: Call) -> Any:
        responses = [
            api.BatchUpdateBlobsResponse.Response(digest=each.digest, status=api.Status(code=code))
            for each in call.request.requests
        ]
        return api.BatchUpdateBlobsResponse(responses=responses).SerializeToString()

    return answer


def accepts(call: Call) -> Any:
    call.usual()
    return rejects(6)(call)


def committed(size: int, *, early: bool = False) -> Answer:
    def answer(call: Call) -> bytes:
        if early:
            next(call.request)
        else:
            list(call.request)
        call.server.stored[BLOB.sha256] = DATA
        return streams.WriteResponse(committed_size=size).SerializeToString()

    return answer


def everything(call: Call) -> bytes:
    return api.FindMissingBlobsResponse(missing_blob_digests=call.request.blob_digests).SerializeToString()


STORED = "stored"
NO_UPLOAD = "it refuses uploads: write remote_upload=0"
UPLOADS: dict[str, Fault] = {
    "no uploads": Fault({}, NO_UPLOAD, {"updates": False}),
    "smaller blobs only": Fault({}, "it accepts 1000 bytes at most, and the archive has 400000", {"largest": 1000}),
    "missing: denied": Fault({"FindMissingBlobs": status("PERMISSION_DENIED")}, f"PERMISSION_DENIED, {NO_UPLOAD}"),
    "missing: no instance": Fault({"FindMissingBlobs": status("NOT_FOUND", "x")}, "it does not know the instance.*: x"),
    "missing: damaged": Fault({"FindMissingBlobs": gives(b"\xff")}, "its answer to FindMissingBlobs is damaged"),
    "missing: all, always": Fault({"FindMissingBlobs": everything}, STORED),
    "missing: another blob": Fault(
        {"FindMissingBlobs": gives(api.FindMissingBlobsResponse(missing_blob_digests=[api.Digest(hash="x")]))},
        "FAILED_PRECONDITION: .* is missing",
    ),
    "missing: nothing, wrongly": Fault({"FindMissingBlobs": gives(b"")}, "FAILED_PRECONDITION: .* is missing"),
    "batch: full": Fault({"BatchUpdateBlobs": rejects(8)}, "status 8"),
    "batch: denied": Fault({"BatchUpdateBlobs": rejects(7)}, NO_UPLOAD),
    "batch: there already": Fault({"BatchUpdateBlobs": accepts}, STORED),
    "batch: no answer about blobs": Fault({"BatchUpdateBlobs": gives(b"")}, ".* is about other blobs"),
    "batch: too large": Fault({"BatchUpdateBlobs": status("RESOURCE_EXHAUSTED", "big")}, "RESOURCE_EXHAUSTED: big"),
    "batch: once unavailable": Fault({"BatchUpdateBlobs": first(1, status("UNAVAILABLE"))}, STORED),
    "stream: full": Fault({"Write": status("RESOURCE_EXHAUSTED", "disk")}, "RESOURCE_EXHAUSTED: disk", S),
    "stream: unimplemented": Fault({"Write": status("UNIMPLEMENTED")}, "UNIMPLEMENTED", S),
    "stream: fewer bytes": Fault({"Write": committed(5)}, "it has stored another number of bytes.*", S),
    "stream: there already": Fault({"Write": committed(BLOB.size, early=True)}, STORED, S),
    "stream: zstd, there already": Fault({"Write": committed(-1, early=True)}, STORED, S | Z),
    "stream: there already, as if compressed": Fault({"Write": committed(-1)}, "it has stored another number.*", S),
    "stream: once unavailable": Fault({"Write": first(1, status("UNAVAILABLE"))}, STORED, S),
    "stream: no answer": Fault({"Write": Call.hang}, "no answer in time", S),
    "result: denied": Fault({"UpdateActionResult": status("PERMISSION_DENIED")}, f"PERMISSION_DENIED, {NO_UPLOAD}"),
    "result: unimplemented": Fault({"UpdateActionResult": status("UNIMPLEMENTED")}, "UNIMPLEMENTED"),
    "result: no answer": Fault({"UpdateActionResult": Call.hang}, "no answer in time"),
    "result: twice unavailable": Fault({"UpdateActionResult": first(2, status("UNAVAILABLE"))}, STORED),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", UPLOADS)
def test_an_upload_is_whole_or_ends_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    answers, outcome, settings = UPLOADS[fault]
    wait(monkeypatch, outcome)
    with serving(answers, **settings) as server:
        start = time.monotonic()
        try:
            upload(server.url, tmp_path)
            actual = STORED
        except (RemoteFailed, RemoteWrong) as error:
            actual = str(error)
        assert time.monotonic() - start < LONGEST
        assert re.fullmatch(outcome, actual), actual
        assert (ACTION in server.results) == (actual == STORED)
        assert BLOB.sha256 in server.stored or actual != STORED


# ---- connections


@contextmanager
def listening(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """The URL of a server of another kind, which has a function for each connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            kept = []
            while True:
                try:
                    connection = server.accept()[0]
                    kept.append(connection)
                    answer(connection)
                except OSError:
                    return

        Thread(target=serve, daemon=True).start()
        try:
            yield f"grpc://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)


SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # of HTTP/2, without a setting
CONNECTIONS: dict[str, tuple[Callable[[socket.socket], object], str]] = {
    "silent": (lambda connection: None, "no (answer|connection) in time"),
    "closes": (lambda connection: connection.close(), "UNAVAILABLE.*|no (answer|connection) in time"),
    "SSH": (
        lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"),
        "UNAVAILABLE.*|no (answer|connection).*",
    ),
    "HTTP/1.1": (
        lambda connection: connection.sendall(b"HTTP/1.1 400 Bad\r\n\r\n"),
        "UNAVAILABLE.*|no (answer|conn).*",
    ),
    "silent after its settings": (lambda connection: connection.sendall(SETTINGS), "no answer in time"),
    "zeros": (lambda connection: connection.sendall(bytes(10_000)), "UNAVAILABLE.*|no (answer|connection).*"),
    "settings, then zeros": (
        lambda connection: connection.sendall(SETTINGS + bytes(9_000)),
        "UNAVAILABLE.*|.* in time",
    ),
}


@pytest.mark.parametrize("kind", CONNECTIONS)
def test_what_is_no_server_costs_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    answer, outcome = CONNECTIONS[kind]
    wait(monkeypatch, outcome)
    with listening(answer) as url:
        actual = outcome_of(lambda: download(url, tmp_path))
    assert re.fullmatch(outcome, actual), actual


def test_a_server_that_is_down_is_tried_three_times(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"grpc://127.0.0.1:{free.getsockname()[1]}"
    assert outcome_of(lambda: download(url, tmp_path)) == "Connection refused"


@pytest.mark.parametrize("host", ["no-such-host.invalid", "unix", "xds"])
def test_a_name_that_leads_nowhere(tmp_path: Path, host: str) -> None:
    actual = outcome_of(lambda: download(f"grpc://{host}:80", tmp_path))
    assert actual in ("its name is not known", "no answer in time", "no connection in time")


# ---- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> certificates.Certificate:
    return certificates.make(tmp_path_factory.mktemp("tls"))


def credentials(certificate: certificates.Certificate) -> grpc.ServerCredentials:
    return grpc.ssl_server_credentials([(certificate.key.read_bytes(), certificate.certificate.read_bytes())])


@pytest.mark.parametrize("way", ["remote_ca", "SSL_CERT_FILE"])
def test_grpcs_works_with_certificates_from_a_file(
    tmp_path: Path, certificate: certificates.Certificate, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    variables = {way: str(certificate.certificate)} if way == "remote_ca" else {}
    if not variables:
        monkeypatch.setenv(way, str(certificate.certificate))
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    with filled(credentials=credentials(certificate), token=TOKEN) as server:
        url = f"grpcs://127.0.0.1:{server.port}"
        assert download(url, tmp_path, remote_token=str(tmp_path / "token"), **variables) == DATA


def test_other_certificates_are_refused(tmp_path: Path, certificate: certificates.Certificate) -> None:
    ca = {"remote_ca": str(certificate.certificate)}
    other = certificates.make(tmp_path, "elsewhere")
    with filled(credentials=credentials(other)) as server:
        for url, variables, outcome in (
            (f"grpcs://127.0.0.1:{server.port}", ca, "its certificate is not valid"),
            (
                f"grpcs://127.0.0.1:{server.port}",
                {"remote_ca": str(other.certificate)},
                "its certificate is not valid: it is for another name",
            ),
            (server.url, {}, "UNAVAILABLE.*|no (answer|connection) in time"),
        ):
            actual = outcome_of(lambda url=url, variables=variables: download(url, tmp_path, **variables))  # type: ignore[misc]
            assert re.fullmatch(outcome, actual), (url, actual)
        assert server.calls == []
    with filled() as server:
        actual = outcome_of(lambda: download(f"grpcs://127.0.0.1:{server.port}", tmp_path, **ca))
        assert re.fullmatch("TLS: .*|UNAVAILABLE.*|no (answer|connection) in time", actual), actual


def test_a_file_without_certificates_is_named(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("none")
    with pytest.raises(RemoteFailed, match="ca has no certificate"):
        download("grpcs://localhost:1", tmp_path, remote_ca=str(tmp_path / "ca"))
