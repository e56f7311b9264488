"""Each kind of fault of a server at each step of a run with `remote=`: the output is right, the exit status 0, one line
at most is printed, and what the server has afterwards misleads no other machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import cache_server
import pytest
from cache_server import Exchange
from project import Project, finish
from sharing import forget, unbuilt

from pipeline.front.remote import limits

WAITING = ("hangs", "drips")


class Step(NamedTuple):
    """A request of a run: its name, and how many of this name go before. `state`: what the server has when the run
    begins: results for equal inputs, for similar ones, the archive without entries, or nothing."""

    name: str
    before: int
    state: str


STEPS = (
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


# ---- faults


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


KINDS: dict[str, Callable[[Exchange], object]] = {
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


# ---- runs


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short limits."""
    for name, seconds in {"CONNECT": 0.8, "IDLE": 0.8, "FIND": 1.2, "FETCH": 1.2, "PUT": 1.2}.items():
        monkeypatch.setattr(limits, name, seconds)


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
    run = project.run_patched(remote=url) if waits else project.run(remote=url).ok()
    assert "Traceback" not in run.stderr + run.stdout
    lines = run.stderr.splitlines()
    assert len(lines) <= 1, run.stderr
    assert all(line.startswith("remote=127.0.0.1:") for line in lines)
    assert project.files() == files
    assert list(project.cache.rglob("transfer*")) == []
    assert project.run().ran == []


def run_after(url: str, project: Project, files: dict[str, bytes]) -> None:
    """A run of another machine, when the server is well: what it took from the faulty one misleads none."""
    forget(project)
    project.run(remote=url).ok()
    assert project.files() == files


# Each fault and each step among the slow tests; a campaign has each fault at each step.
FAULTS = [
    pytest.param(
        step,
        kind,
        id=f"{step.name} {step.before} {step.state}-{kind}",
        marks=pytest.mark.slow(2) if number % len(STEPS) == at else pytest.mark.campaign,
    )
    for number, kind in enumerate(KINDS)
    for at, step in enumerate(STEPS)
]


@pytest.mark.parametrize(("step", "kind"), FAULTS)
def test_no_fault_of_a_server_makes_a_run_wrong(
    tiny_built: Project, other: Project, filled: dict[str, bytes], step: Step, kind: str
) -> None:
    kinds = {"nothing": (), "archive": ("cas",)}.get(step.state, ("ac", "cas"))
    stored = {path: data for path, data in filled.items() if path.split("/")[1] in kinds}
    with cache_server.serving(stored, at(step, KINDS[kind], honest)) as server:
        run_with(server.url, step.state, other, tiny_built.files(), waits=kind in WAITING)
        assert step.name in server.methods
        left = server.stored
    with cache_server.serving(left) as server:
        run_after(server.url, other, other.clean_build())


def test_builders_at_once_with_a_server_that_fails_now_and_then_are_right(tiny_built: Project, tmp_path: Path) -> None:
    """Of two states of a set, with empty caches each time; the server has what they made of it, right or not."""
    builders = [unbuilt(tiny_built, tmp_path / str(number)) for number in range(4)]
    for builder in builders[::2]:
        builder.set_formula("exp", "self", "result.conj() * grad")
    expected = [builder.clean_build() for builder in builders]
    draw, kinds = Random(0), [kind for name, kind in KINDS.items() if name not in (*WAITING, "killed")]

    def answer(exchange: Exchange) -> object:
        return draw.choice(kinds)(exchange) if draw.random() < 0.2 else honest(exchange)

    answers = {f"{method} {kind}": answer for method in ("GET", "HEAD", "PUT") for kind in ("ac", "cas")}
    with cache_server.serving({}, answers) as server:
        for _ in range(2):
            for process in [builder.start(remote=server.url) for builder in builders]:
                run = finish(process)
                assert run.status == 0, run.stderr
                assert len(run.stderr.splitlines()) <= 1, run.stderr
            assert [builder.files() for builder in builders] == expected
            for builder in builders:
                forget(builder)
        server.answers.clear()
        for builder, files in zip(builders, expected, strict=True):
            run_after(server.url, builder, files)


@pytest.fixture(scope="module")
def filled(tiny_built: Project, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a server has after a first build."""
    with cache_server.serving() as server:
        unbuilt(tiny_built, tmp_path_factory.mktemp("http") / "first").build(remote=server.url)
        return server.stored
