"""`gradmill init`: a folder with a small spec set, its description, and a first operator with its derivatives."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from gradmill.cli.commands.request import Request
from gradmill.io.files import put_file
from gradmill.problems.plain import lines
from gradmill.problems.problem import SpecError
from gradmill.session.settings.variables import VARIABLES
from gradmill.specs.find import set_file_in

# docs/vendors.md shows all these files, and explains them.
_FOLDER = Path(__file__).parents[1] / "new_set"
_FILES = ("functions.yaml", "derivatives.yaml", "specset.toml")
_OF_VERIFY = {
    "reference.py": """\
def cube(self):
    return self * self * self
""",
    "gradmill.toml": """\
python = "reference.py"  # what the operators do, for gradmill verify
""",
}
_BASES = {"torch": "the installed torch", "core": "gradmill's own set"}


def init(folder: str, base: str = "") -> list[str]:
    """Writes a small spec set into a folder, which may be missing; returns the paths. `base`: `torch` or `core`, by
    default torch if it is installed. SpecError if the folder has one of the files, or a set; OSError if it cannot be
    written. Nothing is overwritten."""
    base = base or ("torch" if find_spec("torchgen") is not None else "core")
    if base not in _BASES:
        raise SpecError(f"init: specs={base}: a set begins on top of torch or core", "then edit [base] in specset.toml")
    texts = {name: (_FOLDER / name).read_text(encoding="utf-8") for name in _FILES}
    texts |= _OF_VERIFY if "python" in VARIABLES else {}
    paths = {name: os.path.normpath(os.path.join(folder, name)) for name in texts}
    there = [path for path in paths.values() if os.path.lexists(path)]
    if os.path.isdir(folder) and (set_file := set_file_in(folder)):
        there = there or [os.path.normpath(os.path.join(folder, set_file))]
    if there:
        raise SpecError(f"init: {there[0]}: there is such a file", "name another folder: gradmill init FOLDER")
    os.makedirs(folder, exist_ok=True)
    written: list[str] = []
    try:
        for name, path in paths.items():
            put_file(path, texts[name].replace("{specs}", base).replace("{which}", _BASES[base]).encode())
            written.append(path)
    except OSError:
        for path in written:
            os.unlink(path)
        raise
    return written


def main(request: Request) -> int:
    """Writes the files, and says what to do next."""
    folder, *more = request.names or [os.curdir]
    if more:
        raise SpecError(f"init: '{more[0]}' is not expected here", "name one folder")
    paths = init(folder, request.variables.get("specs", ""))
    go = "" if folder == os.curdir else f"cd {shlex.quote(folder)} && "
    sys.stdout.write(lines([*paths, f"next: {go}gradmill"]))
    return 0
