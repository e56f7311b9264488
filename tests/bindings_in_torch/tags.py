"""Compares the generated enumeration of tags with torch's: `python -m bindings_in_torch.tags gradmill_tags.so`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

from bindings_in_torch.tables import load


def facts(tag: Any) -> list[tuple[str, int, str]]:
    """The members in their order, with how each is printed."""
    return [(name, int(member), repr(member)) for name, member in tag.__members__.items()]


def main() -> int:
    """0 if both are the same."""
    module = load(Path(sys.argv[1]), "gradmill_tags")
    assert module.Tag is not torch.Tag
    ours, torchs = facts(module.Tag), facts(torch.Tag)
    print(f"{len(ours)} tags: {'equal' if ours == torchs else f'{ours}, torch has {torchs}'}")
    return int(ours != torchs)


if __name__ == "__main__":
    sys.exit(main())
