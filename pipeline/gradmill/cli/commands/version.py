"""`gradmill --version`."""

from __future__ import annotations

import sys

from gradmill import __version__
from gradmill.cli.commands.request import Request
from gradmill.releases import KNOWN, minor


def main(request: Request) -> int:
    """Prints the version."""
    python = ".".join(map(str, sys.version_info[:3]))
    releases = f"PyTorch {minor(KNOWN[0])} to {minor(KNOWN[-1])}"
    sys.stdout.write(f"gradmill {__version__}, for {releases}, on Python {python}\n")
    return 0
