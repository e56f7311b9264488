"""`doit gc`: drops what nothing needs from the cache."""

from __future__ import annotations

import sys
from typing import Any

from doit.exceptions import InvalidDodoFile

from pipeline.front.commands.bases import option
from pipeline.front.commands.command import BuildCommand
from pipeline.front.doit.loader import with_settings
from pipeline.front.settings.command_line import known_variables
from pipeline.front.settings.reader import Settings
from pipeline.problems.plain import lines


class Gc(BuildCommand):
    """Drops all rows, values and verdicts that no spec set's last run needs."""

    name = "gc"
    of_set = names_set = False
    doc_purpose = "drop unneeded rows, values and verdicts from the cache"
    doc_usage = "[--grace SECONDS] [cache=DIR]"
    doc_description = "Keeps the results of each spec set's last run, in every layout; drops all older results."
    cmd_options = (
        option("grace", "skip spec sets that were built less than this many seconds ago [default: %(default)s]", 0),
    )

    def variables(self) -> Settings:
        """With the set around this folder, next to which its cache is, if it is clear which set that is."""
        try:
            return with_settings(known_variables())
        except InvalidDodoFile:
            return super().variables()

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.front.run.collect import collect_cache

        self.expect_none(arguments, "gradmill gc [cache=DIR]")
        removed = removed_bytes = kept = kept_bytes = 0
        for name, done in collect_cache(self.build.config.cache, options["grace"]):
            if isinstance(done, str):
                sys.stdout.write(lines([f"{name}: {done}: left as it is"]))
                continue
            removed, removed_bytes = removed + done.removed, removed_bytes + done.removed_bytes
            kept, kept_bytes = kept + done.kept, kept_bytes + done.kept_bytes
        left = f"kept {kept} rows ({kept_bytes / 1e6:.1f} MB)"
        sys.stdout.write(f"removed {removed} rows, values and verdicts ({removed_bytes / 1e6:.1f} MB), {left}\n")
        return 0
