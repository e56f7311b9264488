"""`gradmill gc`: drops what nothing needs from the cache."""

from __future__ import annotations

import sys

from pipeline.front.commands.request import Request
from pipeline.front.run.collect import collect_cache
from pipeline.front.run.own_code import running_code
from pipeline.problems.plain import lines


def main(request: Request) -> int:
    """Deletes what no run of this version of gradmill needs."""
    request.expect_none("gradmill gc [cache=DIR]")
    removed = removed_bytes = kept = kept_bytes = 0
    cache, code = request.config(request.variables).cache, running_code().digest
    for name, done in collect_cache(cache, code, request.options["grace"]):
        if isinstance(done, str):
            sys.stdout.write(lines([f"{name}: {done}: left as it is"]))
            continue
        removed, removed_bytes = removed + done.removed, removed_bytes + done.removed_bytes
        kept, kept_bytes = kept + done.kept, kept_bytes + done.kept_bytes
    left = f"kept {kept} ({kept_bytes / 1e6:.1f} MB)"
    sys.stdout.write(f"removed {removed} stores and verdicts ({removed_bytes / 1e6:.1f} MB), {left}\n")
    return 0
