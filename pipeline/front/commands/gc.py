"""`doit gc`: drops artifacts that nothing needs."""

from __future__ import annotations

import sys
from typing import Any

from pipeline.build.engine import Build
from pipeline.front.commands.command import BuildCommand


class Gc(BuildCommand):
    """Removes what no spec set's state refers to from the cache."""

    name = "gc"
    doc_purpose = "drop artifacts that nothing needs from the cache"
    doc_usage = "[--grace SECONDS] [cache=DIR]"
    doc_description = (
        "What other spec sets, releases and branches made last is kept; what they made before that is not."
    )
    cmd_options = (
        {
            "name": "grace",
            "long": "grace",
            "type": int,
            "default": 600,
            "help": "keep what is younger than this many seconds, for runs under way [default: %(default)s]",
        },
    )

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.gc import collect

        done = collect(build.config.cache, options["grace"])
        sys.stdout.write(
            f"removed {done.removed} artifacts ({done.removed_bytes / 1e6:.1f} MB),"
            f" kept {done.kept} ({done.kept_bytes / 1e6:.1f} MB)\n"
        )
        return 0
