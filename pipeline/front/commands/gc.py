"""`doit gc`: drops what nothing needs from the cache."""

from __future__ import annotations

import sys
from typing import Any

from pipeline.front.commands.bases import option
from pipeline.front.commands.command import BuildCommand
from pipeline.problems.plain import lines


class Gc(BuildCommand):
    """Deletes what no run of this version of gradmill needs."""

    name = "gc"
    of_set = names_set = False
    doc_purpose = "delete what this version of gradmill does not need from the cache"
    doc_usage = "[--grace SECONDS] [cache=DIR]"
    doc_description = "Deletes the results of other versions of gradmill, old verdicts, and what killed runs left."
    cmd_options = (
        option("grace", "skip spec sets that were built less than this many seconds ago [default: %(default)s]", 0),
    )

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.front.run.collect import collect_cache
        from pipeline.front.run.own_code import running_code

        self.expect_none(arguments, "gradmill gc [cache=DIR]")
        removed = removed_bytes = kept = kept_bytes = 0
        for name, done in collect_cache(self.build.config.cache, running_code().digest, options["grace"]):
            if isinstance(done, str):
                sys.stdout.write(lines([f"{name}: {done}: left as it is"]))
                continue
            removed, removed_bytes = removed + done.removed, removed_bytes + done.removed_bytes
            kept, kept_bytes = kept + done.kept, kept_bytes + done.kept_bytes
        left = f"kept {kept} ({kept_bytes / 1e6:.1f} MB)"
        sys.stdout.write(f"removed {removed} stores and verdicts ({removed_bytes / 1e6:.1f} MB), {left}\n")
        return 0
