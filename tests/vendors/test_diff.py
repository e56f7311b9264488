"""Diffs of spec files apply as `patch` applies them, or not at all."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from gradmill.problems.problem import TextError
from gradmill.specs.layers.diff import apply, lines_of

PROGRAMS = [name for name in ("diff", "patch") if shutil.which(name) is None]


def changed(text: str, diff: str) -> str | None:
    try:
        return "\n".join(line.text for line in apply(lines_of(text), diff, 1))
    except TextError:
        return None


@pytest.mark.skipif(bool(PROGRAMS), reason=f"not on the PATH: {', '.join(PROGRAMS)}")
@pytest.mark.parametrize("seed", range(4))
def test_random_diffs_apply_as_patch_applies_them(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        old = [rng.choice("abcdefgh") * rng.randint(1, 2) for _ in range(rng.randint(5, 60))]
        new, other = list(old), list(old)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(new) - 1)
            new[at : at + rng.randint(0, 1)] = [f"new{rng.randrange(99)}"]
        if rng.random() < 0.5:
            other[:0] = ["moved"] * rng.randint(1, 5)
        if rng.random() < 0.3:
            other[rng.randrange(len(other))] = "another"
        for name, lines in (("old", old), ("new", new), ("other", other)):
            (tmp_path / name).write_text("\n".join(lines) + "\n")
        command = ["diff", "-u", "old", "new"]
        diff = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
        (tmp_path / "diff").write_text(diff)
        if diff:
            command = ["patch", "-s", "-f", "-o", "out", "other", "diff"]
            applied = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
            expected = (tmp_path / "out").read_text() if applied else None
            assert changed((tmp_path / "other").read_text(), diff) == expected, diff


def test_lines_know_where_they_are_from() -> None:
    diff = "@@ -1,2 +1,3 @@\n a\n+x\n b\n"
    actual = apply(lines_of("first\na\nb\n"), diff, 1)
    expected = [("first", 0, 1), ("a", 0, 2), ("x", 1, 3), ("b", 0, 3), ("", 0, 4)]
    assert [(line.text, line.file, line.line) for line in actual] == expected


def test_a_part_after_the_last_line_went_does_not_apply() -> None:
    assert changed("a", "@@ -1 +0,0 @@\n-a\n@@ -2 +1 @@\n-b\n+c\n") is None


def test_of_a_diff_of_several_files_one_part_counts() -> None:
    diff = "--- a/x/a.yaml\n+++ b/x/a.yaml\n@@ -1 +1 @@\n-a\n+A\n--- a/x/b.yaml\n+++ b/x/b.yaml\n@@ -1 +1 @@\n-b\n+B\n"
    for name in ("a", "b"):
        assert [line.text for line in apply(lines_of(f"{name}\n"), diff, 1, f"{name}.yaml")] == [name.upper(), ""]
