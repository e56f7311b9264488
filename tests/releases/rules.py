"""How the facts of a release differ from the lists of its own torchgen, as the rows of the table that are missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("upstream_rules.py")


def upstream_rules(root: Path) -> dict[str, list[str] | dict[str, object] | int]:
    """The lists of the torchgen in a folder, by field of `Release`. Raises subprocess.CalledProcessError."""
    run = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def missing_rows(version: str, root: Path) -> list[str]:
    """A row `Change(…)` for each field in which gradmill's facts of a release differ from the torchgen in `root`."""
    from gradmill.releases import minor, resolve

    release = resolve(minor(version))
    rows = []
    for field, theirs in upstream_rules(root).items():
        ours = getattr(release, field)
        if isinstance(theirs, int):
            if ours != theirs:
                rows.append(f'Change("{minor(version)}", "{field}", "…", set={theirs}),')
            continue
        if isinstance(theirs, dict):
            mine = {key: value if isinstance(value, str) else sorted(value) for key, value in ours.items()}
            added: object = {key: value for key, value in theirs.items() if mine.get(key) != value}
        else:
            mine = dict.fromkeys(ours)
            added = tuple(name for name in theirs if name not in mine)
        removed = tuple(name for name in mine if name not in theirs)
        parts = [f"{name}={value!r}" for name, value in (("add", added), ("remove", removed)) if value]
        if parts:
            rows.append(f'Change("{minor(version)}", "{field}", "…", {", ".join(parts)}),')
    return rows
