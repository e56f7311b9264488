"""`gradmill worker`: an action of another build system, in a persistent worker or alone."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from doit.exceptions import InvalidCommand

from pipeline.front.commands.bases import option
from pipeline.front.commands.command import INTERRUPTED, BuildCommand
from pipeline.front.run.own_code import RUN_AGAIN, CodeChanged
from pipeline.front.settings.command_line import known_variables
from pipeline.front.settings.hints import two_lines
from pipeline.front.start.main import own_command, prepare, restart
from pipeline.problems.plain import reason

_PERSISTENT = "--persistent_worker"
_RESTARTS = "GRADMILL_RESTARTS"  # how often the process was replaced because its code was not settled
_MOST, _SETTLE = 5, 0.1  # restarts; seconds before each


class Worker(BuildCommand):
    """Runs actions of Bazel."""

    name = "worker"
    doc_purpose = "run as an action of Bazel, in a persistent worker or alone"
    doc_usage = "[--persistent_worker] [name=value …] [@FILE …]"
    doc_description = (
        "An action is a run with the variables in the files, one a line. With --persistent_worker it reads requests in"
        " JSON on standard input and answers on standard output until the input ends. schema work-request and schema"
        " work-response describe them. Without cache=, results stay in memory and in a temporary folder."
    )
    cmd_options = (
        option("persistent_worker", "serve requests", default=False),
        option("protocol", "of requests: json", "json"),
    )

    def execute(self, opt_values: dict[str, Any], pos_args: list[str]) -> int:
        if opt_values["protocol"] != "json":  # as copies of an older rule ask for
            problem = f"worker: --protocol {opt_values['protocol']}: requests are in JSON"
            raise InvalidCommand(two_lines(problem, "copy gradmill.bzl of this version, and see its `workers`"))
        try:
            words = [argument for word in pos_args for argument in _expanded(word)]
            if opt_values["persistent_worker"]:
                self.expect_none(words, "the variables of each action into its request")
                return self._serve()
            return self._run(words)
        except KeyboardInterrupt:
            sys.stderr.write("interrupted: all written files are complete\n")
            return INTERRUPTED

    def _serve(self) -> int:
        from pipeline.front.worker.serving import serve

        prepare()
        return serve(known_variables(), [word for word in own_command() if word != _PERSISTENT])

    def _run(self, words: list[str]) -> int:
        from pipeline.front.worker.actions import run_once

        try:
            done = run_once(known_variables(), words)
        except CodeChanged:  # also if a sandbox was filled just now
            restarts = int(os.environ.get(_RESTARTS) or 0)
            if restarts >= _MOST:
                raise InvalidCommand(RUN_AGAIN) from None
            os.environ[_RESTARTS] = str(restarts + 1)
            time.sleep(_SETTLE)
            restart()
        sys.stderr.write(done.report)
        return done.status


def _expanded(word: str) -> list[str]:
    """The lines of the file that `@FILE` names; another word itself. InvalidCommand if it cannot be read."""
    if not word.startswith("@"):
        return [word]
    try:
        with open(word[1:], encoding="utf-8") as file:
            return file.read().splitlines()
    except OSError as error:
        raise InvalidCommand(reason(error)) from None
    except UnicodeDecodeError:
        raise InvalidCommand(two_lines(f"{word[1:]}: the file is not UTF-8", "")) from None
