"""Each kind of fault of a server at each step of a run with `remote=`, over both protocols: the output is right, the
exit status 0, one line at most is printed, and what the server has afterwards misleads no other machine."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import cache_server
import execution_server
import pytest
from cache_server import Exchange
from execution_server import Call
from project import Project
from sharing import forget, unbuilt

from pipeline.front.remote import channel, limits
from pipeline.front.remote.proto import remote_execution_pb2 as api

WAITING = ("hangs", "drips")
STREAMED = 100_000  # a limit of batches that makes the archive a stream


class Step(NamedTuple):
    """A request of a run: its name, and how many of this name go before. `state`: what the server has when the run
    begins: results for equal inputs, for similar ones, the archive without entries, or nothing."""

    name: str
    before: int
    state: str
    settings: dict[str, Any] = {}


HTTP_STEPS = (
    Step("GET ac", 0, "equal"),
    Step("GET cas", 0, "equal"),
    Step("GET ac", 0, "similar"),
    Step("GET ac", 1, "similar"),
    Step("GET cas", 0, "similar"),
    Step("HEAD cas", 0, "nothing"),
    Step("HEAD cas", 0, "archive"),
    Step("PUT cas", 0, "nothing"),
    Step("PUT ac", 0, "nothing"),
    Step("PUT ac", 1, "nothing"),
)
GRPC_STEPS = (
    Step("GetCapabilities", 0, "equal"),
    Step("GetActionResult", 0, "equal"),
    Step("BatchReadBlobs", 0, "equal"),
    Step("Read", 0, "equal", {"batch": STREAMED}),
    Step("Read", 0, "similar", {"batch": STREAMED, "zstd": True}),
    Step("GetActionResult", 1, "similar"),
    Step("GetCapabilities", 0, "nothing"),
    Step("FindMissingBlobs", 0, "nothing"),
    Step("BatchUpdateBlobs", 0, "nothing"),
    Step("Write", 0, "nothing", {"batch": STREAMED}),
    Step("UpdateActionResult", 0, "nothing"),
    Step("UpdateActionResult", 1, "nothing"),
)


# ---- HTTP


def data_of(exchange: Exchange) -> bytes:
    """What is stored, or something else where nothing is, or it is to be stored."""
    if exchange.command == "PUT":
        exchange.rfile.read(int(exchange.headers["Content-Length"]))
    return exchange.known or b"\x12\x70" + random.Random(1).randbytes(600)


def status(number: int, **headers: object) -> Callable[[Exchange], object]:
    def answer(exchange: Exchange) -> None:
        data_of(exchange)
        exchange.give(number, b"<html>", **headers)

    return answer


def altered(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def cut_off(exchange: Exchange) -> None:
    data = data_of(exchange)
    exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data[: len(data) // 2])


def drips(exchange: Exchange) -> None:
    exchange.trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n" + data_of(exchange))


def killed(exchange: Exchange) -> None:
    """Is down, from now on."""
    answers = exchange.server.answers
    answers.update({f"{method} {kind}": Exchange.reset for method in ("GET", "HEAD", "PUT") for kind in ("ac", "cas")})
    exchange.reset()


HTTP_KINDS: dict[str, Callable[[Exchange], object]] = {
    "500": status(500),
    "503": status(503, Retry_After=9),
    "404": status(404),
    "403": status(403),
    "429": status(429),
    "507, the disk is full": status(507),
    "a redirect": status(302, Location="http://127.0.0.1:1/"),
    "nothing": lambda exchange: (data_of(exchange), exchange.give(200)),
    "altered at the begin": lambda exchange: exchange.give(200, altered(data_of(exchange), 1)),
    "altered in the middle": lambda exchange: exchange.give(200, altered(data_of(exchange), -50)),
    "cut off": cut_off,
    "a byte more": lambda exchange: exchange.give(200, data_of(exchange) + b"\0"),
    "reset": lambda exchange: (data_of(exchange), exchange.reset()),
    "closed": lambda exchange: (data_of(exchange), exchange.send(b"")),
    "hangs": lambda exchange: (data_of(exchange), exchange.hang()),
    "drips": drips,
    "killed": killed,
}


# ---- gRPC


def usual(call: Call) -> bytes | list[bytes]:
    data = call.usual()
    return data if isinstance(data, bytes) else [*data]


def in_each(change: Callable[[bytes], bytes]) -> Callable[[Call], Any]:
    """Another answer than the right one."""

    def answer(call: Call) -> Any:
        data = usual(call)
        return change(data) if isinstance(data, bytes) else [*map(change, data)]

    return answer


def partly(call: Call) -> Any:
    """Half of an answer, then an error."""
    data = usual(call)
    if isinstance(data, bytes):
        return call.abort("UNAVAILABLE")

    def parts() -> Iterator[bytes]:
        yield from data[: len(data) // 2]
        call.abort("DATA_LOSS", "a disk")

    return parts()


def down(call: Call) -> Any:
    """The server is down, from now on."""
    call.server.grpc.stop(0)
    return usual(call)


def slowly(call: Call) -> Any:
    data = usual(call)
    if isinstance(data, bytes):
        call.server.ended.wait(2)
        return data

    def parts() -> Iterator[bytes]:
        for each in data:
            call.server.ended.wait(0.7)
            yield each

    return parts()


GRPC_KINDS: dict[str, Callable[[Call], Any]] = {
    **{
        name: lambda call, name=name: call.abort(name, "oh")  # type: ignore[misc]
        for name in (
            *("UNAVAILABLE", "INTERNAL", "UNKNOWN", "NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED"),
            *("RESOURCE_EXHAUSTED", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "UNIMPLEMENTED", "DATA_LOSS"),
        )
    },
    "garbage": in_each(lambda data: b"\xff" * 40),
    "nothing": in_each(lambda data: b""),
    "altered": in_each(lambda data: altered(data, len(data) // 2) if data else b"\0"),
    "cut off": in_each(lambda data: data[: len(data) // 2]),
    "of another request": in_each(lambda data: api.Digest(hash="0" * 64, size_bytes=5).SerializeToString()),
    "an error in the middle": partly,
    "an exception": lambda call: 1 / 0,
    "hangs": lambda call: [call.hang()] if call.name == "Read" else call.hang(),
    "drips": slowly,
    "killed": down,
}


# ---- runs


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short limits, and short pauses between tries."""
    for name, seconds in {"CONNECT": 0.8, "IDLE": 0.8, "FIND": 1.2, "FETCH": 1.2, "PUT": 1.2}.items():
        monkeypatch.setattr(limits, name, seconds)
    monkeypatch.setattr(channel, "_PAUSES", (0.01, 0.02))


_OF_GRPC = re.compile(r"[IWE]\d{4} ")  # what it logs in copies of a process that has loaded it as servers do


def at(step: Step, answer: Callable[[Any], Any], otherwise: Callable[[Any], Any]) -> Mapping[str, Any]:
    """The answer to the request of one step."""
    left = [step.before]

    def one(request: Any) -> Any:
        left[0] -= 1
        return otherwise(request) if left[0] >= 0 else answer(request)

    return {step.name: one}


def honest(exchange: Exchange) -> object:
    """What a server does whose answers are right."""
    if exchange.command == "PUT":
        return exchange.accept()
    if exchange.command == "HEAD":
        return exchange.describe(exchange.known)
    return exchange.give(404) if exchange.known is None else exchange.give(200, exchange.known)


def run_with(url: str, state: str, project: Project, files: dict[str, bytes], *, waits: bool) -> None:
    """A run during a fault, which shows in one line at most. `waits`: until a limit, so limits are short."""
    if state == "similar":
        project.set_formula("exp", "self", "result.conj() * grad")
        files = project.clean_build()
    run = project.run_patched(remote=url) if waits else project.run(remote=url)
    assert run.status == 0, run.stderr
    assert "Traceback" not in run.stderr + run.stdout
    lines = [line for line in run.stderr.splitlines() if not (waits and _OF_GRPC.match(line))]
    assert len(lines) <= 1, run.stderr
    assert all(line.startswith("remote=127.0.0.1:") for line in lines)
    assert project.files() == files
    assert list(project.cache.rglob("transfer*")) == []
    assert project.run().ran == []


def run_after(url: str, project: Project, files: dict[str, bytes]) -> None:
    """A run of another machine, when the server is well: what it took from the faulty one misleads none."""
    forget(project)
    run = project.run(remote=url)
    assert run.status == 0
    assert project.files() == files


@pytest.mark.sampled(45)
@pytest.mark.alternates(6)
@pytest.mark.parametrize("kind", HTTP_KINDS)
@pytest.mark.parametrize("step", HTTP_STEPS, ids=lambda step: f"{step.name} {step.before} {step.state}")
def test_no_fault_of_an_http_cache_makes_a_run_wrong(
    tiny_built: Project, other: Project, http_filled: dict[str, bytes], step: Step, kind: str
) -> None:
    kinds = {"nothing": (), "archive": ("cas",)}.get(step.state, ("ac", "cas"))
    stored = {path: data for path, data in http_filled.items() if path.split("/")[1] in kinds}
    with cache_server.serving(stored, at(step, HTTP_KINDS[kind], honest)) as server:
        run_with(server.url, step.state, other, tiny_built.files(), waits=kind in WAITING)
        assert step.name in server.methods
        left = server.stored
    with cache_server.serving(left) as server:
        run_after(server.url, other, other.clean_build())


@pytest.mark.sampled(60)
@pytest.mark.alternates(6)
@pytest.mark.parametrize("kind", GRPC_KINDS)
@pytest.mark.parametrize("step", GRPC_STEPS, ids=lambda step: f"{step.name} {step.before} {step.state}")
def test_no_fault_of_a_grpc_server_makes_a_run_wrong(
    tiny_built: Project, other: Project, grpc_filled: execution_server.Server, step: Step, kind: str
) -> None:
    like = None if step.state == "nothing" else grpc_filled
    with execution_server.serving(at(step, GRPC_KINDS[kind], Call.usual), like=like, **step.settings) as server:
        run_with(server.url, step.state, other, tiny_built.files(), waits=kind in WAITING)
        assert step.name in server.calls
    with execution_server.serving(like=server) as healthy:
        run_after(healthy.url, other, other.clean_build())


@pytest.fixture(scope="module")
def http_filled(tiny_built: Project, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What an HTTP cache has after a first build."""
    with cache_server.serving() as server:
        unbuilt(tiny_built, tmp_path_factory.mktemp("http") / "first").build(remote=server.url)
        return server.stored


@pytest.fixture(scope="module")
def grpc_filled(tiny_built: Project, tmp_path_factory: pytest.TempPathFactory) -> execution_server.Server:
    """A stopped server that has the results of a first build."""
    with execution_server.serving() as server:
        unbuilt(tiny_built, tmp_path_factory.mktemp("grpc") / "first").build(remote=server.url)
        return server


def test_there_are_more_than_200_faults() -> None:
    assert len(HTTP_STEPS) * len(HTTP_KINDS) + len(GRPC_STEPS) * len(GRPC_KINDS) > 350
