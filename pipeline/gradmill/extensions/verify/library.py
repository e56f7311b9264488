"""Compiles formulas into a library, against the installed torch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from gradmill.extensions.verify.headers import Headers, is_slow
from gradmill.extensions.verify.linking import link
from gradmill.extensions.verify.model import Code
from gradmill.families.sections import Text
from gradmill.io.files import replace_file
from gradmill.query.memo import digest

_HERE = Path(__file__).parent / "cpp"
_FLAGS = ("-std=c++20", "-O0", "-fPIC", "-w")
# ccache reads the list of headers that the compiler wrote, and so runs no preprocessor of its own; ours are new files.
_CCACHE = {"CCACHE_DEPEND": "1", "CCACHE_SLOPPINESS": "include_file_mtime,include_file_ctime"}
_DEFINED = re.compile(r"^inline [^(\n]*?(\w+)\(", re.MULTILINE)
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
        self._replaced = self._headers.helpers() & defined(headers)
        self._compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") or ""
        self._launcher = [path] if (path := shutil.which("ccache")) else []

    def build(self, codes: Sequence[Code]) -> Compiled:
        """The library of these formulas. Raises LookupError without a compiler, if the torch lacks a header, if the
        helpers do not compile, and if the objects do not link."""
        if not self._compiler:
            raise LookupError("no C++ compiler: install g++ or clang")
        path = self._folder / "formulas.so"
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects, failed = _together(list(pool.map(self._objects, _chunks(codes))))
        if objects:
            link(self._compiler, objects, Path(self._torch.folder, "lib", "libtorch_cpu.so"), path)
        return Compiled(path if objects else None, failed)

    def included(self) -> set[str]:
        """The paths of the helpers and of all that they include, but torch's headers and those of the system."""
        if not self._helpers:
            return set()
        words = " ".join(path.read_text() for path in self._folder.glob("*.d")).replace("\\\n", " ").split()
        others = tuple(f"{each}{os.sep}" for each in (self._torch.include, _HERE))
        paths = {os.path.abspath(os.path.join(self._folder, word)) for word in words if not word.endswith(":")}
        return {path for path in paths if not path.startswith((*others, f"{os.path.abspath(self._folder)}{os.sep}"))}

    def _objects(self, codes: Sequence[Code], *, whole: bool = False) -> tuple[list[Path], dict[str, str]]:
        """The objects of a source, and the errors of those formulas that do not compile, which are left out of it. As
        headers may be missing, these are compiled again with torch's own headers (`whole`)."""
        source, starts = self._source(codes)
        output = self._compile(source, codes, whole=whole)
        if not output:
            return [source.with_suffix(".o")], {}
        if self._helpers and (found := _error_of(os.path.dirname(self._helpers), output)):
            raise LookupError(found)
        errors = _errors(output, source.name, starts) or dict.fromkeys(range(len(codes)), _first_error(output))
        failed = {codes[i].subject.name: why for i, why in errors.items()}
        again, rest = ([each for each in codes if (each.subject.name in failed) == flag] for flag in (True, False))
        parts = [self._objects(rest, whole=whole)] if rest else []
        if not whole:
            parts.append(self._objects(again, whole=True))
        objects, others = _together(parts)
        return objects, others | (failed if whole else {})

    def _source(self, codes: Sequence[Code]) -> tuple[Path, list[int]]:
        """A source, and the line at which the functions of each formula begin."""
        before, after = _frame(self._before, self._replaced)
        starts, texts, line = [], [before], before.count("\n") + 1
        for code in codes:
            starts.append(line)
            texts.append(code.text + "\n")
            line += texts[-1].count("\n")
        text = "".join((*texts, after))
        path = self._folder / f"{digest(text.encode()).hex()[:16]}.cpp"
        replace_file(str(path), text.encode())
        return path, starts

    def _compile(self, source: Path, codes: Sequence[Code], *, whole: bool) -> str:
        """Compiles a source to an object. The compiler's output if it fails, else "". `whole`: with torch's headers."""
        text = self._before + "".join(code.text for code in codes)
        types = {type_ for code in codes for type_ in code.types}
        whole = whole or bool(self._helpers)
        headers = source.with_suffix(".whole" if whole else ".slim")
        for name, content in (self._headers.whole() if whole else self._headers.of(text, types)).items():
            path = headers / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(str(path), content.encode())
        folders = [f"-I{each}" for each in (headers.name, _HERE, *self._includes())]
        output = ["-MMD" if self._helpers else "-MD", "-c", source.name, "-o", source.with_suffix(".o").name]
        environment = os.environ if self._helpers else os.environ | _CCACHE  # which needs all headers in the list
        command = [*self._launcher, self._compiler, *_FLAGS, *folders, *output]
        done = subprocess.run(  # noqa: S603 - from the folder, whose name is another one in each run: so ccache finds it
            command, check=False, capture_output=True, text=True, cwd=self._folder, env=environment
        )
        return done.stderr or "error: no reason given" if done.returncode else ""

    def _includes(self) -> tuple[str, str]:
        return self._torch.include, os.path.join(self._torch.include, "torch", "csrc", "api", "include")


def _together(parts: Sequence[tuple[list[Path], dict[str, str]]]) -> tuple[list[Path], dict[str, str]]:
    """The objects and the errors of several sources."""
    objects = [path for paths, _ in parts for path in paths]
    return objects, {name: why for _, errors in parts for name, why in errors.items()}


def defined(headers: str) -> set[str]:
    """The names of the functions that a header defines."""
    return set(_DEFINED.findall(headers))


def _frame(helpers: str, replaced: Iterable[str]) -> tuple[str, str]:
    """What is before the functions of a source, and after them. `replaced`: functions of torch's that have another name
    there, since a header of the set has one of this name."""
    (source,) = Text(_HERE / "formulas.cpp").versions["source"].values()
    before, after = source.split("${functions}")
    names = sorted(replaced)
    away = "".join(f"#define {name} torchs_{name}\n" for name in names)
    back = "".join(f"#undef {name}\n" for name in names)
    return before.replace("${away}\n", away).replace("${back}\n", back).replace("${helpers}", helpers), after


def _error_of(folder: str, output: str) -> str:
    """The first error in a file of a folder or below, with its place; "" if there is none."""
    match = re.search(rf"^{re.escape(folder)}/\S+:\d+:\d+: (?:fatal )?error: .*$", output, re.MULTILINE)
    return match[0] if match else ""


def _errors(output: str, name: str, starts: Sequence[int]) -> dict[int, str]:
    """The first error of each formula, by its number: those at a line of the source."""
    found: dict[int, str] = {}
    for match in re.finditer(rf"^\S*{re.escape(name)}:(\d+):\d+: (?:fatal )?error: (.*)$", output, re.MULTILINE):
        found.setdefault(max(bisect_right(starts, int(match[1])) - 1, 0), match[2])
    return found


def _first_error(output: str) -> str:
    match = re.search(r"error: (.*)", output)
    return match[1] if match else output.strip()


def _chunks(codes: Sequence[Code]) -> list[Sequence[Code]]:
    """Those with slow headers apart from the others, in sources of similar size."""
    chunks: list[Sequence[Code]] = []
    for slow in (False, True):
        own = [code for code in codes if is_slow(code.types, code.text) == slow]
        chunks += [own[i : i + _CHUNK] for i in range(0, len(own), _CHUNK)]
    return chunks
