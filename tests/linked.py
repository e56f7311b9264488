"""Every generated source of a set, compiled, linked into one library and loaded into torch: `python -m tests.linked`.

Torch's dispatcher then says which kernels of the library it knows: each must be registered once. The linker refuses
what is defined twice, the loader what nothing defines. The vendor's set and some operators of core in upstream's
layout: the other one registers the same kernels. With `--whole` both layouts, and all of core: that takes six minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":  # as a module of `tests`, or as a script
    sys.path.insert(0, str(Path(__file__).parent))

from cpp.extension import with_own_names
from cpp.toolchain import compile_flags, hasty_flags, link_flags, precompiled
from never_wrong.specset import make_folder, of_families, read_specs
from project import CORE, ROOT, run_program

RELEASE = (CORE / "RELEASE").read_text().strip()
EXAMPLE = ROOT / "examples" / "vendor"
LAYOUTS = ("upstream", "split")
SHARDS = 2  # of the split layout
# In place, out of place, with out, views, lists, a factory, one with SymInts, one that is composite.
OPERATORS = ("add", "mul", "exp", "t", "select", "full", "sum", "expand", "square")
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


def core(folder: Path, operators: Sequence[str] = OPERATORS) -> Linked:
    """Operators of core, or without any all of them."""
    templates = CORE / "templates"
    if not operators:
        return Linked("core", CORE, (templates,), (ROOT / "tests" / "cpp" / "core_operators.cpp",))
    made = make_folder(folder / "core", CORE, RELEASE)
    of_families(read_specs(CORE), operators).write(made)
    return Linked("core", made, (templates,), ())


def generate(of: Linked, layout: str, folder: Path) -> Path:
    """The folder of the generated files."""
    generated = folder / f"{of.name}_{layout}"
    words = [f"specs={of.specs}", f"layout={layout}", *([f"shards={SHARDS}"] if layout == "split" else [])]
    run_program(sys.executable, "-m", "gradmill", *words, f"generated={generated}", f"cache={folder / 'cache'}")
    return generated


def build(of: Linked, generated: Path, *, joined: bool = True) -> Path:
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
    return Counter(json.loads(run_program(sys.executable, __file__, "--load", library).splitlines()[-1]))


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true", help="all of core, each source by itself")
    parser.add_argument("--only", choices=("toy", "core"), help="one of the two sets")
    parser.add_argument("--folder", type=Path, default=None, help="where to work")
    parser.add_argument("--load", type=Path, help="load a library and print its kernels")
    options = parser.parse_args()
    if options.load is not None:
        print(json.dumps(_load(options.load)))
        return
    with tempfile.TemporaryDirectory() as spare:
        folder = (options.folder or Path(spare)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        both = (example(), core(folder, () if options.whole else OPERATORS))
        for of in (of for of in both if options.only in (None, of.name)):
            generated = {layout: generate(of, layout, folder) for layout in LAYOUTS}
            kernels, other = map(written, generated.values())
            assert kernels == other, (kernels - other, other - kernels)
            assert set(kernels.values()) == {1}, kernels.most_common(5)
            for layout in LAYOUTS if options.whole else LAYOUTS[:1]:
                result = loaded(build(of, generated[layout], joined=not options.whole))
                assert result == kernels, (result - kernels, kernels - result)
                print(f"{of.name}, {layout}: {len(result)} kernels, each registered once", flush=True)


if __name__ == "__main__":
    main()
