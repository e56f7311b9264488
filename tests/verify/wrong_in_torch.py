"""What is wrong in the installed torch, as `gradmill verify` finds it.

    python -m tests.verify.wrong_in_torch [NAME ...]

Verifies torch's own formulas, those of these operators or all, and writes what finite differences decide against them
to `docs/wrong_in_torch.json`: for each operator the checks, each with the input or output that it is about. Other
operators keep what the file has of them.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from verify.edited import CACHE, RELEASE, ROOT, installed, verify

DATA = ROOT / "docs" / "wrong_in_torch.json"

Wrong = dict[str, list[str]]  # by operator


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.verify.wrong_in_torch", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these operators, as add.Tensor")
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    rows = verify(installed(), options.names, options.cache, *([] if options.names else ["--all"]))
    write(rows)
    return 0


def write(rows: dict[str, dict[str, Any]]) -> None:
    """Puts the rows of a report into the file."""
    others = {name: own for name, own in known().items() if name not in rows}
    found = {name: own for name, row in rows.items() if (own := wrong(row))}
    data = {"torch": RELEASE, "wrong": dict(sorted((others | found).items()))}
    DATA.write_text(json.dumps(data, indent=2) + "\n")


def known() -> Wrong:
    """What the file has; nothing of another torch."""
    data = json.loads(DATA.read_text()) if DATA.exists() else {}
    own: Wrong = data["wrong"] if data.get("torch") == RELEASE else {}
    return own


def wrong(row: dict[str, Any]) -> list[str]:
    """What is wrong in torch's own formulas of an operator: no convention, and no error at an odd argument."""
    found = {(each["check"], each["name"].partition("[")[0]) for each in row["shared"] if not each["doubtful"]}
    return sorted(f"{check}: {name}" for check, name in found) if row["status"] == "shared" else []


if __name__ == "__main__":
    sys.exit(main())
