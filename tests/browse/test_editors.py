"""Real editors, configured as docs/editors.md says."""

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
DRIVERS = ROOT / "tests" / "editors"
PATIENCE = 300  # seconds, on a machine that does much else


def snippets(heading: str) -> list[str]:
    """The code blocks under a heading."""
    section = DOCS.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def with_an_error(project: Project) -> None:
    path = project.path("derivatives.yaml")
    head, start, rest = path.read_text().partition("- name: mv(")
    assert start
    path.write_text(head + start + rest.replace("  self:", "  slef:", 1))


def environment(folder: Path) -> dict[str, str]:
    """With gradmill on the path, and with nothing of the person whose machine this is."""
    own = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "STATE", "CACHE", "RUNTIME")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, **own, "HOME": str(folder), "PATH": path, "OUT": str(folder / "out.json")}


def assert_serves(result: dict[str, Any], project: Project, path: Path) -> None:
    """Diagnostics, hover, definition and completion are there."""
    assert "error" not in result, result
    line = next(n for n, text in enumerate(path.read_text().split("\n"), 1) if "slef:" in text)
    assert [(each["line"], "'slef' is neither" in each["message"]) for each in result["shown"]] == [(line, True)]
    assert "MvBackward0" in json.dumps(result["hover"])
    assert project.path("native_functions.yaml").as_uri() in json.dumps(result["definition"])
    completion = result["completion"]
    items = completion["items"] if isinstance(completion, dict) else completion
    assert "grad" in [item["label"] for item in items]


def assert_it_serves(project: Project, tmp_path: Path, command: list[str | Path]) -> None:
    """Runs an editor on a file with an error: diagnostics, hover, definition and completion are there."""
    path = project.path("derivatives.yaml")
    out = tmp_path / "out.json"
    values = {**environment(tmp_path), "SPECS": str(path)}
    with_an_error(project)
    done = subprocess.run(
        command, cwd=tmp_path, env=values, check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    assert out.exists(), done.stdout + done.stderr
    assert_serves(json.loads(out.read_text()), project, path)


def test_neovim(built: Project, tmp_path: Path) -> None:
    nvim = shutil.which("nvim")
    if nvim is None:
        pytest.skip("Neovim is absent: apt-get install neovim")
    printed = subprocess.run([nvim, "--version"], check=True, capture_output=True, text=True).stdout
    version = tuple(map(int, re.findall(r"\d+", printed)[:2]))
    new, old = snippets("Neovim")
    words = f'"lsp", "specs={built.specs}", "cache={built.cache}"'
    (tmp_path / "init.lua").write_text((new if version >= (0, 11) else old).replace('"lsp"', words))
    driver = f"luafile {DRIVERS / 'neovim.lua'}"
    assert_it_serves(
        built,
        tmp_path,
        [nvim, "--headless", "-n", "-u", tmp_path / "init.lua", built.path("derivatives.yaml"), "-c", driver],
    )


@pytest.mark.slow
def test_emacs(built: Project, tmp_path: Path) -> None:
    emacs = shutil.which("emacs")
    there = "(progn (package-initialize) (require 'eglot) (require 'yaml-mode))"
    if (
        emacs is None
        or subprocess.run([emacs, "--batch", "-q", "--eval", there], check=False, capture_output=True).returncode
    ):
        pytest.skip("Emacs with Eglot and yaml-mode is absent: apt-get install emacs-nox elpa-eglot elpa-yaml-mode")
    (snippet,) = snippets("Emacs")
    words = f'"lsp" "specs={built.specs}" "cache={built.cache}"'
    (tmp_path / "init.el").write_text(snippet.replace('"lsp"', words))
    load = ["-l", tmp_path / "init.el", "-l", DRIVERS / "emacs.el"]
    assert_it_serves(built, tmp_path, [emacs, "--batch", "-q", "--eval", "(package-initialize)", *load])
