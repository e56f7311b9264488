"""`gradmill`: reads the command line, runs its command, and reports errors without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from gradmill.front.commands.request import MISUSED, Failed, report_failure
from gradmill.front.commands.table import COMMANDS
from gradmill.front.process import end, prepare
from gradmill.front.run.own_code import RUN_AGAIN, CodeChanged
from gradmill.front.start.arguments import read
from gradmill.problems.plain import message_of, reason
from gradmill.problems.problem import SpecError


def main(words: Sequence[str]) -> int:
    """Runs a command line; returns the exit status: 0, 1 if the specs have errors, or 3 if the command line is wrong or
    something in its way."""
    prepare()
    try:
        request = read(words)
        module = import_module(COMMANDS[request.command].module(request.command))
        return int(module.main(request))
    except Failed as failed:
        return report_failure(failed)
    except SpecError as error:
        problem = message_of(error)
    except CodeChanged:
        sys.stderr.write(f"{RUN_AGAIN}\n")
        return MISUSED
    except BrokenPipeError:
        raise
    except OSError as error:
        problem = reason(error)
    except KeyboardInterrupt as error:
        end(type(error), error, None)
        return 130
    sys.stdout.flush()
    sys.stderr.write(f"ERROR: {problem}\n")
    return MISUSED
