"""`gradmill gc`: drops what nothing needs from the cache."""

from __future__ import annotations

import sys

from gradmill.cli.commands.request import Request
from gradmill.problems.plain import lines
from gradmill.problems.problem import SpecError
from gradmill.session.collect import collect_cache
from gradmill.session.own_code import running_code
from gradmill.session.settings.reader import read_settings


def main(request: Request) -> int:
    """Deletes what no run of this version of gradmill needs."""
    request.expect_none("gradmill gc [cache=DIR]")
    removed = removed_bytes = kept = kept_bytes = 0
    for name, done in collect_cache(_cache(request), running_code().digest):
        if isinstance(done, str):
            sys.stdout.write(lines([f"{name}: {done}: left as it is"]))
            continue
        removed, removed_bytes = removed + done.removed, removed_bytes + done.removed_bytes
        kept, kept_bytes = kept + done.kept, kept_bytes + done.kept_bytes
    left = f"kept {kept} ({kept_bytes / 1e6:.1f} MB)"
    sys.stdout.write(f"removed {removed} stores and verdicts ({removed_bytes / 1e6:.1f} MB), {left}\n")
    return 0


def _cache(request: Request) -> str:
    """The cache that is named, or that of the set around this folder, if it is clear which set that is."""
    try:
        variables: dict[str, str] = request.settings()
    except SpecError:
        variables = read_settings(request.variables, finds_set=False)
    return request.config(variables).cache
