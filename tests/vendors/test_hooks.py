"""Hooks of a description: what calls them again, what `check` finds, who names them, and where they do not run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from manifests import manifest_in

from gradmill.families.hook_files import process
from gradmill.session.own_code import OwnCode
from vendors.vendor import Vendor, kernel, registered

SELECT = '\n\ndef select(function, family):\n    return not (family == "variable_type" and function.base == "exp")\n'
FILES = """

def files(functions, release):
    lines = [f"{each.namespace}::{each.operator} {sorted(each.keys)} {each.layer}" for each in functions]
    return {"list.txt": "\\n".join([f"{release}", *lines, ""])}
"""


def line_of_unit(vendor: Vendor) -> int:
    return vendor.path("hooks.py").read_text().partition("def unit(")[0].count("\n") + 1


def add(vendor: Vendor, text: str) -> None:
    vendor.append("hooks.py", text)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    """The set with a hook of each kind, and a module that one of them imports, built."""
    vendor = Vendor(tmp_path_factory.mktemp("hooks"))
    vendor.path("plain.py").write_text('CONDITION = "plain()"\n')
    vendor.replace("hooks.py", "import re\n", "import re\n\nimport plain\n")
    vendor.replace("hooks.py", "if (plain())", "if ({plain.CONDITION})")
    add(vendor, SELECT + FILES)
    vendor.run(depfile="all.d").clean()
    return vendor


def test_a_hook_selects_changes_and_writes(ended: Vendor) -> None:
    files = ended.files()
    kernels = files["VariableType_0.cpp"]
    assert "if (plain()) {" in kernels and "auto& self_ = self;" in kernel(kernels, "mm")
    assert "exp" not in registered(kernels) and "ExpBackward0" in files["Functions.h"]
    first, *lines = files["list.txt"].splitlines()
    assert first == "(2, 13)"
    assert "aten::swish ['exposed', 'version'] accel" in lines or "aten::swish ['exposed'] accel" in lines


def test_the_file_and_what_it_imports_are_inputs(ended: Vendor) -> None:
    inputs = [each["name"] for each in json.loads(manifest_in(ended.folder / "cache" / "accel"))["inputs"]]
    assert {"hooks.py", "plain.py"} <= set(inputs)
    made_of = (ended.folder / "all.d").read_text()
    assert "set/hooks.py" in made_of and "set/plain.py" in made_of


def test_an_edit_calls_hooks_again_and_writes_the_files_that_differ(ended: Vendor) -> None:
    assert ended.run().ran == []
    ended.replace("plain.py", '"plain()"', '"simple()"')
    assert ended.run().shards == ["VariableType_0.cpp", "VariableTypeEverything.cpp"]
    assert "if (simple()) {" in ended.files()["VariableType_0.cpp"]
    ended.replace("plain.py", '"simple()"', '"plain()"  # again')
    ended.run().clean()
    ended.append("hooks.py", "\n# nothing\n")
    assert ended.run().shards == []


def test_explain_names_the_hook(ended: Vendor) -> None:
    explained = ended.run("explain", "VariableType::mm").stdout
    assert f"set/hooks.py:{line_of_unit(ended)}: the hook unit" in explained
    assert re.findall(r"functions\.yaml:\d+ (\S+)", explained) == ["mm"], "of no function whose name has the same hash"
    assert "the hook" not in ended.run("explain", "VariableType::swish").stdout
    assert "the hook files" in ended.run("explain", "list.txt").stdout


def test_files_of_hooks_are_a_family(ended: Vendor) -> None:
    made = ended.build(families="nodes", generated="nodes", cache="other")
    assert made == ended.files()
    assert not (ended.folder / "nodes" / "list.txt").exists()
    run = ended.run(specs="base", families="hook_files", generated="none", cache="none")
    assert run.status == 3 and "no description has hooks with `files`" in run.stderr


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        ("        return text + SEEN", "unit(nodes, declaration): it returned two values for the same arguments"),
        ("        return text + str(next(NUMBERS))", "it returned two values for the same arguments"),
        ("        return text if random.random() < 2 else text", ""),
        ("        return text + str(random.random())", "it returned two values for the same arguments"),
    ],
    ids=["order of a set", "earlier calls", "pure", "random number"],
)
def test_check_calls_hooks_twice(vendor: Vendor, hook: str, told: str) -> None:
    seen = "import itertools, random\n\nNUMBERS = itertools.count()\nSEEN = ''.join({f'{i}' for i in range(99)})\n"
    vendor.replace("hooks.py", "        return text", hook)
    vendor.replace("hooks.py", "import re\n", f"import re\n{seen}")
    run = vendor.run("check")
    assert told in run.stdout and run.status == bool(told)
    if told:
        line = next(
            n for n, text in enumerate(vendor.path("hooks.py").read_text().split("\n"), 1) if "def unit" in text
        )
        assert f"set/hooks.py:{line}:1: error: " in run.stdout
        assert vendor.run("check").status == 1, "also when nothing has to be done"


@pytest.mark.extension("browse")
def test_an_editor_runs_no_hooks_unless_it_may(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradmill.extensions.browse.lsp.sessions.sets import Sets

    monkeypatch.chdir(vendor.folder)
    vendor.replace("hooks.py", "    if family", "    raise ValueError(family)\n    if family")
    path = str(vendor.path("plugin/config/derivatives.yaml"))
    found = {}
    for allowed in ("0", "1"):
        session = Sets({"specs": "set", "hooks": allowed}, OwnCode()).of(path)
        assert session is not None
        session.check({})
        session.complete()
        found[allowed] = session.failed
        session.close()
    assert found == {"0": False, "1": True}
    assert vendor.run(hooks=0).status == 1, "a command runs them"


def test_a_hook_that_fails_everywhere_is_one_error_with_a_count(vendor: Vendor) -> None:
    vendor.replace(
        "hooks.py",
        "    if family",
        "    if function.operator == 'mm':\n        raise KeyError(piece)\n    len(1)\n    if family",
    )
    errors = re.findall("error: .*", vendor.run().stderr)
    assert len(errors) == len(set(errors))
    (counted,) = [each for each in errors if "TypeError" in each]
    assert re.fullmatch(r"error: [\w.]+: unit\(\w+, \w+\): TypeError: .*, in (\d+) calls", counted)
    assert len(errors) > 1 and all("error: mm: unit(" in each for each in errors if each != counted)
    read = json.loads(vendor.run("check", "format=json").stdout)
    assert len([each for each in read["problems"] if "TypeError" in json.dumps(each)]) == 1


@pytest.mark.parametrize("name, problem", [("set/hooks.py:7", "may change any unit"), ("hooks.py", "a whole file")])
def test_a_line_of_hooks_has_no_entry(ended: Vendor, name: str, problem: str) -> None:
    run = ended.run("explain", name)
    assert run.status == 3 and problem in run.stderr and "explain UNIT names" in run.stderr


def test_a_hook_that_takes_long_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, seconds in (("PATIENCE", 0.1), ("LIMIT", 0.2)):
        monkeypatch.setattr(process, name, seconds)
    hooks = (("hooks", "import time\n\n\ndef select(function, family):\n    time.sleep(5)\n"),)
    called = process.Process(hooks, 0).call("select", {}, "nodes", title="hooks.py: select")
    assert (called.error, capsys.readouterr().err) == ("takes longer than 0 s", "still running: hooks.py: select\n")


def test_what_hooks_print_is_not_their_answer(vendor: Vendor) -> None:
    vendor.replace("hooks.py", "    if family", '    print("a line of", function.operator)\n    if family')
    run = vendor.run()
    assert run.status == 0 and "if (plain())" in vendor.files()["VariableType_0.cpp"]


def test_a_hook_that_ends_its_process_is_an_error(vendor: Vendor) -> None:
    vendor.replace("hooks.py", "    if family", "    import ctypes\n    ctypes.string_at(0)\n    if family")
    run = vendor.run()
    assert run.status == 1 and re.search("PermissionError|the process of the hooks ended", run.stderr)


def test_the_modules_of_hooks_do_not_hide_those_of_python(vendor: Vendor) -> None:
    vendor.path("re.py").write_text("raise ValueError\n")
    vendor.run().clean()


def test_the_folder_of_hooks_may_be_elsewhere(vendor: Vendor, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "mine.py").write_text("import other\n\n\nunit = other.unit\n")
    (tmp_path / "more" / "other.py").write_text(vendor.path("hooks.py").read_text())
    before = vendor.build()
    vendor.replace("specset.toml", 'hooks = "hooks.py"', 'hooks = "../more/mine.py"')
    assert vendor.run().shards == [] and vendor.files() == before
