"""Compares what a description of own files generates with what a vendor's own generator wrote.

python -m tests.vendors.generators DESCRIPTION FOLDER... [release=X.Y] prints for each file whether it is equal to the
file of this name in one of the folders; else how many of its lines are. Ends with 1 if a file differs, or no folder has
it.
"""

from __future__ import annotations

import difflib
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import forked
from project import files_in


def main(words: list[str]) -> int:
    description, *rest = words
    folders = [Path(word).absolute() for word in rest if "=" not in word]
    variables = [word for word in rest if "=" in word]
    with tempfile.TemporaryDirectory() as scratch:
        places = [f"generated={scratch}/generated", f"cache={scratch}/cache"]
        specs = f"specs={Path(description).absolute()}"
        done = forked.gradmill([specs, "families=own_files", *variables, *places], Path(scratch))
        if done.status:
            sys.exit(done.stderr)
        made = files_in(Path(scratch) / "generated")
    verdicts = {name: verdict(data, [folder / name for folder in folders]) for name, data in made.items()}
    for name, text in verdicts.items():
        print(f"{name}: {text}")
    equal = sum(text.startswith("equal") for text in verdicts.values())
    print(f"{equal}/{len(made)} files equal")
    return int(equal < len(made) or not made)


def verdict(made: bytes, paths: list[Path]) -> str:
    """How a generated file compares with the first of the paths that is a file."""
    wanted = next((path.read_bytes() for path in paths if path.is_file()), None)
    if wanted is None:
        return "no folder has it"
    if made == wanted:
        return f"equal, {len(made):,} bytes"
    ours, theirs = made.decode().splitlines(), wanted.decode().splitlines()
    matched = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    shared = sum(block.size for block in matched.get_matching_blocks())
    return f"different: {len(theirs) - shared} of {len(theirs)} lines missing, {len(ours) - shared} others"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
