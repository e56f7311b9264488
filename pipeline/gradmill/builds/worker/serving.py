"""A persistent worker: reads requests from a stream, answers each, and keeps builds in memory between them.

Requests are run one after another, in the order in which they come. One that is cancelled before it starts is not run.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import NoReturn

from gradmill.builds.worker.actions import Actions, Done
from gradmill.builds.worker.messages import Frames, WorkRequest, WorkResponse, decode_request, encode_response
from gradmill.session.own_code import CodeChanged

_PART = 1 << 16


class _CutOff(Exception):
    """The input ends within a request, or has one that is too large."""


def serve(variables: Mapping[str, str], command: Sequence[str]) -> int:
    """Serves standard input and output until the input ends; returns the exit status. `variables`: of all actions;
    `command`: runs one action, whose arguments follow. Whatever else prints to standard output prints to standard
    error."""
    out = os.dup(1)
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with closing(Actions(variables)) as actions:
        requests = _Requests(lambda response: _write(out, encode_response(response)))
        try:
            while (request := requests.next()) is not None:
                requests.answer(_answer(actions, request, command))
        except _CutOff as error:
            sys.stderr.write(f"worker: {error}\n")
            return 1
        except BrokenPipeError:  # the build has ended
            return 1
    return 0


def _end(*_: object) -> NoReturn:
    """Ends on a signal, after the temporary folder was removed."""
    raise SystemExit(128 + signal.SIGTERM)


def _write(stream: int, data: bytes) -> None:
    while data:
        data = data[os.write(stream, data) :]


def _answer(actions: Actions, request: WorkRequest, command: Sequence[str]) -> WorkResponse:
    """Runs the action of a request. Nothing but a signal ends the worker here."""
    if request.sandbox_dir:
        done = Done(1, "ERROR: worker: a request has a sandbox for itself; one worker has one, --worker_sandboxing\n")
        return WorkResponse(done.status, done.report, request.request_id)
    try:
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


class _Requests:
    """The requests of a stream, and their answers."""

    def __init__(self, answer: Callable[[WorkResponse], None]) -> None:
        self._frames = Frames()
        self.answer = answer
        self._waiting: deque[WorkRequest] = deque()

    def next(self) -> WorkRequest | None:
        """The next request to run; None if the stream has ended. _CutOff if it ends within a request."""
        while not self._waiting or select.select([0], [], [], 0)[0]:
            data = os.read(0, _PART)
            self._add(data)
            if not data:
                break
        if self._waiting:
            return self._waiting.popleft()
        if self._frames.rest:
            raise _CutOff("the input ends within a request")
        return None

    def _add(self, data: bytes) -> None:
        try:
            self._frames.add(data)
        except ValueError as error:
            raise _CutOff(str(error)) from None
        if not data or not select.select([0], [], [], 0)[0]:
            for frame in self._frames:
                self._take(frame)

    def _take(self, frame: bytes) -> None:
        """Puts a request into the queue. Answers what is no request, and one that is cancelled."""
        try:
            request = decode_request(frame)
        except ValueError as error:
            sys.stderr.write(f"worker: not a request: {error}\n")
            self.answer(WorkResponse(1, f"ERROR: worker: not a request: {error}\n"))
            return
        if not request.cancel:
            self._waiting.append(request)
            return
        cancelled = [each for each in self._waiting if each.request_id == request.request_id]
        for each in cancelled:  # one that is not here was answered
            self._waiting.remove(each)
            self.answer(WorkResponse(request_id=each.request_id, was_cancelled=True))
