"""Verifies formulas: compiles those without a verdict, checks them, and remembers the verdicts."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.extensions.verify import remembered
from gradmill.extensions.verify.library import Library, Torch, defined
from gradmill.extensions.verify.model import NOT_COMPILED, Code, Verdict
from gradmill.extensions.verify.process import Checker
from gradmill.io.files import moment, read_file, stat_of
from gradmill.problems.plain import warn
from gradmill.problems.problem import SpecError
from gradmill.query.memo import digest

_WORD = re.compile(r"\w+")


class Settings(Struct, frozen=True):
    """How formulas are verified. `folder`: in the set's cache; `headers`: the text of the set's own headers; `helpers`:
    a C++ file with helpers of formulas, `python`: a Python file with functions in the place of operators, "" for none;
    `code`: the digest of gradmill's own code, whose checks a verdict is of.
    """

    folder: Path
    code: str
    headers: str = ""
    helpers: str = ""
    python: str = ""


class Result(Struct, frozen=True):
    """The verdicts of some formulas, in their order; how many of them are new; and the version of torch."""

    verdicts: tuple[tuple[Code, Verdict], ...]
    new: int
    torch: str


def installed_torch() -> Torch:
    """The torch of this Python. SpecError if there is none."""
    found, version = importlib.util.find_spec("torch"), remembered.version_of_torch()
    if found is None or not found.submodule_search_locations or not version:
        raise SpecError(
            "verify: this Python has no torch, which runs the operators",
            "install the set's release, as in pip install torch==2.13.0",
        )
    folder = next(iter(found.submodule_search_locations))
    return Torch(folder, version, build_of(folder))


def build_of(folder: str) -> str:
    """What identifies the build of a torch: the stats of its libraries."""
    return " ".join(f"{path.name} {stat_of(str(path))}" for path in sorted(Path(folder, "lib").glob("lib*.so")))


def verify(codes: Sequence[Code], settings: Settings) -> Result:
    """The verdicts. SpecError on another system than Linux, if there is no torch, no compiler, or a file that cannot be
    read."""
    if sys.platform != "linux":
        raise SpecError("verify: formulas are linked with what libtorch hides, which works on Linux alone")
    torch = installed_torch()
    _ = subprocess.Popen  # loads the module, which is lazy: threads must not be the first to use it
    names = keys(codes, settings, torch)
    known = remembered.known(settings.folder, names)
    new = {code.subject.name: (key, code) for key, code in zip(names, codes) if key not in known}
    began, failed = moment(), ""
    for verdict in _checked([code for _, code in new.values()], settings, torch):
        changed = remembered.changed_since(began, verdict.files)  # what was digested may not be what was used
        key, _ = new[verdict.name]
        known[key] = replace(verdict, transient=True) if changed else verdict
        try:
            remembered.remember(settings.folder, key, known[key])
        except OSError as error:
            failed = error.strerror or str(error)
    if failed:
        warn(f"{settings.folder}: {failed}; the verdicts of this run are not remembered")
    return Result(tuple((code, known[key]) for key, code in zip(names, codes)), len(new), torch.version)


def known_verdicts(codes: Sequence[Code], settings: Settings) -> Result:
    """The verdicts of earlier runs; formulas without one are left out. Runs nothing. SpecError as `verify`."""
    torch = installed_torch()
    names = keys(codes, settings, torch)
    known = remembered.known(settings.folder, names)
    return Result(tuple((code, known[key]) for key, code in zip(names, codes) if key in known), 0, torch.version)


def keys(codes: Sequence[Code], settings: Settings, torch: Torch) -> list[str]:
    """What the verdicts of formulas are remembered by. SpecError for a file that cannot be read."""
    parts = [settings.headers, torch.build]
    for name, path in (("helpers", settings.helpers), ("python", settings.python)):
        content = read_file(path) if path else b""
        if content is None:
            raise SpecError(f"{name}={path}: the file cannot be read", "name a file that can be read")
        parts.append(digest(content).hex())
    context = "\0".join(parts)
    version = settings.code, torch.version
    return [remembered.key(*version, code.subject.name, f"{code.digest}\0{context}") for code in codes]


def _checked(codes: Sequence[Code], settings: Settings, torch: Torch) -> Iterator[Verdict]:
    """The verdicts of formulas that have none yet, in any order, each as soon as it is known."""
    for other in (code.subject for code in codes if code.subject.key != DEFAULT_KEY):
        yield Verdict(other.name, unchecked=f"its formulas are for {other.key} alone")
    codes = [code for code in codes if code.subject.key == DEFAULT_KEY]
    if not codes:
        return
    headers = settings.headers if any(using(codes, settings.headers)) else ""
    try:
        settings.folder.mkdir(parents=True, exist_ok=True)
        remembered.remove_killed(settings.folder)
        work = TemporaryDirectory(dir=settings.folder, prefix=f"{remembered.WORK}{os.getpid()}-")
    except OSError as error:
        why = f"{settings.folder} cannot be written: {error.strerror}"
        yield from (Verdict(code.subject.name, unchecked=why, transient=True) for code in codes)
        return
    with work as folder, Checker(len(codes)) as checker:
        try:
            library = Library(Path(folder), torch, headers, settings.helpers)
            compiled = library.build(codes)
        except LookupError as error:
            raise SpecError(f"verify: {error}") from error
        included = remembered.digests(library.included())
        for name, why in compiled.failed.items():
            fails = f"{NOT_COMPILED}: {why}"  # a compiler that fails does not say what it read
            yield Verdict(name, unchecked=fails, files=included, transient=bool(settings.helpers))
        rest = [code for code in codes if code.subject.name not in compiled.failed]
        if compiled.path is None:
            return
        samples = settings.folder / remembered.SAMPLES
        python = os.path.abspath(settings.python) if settings.python else ""
        for verdict in checker.check(rest, compiled.path, samples, python=python):
            yield replace(verdict, files=verdict.files | included)


def using(codes: Iterable[Code], headers: str) -> Iterator[bool]:
    """Of each formula whether it may use functions of the set's headers, which take seconds to compile."""
    names = defined(headers)
    return (not names or not names.isdisjoint(_WORD.findall(code.text)) for code in codes)
