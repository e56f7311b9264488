"""gradmill's plugins for doit, and those of other packages."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from doit.doit_cmd import DoitMain
from project import ROOT

from pipeline.front.doit.plugins import PLUGINS


def python(text: str, *path: Path) -> str:
    """The output of a new process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_plugins_of_gradmill_are_those_that_the_package_states() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())
    points = stated["project"]["entry-points"]
    assert {kind: points[f"doit.{kind}"] for kind in PLUGINS} == PLUGINS
    own = set(PLUGINS["COMMAND"]) & {command.get_name() for command in DoitMain.DOIT_CMDS}
    assert stated["tool"]["doit"]["plugins"]["command"] == {name: PLUGINS["COMMAND"][name] for name in sorted(own)}


def test_plugins_of_others_are_found(tmp_path: Path) -> None:
    (tmp_path / "other-1.dist-info").mkdir()
    (tmp_path / "other-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    points = "[doit.COMMAND]\nother = pipeline.front.commands.gc:Gc\n"
    (tmp_path / "other-1.dist-info" / "entry_points.txt").write_text(points)
    assert "of other packages\n  other  drop unneeded rows" in python(
        "from pipeline.front.start.main import Main\nMain().run(['help'])", tmp_path
    )


def test_a_run_of_variables_alone_looks_for_no_plugins(tmp_path: Path) -> None:
    text = "import sys\nfrom pipeline.front.start.command import main\n"
    text += (
        f"status = main(['cache={tmp_path / 'cache'}', 'generated={tmp_path / 'generated'}', 'families=factories'])\n"
    )
    text += "print(status, 'importlib.metadata' in sys.modules)\nimport importlib.metadata\n"
    text += "print(importlib.metadata.version('doit') > '')"
    assert python(text).splitlines()[-2:] == ["0 False", "True"]
