"""Modules that are imported when somebody looks into them: nobody can tell, but for the time."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution

import pytest

from pipeline.front.start.deferred import PLUGINS

SETUP = """
import sys
from pipeline.front.start.deferred import defer, defer_metadata
defer()
"""


def python(text: str) -> str:
    """What a new process prints."""
    found = subprocess.run([sys.executable, "-c", SETUP + text], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


@pytest.mark.parametrize(
    "text",
    [
        "import urllib.parse; print(urllib.parse.quote('a b'), sys.modules['urllib.parse'] is urllib.parse)",
        "from urllib.parse import quote_from_bytes; print(quote_from_bytes(b'a b'), True)",
        "import pathlib; pathlib.Path('/a b').as_uri(); import urllib.parse as p; print(p.quote('a b'), True)",
    ],
)
def test_a_module_within_a_package(text: str) -> None:
    assert python(text) == "a%20b True"


def test_what_is_taken_by_name_works() -> None:
    assert python("from pickle import dumps\nimport pickle\nprint(pickle.loads(dumps([1])))") == "[1]"
    assert (
        python("from multiprocessing import Process\np = Process(target=print)\nprint(type(p).__name__)") == "Process"
    )
    assert python("from configparser import ConfigParser\nprint(ConfigParser(delimiters='=').sections())") == "[]"


@pytest.mark.parametrize(
    "before", ["", "import multiprocessing; multiprocessing.cpu_count()\n", "import multiprocessing\n"]
)
def test_a_module_inside_a_deferred_one_is_found(before: str) -> None:
    assert python(f"{before}import multiprocessing.pool\nprint(multiprocessing.pool.Pool.__name__)") == "Pool"
    text = f"{before}from multiprocessing import synchronize as s, pool\nimport multiprocessing as m\n"
    assert python(text + "print(m.synchronize is s, m.pool is pool, m.Process.__name__)") == "True True Process"


def test_the_system_is_told_before_the_module_is_there_and_after() -> None:
    """msgspec asks for a UUID, and that for the system."""
    text = "import platform, uuid\nbefore = 'platform' in sys.modules and type(sys.modules['platform']).__name__\n"
    text += "print(before, platform.system() == 'Linux', bool(platform.machine()), platform.system() == 'Linux')"
    assert python(text) == "_StandIn True True True"


def test_what_doit_looks_into_when_something_goes_wrong() -> None:
    raised = (
        "import queue, traceback\ntry: queue.Queue().get_nowait()\nexcept queue.Empty: print(traceback.format_exc())"
    )
    assert python(raised).endswith("_queue.Empty")
    assert python("from string import Template\nprint(Template('$a').substitute(a=1))") == "1"
    assert python("import pprint\nprint(pprint.pformat([1]))") == "[1]"


def test_classes_and_exceptions_are_the_module_s_own() -> None:
    assert python("import subprocess as s, json\nclass E(s.SubprocessError): ...\nprint(json.loads('[1]'))") == "[1]"
    assert python("import pdb\nprint(pdb.Pdb.__name__, sys.modules['pdb'].Pdb is pdb.Pdb)") == "Pdb True"


def test_what_somebody_imported_already_stays() -> None:
    text = "import json\nfirst = json.loads\ndefer()\nimport json\nprint(json.loads is first)"
    assert python(text) == "True"


def test_doit_starts_without_most_of_them() -> None:
    text = "defer_metadata()\nimport pipeline.front.main\nprint('email' in sys.modules, 'ipaddress' in sys.modules)"
    assert python(text) == "False False"


def test_the_plugins_of_a_plain_run_are_those_that_the_package_states() -> None:
    stated = {
        (point.group, point.name, point.value)
        for point in distribution("gradmill").entry_points
        if point.group == "doit.BACKEND"
    }
    assert {(group, name, place) for group in PLUGINS for name, place in PLUGINS[group].items()} == stated


def test_other_plugins_are_searched_for_as_ever() -> None:
    text = "defer_metadata()\nfrom importlib.metadata import entry_points\n"
    assert python(text + "print([point.name for point in entry_points(group='doit.BACKEND')])") == "['gradmill']"
    wanted = "print('pytest' in [point.value for point in entry_points(group='pytest11')] or 'email' in sys.modules)"
    assert python(text + wanted) == "True"
