"""What gradmill's commands have in common: they read the variables, work on one build, and tell errors plainly."""

from __future__ import annotations

import sys
from typing import Any

from doit import doit_cmd
from doit.cmd_base import Command
from doit.exceptions import InvalidCommand, InvalidDodoFile

from pipeline.build.engine import Build, Missing
from pipeline.build.step import Failed
from pipeline.build.tasks import build_for, configure
from pipeline.problems.problem import SpecError


class BuildCommand(Command):  # type: ignore[misc]
    """A doit command that needs no tasks, only a build. Subclasses implement `work`."""

    def execute(self, opt_values: dict[str, Any], pos_args: list[str]) -> int:
        try:
            build = build_for(configure(doit_cmd._CMDLINE_VARS or {}))
            return self.work(build, opt_values, pos_args)
        except Failed as failed:
            from pipeline.diagnose import report_problems

            sys.stderr.write(report_problems(build, failed))
            return 1
        except SpecError as error:
            raise InvalidCommand(error.problem + (f"\n  {error.hint}" if error.hint else "")) from None
        except Missing as missing:
            raise InvalidDodoFile(f"artifact {missing} is gone from the cache: run doit again") from None

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        """Does the command; gives the exit status."""
        raise NotImplementedError
