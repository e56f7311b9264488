"""The verdicts of earlier runs, in a file: what was verified is not verified again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from pipeline.io.decoding import decode_json
from pipeline.io.files import replace_file
from pipeline.query.memo import digest
from pipeline.verify.model import Verdict

_MOST = 5000  # verdicts in the file: several versions of all formulas of a release

Verdicts = dict[str, Verdict]  # by the digest of the formulas' text and of what they were verified with


def load(path: Path) -> Verdicts:
    """The verdicts; none if there is no such file, or if it is damaged."""
    try:
        checksum, _, data = path.read_bytes().partition(b"\n")
        if checksum != digest(data).hex().encode():
            return {}
        return decode_json(data, Verdicts)
    except (OSError, ValueError):
        return {}


def save(path: Path, verdicts: Mapping[str, Verdict]) -> None:
    """Writes the last verdicts. Raises OSError if that fails."""
    data = msgspec.json.encode(dict(list(verdicts.items())[-_MOST:]))
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(str(path), digest(data).hex().encode(), b"\n", data)
