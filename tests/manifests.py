"""What a run leaves for other build systems: `manifest.json` and `units.json`."""

from __future__ import annotations

import json
from pathlib import Path


def manifest_in(folder: Path) -> bytes:
    """The manifest in a set's folder of the cache, with the units of the file next to it: one JSON object. Nothing if
    it is missing."""
    if not (folder / "manifest.json").exists():
        return b""
    manifest, units = (json.loads((folder / name).read_bytes()) for name in ("manifest.json", "units.json"))
    assert units["specs"] == manifest["specs"]
    return json.dumps({**manifest, "units": units["units"]}, indent=0).encode()
