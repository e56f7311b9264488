"""`gradmill`: reads the command line, runs its command, and reports errors without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from gradmill.cli.commands.request import MISUSED, Failed, report_failure
from gradmill.cli.commands.table import COMMANDS
from gradmill.cli.process import end, prepare
from gradmill.cli.start.arguments import read
from gradmill.problems.plain import message_of, reason
from gradmill.problems.problem import SpecError
from gradmill.session.own_code import RUN_AGAIN, CodeChanged


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
