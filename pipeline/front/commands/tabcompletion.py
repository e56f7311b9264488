"""`tabcompletion`: refused by `gradmill`, which has `completion`; `doit tabcompletion` is doit's own."""

from __future__ import annotations

from typing import Any

from doit.cmd_completion import TabCompletion as DoitTabCompletion
from doit.exceptions import InvalidCommand

from pipeline.front.commands.bases import OWN_NAME, Options
from pipeline.front.settings.hints import two_lines


class TabCompletion(Options, DoitTabCompletion):  # type: ignore[misc]
    """doit's command, whose script completes tasks that are known before a run."""

    def execute(self, opt_values: Any, pos_args: list[str]) -> Any:
        if self.bin_name == OWN_NAME:
            hint = "gradmill completion bash prints a script that does; so do zsh and fish"
            raise InvalidCommand(two_lines("tabcompletion: doit's script completes no unit and no variable", hint))
        return super().execute(opt_values, pos_args)
