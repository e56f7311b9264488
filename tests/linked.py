"""Every generated source of a set, compiled, linked into one library and loaded into torch.

Torch's dispatcher then says which kernels of the library it knows: each must be registered once. The linker refuses
what is defined twice, the loader what nothing defines. `python linked.py LIBRARY` loads one, and prints its kernels.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":  # as pytest has it on the path
    sys.path.insert(0, str(Path(__file__).parent))

from cpp.extension import with_own_names
from cpp.toolchain import compile_flags, hasty_flags, link_flags, precompiled
from project import CORE, ROOT, run_program

EXAMPLE = ROOT / "examples" / "vendor"
LAYOUTS = ("upstream", "split")
SHARDS = 2  # of the split layout
_BLOCK = re.compile(r"^TORCH_LIBRARY_IMPL\((\w+), (\w+), m\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_IMPL = re.compile(r'm\.impl\(\s*"([^"]+)"')
_KNOWN = re.compile(r"^(\w+)(?:\[alias\])?(?: \(inactive\))?: registered at (.*):\d+ :: ", re.MULTILINE)

Kernels = Counter[str]  # how often each is registered: `aten::add.Tensor at Autograd`


class Linked(NamedTuple):
    """A set to be linked."""

    name: str
    specs: Path
    include: tuple[Path, ...]  # folders
    by_hand: tuple[Path, ...]  # sources that belong to it


def example() -> Linked:
    """The vendor's, with its device and its operators."""
    own = EXAMPLE / "csrc"
    return Linked("toy", EXAMPLE, (own,), (own / "device.cpp", own / "operators.cpp"))


def core() -> Linked:
    """All of core."""
    return Linked("core", CORE, (CORE / "templates",), (ROOT / "tests" / "cpp" / "core_operators.cpp",))


def generate(of: Linked, layout: str, folder: Path) -> Path:
    """The folder of the generated files."""
    generated = folder / f"{of.name}_{layout}"
    words = [f"specs={of.specs}", f"layout={layout}", *([f"shards={SHARDS}"] if layout == "split" else [])]
    run_program(sys.executable, "-m", "gradmill", *words, f"generated={generated}", f"cache={folder / 'cache'}")
    return generated


def build(of: Linked, generated: Path, *, joined: bool) -> Path:
    """The library of all generated sources. `joined`: whether kernels are compiled together, as are bindings; each file
    costs three seconds next to its own text. What stands in two of them does not compile then."""
    flags = [*compile_flags(generated, *of.include), *hasty_flags(), "-Winvalid-pch", "-include", precompiled("-O0")]
    objects = []
    for source in _units(of, generated, joined=joined):
        objects.append(source.with_suffix(".o"))
        if source.parent == generated or not objects[-1].exists():  # by hand: the same in each layout
            run_program("c++", *flags, "-c", source, "-o", objects[-1])
    library = generated / f"lib{of.name}.so"
    run_program("c++", *objects, "-o", library, *link_flags())
    return library


def _units(of: Linked, generated: Path, *, joined: bool) -> Iterator[Path]:
    """What is compiled at once. Templates of Nodes have functions of their own: those stand alone."""
    together: dict[Path, list[str]] = {}
    for path in sorted(path for path in generated.glob("*.cpp") if "Everything" not in path.name):
        kind = "bindings" if path.name.startswith("python_functions") else "kernels"
        alone = not joined or path.name.startswith("Functions")
        together.setdefault(generated / f"{path.stem if alone else kind}.cc", []).append(with_own_names(path))
    if of.by_hand:
        together[generated.parent / f"{of.name}.cc"] = [f'#include "{path}"\n' for path in of.by_hand]
    for source, texts in together.items():
        source.write_text("".join(texts))
        yield source


def written(generated: Path) -> Kernels:
    """How often the generated sources register each kernel."""
    kernels: Kernels = Counter()
    for path in (path for path in generated.glob("*.cpp") if "Everything" not in path.name):
        for library, key, block in _BLOCK.findall(path.read_text()):
            kernels.update(f"{library}::{name} at {key}" for name in _IMPL.findall(block))
    return kernels


def loaded(library: Path) -> Kernels:
    """How often torch's dispatcher knows each kernel of a library, active or not: asked in a process of its own."""
    return Counter(json.loads(run_program(sys.executable, __file__, library).splitlines()[-1]))


def _load(library: Path) -> Kernels:
    import torch

    sys.path.insert(0, str(EXAMPLE))
    if library.stem == "libtoy":
        torch.utils.rename_privateuse1_backend("toy")
    torch.ops.load_library(str(library))
    kernels: Kernels = Counter()
    for name in torch._C._dispatch_get_all_op_names():
        for key, place in _KNOWN.findall(torch._C._dispatch_dump(name)):
            if Path(place).is_relative_to(library.parent):
                kernels[f"{name} at {key}"] += 1
    return kernels


def assert_registered_once(of: Linked, folder: Path, layouts: Sequence[str], *, joined: bool) -> None:
    """Both layouts register the same kernels; torch knows those of the libraries of `layouts`, each once."""
    generated = {layout: generate(of, layout, folder) for layout in LAYOUTS}
    kernels, other = map(written, generated.values())
    assert kernels == other, (kernels - other, other - kernels)
    assert {*kernels.values()} == {1}, kernels.most_common(5)
    for layout in layouts:
        result = loaded(build(of, generated[layout], joined=joined))
        assert result == kernels, (result - kernels, kernels - result)


if __name__ == "__main__":
    print(json.dumps(_load(Path(sys.argv[1]))))
