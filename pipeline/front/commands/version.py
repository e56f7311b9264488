"""`gradmill --version`."""

from __future__ import annotations

import sys
from typing import Any

from doit.cmd_base import Command

from pipeline import __version__
from pipeline.front.commands.bases import Options
from pipeline.releases import KNOWN, minor


class Version(Options, Command):  # type: ignore[misc]
    """Prints the version."""

    name = "version"
    doc_purpose = "print the version of gradmill, and the releases of PyTorch that it knows"
    doc_usage = ""
    doc_description = None

    def execute(self, opt_values: Any, pos_args: list[str]) -> int:
        python = ".".join(map(str, sys.version_info[:3]))
        releases = f"PyTorch {minor(KNOWN[0])} to {minor(KNOWN[-1])}"
        sys.stdout.write(f"gradmill {__version__}, for {releases}, on Python {python}\n")
        return 0
