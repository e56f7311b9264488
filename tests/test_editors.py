"""Real editors, with what docs/editors.md tells to put into their configuration."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from project import ROOT, Project

DOCS = (ROOT / "docs" / "editors.md").read_text()
PATIENCE = 300  # seconds, on a machine that does much else


def snippets(heading: str) -> list[str]:
    """The code blocks under a heading."""
    section = DOCS.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def with_a_mistake(project: Project) -> Path:
    path = project.path("derivatives.yaml")
    head, start, rest = path.read_text().partition("- name: mv(")
    assert start
    path.write_text(head + start + rest.replace("  self:", "  slef:", 1))
    return path


def environment(folder: Path) -> dict[str, str]:
    """With gradmill on the path, and with nothing of the person whose machine this is."""
    own = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "STATE", "CACHE", "RUNTIME")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, **own, "HOME": str(folder), "PATH": path, "OUT": str(folder / "out.json")}


def assert_serves(found: dict[str, Any], project: Project, path: Path) -> None:
    """Diagnostics, hover, definition and completion are there."""
    assert "error" not in found, found
    line = next(n for n, text in enumerate(path.read_text().split("\n"), 1) if "slef:" in text)
    assert [(each["line"], "'slef' is neither" in each["message"]) for each in found["shown"]] == [(line, True)]
    assert "MvBackward0" in json.dumps(found["hover"])
    assert project.path("native_functions.yaml").as_uri() in json.dumps(found["definition"])
    completion = found["completion"]
    items = completion["items"] if isinstance(completion, dict) else completion
    assert "grad" in [item["label"] for item in items]


def test_neovim(built: Project, tmp_path: Path) -> None:
    nvim = shutil.which("nvim")
    if nvim is None:
        pytest.skip("Neovim is absent: apt-get install neovim")
    told = subprocess.run([nvim, "--version"], check=True, capture_output=True, text=True).stdout
    version = tuple(map(int, re.findall(r"\d+", told)[:2]))
    new, old = snippets("Neovim")
    path = with_a_mistake(built)
    (tmp_path / "init.lua").write_text(
        (new if version >= (0, 11) else old).replace('"lsp"', f'"lsp", "specs={built.specs}", "cache={built.cache}"')
    )
    command = [nvim, "--headless", "-n", "-u", tmp_path / "init.lua", path, "-c"]
    command += [f"luafile {Path(__file__).parent / 'editors' / 'neovim.lua'}"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(tmp_path), check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (tmp_path / "out.json").exists(), done.stderr
    assert_serves(json.loads((tmp_path / "out.json").read_text()), built, path)
