"""Compiles formulas into a library, against the installed torch, which is loaded next to libtorch.

The library is not linked with libtorch, whose symbols take the linker longer than all else: the process that loads it
makes them visible to it (`child/operators.py`), and says where those are that libtorch has but does not export.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from gradmill.extensions.verify.headers import Headers, is_slow
from gradmill.extensions.verify.model import Code
from gradmill.families.sections import Text
from gradmill.families.template import Template
from gradmill.io.files import replace_file
from gradmill.query.memo import digest

_HERE = Path(__file__).parent / "cpp"
_TEXT = {
    section: Template(text, blocks=False)
    for name in ("formulas.cpp", "stubs.s")
    for section, versions in Text(_HERE / name).versions.items()
    for text in versions.values()
}
_FLAGS = ("-std=c++20", "-O0", "-fPIC", "-w")
# Each source has the helpers of a file, which define what libtorch may define, too: the library's own are called.
_LINKED = ("-shared", "-fPIC", "-w", "-Wl,-z,muldefs", "-Wl,-Bsymbolic-functions")
_HIDDEN = "tdbr"  # kinds of symbols that are local to a library, by nm: functions, and messages that they raise
_DEFINED = re.compile(r"^inline [^(\n]*?(\w+)\(", re.MULTILINE)
_ERROR = re.compile(r"^((\S+?):\d+:\d+: (?:fatal )?error: (.*))$", re.MULTILINE)
_API = os.path.join("torch", "csrc", "api", "include")
_CHUNK = 24  # formulas of a source: more would leave processors idle, fewer read headers more often


class Torch(Struct, frozen=True):
    """An installed torch: its folder, its version, and what identifies its build."""

    folder: str
    version: str
    build: str = ""

    @property
    def include(self) -> str:
        """The folder of its headers."""
        return os.path.join(self.folder, "include")


class Compiled(NamedTuple):
    """A library, and the reason for each subject that it lacks."""

    path: Path | None
    failed: dict[str, str]


class Library:
    """Compiles in a folder of its own. `headers`: the text of the set's own headers, whose functions are called in the
    place of torch's of the same name; `helpers`: a file of C++ to include after it, which needs torch's own headers, as
    FunctionsManual.cpp does."""

    def __init__(self, folder: Path, torch: Torch, headers: str = "", helpers: str = "") -> None:
        self._folder, self._torch, self._helpers = folder, torch, os.path.abspath(helpers) if helpers else ""
        self._before = f'{headers}#include "{self._helpers}"\n' if helpers else headers
        self._headers = Headers(torch.include)
        self._replaced = sorted(self._headers.helpers() & defined(headers))
        self._compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") or ""

    def build(self, codes: Sequence[Code]) -> Compiled:
        """The library of these formulas. Raises LookupError without a compiler, if the torch lacks a header, if the
        helpers do not compile, and if the objects do not link."""
        if not self._compiler:
            raise LookupError("no C++ compiler: install g++ or clang")
        path, objects, failed = self._folder / "formulas.so", list[Path](), dict[str, str]()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for own, errors in pool.map(self._objects, _chunks(codes)):
                objects += own
                failed |= errors
        if objects:
            link(self._compiler, objects, Path(self._torch.folder, "lib", "libtorch_cpu.so"), path)
        return Compiled(path if objects else None, failed)

    def included(self) -> set[str]:
        """The paths of the helpers and of all that they include, but torch's headers and those of the system."""
        if not self._helpers:
            return set()
        words = " ".join(path.read_text() for path in self._folder.glob("*.d")).replace("\\\n", " ").split()
        others = tuple(f"{each}{os.sep}" for each in (self._torch.include, _HERE, os.path.abspath(self._folder)))
        paths = {os.path.abspath(os.path.join(self._folder, word)) for word in words if not word.endswith(":")}
        return {path for path in paths if not path.startswith(others)}

    def _objects(self, codes: Sequence[Code], *, whole: bool = False) -> tuple[list[Path], dict[str, str]]:
        """The objects of a source, and the errors of those formulas that do not compile, which are left out of it. As
        headers may be missing, these are compiled again with torch's own headers (`whole`)."""
        source = self._source(codes)
        output = self._compile(source, codes, whole=whole)
        if not output:
            return [source.with_suffix(".o")], {}
        found = _ERROR.findall(output)
        for error, path, _ in found if self._helpers else ():
            if path.startswith(os.path.dirname(self._helpers) + os.sep):
                raise LookupError(error)
        names = [code.subject.name for code in codes]
        first = found[0][2] if found else output.strip()
        failed = {name: why for _, name, why in reversed(found) if name in names} or dict.fromkeys(names, first)
        again, rest = ([each for each in codes if (each.subject.name in failed) == flag] for flag in (True, False))
        objects, others = self._objects(rest, whole=whole) if rest else ([], {})
        if whole:
            return objects, others | failed
        more, failed = self._objects(again, whole=True)
        return objects + more, others | failed

    def _source(self, codes: Sequence[Code]) -> Path:
        """A source, in which errors are at a line of the Node whose formulas have them. Functions of torch's of which a
        header of the set has one have another name there."""
        text = _TEXT["source"].fill(
            {
                "away": "".join(f"#define {name} torchs_{name}\n" for name in self._replaced),
                "back": "".join(f"#undef {name}\n" for name in self._replaced),
                "helpers": self._before,
                "functions": "".join(f'#line 1 "{code.subject.name}"\n{code.text}\n' for code in codes),
            }
        )
        path = self._folder / f"{digest(text.encode()).hex()[:16]}.cpp"
        replace_file(str(path), text.encode())
        return path

    def _compile(self, source: Path, codes: Sequence[Code], *, whole: bool) -> str:
        """Compiles a source to an object. The compiler's output if it fails, else "". `whole`: with torch's headers."""
        text = self._before + "".join(code.text for code in codes)
        whole = whole or bool(self._helpers)
        headers = source.with_suffix(".whole" if whole else ".slim")
        for name, content in (self._headers.whole() if whole else self._headers.of(text)).items():
            path = headers / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(str(path), content.encode())
        folders = [
            f"-I{each}" for each in (headers.name, _HERE, self._torch.include, os.path.join(self._torch.include, _API))
        ]
        output = ["-MMD", "-c", source.name, "-o", source.with_suffix(".o").name]
        command = [self._compiler, *_FLAGS, *folders, *output]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=self._folder)  # noqa: S603
        return done.stderr or "error: no reason given" if done.returncode else ""


def defined(headers: str) -> set[str]:
    """The names of the functions that a header defines."""
    return set(_DEFINED.findall(headers))


def _chunks(codes: Sequence[Code]) -> list[Sequence[Code]]:
    """Those with slow headers apart from the others, in sources of similar size."""
    chunks: list[Sequence[Code]] = []
    for slow in (False, True):
        own = [code for code in codes if is_slow(code.text) == slow]
        chunks += [own[i : i + _CHUNK] for i in range(0, len(own), _CHUNK)]
    return chunks


def link(compiler: str, objects: Sequence[Path], torch: Path, path: Path) -> None:
    """Links objects to a library. `torch`: libtorch_cpu.so. LookupError if they do not link."""
    stubs = path.with_suffix(".s")
    replace_file(str(stubs), _stubs(_hidden(objects, torch)).encode())
    _output([compiler, *_LINKED, *objects, stubs, "-o", path], "the formulas do not link")


def _output(command: Sequence[str | Path], failure: str) -> str:
    """What a command prints. LookupError with the `failure` and the reason if it fails."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise LookupError(f"{failure}: {done.stderr.strip()}")
    return done.stdout


def _hidden(objects: Sequence[Path], torch: Path) -> dict[str, str]:
    """The symbols that objects need and libtorch hides, with their addresses within it."""
    if platform.machine() not in _TEXT or not objects or not torch.is_file():
        return {}
    names = {line.partition(" ")[0] for line in _symbols("--undefined-only", *objects)}
    undefined = {name for name in names if "torch" in name or "2at" in name}
    rows = (line.split(" ") for line in _symbols("--defined-only", torch) if line.partition(" ")[0] in undefined)
    return {name: f"0x{value}" for name, kind, value, *_ in rows if kind in _HIDDEN}


def _symbols(*words: str | Path) -> list[str]:
    """The symbols of files, each as a line: its name, its kind, its value. LookupError if they cannot be read."""
    program = shutil.which("nm") or shutil.which("llvm-nm")
    if program is None:
        raise LookupError("no program nm, which reads the symbols of libtorch: install binutils")
    failure = "the symbols of the formulas cannot be read"
    return _output([program, "--format=posix", "--no-sort", *words], failure).splitlines()


def _stubs(hidden: dict[str, str]) -> str:
    """Functions of these names that jump to libtorch's, in assembly."""
    jumps = (_TEXT[platform.machine()].fill({"name": name, "place": 8 * i}) for i, name in enumerate(hidden))
    addresses = ", ".join([*hidden.values(), "0"])
    return _TEXT["stubs"].fill({"count": len(hidden), "addresses": addresses, "jumps": "".join(jumps)})
