"""`manifest.json`: what another build system reads. No path of a machine is in it."""

from msgspec import Struct


class ManifestInput(Struct, frozen=True):
    """Something that files are made from: a spec file, a template, gradmill itself."""

    name: str  # within the spec set: `derivatives.yaml`, `templates/Functions.h`
    xxh3: str  # 128 bits, hexadecimal


class ManifestFile(Struct, frozen=True):
    """One generated file."""

    path: str  # within the folder of generated files
    size: int  # bytes
    sha256: str
    xxh3: str
    inputs: tuple[str, ...]  # names among the manifest's inputs
    units: tuple[str, ...]  # in the order of the file


class ManifestUnit(Struct, frozen=True):
    """One unit, a Node or a function, and the entry it comes from."""

    unit: str  # `ExpBackward0`, `VariableType::exp`
    family: str
    schema: str
    dispatch_key: str  # "" for a function
    file: str
    line: int
    synthesized: bool  # a foreach Node without an entry of its own: the entry is that of its reference


class Manifest(Struct, frozen=True, tag_field="format", tag="manifest/3"):
    """All generated files of one spec set, and what they were made from."""

    gradmill: str  # version
    specs: str  # name of the spec set
    release: str  # PyTorch release, as it was read
    layout: str
    inputs: tuple[ManifestInput, ...]
    files: tuple[ManifestFile, ...]
    units: tuple[ManifestUnit, ...]
