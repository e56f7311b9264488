"""Modules that are imported when somebody looks into them: nobody can tell, but for the time."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from tempfile import TemporaryDirectory

import pytest
from doit.doit_cmd import DoitMain
from project import ROOT

from pipeline.front.doit.plugins import PLUGINS

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
    text = (
        "defer_metadata()\nimport pipeline.front.start.main\nprint('email' in sys.modules, 'ipaddress' in sys.modules)"
    )
    assert python(text) == "False False"


INSPECTED = """
defer_inspection()
import functools, inspect
stand_in = sys.modules["inspect"]
class Called:
    def __call__(self, task, values, *, late=1): ...
    def method(self, a, b=2, *, c=3): ...
    def many(self, *all, **named): ...
def plain(a, b, /, c, *, d=4): ...
@functools.wraps(plain)
def wrapped(*all): ...
del sys.modules["inspect"]
import inspect as real
sys.modules["inspect"] = stand_in
"""


def test_kinds_parameters_and_lines_are_those_that_inspect_tells() -> None:
    """Where it takes more than a look at the code, `inspect` itself is asked."""
    text = f"from pipeline.front.start.deferred import defer_inspection\n{INSPECTED}"
    things = (
        "things = [Called(), Called, Called().method, Called.method, plain, len, (x for x in ()), functools.partial]"
    )
    kinds = "print(all(getattr(inspect, k)(t) is getattr(real, k)(t) for t in things for k in ('isclass', 'isbuiltin',"
    kinds += "'isfunction', 'isgenerator', 'ismethod')))"
    assert python(f"{text}{things}\n{kinds}\nprint(sys.modules['inspect'] is stand_in)") == "True\nTrue"
    asked = "names = lambda of: [list(of.signature(t).parameters.keys()) for t in called]\n"
    asked += "print(names(inspect) == names(real), sys.modules['inspect'] is stand_in)"
    easy = "called = [Called(), Called().method, Called.method, plain]"
    hard = "called = [Called().many, wrapped, Called, functools.partial(plain, 1)]"
    assert python(f"{text}{easy}\n{asked}") == "True True"
    assert python(f"{text}{hard}\n{asked}") == "True False"
    line = "import textwrap as t, pipeline.front.settings.config as c\nof = lambda m, f: m.getsourcelines(f)[1]\n"
    line += "print(of(inspect, c.read_config) == of(real, c.read_config) > 1, len(inspect.signature(plain).parameters))"
    assert python(text + line) == "True 4"
    assert python(text + "print(inspect.getdoc(plain), inspect.Parameter.__name__)") == "None Parameter"


def test_a_plain_run_inspects_nothing() -> None:
    text = "from pipeline.front.start.deferred import defer_inspection\n"
    text += "defer_metadata(); defer_inspection()\nimport os\nfrom pipeline.front.start.main import main\n"
    with TemporaryDirectory() as folder:
        text += f"os.chdir({folder!r})\nstatus = main(['families=factories'])\n"
        text += "print(status, [name for name in ('dis', 'tokenize', 'linecache') if name in sys.modules])"
        assert python(text).splitlines()[-1] == "0 []"


def test_typing_is_what_its_extensions_are() -> None:
    begin = "from pipeline.front.start.deferred import defer_typing\ndefer_typing()\n"
    text = "import typing, typing_extensions as t\nprint(t.get_type_hints is typing.get_type_hints, t.NotRequired)\n"
    assert python(begin + text) == "True typing.NotRequired"
    asked = "try:\n    import typing_extensions as t; print(t.deprecated.__name__)\n"
    assert python(f"{begin}{asked}except ImportError: print('deprecated')") == "deprecated"


def test_whether_a_package_is_installed_is_answered_but_in_a_plain_run() -> None:
    """An editor's server is no such run, and what it is made of may ask."""
    assert python("print('typing_extensions' in sys.modules, 'platform' in sys.modules)") == "False True"


def test_the_plugins_of_gradmill_are_those_that_the_package_states() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())
    points = stated["project"]["entry-points"]
    assert {kind: points[f"doit.{kind}"] for kind in PLUGINS} == PLUGINS
    own = set(PLUGINS["COMMAND"]) & {command.get_name() for command in DoitMain.DOIT_CMDS}
    assert stated["tool"]["doit"]["plugins"]["command"] == {name: PLUGINS["COMMAND"][name] for name in sorted(own)}


def test_other_plugins_are_searched_for_as_ever() -> None:
    text = "defer_metadata()\nfrom importlib.metadata import entry_points\n"
    assert python(text + "print([point.name for point in entry_points(group='doit.BACKEND')])") == "[]"
    wanted = "print('pytest' in [point.value for point in entry_points(group='pytest11')] or 'email' in sys.modules)"
    assert python(text + wanted) == "True"
