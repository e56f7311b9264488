"""`doit tabcompletion`: doit's own script."""

from __future__ import annotations

from doit.cmd_completion import TabCompletion as DoitTabCompletion

from pipeline.front.commands.options import Options


class TabCompletion(Options, DoitTabCompletion):  # type: ignore[misc]
    """doit's command."""
