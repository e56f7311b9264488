"""`manifest.json` and `units.json`, for other build systems. They contain no path of this machine.

Units are listed apart, because an edited formula changes none of their facts.
"""

from msgspec import Struct


class ManifestInput(Struct, frozen=True):
    """An input of generated files: a spec file, a template, or gradmill itself."""

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
    """One unit, a Node or a function, and its entry in the specs."""

    unit: str  # `ExpBackward0`, `VariableType::exp`
    family: str
    schema: str
    dispatch_key: str  # "" for a function
    file: str
    line: int
    synthesized: bool  # a foreach Node without its own entry: the entry is that of its reference


class Manifest(Struct, frozen=True, tag_field="format", tag="manifest/4"):
    """All generated files of one spec set, and their inputs."""

    gradmill: str  # version
    specs: str  # name of the spec set
    release: str  # the PyTorch release that the set was read as
    layout: str
    inputs: tuple[ManifestInput, ...]
    files: tuple[ManifestFile, ...]


class Units(Struct, frozen=True, tag_field="format", tag="units/1"):
    """All units of one spec set."""

    specs: str  # name of the spec set
    units: tuple[ManifestUnit, ...]
