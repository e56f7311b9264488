"""A persistent worker: answers the requests of a stream in turn, and keeps builds in memory between them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import NoReturn

import msgspec

from gradmill.builds.worker.actions import Actions, Done
from gradmill.builds.worker.messages import Frames, WorkRequest, WorkResponse
from gradmill.io.decoding import decode_json
from gradmill.session.own_code import CodeChanged

_PART = 1 << 16


def serve(variables: Mapping[str, str], command: Sequence[str]) -> int:
    """Serves standard input and output until the input ends; returns the exit status. `variables`: of all actions;
    `command`: runs one action, whose arguments follow. Whatever else prints to standard output prints to standard
    error."""
    out = os.dup(1)
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    frames = Frames()
    with closing(Actions(variables)) as actions:
        try:
            while data := os.read(0, _PART):
                frames.add(data)
                for frame in frames:
                    if response := _answer(actions, frame, command):
                        _write(out, msgspec.json.encode(response) + b"\n")
        except ValueError as error:
            sys.stderr.write(f"worker: {error}\n")
            return 1
        except BrokenPipeError:  # the build has ended
            return 1
    if frames.rest:
        sys.stderr.write("worker: the input ends within a request\n")
    return int(bool(frames.rest))


def _end(*_: object) -> NoReturn:
    """Ends on a signal, after the temporary folder was removed."""
    raise SystemExit(128 + signal.SIGTERM)


def _write(stream: int, data: bytes) -> None:
    while data:
        data = data[os.write(stream, data) :]


def _answer(actions: Actions, frame: bytes, command: Sequence[str]) -> WorkResponse | None:
    """Runs the action of a request; None if the request cancels another, which was answered. Nothing but a signal ends
    the worker here."""
    try:
        request = decode_json(frame, WorkRequest)
    except ValueError as error:
        sys.stderr.write(f"worker: not a request: {error}\n")
        return WorkResponse(1, f"ERROR: worker: not a request: {error}\n")
    if request.cancel:
        return None
    try:
        if request.sandbox_dir:
            what = "a request has a sandbox for itself; one worker has one, --worker_sandboxing"
            done = Done(1, f"ERROR: worker: {what}\n")
        else:
            done = actions.run(request.arguments, frozenset(each.path for each in request.inputs))
    except CodeChanged:
        done = _in_new_process([*command, *request.arguments])
    except Exception:
        done = Done(1, traceback.format_exc())
    return WorkResponse(done.status, done.report, request.request_id)


def _in_new_process(words: Sequence[str]) -> Done:
    """Runs an action with gradmill's code as it is now."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
    return Done(done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"))
