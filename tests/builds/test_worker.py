"""`gradmill worker`: actions of Bazel, without Bazel. With it: `../test_bazel.py`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import forked
import pytest
from copies import copy_of
from jsonschema import Draft202012Validator
from project import ROOT, Project, files_in, sources, with_end

from gradmill.builds.worker.actions import Actions
from gradmill.builds.worker.messages import Frames, WorkInput, WorkRequest
from gradmill.io.decoding import decode_json

SPLIT = ("layout=split", "shards=2")
FORMULA = "  self: grad * result.conj()\n"  # of exp
EDITED = FORMULA.replace("grad * ", "grad * 1 * ")


class Session:
    """A worker in the folder of a project, and one end of its streams."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin is not None and process.stdout is not None
        self.stdin, self._stdout = process.stdin, process.stdout

    def encoded(self, *arguments: str, inputs: tuple[str, ...] = (), **more: Any) -> bytes:
        """A request. `more`: other fields, as Bazel's definition calls them."""
        camel = {name.partition("_")[0] + name.partition("_")[2].title(): value for name, value in more.items()}
        digests = [{"path": path, "digest": "MGY="} for path in inputs]
        return json.dumps({"arguments": arguments, "inputs": digests, **camel}).encode()

    def send(self, *arguments: str, **more: Any) -> None:
        self.write(self.encoded(*arguments, **more))

    def write(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """The next response; fields with their default are left out."""
        fields = json.loads(self._stdout.readline())
        names = ("exitCode", "output", "requestId")
        assert sorted(fields) == sorted(names)
        return {name: fields[name] for name in names if fields[name]}

    def run(self, *arguments: str, **more: Any) -> dict[str, Any]:
        self.send(*arguments, **more)
        return self.answer()

    def end(self) -> tuple[int, bytes]:
        """Ends the input; the status, and what else came on standard output."""
        self.stdin.close()
        rest = self._stdout.read()
        return self.process.wait(30), rest


@contextmanager
def serving(folder: Path, words: tuple[str, ...] = ("-m", "gradmill"), root: Path = ROOT) -> Iterator[Session]:
    command = [sys.executable, *words, "worker", "--persistent_worker"]
    environment = {**os.environ, "PYTHONPATH": str(root / "pipeline"), "TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir(exist_ok=True)
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": (folder / "log").open("w")}
    with subprocess.Popen(command, cwd=folder, env=environment, **streams) as process:  # type: ignore[call-overload]
        try:
            yield Session(process)
        finally:
            process.kill()


@pytest.fixture
def tiny(tmp_path: Path, tiny_built: Project) -> Project:
    """A small set, without results."""
    project = copy_of(tiny_built, tmp_path / "tiny")
    shutil.rmtree(project.cache)
    shutil.rmtree(project.generated)
    return project


def words(project: Project, generated: Path, *more: str) -> tuple[str, ...]:
    """The arguments of an action, relative to the folder of the project, as Bazel has them."""
    relative = [os.path.relpath(path, project.folder) for path in (project.specs, generated)]
    return f"specs={relative[0]}", f"generated={relative[1]}", *more


# ---- what it is for


def test_each_request_writes_what_a_run_writes(tiny: Project, tmp_path: Path) -> None:
    out = tmp_path / "out"
    action = words(tiny, out, *SPLIT)
    with serving(tiny.folder) as worker:
        assert worker.run(*action) == {}
        assert sources(files_in(out)) == sources(tiny.clean_build(layout="split", shards=2))
        shutil.rmtree(out)  # as Bazel does
        tiny.replace("derivatives.yaml", FORMULA, EDITED)
        assert worker.run(*action, request_id=7) == {"requestId": 7}
        assert sources(files_in(out)) == sources(tiny.clean_build(layout="split", shards=2))
        assert worker.end() == (0, b"")
    assert (tiny.folder / "log").read_text() == ""
    assert list((tiny.folder / "tmp").iterdir()) == []


def test_a_result_stays_in_memory(tiny: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit runs a few queries, and one that is undone none."""
    monkeypatch.chdir(tiny.folder)
    action = words(tiny, tmp_path / "out", *SPLIT)
    with closing(Actions({})) as actions:

        def ran() -> int:
            assert actions.run(action, frozenset()).status == 0
            assert actions._kept is not None
            return len(actions._kept[1].db.ran)

        assert ran() > 300
        assert ran() == 0
        tiny.replace("derivatives.yaml", FORMULA, EDITED)
        assert 0 < ran() < 100
        tiny.replace("derivatives.yaml", EDITED, FORMULA)
        assert ran() == 0


@pytest.mark.slow
def test_sets_and_layouts_in_one_worker_do_not_mix(tiny: Project, tmp_path: Path) -> None:
    """Two sets with one name, one of them in two layouts."""
    (tmp_path / "other").mkdir()
    shutil.copytree(tiny.specs, tmp_path / "other" / "set")
    other = Project.at(tmp_path / "other")
    other.replace("derivatives.yaml", FORMULA, EDITED)
    actions: dict[tuple[str, ...], Callable[[], dict[str, bytes]]] = {
        words(tiny, tmp_path / "a"): lambda: sources(tiny.clean_build()),
        words(tiny, tmp_path / "b", *SPLIT): lambda: sources(tiny.clean_build(layout="split", shards=2)),
        (f"specs={other.specs}", f"generated={tmp_path / 'c'}"): lambda: sources(other.clean_build()),
    }
    with serving(tiny.folder) as worker:
        for edit in (None, (tiny, "grad * 2 * "), (other, "grad * 3 * ")):
            if edit is not None:
                project, start = edit
                old = FORMULA if project is tiny else EDITED
                project.replace("derivatives.yaml", old, FORMULA.replace("grad * ", start))
            for number, (action, expected) in enumerate(actions.items(), 1):
                assert worker.run(*action, request_id=number) == {"requestId": number}
                out = tiny.folder / action[1].partition("=")[2]
                assert sources(files_in(out)) == expected()


# ---- what an action cannot do


def test_a_mistake_is_the_answer_and_nothing_is_written(tiny: Project, tmp_path: Path) -> None:
    out = tmp_path / "out"
    action = words(tiny, out)
    with serving(tiny.folder) as worker:
        assert worker.run(*action) == {}
        before = files_in(out)
        tiny.replace("derivatives.yaml", FORMULA, FORMULA.replace("self:", "slef:"))
        answer = worker.run(*action, request_id=3)
        assert (answer["exitCode"], answer["requestId"]) == (1, 3)
        assert "derivatives.yaml:" in answer["output"] and "did you mean 'self'?" in answer["output"]
        assert files_in(out) == before
        tiny.replace("derivatives.yaml", "slef:", "self:")
        assert worker.run(*action) == {}


WRONG = {
    "spces=set generated=out": "spces=set: there is no such variable\n  did you mean 'specs'?",
    "set generated=out": "'set' is not a variable\n  write name=value",
    "generated=out": "an action names no spec set\n  also write specs=DIR",
    "specs=set": "an action names no folder for its outputs\n  also write generated=DIR",
    "specs=nowhere generated=out": "specs=nowhere: there is no such",
    "specs=set generated=out stamp=out/stamp": "stamp=out/stamp: other build systems compare the outputs",
    "specs=set generated=out fix=1": "fix=1: an action does not change its inputs",
}


def test_a_wrong_action_is_the_answer(tiny: Project) -> None:
    with serving(tiny.folder) as worker:
        for line, message in WRONG.items():
            answer = worker.run(*line.split())
            assert answer["exitCode"] == 1, line
            assert answer["output"].startswith(f"ERROR: {message}"), line
        assert worker.run("specs=set", "generated=out") == {}


def test_a_file_that_is_no_input_is_not_read(tiny: Project, tmp_path: Path) -> None:
    """Bazel would not run the action again when it changes."""
    action = words(tiny, tmp_path / "out")
    inputs = tuple(os.path.relpath(path, tiny.folder) for path in sorted(tiny.specs.rglob("*")) if path.is_file())
    missing = next(path for path in inputs if path.endswith("tags.yaml"))
    with serving(tiny.folder) as worker:
        assert worker.run(*action, inputs=inputs) == {}
        shutil.rmtree(tmp_path / "out")
        answer = worker.run(*action, inputs=tuple(path for path in inputs if path != missing))
        assert answer["output"].startswith(
            f"ERROR: {tiny.folder / missing}: this file is read, but is not an input of the action\n  add it to"
        )
        assert not (tmp_path / "out").exists()
        assert worker.run(*action, inputs=("set",)) == {}  # a folder


# ---- the streams


@pytest.mark.parametrize(("protocol", "status"), [("json", 0), ("proto", 3)])
def test_a_rule_of_an_older_gradmill_may_ask_for_json(tiny: Project, protocol: str, status: int) -> None:
    (tiny.folder / "action").write_text("specs=set\ngenerated=out\n")
    run = forked.gradmill(["worker", f"--protocol={protocol}", "@action"], tiny.folder)
    assert run.status == status, run.stderr
    assert ("requests are in JSON\n  copy gradmill.bzl" in run.stderr) == (status == 3)


def test_what_is_no_request_costs_one_answer(tiny: Project, tmp_path: Path) -> None:
    garbage = [
        b'{"arguments": 5}',
        b"not a request\n",
        b'{"arguments": ["specs=\n',
        b"\xff\xfe\n",
        b"[1, 2]\n",
        b"}",
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b"[" * 100_000 + b"\n",
    ]
    with serving(tiny.folder) as worker:
        for data in garbage:
            worker.write(data)
            answer = worker.answer()
            assert answer["exitCode"] == 1, data
            assert answer["output"].startswith("ERROR: worker: not a request: "), data
        assert worker.run(*words(tiny, tmp_path / "out"), request_id=1) == {"requestId": 1}
        assert worker.end() == (0, b"")


def test_a_stream_that_ends_within_a_request_ends_the_worker(tiny: Project) -> None:
    with serving(tiny.folder) as worker:
        worker.write(b'{"arguments": [')
        assert worker.end() == (1, b"")
    assert (tiny.folder / "log").read_text() == "worker: the input ends within a request\n"


def test_requests_are_answered_in_their_order_and_one_that_cancels_another_is_not(
    tiny: Project, tmp_path: Path
) -> None:
    with serving(tiny.folder) as worker:
        parts = [worker.encoded(*words(tiny, tmp_path / str(n)), request_id=n) for n in (1, 2)]
        parts += [worker.encoded(request_id=n, cancel=True) for n in (2, 9)]
        worker.write(b"".join([*parts, worker.encoded(*words(tiny, tmp_path / "3"), request_id=3)]))
        assert [worker.answer() for _ in range(3)] == [{"requestId": n} for n in (1, 2, 3)]
        assert worker.end() == (0, b"")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.isdecimal()) == ["1", "2", "3"]


NOISY = """
import os, sys
from gradmill.cli.start.command import run
from gradmill.builds.worker.actions import Actions
own = Actions.run
def noisy(*arguments):
    print("noise")
    os.system("echo noise")
    return own(*arguments)
Actions.run = noisy
run()
"""


def test_standard_output_has_nothing_but_responses(tiny: Project, tmp_path: Path) -> None:
    with serving(tiny.folder, words=("-c", NOISY)) as worker:
        assert worker.run(*words(tiny, tmp_path / "out")) == {}
        assert worker.end() == (0, b"")
    assert (tiny.folder / "log").read_text().split() == ["noise"] * 2


def test_a_signal_ends_it_without_a_trace(tiny: Project, tmp_path: Path) -> None:
    with serving(tiny.folder) as worker:
        assert worker.run(*words(tiny, tmp_path / "out")) == {}
        assert len(list((tiny.folder / "tmp").iterdir())) == 1
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(30) == 128 + signal.SIGTERM
    assert list((tiny.folder / "tmp").iterdir()) == []
    assert (tiny.folder / "log").read_text() == ""


def test_a_sandbox_of_one_request_is_refused(tiny: Project, tmp_path: Path) -> None:
    with serving(tiny.folder) as worker:
        answer = worker.run(*words(tiny, tmp_path / "out"), sandbox_dir="sandbox", request_id=5)
        assert (answer["exitCode"], answer["requestId"]) == (1, 5)
        assert "--worker_sandboxing" in answer["output"]


@pytest.mark.slow
def test_code_that_changed_makes_the_next_result(own_code: Project, tmp_path: Path) -> None:
    """Bazel starts another worker then; one that it does not start again gives the right result, too."""
    out = tmp_path / "out"
    action = (f"specs={own_code.specs}", f"generated={out}")
    with serving(own_code.folder, root=own_code.root) as worker:
        assert worker.run(*action) == {}
        before = files_in(out)
        path = own_code.root / "pipeline" / "gradmill" / "stages" / "shard.py"
        path.write_text(with_end(path.read_text(), "// The end."))
        assert worker.run(*action) == {}
        after = files_in(out)
        assert after != before
        assert after == sources(own_code.clean_build())
        assert worker.end() == (0, b"")


# ---- alone


def test_an_action_alone_writes_what_a_run_writes(tiny: Project, tmp_path: Path) -> None:
    out, flags = tmp_path / "out", tmp_path / "flags"
    flags.write_text("\n".join(words(tiny, out, *SPLIT)) + "\n")
    run = forked.gradmill(["worker", f"@{flags}"], tiny.folder)
    assert (run.status, run.stdout, run.stderr) == (0, "", "")
    assert sources(files_in(out)) == sources(tiny.clean_build(layout="split", shards=2))
    tiny.replace("derivatives.yaml", FORMULA, FORMULA.replace("self:", "slef:"))
    forked.gradmill(["worker", f"@{flags}"], tiny.folder).failed("did you mean 'self'?", status=1)


# ---- messages


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        (b'{"a": 1}{"b": {"c": 2}}', [b'{"a": 1}', b'{"b": {"c": 2}}']),
        (b'{"a": "}{\\"}"}\n{"b": "\\\\"}', [b'{"a": "}{\\"}"}', b'{"b": "\\\\"}']),
        (b'\n \n{"a": 1}\r\n\n', [b'{"a": 1}']),
        (b'nonsense\n{"a": 1}', [b"nonsense", b'{"a": 1}']),
        (b'{"a": [{"b"\n{"c": 1}', [b'{"a": [{"b"', b'{"c": 1}']),
        (b'{"a": "cut off\n{"c": 1}', [b'{"a": "cut off', b'{"c": 1}']),
        ('{"a": "é"}'.encode(), ['{"a": "é"}'.encode()]),
    ],
)
def test_where_json_objects_end(text: bytes, frames: list[bytes]) -> None:
    """In whatever pieces they come."""
    for size in range(1, len(text) + 1):
        stream, found = Frames(), []
        for at in range(0, len(text), size):
            stream.add(text[at : at + size])
            found += [frame for frame in stream if frame]
        assert found == frames, size
        assert stream.rest == b""


SMALL = """
from gradmill.cli.start.command import run
from gradmill.builds.worker import messages
messages.LARGEST = 100
run()
"""


def test_a_request_that_is_too_large_ends_the_worker(tiny: Project) -> None:
    """Nothing says where the next one begins."""
    with serving(tiny.folder, words=("-c", SMALL)) as worker:
        worker.write(b'{"arguments": ["' + b"a" * 200)
        assert worker.end() == (1, b"")
    assert (tiny.folder / "log").read_text() == "worker: a request has more than 100 bytes\n"


def test_a_request_may_be_as_large_as_the_docs_say() -> None:
    from gradmill.builds.worker.messages import LARGEST

    assert f" of more than {LARGEST >> 20} MiB," in " ".join((ROOT / "docs" / "consumers.md").read_text().split())


def test_a_request_is_that_of_the_definition() -> None:
    expected = WorkRequest(("a=b", ""), (WorkInput("p", b"\xff"), WorkInput()), 300, True, 10, "é")
    assert expected == decode_json(
        b'{"arguments":["a=b",""],"inputs":[{"path":"p","digest":"/w=="},{}],"requestId":300,"cancel":true,'
        b'"verbosity":10,"sandboxDir":"\xc3\xa9","added":[1]}',
        WorkRequest,
    )


def test_messages_in_json_have_schemas(tiny: Project, tmp_path: Path) -> None:
    schemas = {}
    for name in ("work-request", "work-response"):
        run = tiny.run("schema", name).ok()
        schemas[name] = Draft202012Validator(json.loads(run.stdout))
    with serving(tiny.folder) as worker:
        request = worker.encoded(*words(tiny, tmp_path / "out"), inputs=("set",), request_id=1)
        schemas["work-request"].validate(json.loads(request))
        worker.write(request)
        schemas["work-response"].validate({"exitCode": 0, "output": "", **worker.answer()})
    assert not schemas["work-request"].is_valid({"arguments": "a"})
    assert not schemas["work-response"].is_valid({"exitCode": "0"})
