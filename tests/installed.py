"""gradmill as users install it: a wheel in a virtual environment, without a clone."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

from project import ROOT, Run, finish

SOURCES = ("pipeline", "specs", "README.md", "LICENSE", "pyproject.toml", "setup.py")


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
        stdin=subprocess.DEVNULL,  # a server of an editor ends at once
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def copy_clone(folder: Path, names: Iterable[str], *unwanted: str) -> Path:
    """Copies files and folders of the repository; no files of these names. Returns the folder of the copies."""
    for name in names:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", *unwanted)
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def once(folder: Path, make: Callable[[Path], Path]) -> Path:
    """What the first process that asks for it makes in a folder. The others wait."""
    made = folder / "made"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            folder.mkdir()
            made.write_text(str(make(folder)))
    return Path(made.read_text())


def make_wheel(folder: Path) -> Path:
    """The wheel, made from the source distribution, as registries do: that must have everything too."""
    source = folder / "source"
    source.mkdir()
    copy_clone(source, SOURCES)
    isolation = [] if _has_setuptools() else ["--build-isolation"]
    if not isolation:
        script = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
        run(sys.executable, "-c", script, cwd=source).ok()
        origin = next(folder.glob("*.tar.gz"))
        isolation = ["--no-build-isolation"]
    else:
        origin, isolation = source, []
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *isolation, "-w", folder, origin, cwd=folder).ok()
    return next(folder.glob("*.whl"))


def _has_setuptools() -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return int(version("setuptools").partition(".")[0]) >= 77
    except PackageNotFoundError:
        return False


def install(wheel: Path, folder: Path) -> Path:
    """The folder of commands of a virtual environment with the wheel; what it needs is that of this environment."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder).ok()
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index"]
    run(*pip, wheel, cwd=folder).ok()
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    places = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (packages / "needed.pth").write_text("\n".join(places) + "\n")  # what .pth files there say is not heeded
    where = run(python, "-c", "import gradmill, sys; print(gradmill.__file__)", cwd=folder)
    assert where.stdout.startswith(str(packages)), where
    return folder / "bin"
