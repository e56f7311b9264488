"""Bytecode that Python accepts although its source is newer is found, at the cost of what is loaded."""

from __future__ import annotations

import os
import py_compile
import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from gradmill.session import bytecode
from gradmill.session.bytecode import loaded_stale


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are compared, in order."""
    paths: list[str] = []
    is_stale = bytecode._is_stale

    def noted(path: str) -> bool:
        paths.append(path)
        return is_stale(path)

    monkeypatch.setattr(bytecode, "_is_stale", noted)
    return paths


def _module(folder: Path, text: str = "A = 1\n", later: str = "") -> Path:
    """A module with bytecode of `text`; then, if given, with a `later` text of the same size and second."""
    path = folder / "gradmill" / "module.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    second = time.time() // 1
    os.utime(path, (second, second))
    time.sleep(0.03)  # the clock of the file system ticks
    py_compile.compile(str(path))
    if later:
        path.write_text(later)
        os.utime(path, (second, second))
    return path


def _record(folder: Path, text: str) -> None:
    digest = urlsafe_b64encode(sha256(text.encode()).digest()).decode().rstrip("=")
    (folder / "gradmill-1.0.dist-info").mkdir()
    (folder / "gradmill-1.0.dist-info" / "RECORD").write_text(
        f"gradmill/module.py,sha256={digest},{len(text)}\ngradmill-1.0.dist-info/RECORD,,\n"
    )


def _has_bytecode(path: Path) -> bool:
    return Path(cache_from_source(str(path))).exists()


NEW = "A = 2\n"
CASES: dict[str, tuple[str, bool, str, bool, tuple[bool, bool, bool]]] = {
    # a later text, whether the module is loaded, the text that an installer wrote, whether the bytecode is old:
    # whether that is reported, and stays, and was compared
    "loaded, of an older source": (NEW, True, "", False, (True, False, True)),
    "loaded, of its source": ("", True, "", False, (False, True, True)),
    "not loaded, of an older source": (NEW, False, "", False, (False, False, False)),
    "not loaded, of its source": ("", False, "", False, (False, False, False)),
    "installed": ("", True, "A = 1\n", False, (False, True, False)),
    "edited where it is installed": (NEW, True, "A = 1\n", False, (True, False, True)),
    "edited and undone where it is installed": (NEW, True, NEW, False, (True, False, True)),
    "old": ("", True, "", True, (False, True, False)),
}


@pytest.mark.parametrize("case", CASES)
def test_young_bytecode_is_compared_where_it_is_loaded_and_deleted_if_it_may_be_stale(
    tmp_path: Path, compared: list[str], case: str
) -> None:
    later, is_loaded, installed, is_old, expected = CASES[case]
    path = _module(tmp_path, later=later)
    if installed:
        _record(tmp_path, installed)
    if is_old:
        later_time = time.time() + 10
        os.utime(cache_from_source(str(path)), (later_time, later_time))
    reported = loaded_stale([str(path)], {str(path)} if is_loaded else set(), str(tmp_path))
    assert (reported, _has_bytecode(path), compared == [str(path)]) == expected
    assert len(compared) <= 1


def test_bytecode_that_cannot_be_deleted_is_compared(
    tmp_path: Path, compared: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a folder that belongs to another user."""
    path = _module(tmp_path, later="A = 2\n")

    def refuse(_: str) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "unlink", refuse)
    assert loaded_stale([str(path)], set(), str(tmp_path))
    assert compared == [str(path)]


@pytest.mark.parametrize("later", ["", "A = 22\n"])
def test_bytecode_that_python_never_compares_with_its_source_is_compared(
    tmp_path: Path, compared: list[str], later: str
) -> None:
    """`compileall --invalidation-mode unchecked-hash`: an edit of the source, whenever, is not what runs."""
    path = _module(tmp_path)
    py_compile.compile(str(path), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    if later:
        path.write_text(later)
    compiled, new = cache_from_source(str(path)), time.time() + 10
    os.utime(compiled, (new, new))
    assert loaded_stale([str(path)], {str(path)}, str(tmp_path)) == bool(later)
    assert _has_bytecode(path) == (not later)
    assert compared == [str(path)]
