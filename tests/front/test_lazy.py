"""Modules that are loaded when one is used, and the part of doit that a plain run does without."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from doit import create_after
from doit.cmd_base import NamespaceTaskLoader
from doit.doit_cmd import DoitMain
from project import ROOT, Project

from pipeline.front.doit.loader import PackageLoader
from pipeline.front.doit.plugins import PLUGINS

SETUP = """
import sys
from pipeline.front.start.lazy import LAZY, Unused, import_lazily
import_lazily()
"""


def python(text: str, *path: Path) -> str:
    """The output of a new process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    done = subprocess.run(
        [sys.executable, "-c", SETUP + text], capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_an_import_executes_no_lazy_module_and_a_use_does() -> None:
    text = "import json, pdb, json as same\nbefore = type(json) is type(pdb) is Unused\n"
    assert python(f"{text}print(before, json.loads('[1]'), type(json), same is json)") == (
        "True [1] <class 'module'> True"
    )
    assert python("from json import loads\nimport json\nprint(loads is json.loads, type(json))") == (
        "True <class 'module'>"
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import importlib.metadata as m; print(type(m._adapters) is Unused, m.metadata('doit')['Name'])", "doit"),
        ("import multiprocessing as m; print(type(m.reduction) is Unused, m.reduction.__name__[-9:])", "reduction"),
        ("import json; first = type(json) is Unused; import json.decoder as d; print(first, d.__name__[:4])", "json"),
    ],
    ids=["a submodule", "another one", "a module of a lazy package"],
)
def test_lazy_modules_in_packages(text: str, name: str) -> None:
    assert python(text) == f"True {name}"


def test_modules_do_without_packages_that_stay_importable() -> None:
    text = "from pipeline.front.start.lazy import import_without_optional\nimport_without_optional()\n"
    text += "import getopt, msgspec, typing\nfrom msgspec import _utils\n"
    text += "print(_utils.NotRequired is typing.NotRequired, {'typing_extensions', 'gettext'} & {*sys.modules})\n"
    text += "import gettext, typing_extensions\nprint(gettext.__name__, typing_extensions.__name__)"
    assert python(text) == "True set()\ngettext typing_extensions"
    loaded = "import gettext, typing_extensions\nfirst = gettext, typing_extensions\n"
    text = f"{loaded}{text}; print(first == (gettext, typing_extensions), getopt._ is gettext.gettext)"
    assert python(text).splitlines()[-1] == "True True"


DOIT = "from pipeline.front.start.lazy import CALLED, import_doit\nimport_doit()\nimport doit.runner, doit.plugin\n"


def test_doit_is_imported_without_the_modules_of_which_it_calls_little() -> None:
    text = "print({*CALLED} & {*sys.modules}, bool(doit.plugin.entry_points(group='console_scripts')))\n"
    text += "runner = doit.runner\n"
    text += "print(runner.pickle.loads(runner.pickle_dumps([1])), runner.MRunner.Child == runner.Process)\n"
    text += "queue = doit.runner.MQueue()\nprocess = doit.runner.Process(target=queue.put, args=('a process',))\n"
    text += "process.start()\nprint(queue.get())\nprocess.join()\n"
    text += (
        "import pickle, queue\nprint(doit.runner.pickle.PicklingError is pickle.PicklingError, queue.Queue.__name__)"
    )
    assert python(DOIT + text).splitlines() == ["set() True", "[1] True", "a process", "True Queue"]


def test_doit_uses_the_modules_that_are_loaded() -> None:
    assert python(f"import pickle, queue\n{DOIT}print(doit.runner.pickle is pickle, doit.runner.queue is queue)") == (
        "True True"
    )


def test_what_doit_imports_may_use_more_of_these_modules(tmp_path: Path) -> None:
    (tmp_path / "cloudpickle.py").write_text(
        "import pickle\nfrom pickle import _Pickler\nclass Other(pickle.Pickler): pass\ndumps = pickle.dumps\n"
    )
    text = f"{DOIT}import cloudpickle, pickle\n"
    text += "print(doit.runner.pickle_dumps is cloudpickle.dumps, issubclass(cloudpickle.Other, pickle.Pickler))"
    assert python(text, tmp_path) == "True True"


def test_what_was_imported_before_is_unchanged() -> None:
    text = "sys.meta_path.pop(0)\nimport json\nfirst = json.loads\nimport_lazily()\nimport json\n"
    assert python(f"{text}print(json.loads is first)") == "True"


def test_a_run_that_prints_nothing_uses_no_lazy_module(project: Project) -> None:
    """It does not search for plugins, which would open zip files, nor parse the source of what creates tasks."""
    project.build()
    project.append("derivatives.yaml", "# a comment")
    words = project.words
    text = f"from pipeline.front.start.command import main\nstatus = main({words!r})\n"
    text += "print(status, [name for name in sorted(LAZY) if type(sys.modules.get(name, Unused(name))) is not Unused])"
    assert python(text).splitlines()[-1] == "0 []"


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


@pytest.mark.parametrize("executes", [True, False])
def test_the_loader_gives_the_tasks_that_doits_own_gives(executes: bool) -> None:
    def task_first() -> Iterator[dict[str, Any]]:
        yield {"basename": "one", "actions": [], "doc": "read"}
        yield {"basename": "two", "actions": [], "task_dep": ["one"]}

    @create_after(executed="two")
    def task_later() -> Iterator[dict[str, Any]]:
        """print"""
        yield {"name": "part", "actions": []}

    @create_after(executed="later")
    def task_last() -> dict[str, Any]:
        """finish"""
        return {"actions": []}

    loader = PackageLoader(dict)
    loader.namespace = {"OTHER": 1, "task_first": task_first, "task_later": task_later, "task_last": task_last}
    command = SimpleNamespace(execute_tasks=executes)
    own, doits = (load(loader, command, []) for load in (PackageLoader.load_tasks, NamespaceTaskLoader.load_tasks))
    assert [_fields(task) for task in own] == [_fields(task) for task in doits]
    assert [task.name for task in own] == ["one", "two", "later", *([] if executes else ["later:part"]), "last"]


def _fields(task: Any) -> dict[str, Any]:
    fields = {**task.pickle_safe_dict(), "loader": None, "io": vars(task.io)}
    return fields if task.loader is None else {**fields, "loader": vars(task.loader)}
