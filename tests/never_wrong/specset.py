"""A spec set as entries that can be edited: texts, cut where every entry starts, and written to a flat folder."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from random import Random

NATIVE = "native_functions.yaml"
DERIVATIVES = "derivatives.yaml"
TAGS = "tags.yaml"
DEPRECATED = "deprecated.yaml"  # of Python bindings
FILES = (NATIVE, DERIVATIVES, TAGS)
CORE = Path(__file__).resolve().parent.parent.parent / "specs" / "core"
_PACKAGED = {
    NATIVE: f"ATen/native/{NATIVE}",
    TAGS: f"ATen/native/{TAGS}",
    DERIVATIVES: f"autograd/{DERIVATIVES}",
    DEPRECATED: f"autograd/{DEPRECATED}",
}

_START = re.compile(r"(?m)^(?=- )")
_NAME = re.compile(r"- (?:func|name): ([\w:]+)")


class Specs:
    """The entries of the files. `heads` is what stands before the first entry of each."""

    def __init__(self, heads: dict[str, str], entries: dict[str, list[str]]) -> None:
        self.heads = heads
        self.entries = entries

    @property
    def native(self) -> list[str]:
        return self.entries[NATIVE]

    @property
    def derivatives(self) -> list[str]:
        return self.entries[DERIVATIVES]

    def copy(self) -> Specs:
        return Specs(dict(self.heads), {name: list(result) for name, result in self.entries.items()})

    def texts(self) -> dict[str, str]:
        return {name: self.heads[name] + "".join(result) for name, result in self.entries.items()}

    def write(self, folder: Path) -> None:
        """Writes the files whose text is another one; the others keep their times."""
        for name, text in self.texts().items():
            path, data = folder / name, text.encode("utf-8", "surrogateescape")
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)


def read_specs(folder: Path, files: Iterable[str] = FILES) -> Specs:
    """The spec set in a folder, flat or laid out as torchgen/packaged."""
    heads, entries = {}, {}
    for name in files:
        path = folder / name
        text = (path if path.exists() else folder / _PACKAGED[name]).read_text()
        heads[name], *entries[name] = _START.split(text)
    return Specs(heads, entries)


def torch_folder() -> Path:
    """The spec set that the installed torch comes with."""
    spec = find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("torch is not installed: pip install 'gradmill[test]'")
    return Path(next(iter(spec.submodule_search_locations))) / "packaged"


def torch_version() -> str:
    return metadata.version("torch")


def make_folder(folder: Path, source: Path, version: str) -> Path:
    """A flat folder with the templates and the release; the three files are for `Specs.write`."""
    folder.mkdir(parents=True)
    templates = source / "templates"
    shutil.copytree(templates if templates.is_dir() else source / "autograd" / "templates", folder / "templates")
    (folder / "RELEASE").write_text(version)
    return folder


def family(entry: str) -> str:
    """What an operator shares with its in-place, copy and foreach variants: a part of its name."""
    match = _NAME.match(entry)
    name = match[1].rpartition("::")[2] if match else ""
    name = name.removeprefix("_foreach_").removesuffix("_copy").rstrip("_")
    return re.sub(r"^__i(?=(and|or|xor|lshift|rshift)$)", "__", name)


def of_families(specs: Specs, families: Iterable[str]) -> Specs:
    """Some operators with all of their variants and derivatives."""
    chosen = set(families)
    unknown = chosen - {family(entry) for name in (NATIVE, DERIVATIVES) for entry in specs.entries[name]}
    assert not unknown, f"no operators of this family: {sorted(unknown)}"
    kept = {n: [e for e in specs.entries[n] if family(e) in chosen] for n in (NATIVE, DERIVATIVES)}
    return Specs(dict(specs.heads), {**kept, TAGS: list(specs.entries[TAGS])})


def subset(specs: Specs, random: Random, families: int) -> Specs:
    """A few operators, always among them `add` and `mul`."""
    known = sorted({family(entry) for entry in specs.derivatives})
    return of_families(specs, {*random.sample(known, families), "add", "mul"})


def make_tiny(folder: Path) -> Path:
    """A set of a few of core's operators, with all of core's templates."""
    make_folder(folder, CORE, (CORE / "RELEASE").read_text().strip())
    of_families(read_specs(CORE), ["add", "mul", "exp", "full"]).write(folder)
    return folder
