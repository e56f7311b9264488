"""`remote=URL`: a first build takes the results of another one from an HTTP cache. No server makes a run fail."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import zstandard
from cache_server import Answer, Exchange, Server, serving
from hostile_stores import ARCHIVES, NO_ARCHIVE, SCRIPTS, after_script, ending
from project import ROOT, Project, elsewhere, finish, is_plain
from sharing import FAILED, KEPT, OTHERS, WRONG, assert_built, assert_names_no_machine, forget, members_of, unbuilt

from pipeline.front.remote import limits
from pipeline.front.remote.action_result import Blob, decode, encode
from pipeline.store.archive import DESCRIPTION
from pipeline.store.sqlite import set_aside_of

LOOKED_UP = ["GET ac", "GET cas"]
SIMILAR = ["GET ac", *LOOKED_UP]  # nothing for equal inputs, an archive of similar ones
UPLOADED = ["PUT cas", "PUT ac", "PUT ac"]
MISSED = ["GET ac", "GET ac", "HEAD cas", *UPLOADED]


@pytest.fixture(scope="module")
def stored(tiny_built: Project, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a server has after a first build of the set."""
    with serving() as server:
        first = unbuilt(tiny_built, tmp_path_factory.mktemp("shared") / "first")
        first.run(remote=server.url).clean()
        assert server.methods == MISSED
        return server.stored


@pytest.fixture
def server(stored: dict[str, bytes]) -> Iterator[Server]:
    """A server that has the results of the set."""
    with serving(stored) as server:
        yield server


def entry_of(stored: Mapping[str, bytes]) -> tuple[list[str], Blob]:
    """The paths of the actions that are stored, and the result of all of them."""
    entries = {path: data for path, data in stored.items() if path.startswith("/ac/")}
    (data,) = set(entries.values())
    return [*entries], decode(data)


def archive_of(stored: Mapping[str, bytes]) -> bytes:
    return stored[archive_path(stored)]


def archive_path(stored: Mapping[str, bytes]) -> str:
    return f"/cas/{entry_of(stored)[1].sha256}"


def with_archive(stored: Mapping[str, bytes], archive: bytes) -> dict[str, bytes]:
    """The same actions with another result, all digests right."""
    blob = Blob(hashlib.sha256(archive).hexdigest(), len(archive))
    return {**dict.fromkeys(entry_of(stored)[0], encode(blob)), f"/cas/{blob.sha256}": archive}


def sent(server: Server) -> list[bytes]:
    """All that was uploaded: names and blobs."""
    return [*map(str.encode, server.stored), *server.stored.values()]


# ---- what it is for


def test_a_first_build_takes_the_results_of_another_one(tiny_built: Project, other: Project, server: Server) -> None:
    run = other.run(remote=server.url).clean()
    assert run.units == []
    assert sorted(run.shards) == sorted(tiny_built.files())
    assert server.methods == LOOKED_UP
    assert other.files() == tiny_built.files()
    assert other.manifest() == tiny_built.manifest()
    assert list(other.cache.rglob("transfer*")) == []
    assert other.run().ran == []


def test_after_it_an_edit_runs_what_it_would_run_where_the_results_were_computed(
    tiny_built: Project, other: Project, server: Server, tmp_path: Path
) -> None:
    local = unbuilt(tiny_built, tmp_path / "local").build()
    other.build(remote=server.url)
    for project in (local, other):
        project.set_formula("exp", "self", "result.conj() * grad")
    assert other.run(remote=server.url).ran == local.run().ran
    assert other.files() == local.files()


def test_warnings_are_reported_where_they_are_downloaded(tiny_built: Project, tmp_path: Path) -> None:
    runs = []
    with serving() as server:
        for name in ("first", "second"):
            project = unbuilt(tiny_built, tmp_path / name)
            project.set_formula("exp", "self", "grad * reslt.conj()")
            run = project.run(remote=server.url).ok()
            runs.append(run.stderr.replace(str(project.folder), ""))
        assert server.methods == [*MISSED, *LOOKED_UP]
    assert "reslt" in runs[0]
    assert runs[0] == runs[1]


def test_a_run_with_a_store_for_its_specs_makes_no_request(other: Project, server: Server) -> None:
    other.build()
    other.set_formula("exp", "self", "result.conj() * grad")
    other.build(remote=server.url)
    other.append("derivatives.yaml", "# a comment")
    other.build(remote=server.url)
    other.build(remote=server.url, layout="split")
    shutil.rmtree(other.generated)
    other.build(remote=server.url)
    assert server.methods == []


def test_a_run_with_nothing_to_do_makes_no_request_and_loads_no_client(other: Project, server: Server) -> None:
    other.build(remote=server.url)
    before = len(server.requests)
    for command in ("doit", "pipeline"):
        words = ("-X", "importtime", "-m", command, *other.words, f"remote={server.url}")
        run = finish(elsewhere(*words, cwd=ROOT))
        assert (run.status, run.ran) == (0, []), run.stderr
        assert "pipeline.front.remote" not in run.stderr
        assert "http.client" not in run.stderr
    assert len(server.requests) == before


def test_a_run_with_a_store_for_its_specs_loads_no_client(other: Project, server: Server) -> None:
    other.build(remote=server.url)
    other.append("derivatives.yaml", "# a comment")
    words = ("-X", "importtime", "-m", "pipeline", *other.words, f"remote={server.url}")
    run = finish(elsewhere(*words, cwd=ROOT)).ok()
    assert "pipeline.front.run.shared" in run.stderr
    assert not re.search(r"\| +(http\.client|ssl|zstandard|pipeline\.front\.remote\.http_cache)\b", run.stderr)
    assert server.methods == LOOKED_UP


@pytest.mark.parametrize("words", [["check"], ["list"], ["explain", "exp"], ["coverage"]], ids=" ".join)
def test_a_command_that_writes_nothing_makes_no_request(other: Project, server: Server, words: list[str]) -> None:
    assert other.run(*words, remote=server.url).status == 0
    assert server.methods == []


@pytest.mark.parametrize("variables", [{"layout": "split"}, {"release": "2.12"}], ids=str)
def test_each_variable_that_most_results_depend_on_is_in_both_keys(
    other: Project, server: Server, variables: dict[str, str]
) -> None:
    if "release" in variables:
        (other.specs / "RELEASE").unlink()
    assert other.run(remote=server.url, **variables).status == 0
    assert server.methods == MISSED


def test_a_run_for_other_families_takes_results_of_all(other: Project, server: Server) -> None:
    run = other.run(remote=server.url, families="factories")
    assert (run.status, run.stderr, run.units) == (0, "", [])
    assert server.methods == SIMILAR
    assert other.files() == other.clean_build(families="factories")


@pytest.mark.parametrize("variables", [{"format": "json"}, {"strict": "1"}, {"stamp": "stamp"}], ids=str)
def test_no_other_variable_is_in_the_key(other: Project, server: Server, variables: dict[str, str]) -> None:
    if "stamp" in variables:
        variables = {"stamp": str(other.folder / "stamp")}
    assert other.run(remote=server.url, **variables).status == 0
    assert server.methods == LOOKED_UP


def test_only_complete_runs_upload(other: Project) -> None:
    with serving() as server:
        assert other.run("match", remote=server.url).status == 0
        other.append("derivatives.yaml", "- name: exp(")
        shutil.rmtree(other.cache)
        assert other.run(remote=server.url).status == 1
        assert server.methods == ["GET ac"] * 4
        assert server.stored == {}


def test_remote_upload_0_only_downloads(other: Project) -> None:
    with serving() as server:
        other.run(remote=server.url, remote_upload="0").clean()
        assert server.methods == ["GET ac", "GET ac"]


def test_a_path_stands_in_front_of_the_names(other: Project) -> None:
    with serving() as server:
        assert other.run(remote=f"{server.url}/team/a/").status == 0
        assert {path.rpartition("/")[0] for path in server.stored} == {"/team/a/ac", "/team/a/cas"}


def test_watch_uses_it_for_its_first_pass(other: Project, server: Server, tiny_built: Project) -> None:
    process = other.start("watch", remote=server.url)
    assert process.stdout is not None
    assert "no unit" in process.stdout.readline()
    process.terminate()
    finish(process)
    assert server.methods == LOOKED_UP
    assert other.files() == tiny_built.files()


def test_without_zstandard_archives_are_deflated_and_shared_with_machines_that_lack_it(
    tiny_built: Project, other: Project, stored: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "zstandard.py").write_text("raise RuntimeError('too old')")
    words = other.words
    with serving(stored) as server:
        for expected in (MISSED, LOOKED_UP):
            command = [sys.executable, "-m", "doit", *words, f"remote={server.url}"]
            environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            finish(process).clean()
            assert server.methods == expected
            assert other.files() == tiny_built.files()
            server.requests.clear()
            forget(other)
        (path,) = {path for path in server.stored.keys() - stored.keys() if path.startswith("/cas/")}
    with zipfile.ZipFile(io.BytesIO(server.stored[path])) as archive:
        assert zipfile.ZIP_DEFLATED in {member.compress_type for member in archive.infolist()}


# ---- what the server has already


def without_entries(stored: Mapping[str, bytes]) -> dict[str, bytes]:
    """The archive alone, as of another machine that is about to store its entries."""
    return {path: data for path, data in stored.items() if path.startswith("/cas/")}


def test_an_archive_that_the_server_has_is_not_sent_again(other: Project, stored: dict[str, bytes]) -> None:
    with serving(without_entries(stored)) as server:
        other.run(remote=server.url).clean()
        assert server.methods == ["GET ac", "GET ac", "HEAD cas", "PUT ac", "PUT ac"]
        assert server.stored == stored


HEADS: dict[str, Answer] = {
    "404": lambda x: x.give(404, Content_Length=153),
    "404 with a page": lambda x: x.give(404, b"<html>" * 1000),
    "405": lambda x: x.give(405),
    "500": lambda x: x.give(500),
    "501": lambda x: x.give(501, b"<html>", Connection="close"),
    "redirect": lambda x: x.give(302, Location="/elsewhere"),
    "403": lambda x: x.give(403),
    "204": lambda x: x.give(204, Content_Length=None),
    "no length": lambda x: x.give(200, Content_Length=None),
    "another length": lambda x: x.give(200, Content_Length=10),
    "a length in words": lambda x: x.give(200, Content_Length="few"),
    "no HTTP": lambda x: x.send(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "closed": lambda x: x.send(b""),
    "reset": lambda x: x.reset(),
}


@pytest.mark.slow(0.4)
@pytest.mark.parametrize("kind", HEADS)
def test_any_other_answer_to_a_head_sends_the_archive(other: Project, stored: dict[str, bytes], kind: str) -> None:
    with serving({}, {"HEAD cas": HEADS[kind]}) as server:
        other.run(remote=server.url).clean()
        assert server.methods == MISSED
        assert server.stored == stored


def test_a_body_after_a_head_is_not_taken_for_the_next_answer(other: Project, stored: dict[str, bytes]) -> None:
    with serving(without_entries(stored), {"HEAD cas": lambda x: x.give(200, known(x))}) as server:
        other.run(remote=server.url).clean()
        assert server.stored == stored


def test_an_archive_that_a_server_lacks_and_says_to_have_is_sent_by_the_next_machine(
    tiny_built: Project, other: Project, stored: dict[str, bytes]
) -> None:
    size = len(archive_of(stored))
    with serving({}, {"HEAD cas": lambda x: x.give(200, Content_Length=size)}) as server:
        assert other.run(remote=server.url).stderr == ""
        assert archive_path(stored) not in server.stored
        forget(other)
        other.run(remote=server.url).clean()
        assert server.methods[-6:] == [*LOOKED_UP, "GET ac", *UPLOADED]
        assert server.stored == stored
    assert other.files() == tiny_built.files()


# ---- what leaves the machine


def test_an_entry_is_an_action_result_with_one_file(stored: dict[str, bytes]) -> None:
    paths, blob = entry_of(stored)
    archive = archive_of(stored)
    assert stored.keys() == {*paths, f"/cas/{blob.sha256}"}
    assert [len(path) for path in paths] == 2 * [len("/ac/") + 64]
    assert blob == Blob(hashlib.sha256(archive).hexdigest(), len(archive))
    size = b"\x10" + _varint(len(archive))
    digest = b"\x0a\x40" + blob.sha256.encode() + size
    file = b"\x0a\x12gradmill-store.zip" + b"\x12" + bytes([len(digest)]) + digest
    for path in paths:
        assert stored[path] == b"\x12" + bytes([len(file)]) + file
    assert 5 * len(archive) < sum(map(len, members_of(archive).values()))


def _varint(number: int) -> bytes:
    return bytes([number & 127 | 128]) + _varint(number >> 7) if number > 127 else bytes([number])


def test_nothing_that_is_sent_names_the_machine(other: Project) -> None:
    with serving() as server:
        other.build(remote=server.url)
    assert_names_no_machine(sent(server), other)
    allowed = {"Host", "Accept-Encoding", "User-Agent", "Accept", "Content-Type", "Content-Length"}
    for request in server.requests:
        assert request.headers.keys() <= allowed
        assert request.headers["Host"] == server.name
        assert request.headers["User-Agent"] == "gradmill"


def test_results_with_paths_of_this_machine_are_not_shared(other: Project, server: Server) -> None:
    other.run(remote=server.url, layout="split", lines="1").clean()
    assert server.methods == []


# ---- two versions of gradmill


def test_versions_of_gradmill_share_a_server_and_no_results(own_code: Project) -> None:
    with serving() as server:
        own_code.build(remote=server.url, layout="split", lines="1")  # with paths of this machine, not shared
        assert server.methods == []
        edit_version(own_code)
        run = own_code.run(remote=server.url)  # the store is of another version
        assert (run.status, run.stderr) == (0, "")
        assert server.methods == MISSED
        assert_names_no_machine(sent(server), own_code)
        files = own_code.files()
        edit_version(own_code)
        own_code.build(remote=server.url)
        assert server.methods == 2 * MISSED
        assert len({path for path in server.stored if path.startswith("/ac/")}) == 4
        shutil.rmtree(own_code.cache)
        own_code.build(remote=server.url)
        assert server.methods == 2 * MISSED + LOOKED_UP
        assert own_code.files() == files


def edit_version(project: Project) -> None:
    module = project.root / "pipeline" / "__init__.py"
    module.write_text(module.read_text() + "# another version\n")


# ---- a server that misbehaves

HEAD = b"HTTP/1.1 200 OK\r\n"


def gives(status: int, data: bytes = b"", **headers: object) -> Answer:
    return lambda exchange: exchange.give(status, data, **headers)


def known(exchange: Exchange) -> bytes:
    assert exchange.known is not None
    return exchange.known


def head(exchange: Exchange, more: int = 0) -> bytes:
    """The head of the right answer. `more`: bytes that it announces and the answer has not."""
    return HEAD + f"Content-Length: {len(known(exchange)) + more}\r\n\r\n".encode()


def half(exchange: Exchange) -> bytes:
    return head(exchange) + known(exchange)[: len(known(exchange)) // 2]


def altered(exchange: Exchange) -> None:
    data = bytearray(known(exchange))
    data[len(data) // 2] ^= 1
    exchange.give(200, bytes(data))


def says(size: int) -> Answer:
    """An entry about another blob."""
    return gives(200, encode(Blob("0" * 64, size)))


def big(exchange: Exchange) -> None:
    exchange.give(200, b"\x12" * 10_000_000)


def endless(exchange: Exchange) -> None:
    exchange.wfile.write(HEAD + b"\r\n")
    while not exchange.server.ended.is_set():
        exchange.wfile.write(b"\x12" * 65536)


def without_length(exchange: Exchange) -> None:
    exchange.send(HEAD + b"\r\n" + known(exchange)[:-1])


# What the server does, and in the end of the one warning. Entries of other forms: test_action_result.py.
FAULTS: dict[str, tuple[dict[str, Answer], str]] = {
    "ac: 500": ({"GET ac": gives(500)}, f"HTTP 500 for a GET; {FAILED}"),
    "ac: 503": ({"GET ac": gives(503, b"busy", Retry_After=5)}, f"HTTP 503 for a GET; {FAILED}"),
    "ac: 401": ({"GET ac": gives(401)}, f"refuses access: name the token with remote_token=FILE; {FAILED}"),
    "ac: 403": ({"GET ac": gives(403)}, f"refuses access: name the token with remote_token=FILE; {FAILED}"),
    "ac: 206": ({"GET ac": gives(206, b"a part")}, f"HTTP 206 for a GET; {FAILED}"),
    "ac: 204": ({"GET ac": gives(204)}, f"HTTP 204 for a GET; {FAILED}"),
    "ac: 999": ({"GET ac": gives(999)}, f"HTTP 999 for a GET; {FAILED}"),
    "ac: redirect": (
        {"GET ac": gives(302, Location="http://127.0.0.1:1/")},
        f"HTTP 302, a redirect, which is not followed; {FAILED}",
    ),
    "ac: empty": ({"GET ac": gives(200)}, f"its entry is damaged: it has no output, or several; {WRONG}"),
    "ac: a page": ({"GET ac": gives(200, b"<html>welcome</html>")}, f"its entry is damaged: .*; {WRONG}"),
    "ac: large": ({"GET ac": big}, f"its entry is too large; {WRONG}"),
    "ac: endless": ({"GET ac": endless}, f"its entry is too large; {WRONG}"),
    "ac: no bytes": ({"GET ac": says(0)}, f"its entry is of 0 bytes; {WRONG}"),
    "ac: too many bytes": ({"GET ac": says(1 << 62)}, f"its entry is of {1 << 62} bytes; {WRONG}"),
    "ac: cut off": ({"GET ac": lambda x: x.send(half(x))}, f"cut off.*; {FAILED}"),
    "ac: shorter than it says": ({"GET ac": lambda x: x.send(head(x, 9) + known(x))}, f"cut off.*; {FAILED}"),
    "ac: closed": ({"GET ac": lambda x: x.send(b"")}, f"{FAILED}"),
    "ac: reset": ({"GET ac": lambda x: x.reset()}, f"{FAILED}"),
    "ac: reset in the head": ({"GET ac": lambda x: x.reset(HEAD)}, f"{FAILED}"),
    "ac: no HTTP": ({"GET ac": lambda x: x.send(b"SSH-2.0-OpenSSH_9.2\r\n")}, f"its answer is not HTTP.*; {FAILED}"),
    "ac: control characters": ({"GET ac": lambda x: x.send(b"HTTP/1.1 \x1b[31m\r\n\r\n")}, f"{FAILED}"),
    "ac: a long line": ({"GET ac": lambda x: x.send(HEAD + b"A: " + b"a" * 100_000)}, f"not HTTP.*; {FAILED}"),
    "ac: many headers": ({"GET ac": lambda x: x.send(HEAD + b"A: a\r\n" * 1000)}, f"not HTTP.*; {FAILED}"),
    "ac: bad chunks": (
        {"GET ac": lambda x: x.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n")},
        f"cut off.*; {FAILED}",
    ),
    "ac: a length below 0": ({"GET ac": gives(200, b"abc", Content_Length=-3)}, f"; ({FAILED}|{WRONG})"),
    "ac: a length in words": ({"GET ac": gives(200, b"abc", Content_Length="few")}, f"; ({FAILED}|{WRONG})"),
    "cas: 404": ({"GET cas": gives(404)}, ""),
    "cas: 410 with a page": ({"GET cas": gives(410, b"<html>" * 100_000)}, ""),
    "cas: 500": ({"GET cas": gives(500)}, f"HTTP 500 for a GET; {FAILED}"),
    "cas: redirect": ({"GET cas": gives(307, Location="/elsewhere")}, f"a redirect, which is not followed; {FAILED}"),
    "cas: empty": ({"GET cas": gives(200)}, f"the archive does not match the digest in its entry; {WRONG}"),
    "cas: cut off": ({"GET cas": lambda x: x.send(half(x))}, f"cut off.*; {FAILED}"),
    "cas: shorter than it says": ({"GET cas": lambda x: x.send(head(x, 9) + known(x))}, f"cut off.*; {FAILED}"),
    "cas: shorter, without a length": (
        {"GET cas": without_length},
        f"the archive does not match the digest in its entry; {WRONG}",
    ),
    "cas: longer": (
        {"GET cas": lambda x: x.give(200, known(x) + b"x")},
        f"the archive does not match the digest in its entry; {WRONG}",
    ),
    "cas: a length too small": (
        {"GET cas": lambda x: x.send(head(x, -9) + known(x))},
        f"the archive does not match the digest in its entry; {WRONG}",
    ),
    "cas: endless": ({"GET cas": endless}, f"the archive does not match the digest in its entry; {WRONG}"),
    "cas: altered": ({"GET cas": altered}, f"the archive does not match the digest in its entry; {WRONG}"),
    "cas: compressed": (
        {"GET cas": lambda x: x.give(200, gzip.compress(known(x)), Content_Encoding="gzip")},
        f"the archive does not match the digest in its entry; {WRONG}",
    ),
    "cas: reset": ({"GET cas": lambda x: x.reset(half(x))}, f"{FAILED}"),
}
HANGS: dict[str, tuple[dict[str, Answer], str]] = {
    "ac: no answer": ({"GET ac": lambda x: x.hang()}, f"; {FAILED}"),
    "ac: no end of the head": ({"GET ac": lambda x: x.hang(HEAD)}, f"; {FAILED}"),
    "ac: slow": ({"GET ac": lambda x: x.trickle(HEAD * 100)}, f"no answer within 1 s; {FAILED}"),
    "cas: no end": ({"GET cas": lambda x: x.hang(half(x))}, f"; {FAILED}"),
    "cas: slow": ({"GET cas": lambda x: x.trickle(half(x))}, f"no answer within 1 s; {FAILED}"),
}
REFUSALS: dict[str, tuple[dict[str, Answer], str]] = {
    "cas: 403": ({"PUT cas": gives(403)}, f"HTTP 403, it refuses uploads: write remote_upload=0; {KEPT}"),
    "cas: 405": ({"PUT cas": gives(405)}, f"HTTP 405 for a PUT; {KEPT}"),
    "cas: 413 before the body": ({"PUT cas": lambda x: x.send(b"HTTP/1.1 413 Too Large\r\n\r\n")}, f"; {KEPT}"),
    "cas: 507": ({"PUT cas": gives(507)}, f"HTTP 507 for a PUT; {KEPT}"),
    "cas: redirect": ({"PUT cas": gives(307, Location="/")}, f"a redirect, which is not followed; {KEPT}"),
    "cas: closed": ({"PUT cas": lambda x: x.send(b"")}, f"; {KEPT}"),
    "cas: reset": ({"PUT cas": lambda x: x.reset()}, f"; {KEPT}"),
    "ac: 400": ({"PUT ac": gives(400)}, f"HTTP 400 for a PUT; {KEPT}"),
    "ac: reset": ({"PUT ac": lambda x: x.reset()}, f"; {KEPT}"),
}
STUCK: dict[str, tuple[dict[str, Answer], str]] = {
    "cas: no answer": ({"PUT cas": lambda x: x.hang()}, f"; {KEPT}"),
    "ac: slow": ({"PUT ac": lambda x: x.trickle(HEAD * 100)}, f"no answer within 1 s; {KEPT}"),
}


@pytest.mark.slow(0.4)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_server_costs_a_line(other: Project, stored: dict[str, bytes], fault: str) -> None:
    answers, warning = FAULTS[fault]
    with serving(stored, answers) as server:
        run = other.run(remote=server.url)
        replaced = FAILED not in run.stderr
        assert server.methods[-3:] == UPLOADED if replaced else not {*UPLOADED} & {*server.methods}
    assert_built(other, run, warning, server.name)


def test_two_faults_of_the_server_cost_one_line(other: Project, stored: dict[str, bytes]) -> None:
    with serving(stored, {"GET ac": gives(200, b"?"), "PUT cas": gives(403)}) as server:
        run = other.run(remote=server.url)
        assert server.methods == ["GET ac", "PUT cas"]
    assert_built(other, run, f"its entry is damaged: .*; {WRONG}", server.name)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short limits."""
    for name, seconds in {"CONNECT": 0.6, "IDLE": 0.6, "FIND": 0.9, "FETCH": 0.9, "PUT": 0.9}.items():
        monkeypatch.setattr(limits, name, seconds)


@pytest.mark.slow(0.4)
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("fault", HANGS)
def test_a_slow_server_is_not_waited_for(other: Project, stored: dict[str, bytes], fault: str) -> None:
    answers, warning = HANGS[fault]
    with serving(stored, answers) as server:
        run = other.run_patched(remote=server.url)
    assert_built(other, run, warning, server.name)


@pytest.mark.slow(0.4)
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("fault", [*REFUSALS, *(f"slow {name}" for name in STUCK)])
def test_an_upload_that_fails_costs_a_line(other: Project, fault: str) -> None:
    answers, warning = {**REFUSALS, **{f"slow {name}": each for name, each in STUCK.items()}}[fault]
    with serving({}, answers) as server:
        run = other.run_patched(remote=server.url) if fault.startswith("slow") else other.run(remote=server.url)
    assert not any(path.startswith("/ac/") for path in server.stored)
    assert_built(other, run, warning, server.name)


def test_the_limits_are_those_of_the_documentation() -> None:
    named = limits.CONNECT, limits.FIND, limits.FETCH, limits.PUT
    text = " ".join((ROOT / "docs" / "scale.md").read_text().split())
    assert (
        "{:.0f} s to connect, {:.0f} s for a lookup, {:.0f} s for a download, {:.0f} s for an upload".format(*named)
        in text
    )


# ---- no server, or no HTTP


def test_a_server_that_is_down_costs_a_line(other: Project) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        name = f"127.0.0.1:{free.getsockname()[1]}"
    run = other.run(remote=f"http://{name}")
    assert_built(other, run, f"Connection refused; {FAILED}", name)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_accepts_nothing_costs_a_line(other: Project) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        name = f"127.0.0.1:{listening.getsockname()[1]}"
        run = other.run_patched(remote=f"http://{name}")
    assert_built(other, run, f"; {FAILED}", name)


@pytest.mark.usefixtures("impatient")
def test_a_name_that_leads_nowhere_costs_a_line(other: Project) -> None:
    run = other.run_patched(remote="http://no-such-host.invalid:80")
    assert_built(other, run, f"; {FAILED}", "no-such-host.invalid:80")


@pytest.mark.usefixtures("impatient")
def test_a_name_server_that_does_not_answer_costs_a_line(other: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(20))
    run = other.run_patched(remote="http://somewhere:80")
    assert_built(other, run, f"no answer within 1 s; {FAILED}", "somewhere:80")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key and its own certificate, for localhost."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    file = tmp_path_factory.mktemp("tls") / "localhost.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", "-", "-out", "-"]
    file.write_bytes(subprocess.run(["openssl", *words], check=True, capture_output=True).stdout)
    return file


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.mark.parametrize("way", ["SSL_CERT_FILE", "remote_ca"])
def test_https_works_with_a_certificate_that_is_trusted(
    other: Project,
    stored: dict[str, bytes],
    tls: ssl.SSLContext,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    if way == "SSL_CERT_FILE":
        monkeypatch.setenv(way, str(certificate))
    with serving(stored, tls=tls) as server:
        variables = {way: certificate} if way == "remote_ca" else {}
        run = other.run(remote=f"https://localhost:{server.port}", **variables)
        assert (run.status, run.stderr, run.units) == (0, "", [])
        assert server.methods == LOOKED_UP


def test_an_unknown_certificate_costs_a_line(other: Project, stored: dict[str, bytes], tls: ssl.SSLContext) -> None:
    with serving(stored, tls=tls) as server:
        run = other.run(remote=f"https://localhost:{server.port}")
        assert server.methods == []
    warning = f"its certificate is not valid: self-signed certificate; {FAILED}"
    assert_built(other, run, warning, f"localhost:{server.port}")


def test_a_certificate_for_another_name_costs_a_line(
    other: Project, stored: dict[str, bytes], tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(stored, tls=tls) as server:
        run = other.run(remote=f"https://{server.name}")
        assert server.methods == []
    assert_built(other, run, f"its certificate is not valid.*; {FAILED}", server.name)


def test_https_to_a_server_without_it_costs_a_line(other: Project, server: Server) -> None:
    run = other.run(remote=f"https://{server.name}")
    assert_built(other, run, f"TLS: .*; {FAILED}", server.name)


def test_http_to_a_server_with_tls_costs_a_line(other: Project, tls: ssl.SSLContext) -> None:
    with serving(tls=tls) as server:
        run = other.run(remote=server.url)
    assert_built(other, run, f"; {FAILED}", server.name)


def test_a_file_without_certificates_costs_a_line(other: Project, tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("none")
    run = other.run(remote="https://localhost:1", remote_ca=tmp_path / "ca")
    assert_built(other, run, f"{tmp_path / 'ca'} has no certificates in PEM format; {FAILED}", "localhost:1")


def test_proxies_of_the_environment_are_not_used(
    other: Project, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    run = other.run(remote=server.url)
    assert (run.status, run.stderr, run.units) == (0, "", [])


# ---- archives with the right digest that are no good


def zipped(members: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data if name == DESCRIPTION else zstandard.compress(data))
    return file.getvalue()


def described(members: dict[str, bytes], **parts: bytes) -> bytes:
    """The archive with other parts, which its description agrees with."""
    description = json.loads(members[DESCRIPTION])
    names = {name.replace("_", "."): data for name, data in parts.items()}
    for name, data in names.items():
        description["parts"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return zipped({**members, **names, DESCRIPTION: json.dumps(description).encode()})


def flipped(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


def huge(archive: bytes) -> bytes:
    members = members_of(archive)
    return described(members, rows_values=bytes(200_000_000))


def of_rows(script: str) -> Callable[[bytes], bytes]:
    """A change of the database in an archive, which its description agrees with."""
    return lambda archive: described(members_of(archive), rows=after_script(members_of(archive)["rows"], script))


POISON: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "no archive": (lambda archive: b"a text", NO_ARCHIVE),
    "a part of one": (lambda archive: archive[:-100], NO_ARCHIVE),
    "an offset out of it": (lambda archive: archive[:-6] + b"\xff\xff\xff\x0f" + bytes(2), NO_ARCHIVE),
    "another archive": (lambda archive: zipped({"a": b"b"}), NO_ARCHIVE),
    "a member more": (lambda archive: zipped({**members_of(archive), "../x": b"y"}), NO_ARCHIVE),
    "an altered member": (
        lambda archive: zipped({**members_of(archive), "rows": b"SQLite format 3\0"}),
        "it is damaged: rows does not match the digest in its description",
    ),
    "an altered database": (
        lambda archive: described(members_of(archive), rows=flipped(members_of(archive)["rows"])),
        "the store in it is damaged .*",
    ),
    "altered values": (
        lambda archive: described(members_of(archive), rows_values=flipped(members_of(archive)["rows.values"])),
        "the store in it is damaged .*",
    ),
    "no values": (lambda archive: described(members_of(archive), rows_values=b""), "the store in it is damaged .*"),
    "no database": (lambda archive: described(members_of(archive), rows=b""), "the store in it is damaged .*"),
    "too much": (huge, "it has too much for its size"),
    **ARCHIVES,
    **{
        name: (of_rows(script), rf"the store in it is damaged \({problem}\)")
        for name, (script, problem) in SCRIPTS.items()
    },
}


@pytest.mark.slow(0.4)
@pytest.mark.parametrize("poison", POISON)
def test_a_poisoned_archive_is_refused_and_replaced(other: Project, stored: dict[str, bytes], poison: str) -> None:
    change, problem = POISON[poison]
    with serving(with_archive(stored, change(archive_of(stored)))) as server:
        with ending():
            run = other.run(remote=server.url)
        assert server.methods == [*LOOKED_UP, *UPLOADED]
        assert server.stored.items() >= stored.items()
    assert_built(other, run, f"{problem}; {WRONG}", server.name)


def test_an_archive_of_other_inputs_is_refused_and_replaced(
    tiny_built: Project, other: Project, stored: dict[str, bytes], tmp_path: Path
) -> None:
    edited = unbuilt(tiny_built, tmp_path / "edited")
    edited.set_formula("exp", "self", "result.conj() * grad")
    with serving() as server:
        edited.build(remote=server.url)
    with serving(with_archive(stored, archive_of(server.stored))) as server:
        run = other.run(remote=server.url)
        assert server.stored.items() >= stored.items()
    assert_built(other, run, f"{OTHERS}; {WRONG}", server.name)


def test_a_damaged_local_store_is_replaced(tiny_built: Project, other: Project, server: Server) -> None:
    other.build()
    other.rows.write_bytes(flipped(other.rows.read_bytes()))
    run = other.run(remote=server.url)
    assert (run.status, run.stderr, run.units) == (0, "", [])
    assert server.methods == LOOKED_UP
    assert other.files() == tiny_built.files()


def test_a_store_that_led_to_a_bug_is_not_restored(tiny_built: Project, other: Project, server: Server) -> None:
    """The results on the server may be those that led to it."""
    other.build()
    other.rows.rename(set_aside_of(str(other.rows)))
    other.run(remote=server.url).clean()
    assert server.methods == [] and other.rows.exists()
    assert other.files() == tiny_built.files()


def test_a_folder_in_the_place_of_the_archive_is_refused_and_stays(other: Project, server: Server) -> None:
    folder = other.cache / "set" / "transfer.zip"
    folder.mkdir(parents=True)
    (folder / "x").write_text("in the way")
    other.run(remote=server.url).failed(f"{folder}: there is a folder\n  move it", status=3)
    assert (folder / "x").read_text() == "in the way"
    assert server.methods == []


# ---- the token


def test_a_token_is_sent_and_never_shown(other: Project, stored: dict[str, bytes], tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret.T0ken\n")

    def only_with_it(exchange: Exchange) -> None:
        right = exchange.headers["Authorization"] == "Bearer s3cret.T0ken"
        exchange.give(200 if right else 401, known(exchange) if right else b"")

    with serving(stored, {"GET ac": only_with_it, "GET cas": only_with_it}) as server:
        run = other.run(remote=server.url, remote_token=token)
        assert (run.status, run.stderr, run.units) == (0, "", [])
        assert "s3cret" not in run.stdout
    assert [path for path in other.cached() if b"s3cret" in path.read_bytes()] == []


def test_a_token_that_is_refused_is_not_shown(other: Project, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret.T0ken\n")
    with serving({}, {"GET ac": gives(401)}) as server:
        run = other.run(remote=server.url, remote_token=token)
    assert "s3cret" not in run.stderr + run.stdout
    assert_built(other, run, f"refuses access.*; {FAILED}", server.name)


def test_a_token_is_not_sent_on_to_where_a_redirect_leads(other: Project, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret.T0ken\n")
    with serving() as there, serving({}, {"GET ac": lambda x: x.give(302, Location=there.url + x.path)}) as server:
        assert other.run(remote=server.url, remote_token=token).status == 0
        assert there.requests == []


@pytest.mark.parametrize("text", [b"", b"\n", b"two words", b"a\nb", b"a\r\nHost: x", b"\xff\xfe", b"a\0b"], ids=repr)
def test_a_file_without_a_token_costs_a_line(other: Project, server: Server, tmp_path: Path, text: bytes) -> None:
    token = tmp_path / "token"
    token.write_bytes(text)
    run = other.run(remote=server.url, remote_token=token)
    assert server.requests == []
    warning = f"{token} is not a file with one line, the token; {FAILED}"
    assert_built(other, run, warning, server.name)


# ---- the variables


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"remote": "cache.example.com"}, "remote=cache.example.com: not the URL of a server"),
        ({"remote": "ftp://cache"}, "remote=ftp://cache: not the URL of a server"),
        ({"remote": "http://"}, "remote=http://: not the URL of a server"),
        ({"remote": "http://a:99999"}, "remote=http://a:99999: not the URL of a server"),
        ({"remote": "http://a:b"}, "remote=http://a:b: not the URL of a server"),
        ({"remote": "http://a/?x=y"}, "remote=http://a/?x=y: not the URL of a server"),
        ({"remote": "http://a b"}, "remote=http://a b: not the URL of a server"),
        ({"remote": "http://a/\r\nX: y"}, "remote=http://a/\\r\\nX: y: not the URL of a server"),
        ({"remote": "http://[::1"}, "remote=http://[::1: not the URL of a server"),
        ({"remote": "http://me:secret@a"}, "remote=: the URL has a user or a password"),
        (
            {"remote": "grpc://a:1"},
            "remote=grpc://a:1: a shared cache is reached over HTTP, not gRPC\n  name its http:// or https:// URL, or",
        ),
        ({"remote": "grpcs://a/b"}, "remote=grpcs://a/b: a shared cache is reached over HTTP, not gRPC"),
        ({"remote": "GRPC://me:secret@a"}, "remote=: the URL has a user or a password"),
        ({"remote": "http://a", "remote_upload": "no"}, "remote_upload=no"),
        ({"remote_upload": "0"}, "remote_upload=0: there is no shared cache\n  also write remote=URL"),
        ({"remote_token": "x"}, "remote_token=x: there is no shared cache\n  also write remote=URL"),
        ({"remote": "http://a", "remote_token": "none"}, "remote_token=none: there is no such file"),
        (
            {"remote": "http://a", "remote_token": "README.md"},
            "remote=http://a: a token is not sent without encryption",
        ),
        ({"remote_ca": "x"}, "remote_ca=x: there is no shared cache\n  also write remote=URL"),
        ({"remote": "https://a", "remote_ca": "none"}, "remote_ca=none: there is no such file"),
        (
            {"remote": "http://a", "remote_ca": "README.md"},
            "remote_ca=README.md: remote=http://a has no encryption\n  write https://",
        ),
        ({"remot": "http://a"}, "remot=http://a: there is no such variable\n  did you mean 'remote'?"),
    ],
    ids=str,
)
def test_a_wrong_variable_is_named(other: Project, variables: dict[str, str], problem: str) -> None:
    run = other.run(**variables).failed(problem, status=3)
    assert "secret" not in run.stderr
    assert is_plain(run)


def test_an_empty_url_is_none(other: Project, tiny_built: Project) -> None:
    assert other.run(remote="", remote_upload="0").status == 0
    assert other.files() == tiny_built.files()


# ---- a real server


def test_nginx_serves_as_a_shared_cache(tiny_built: Project, other: Project, nginx: str, tmp_path: Path) -> None:
    unbuilt(tiny_built, tmp_path / "first").run(remote=nginx).clean()
    run = other.run(remote=nginx)
    assert (run.status, run.stderr, run.units) == (0, "", [])
    assert other.files() == tiny_built.files()
    shutil.rmtree(next((tmp_path / "nginx").rglob("ac")))
    forget(other)
    assert other.run(remote=nginx).stderr == ""
    requests = [
        line.split('"')[1].split("/")[:2] for line in (tmp_path / "nginx" / "requests").read_text().splitlines()
    ]
    again = [request for request in MISSED if request != "PUT cas"]
    assert [f"{method}{kind}" for method, kind in requests] == [*MISSED, *LOOKED_UP, *again]
