"""`gradmill gc`: drops what nothing needs from the cache."""

from __future__ import annotations

import sys

from pipeline.front.commands.request import Request
from pipeline.front.run.collect import collect_cache
from pipeline.problems.plain import lines


def main(request: Request) -> int:
    """Drops all rows, values and verdicts that no spec set's last run needs."""
    request.expect_none("gradmill gc [cache=DIR]")
    removed = removed_bytes = kept = kept_bytes = 0
    for name, done in collect_cache(request.config(request.variables).cache, request.options["grace"]):
        if isinstance(done, str):
            sys.stdout.write(lines([f"{name}: {done}: left as it is"]))
            continue
        removed, removed_bytes = removed + done.removed, removed_bytes + done.removed_bytes
        kept, kept_bytes = kept + done.kept, kept_bytes + done.kept_bytes
    left = f"kept {kept} rows ({kept_bytes / 1e6:.1f} MB)"
    sys.stdout.write(f"removed {removed} rows, values and verdicts ({removed_bytes / 1e6:.1f} MB), {left}\n")
    return 0
