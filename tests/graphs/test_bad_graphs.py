"""Every `.py` file of `tests/graphs/bad` gives the messages in the `.txt` file next to it, and nothing is written.

To update the messages and review them in the diff:

    UPDATE_GOLDEN=1 pytest tests/graphs/test_bad_graphs.py
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from project import ROOT

from gradmill.extensions.graphs.family import GRAPHS
from gradmill.extensions.graphs.print.files import STATES, SUPPORT
from graphs.running import gradmill

BAD = ROOT / "tests" / "graphs" / "bad"
NAMES = sorted(path.stem for path in BAD.glob("*.py"))
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


def run(folder: Path, *words: str) -> tuple[int, str]:
    """Runs gradmill in a folder: its exit status and its standard error."""
    ended = gradmill([*words], folder)
    assert "Traceback" not in ended.stdout + ended.stderr
    return ended.status, ended.stderr


@pytest.mark.golden
@pytest.mark.parametrize("name", NAMES)
def test_all_errors_are_reported_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    shutil.copyfile(BAD / f"{name}.py", tmp_path / f"{name}.py")
    status, text = run(tmp_path, f"graphs={name}.py", "families=graphs")
    golden = BAD / f"{name}.txt"
    if UPDATE:
        golden.write_text(text)
    assert (status, text) == (1, golden.read_text())
    assert not (tmp_path / "generated").exists()


def test_errors_of_all_files_are_reported_together(tmp_path: Path) -> None:
    folder = tmp_path / "graphs"
    folder.mkdir()
    for name in ("several", "twice", "no_python"):
        shutil.copyfile(BAD / f"{name}.py", folder / f"{name}.py")
    (folder / "right.py").write_text("from torch import Tensor\n\ndef f_right(x: Tensor) -> Tensor:\n    return x\n")
    status, text = run(tmp_path, "graphs=graphs", "families=graphs")
    assert status == 1
    assert [
        name for name in ("no_python.py:2", "several.py:6", "several.py:18", "twice.py:4") if name not in text
    ] == []
    assert "right.py" not in text


VARIABLES = {
    "graphs=nowhere.py": "graphs=nowhere.py: there is no such file or folder\n  did you mean 'there.py'?\n",
    "graphs=notes.txt": (
        "graphs=notes.txt: this is neither a .py nor a .pt2 file\n  name such a file, or a folder of them\n"
    ),
    "graphs=empty": "graphs=empty: the folder has no .py and no .pt2 file\n  name a folder that has some\n",
    "graphs=there.py namespace=a.b": (
        "namespace=a.b: not a valid C++ identifier\n  write letters, digits and underscores\n"
    ),
    "graphs=there.py namespace=__linux__": (
        "namespace=__linux__: C++ reserves names that begin like this\n  write it without the underscore\n"
    ),
    "graphs=there.py namespace=aten": "namespace=aten: this is PyTorch's own\n  write another name\n",
    "families=graphs": "families=graphs: there are no graphs\n  also write graphs=PATH\n",
}


@pytest.mark.parametrize("words", VARIABLES)
def test_invalid_variables_are_refused(words: str, tmp_path: Path) -> None:
    (tmp_path / "there.py").write_text("")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "empty").mkdir()
    status, text = run(tmp_path, *words.split())
    assert status != 0
    assert VARIABLES[words] in text.replace("ERROR: ", "")


def test_duplicate_names_of_files_and_of_functions_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "graphs"
    folder.mkdir()
    text = "from torch import Tensor\n\ndef f(x: Tensor) -> Tensor:\n    return x\n"
    for name in ("a-b.py", "a_b.py", "c.py"):
        (folder / name).write_text(text)
    status, report = run(tmp_path, "graphs=graphs", "families=graphs")
    assert status == 1
    assert "'a-b.py' and 'a_b.py' would both be generated as graphs/a_b.cpp" in report
    assert "the function 'f' is in 'a-b.py' already: both would be one operator" in report


def test_files_that_would_replace_headers_or_one_another_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "graphs"
    folder.mkdir()
    shared = {name.partition(".")[0] for name in (*SUPPORT, STATES, *GRAPHS.row.templates)}
    for number, name in enumerate([*shared, "Graph", "net", "NET", "Net"]):
        (folder / f"{name}.py").write_text(
            f"from torch import Tensor\n\ndef f_{number}(x: Tensor) -> Tensor:\n    return x\n"
        )
    status, report = run(tmp_path, "graphs=graphs", "families=graphs")
    assert status == 1
    for name in (*shared, "Graph"):
        assert f"{name}.py: error: graphs/{name.lower()}.h is a header that all graphs share" in report
    assert "'NET.py' and 'Net.py' would both be generated as graphs/Net.cpp, where case makes no difference" in report
    assert report.endswith(f"{len(shared) + 3} errors\n")


def test_deeply_nested_code_is_an_error_and_not_a_crash(tmp_path: Path) -> None:
    deep = "(" * 150 + "x" + ")" * 150
    long = " + ".join(["x"] * 5000)
    minus = "-" * 20000 + "x"
    head = "from torch import Tensor\n\n"
    for name, text in (("deep", deep), ("long", long), ("minus", minus)):
        (tmp_path / f"{name}.py").write_text(f"{head}def f(x: Tensor) -> Tensor:\n    return {text}\n")
        status, report = run(tmp_path, f"graphs={name}.py", "families=graphs")
        assert status == (0 if name == "deep" else 1), report
        assert status == 0 or "error: " in report
