"""The measured spec sets: that of the installed torch, and larger ones with renamed copies of its entries."""

from __future__ import annotations

import re
import shutil
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

NATIVE = "native_functions.yaml"
DERIVATIVES = "derivatives.yaml"
TAGS = "tags.yaml"
_PACKAGED = {NATIVE: f"ATen/native/{NATIVE}", TAGS: f"ATen/native/{TAGS}", DERIVATIVES: f"autograd/{DERIVATIVES}"}

AUTOGRAD, ATEN = "tools/autograd", "aten/src/ATen"  # folders of a checkout
CHECKOUT = {
    NATIVE: f"{ATEN}/native/{NATIVE}",
    TAGS: f"{ATEN}/native/{TAGS}",
    DERIVATIVES: f"{AUTOGRAD}/{DERIVATIVES}",
    "templates": f"{AUTOGRAD}/templates",
}

# The lines of an entry that name an operator: its own name, and references to others.
_NAMES = re.compile(r"(?m)^(- func: |- name: |  structured_delegate: |  autogen: )([^(\n#]+)")
_FOREACH = "_foreach_"
# Operators that torchgen checks by name, in addition to those in its lists.
_KNOWN_BY_NAME = re.compile(
    r"(resize_|resize_as_|set_|uniform_|random_\.from|_has_compatible_shallow_copy_type|_foreach_zero_)(\.|$)"
)
_DUNDER = re.compile(r"__(i?)(and|or|xor|lshift|rshift)__")


class SpecFolder:
    """A spec set in a folder, which both programs can read: flat, or with its files at the places of a checkout."""

    def __init__(self, folder: Path, places: dict[str, str] | None = None) -> None:
        self.folder = folder
        self._places = places or {}

    def path(self, name: str) -> Path:
        """Where a file is."""
        return self.folder / self._places.get(name, name)

    @property
    def native(self) -> Path:
        return self.path(NATIVE)

    @property
    def tags(self) -> Path:
        return self.path(TAGS)

    @property
    def derivatives(self) -> Path:
        return self.path(DERIVATIVES)

    @property
    def templates(self) -> Path:
        return self.path("templates")

    def texts(self) -> dict[str, str]:
        """The texts of the two large files by name: the input of edits."""
        return {name: self.path(name).read_text() for name in (NATIVE, DERIVATIVES)}

    def write(self, texts: dict[str, str]) -> None:
        """Writes the files with changed text; the others keep their times."""
        for name, text in texts.items():
            path = self.path(name)
            if path.read_text() != text:
                path.write_text(text)


def make(folder: Path, scale: int) -> SpecFolder:
    """Writes the installed torch's spec set with `scale` times its entries: the real ones, then renamed copies."""
    packaged = _packaged()
    folder.mkdir(parents=True)
    shutil.copytree(packaged / "autograd" / "templates", folder / "templates")
    (folder / "RELEASE").write_text(metadata.version("torch"))
    return _filled(SpecFolder(folder), packaged, scale)


def make_checkout(folder: Path, scale: int) -> SpecFolder:
    """The same with the files that PyTorch's generate_code.py reads, at their places in a checkout."""
    packaged = _packaged()
    shutil.copytree(packaged / "autograd" / "templates", folder / AUTOGRAD / "templates")
    shutil.copytree(packaged / "ATen" / "templates", folder / ATEN / "templates")
    shutil.copyfile(packaged / "autograd" / "deprecated.yaml", folder / AUTOGRAD / "deprecated.yaml")
    (folder / "version.txt").write_text(metadata.version("torch"))
    (folder / ATEN / "native").mkdir()
    return _filled(SpecFolder(folder, CHECKOUT), packaged, scale)


def _packaged() -> Path:
    spec = find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("torch is not installed: pip install 'gradmill[test]'")
    return Path(next(iter(spec.submodule_search_locations))) / "packaged"


def _filled(specs: SpecFolder, packaged: Path, scale: int) -> SpecFolder:
    for name, place in _PACKAGED.items():
        text = (packaged / place).read_text()
        if name != TAGS:
            text = "".join([text, *(_copy(text, f"x{i}") for i in range(1, scale))])
        specs.path(name).write_text(text)
    return specs


def entries(text: str) -> tuple[str, list[str]]:
    """The text before the first entry of a file, and its entries. Joined, they are the whole text."""
    head, *items = re.split(r"(?m)^(?=- )", text)
    return head, items


def _copy(text: str, mark: str) -> str:
    """A copy of all entries with renamed operators."""
    return "\n" + "".join(_renamed(entry, mark) for entry in entries(text)[1] if _can_be_renamed(entry))


def _renamed(entry: str, mark: str) -> str:
    def mark_all(match: re.Match[str]) -> str:
        return match[1] + ", ".join(_marked(name.strip(), mark) for name in match[2].split(",")) + _space(match[2])

    return _NAMES.sub(mark_all, entry)


def _marked(name: str, mark: str) -> str:
    """The operator's new name. Prefixes and suffixes that have a meaning are unchanged.

    A dunder name becomes a plain one, because torchgen has a fixed list of in-place dunder names.
    """
    dunder = _DUNDER.match(name)
    if dunder:
        return f"{mark}_dunder_{dunder[2]}{'_' if dunder[1] else ''}{name[dunder.end() :]}"
    if name.startswith(_FOREACH):
        return f"{_FOREACH}{mark}_{name.removeprefix(_FOREACH)}"
    return f"{mark}_{name}"


def _space(text: str) -> str:
    return text[len(text.rstrip()) :]


def _can_be_renamed(entry: str) -> bool:
    """Whether torchgen accepts the entry under another name: it treats some operators by name."""
    from torchgen import native_function_generation as generation
    from torchgen.api import autograd
    from torchgen.packaged.autograd import gen_variable_type as kernels

    foreach = (*kernels._foreach_ops_without_differentiability_info, *kernels._foreach_ops_with_different_arity)
    match = _NAMES.match(entry)
    name = match[2].partition("(")[0] if match else ""
    return not _KNOWN_BY_NAME.match(name) and name.replace("_.", ".") not in {
        *autograd._foreach_with_tensor_overload,
        *(f"{base}.{overload}" if overload else f"{base}_" for base, overload in foreach),
        *generation.OUT_OPS_THAT_DONT_GET_GROUPED_PROPERLY,
        *generation.MUTABLE_OPS_THAT_CANNOT_GET_AN_OUT_VARIANT,
        *generation.FUNCTIONAL_OPS_THAT_CANNOT_GET_AN_OUT_VARIANT,
        *generation.INPLACE_OPS_THAT_DONT_GET_GROUPED_PROPERLY,
    }
