"""gradmill as somebody installs it: a wheel in a virtual environment of its own, no clone anywhere near."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from project import CORE, ROOT, SHARDS, Run, files_in, finish

pytestmark = pytest.mark.slow

SOURCES = ("pipeline", "specs", "README.md", "pyproject.toml", "setup.py")
UNWANTED = shutil.ignore_patterns("__pycache__", "*.egg-info")
RELEASE = (CORE / "RELEASE").read_text().strip()


def run(*command: object, cwd: Path) -> Run:
    """Runs a command without anything of this environment that could find the clone."""
    return finish(start(*command, cwd=cwd))


def start(*command: object, cwd: Path) -> subprocess.Popen[str]:
    ours = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.Popen(
        [str(word) for word in command],
        cwd=cwd,
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made from the source distribution, as registries do: that must have everything too."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=UNWANTED)
        else:
            shutil.copyfile(path, source / name)
    isolation = [] if _has_setuptools() else ["--build-isolation"]
    if not isolation:
        script = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
        made = run(sys.executable, "-c", script, cwd=source)
        assert made.status == 0, made.stderr
        origin = next(folder.glob("*.tar.gz"))
        isolation = ["--no-build-isolation"]
    else:
        origin, isolation = source, []
    made = run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *isolation, "-w", folder, origin, cwd=folder)
    assert made.status == 0, made.stderr
    return next(folder.glob("*.whl"))


def _has_setuptools() -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return int(version("setuptools").partition(".")[0]) >= 77
    except PackageNotFoundError:
        return False


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of a virtual environment with the wheel; what it needs is that of this environment."""
    folder = tmp_path_factory.mktemp("venv")
    made = run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    assert made.status == 0, made.stderr
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index"]
    made = run(*pip, wheel, cwd=folder)
    assert made.status == 0, made.stderr
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    places = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (packages / "needed.pth").write_text("\n".join(places) + "\n")  # what .pth files there say is not heeded
    where = run(python, "-c", "import pipeline, sys; print(pipeline.__file__)", cwd=folder)
    assert where.stdout.startswith(str(packages)), where
    return folder / "bin"


@pytest.fixture
def gradmill(commands: Path) -> Path:
    return commands / "gradmill"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a spec set in it, `mine`."""
    shutil.copytree(CORE, tmp_path / "mine")
    return tmp_path


def edit(folder: Path) -> None:
    path = folder / "mine" / "derivatives.yaml"
    text = path.read_text()
    assert text.count("self: grad * result.conj()\n") == 1
    path.write_text(text.replace("self: grad * result.conj()\n", "self: result.conj() * grad\n"))


def is_plain(run: Run) -> bool:
    return "Traceback" not in run.stderr + run.stdout


# ---- what is in the wheel


def test_the_wheel_has_the_package_the_embedded_set_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "pipeline").rglob("*") if _is_wanted(path)}
    core = {f"pipeline/specs/core/{path.relative_to(CORE).as_posix()}" for path in CORE.rglob("*") if _is_wanted(path)}
    assert found == modules | core
    assert {"pipeline/py.typed", "pipeline/families/nodes/node.cpp", "pipeline/specs/core/RELEASE"} <= found


def _is_wanted(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def test_the_wheel_names_the_command_and_the_plugins(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        text = archive.read(name).decode()
    assert "gradmill = pipeline.front.start.command:run" in text
    assert "[doit.COMMAND]" in text


# ---- what it does in an empty folder


def test_the_command_builds_the_embedded_set(gradmill: Path, tmp_path: Path) -> None:
    made = run(gradmill, cwd=tmp_path)
    assert made.status == 0, made.stderr
    assert {path.name for path in (tmp_path / "generated" / "core").iterdir()} >= set(SHARDS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "generated"]
    manifest = json.loads((tmp_path / "cache" / "core" / "manifest.json").read_text())
    assert {file["path"] for file in manifest["files"]} >= set(SHARDS)
    again = run(gradmill, cwd=tmp_path)
    assert (again.status, again.ran) == (0, [])


def test_what_it_generates_is_what_a_clone_generates(gradmill: Path, folder: Path) -> None:
    made = run(gradmill, "specs=mine", cwd=folder)
    assert made.status == 0, made.stderr
    clone = subprocess.run(
        [sys.executable, "-m", "pipeline", "specs=mine", "cache=other", "generated=clone"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    assert clone.returncode == 0
    assert files_in(folder / "clone") == files_in(folder / "generated" / "mine")


def test_an_edit_runs_what_it_changed(gradmill: Path, folder: Path) -> None:
    assert run(gradmill, "specs=mine", cwd=folder).status == 0
    edit(folder)
    done = run(gradmill, "specs=mine", cwd=folder)
    assert "emit:ExpBackward0" in done.ran
    assert "shard:Functions.cpp" in done.ran
    assert "shard:Functions.h" not in done.ran


def test_a_mistake_is_reported_with_its_place(gradmill: Path, folder: Path) -> None:
    path = folder / "mine" / "derivatives.yaml"
    path.write_text(path.read_text().replace("self: grad * result.conj()\n", "slef: grad * result.conj()\n", 1))
    done = run(gradmill, "specs=mine", cwd=folder)
    assert done.status == 1
    assert done.stderr.startswith("mine/derivatives.yaml:"), done.stderr
    assert "did you mean 'self'?" in done.stderr
    assert is_plain(done)


def test_it_works_from_a_subfolder(gradmill: Path, folder: Path) -> None:
    """There is no dodo.py to be looked for above: paths are those of the folder that one is in."""
    inner = folder / "inner" / "most"
    inner.mkdir(parents=True)
    done = run(gradmill, "specs=../../mine", cwd=inner)
    assert done.status == 0, done.stderr
    assert (inner / "generated" / "mine" / "Functions.h").is_file()
    assert not (folder / "generated").exists()
    assert run(gradmill, cwd=inner).status == 0
    assert (inner / "generated" / "core" / "Functions.h").is_file()


COMMANDS = {
    "list": ["derivatives  ", "shard  "],
    "list --all --status": ["R emit:ExpBackward0", "R shard:Functions.cpp", "U shard:Functions.h"],
    "show match exp": ['"exp'],
    "show specs": ["exp(Tensor self) -> Tensor"],
    "explain ExpBackward0": ["ExpBackward0", "derivatives.yaml:"],
    "explain": ["derivatives.yaml:"],
    "diff against=core": ["exp"],
    "coverage": ["derivative"],
    "export ninja": ["rule ", "build "],
    "schema manifest": ['"$defs"'],
    "gc": ["removed"],
    "clean": ["removing file"],
    "forget": ["forgetting"],
    "info match": ["match"],
    "help": ["gradmill explain", "gradmill watch"],
}


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_works(gradmill: Path, folder: Path, words: str) -> None:
    assert run(gradmill, "specs=mine", cwd=folder).status == 0
    edit(folder)
    done = run(gradmill, "specs=mine", *words.split(), cwd=folder)
    assert is_plain(done), done.stderr
    assert done.status == (1 if words == "info match" else 0), done.stderr  # doit's: the task is not up to date
    assert [text for text in COMMANDS[words] if text not in done.stdout] == [], done.stdout[:2000]


def test_the_ninja_file_calls_the_installed_command(gradmill: Path, folder: Path) -> None:
    done = run(gradmill, "specs=mine", "export", "ninja", cwd=folder)
    assert done.status == 0, done.stderr
    assert str(ROOT) not in done.stdout
    command = next(line for line in done.stdout.splitlines() if line.strip().startswith("command ="))
    assert "dodo" not in command


def test_watch_follows_an_edit_and_ends_with_ctrl_c(gradmill: Path, folder: Path) -> None:
    assert run(gradmill, "specs=mine", cwd=folder).status == 0
    before = (folder / "generated" / "mine" / "Functions.cpp").read_bytes()
    process = start(gradmill, "watch", "specs=mine", cwd=folder)
    assert process.stdout is not None
    try:
        _read_until(process, "watching")
        edit(folder)
        line = _read_until(process, "Functions.cpp")
        assert "ExpBackward0" in line
    finally:
        process.send_signal(signal.SIGINT)
        ended = finish(process)
    assert ended.status == 0
    assert is_plain(ended), ended.stderr
    assert (folder / "generated" / "mine" / "Functions.cpp").read_bytes() != before
    again = run(gradmill, "specs=mine", cwd=folder)
    assert (again.status, [task for task in again.ran if task.startswith("shard")]) == (0, [])


def _read_until(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return line
    raise AssertionError(f"it ended before it said '{word}'")


def test_after_clean_everything_is_made_again(gradmill: Path, folder: Path) -> None:
    assert run(gradmill, "specs=mine", cwd=folder).status == 0
    assert run(gradmill, "specs=mine", "clean", cwd=folder).status == 0
    assert list((folder / "generated" / "mine").glob("*")) == []
    assert run(gradmill, "specs=mine", cwd=folder).status == 0
    assert (folder / "generated" / "mine" / "Functions.cpp").is_file()


def test_what_is_forgotten_runs_once_more(gradmill: Path, folder: Path) -> None:
    assert run(gradmill, "specs=mine", cwd=folder).status == 0
    assert run(gradmill, "specs=mine", "forget", "match", cwd=folder).status == 0
    assert run(gradmill, "specs=mine", cwd=folder).ran == ["match"]
    assert run(gradmill, "specs=mine", cwd=folder).ran == []


def test_the_embedded_set_is_called_core_everywhere(gradmill: Path, tmp_path: Path) -> None:
    assert run(gradmill, "specs=core", cwd=tmp_path).status == 0
    assert (tmp_path / "generated" / "core").is_dir()
    assert json.loads((tmp_path / "cache" / "core" / "manifest.json").read_text())["specs"] == "core"
    assert run(gradmill, "specs=core", f"release={RELEASE}", cwd=tmp_path).ran == []
