"""`gradmill worker`: an action of another build system, in a persistent worker or alone."""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing

from gradmill.cli.commands.request import Request
from gradmill.problems.problem import SpecError
from gradmill.session.own_code import CodeChanged

_PERSISTENT = "--persistent_worker"
_RESTARTS = "GRADMILL_RESTARTS"  # how often the process was replaced because its code was not settled
_MOST, _SETTLE = 5, 0.1  # restarts; seconds before each


def main(request: Request) -> int:
    """Runs actions of Bazel."""
    protocol = request.options["protocol"]
    if protocol not in ("", "json"):  # as copies of an older rule ask for
        hint = "copy gradmill.bzl of this version, and see its `workers`"
        raise SpecError(f"worker: --protocol {protocol}: requests are in JSON", hint)
    words = [argument for word in request.names for argument in _expanded(word)]
    if not request.options["persistent_worker"]:
        return _run(request, words)
    if words:
        hint = "write the variables of each action into its request"
        raise SpecError(f"worker: '{words[0]}' is not expected here", hint)
    from gradmill.builds.worker.serving import serve

    return serve(request.variables, [word for word in own_command() if word != _PERSISTENT])


def _run(request: Request, words: list[str]) -> int:
    from gradmill.builds.worker.actions import Actions

    try:
        with closing(Actions(request.variables)) as actions:
            done = actions.run(words, frozenset())
    except CodeChanged:  # also if a sandbox was filled just now
        restarts = int(os.environ.get(_RESTARTS) or 0)
        if restarts >= _MOST:
            raise
        os.environ[_RESTARTS] = str(restarts + 1)
        time.sleep(_SETTLE)
        os.execv(sys.executable, own_command())  # noqa: S606
    sys.stderr.write(done.report)
    return done.status


def own_command() -> list[str]:
    """The command line of this process, to start it again."""
    return [sys.executable, *sys.orig_argv[1:]]


def _expanded(word: str) -> list[str]:
    """The lines of the file that `@FILE` names; another word itself. SpecError or OSError if it cannot be read."""
    if not word.startswith("@"):
        return [word]
    try:
        with open(word[1:], encoding="utf-8") as file:
            return file.read().splitlines()
    except UnicodeDecodeError:
        raise SpecError(f"{word[1:]}: the file is not UTF-8") from None
