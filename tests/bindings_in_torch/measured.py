"""Runs a command and notes its cost: `python measured.py FILE COMMAND…` writes seconds of CPU and bytes at the peak."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """The command's exit status; its cost is in the file."""
    path, *command = sys.argv[1:]
    status = subprocess.run(command, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    Path(path).write_text(json.dumps({"seconds": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024}))
    return status


if __name__ == "__main__":
    sys.exit(main())
