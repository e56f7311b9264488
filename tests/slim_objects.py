"""Whether torch's formulas compile to the same with slim headers: `python -m tests.slim_objects`. For GCC.

Each of 64 sources is compiled with `-O2`, with torch's headers and with those of `examples/slim`. Two objects are equal
if they have the same symbols, and the same instructions and relocations in each section. GCC inlines by all that a
source contains, so of other objects the formulas are compared as GCC reads them, before any optimization.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cpp.toolchain import compile_flags, torch_folder
from in_torch.sources import formulas

from examples.slim import slim

SHARDS = 64
EQUAL, SAME_TREES, DIFFERENT, NEEDY = "equal objects", "equal trees", "different", "torch's headers only"
_TREE = re.compile(r";; Function ([^\n]*?)_apply_functional\(")
_NUMBER = re.compile(r"\bD\.\d+")


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.slim_objects", description=__doc__)
    parser.add_argument("--sources", type=int, nargs="+", default=range(SHARDS), metavar="N", help="only these sources")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generated = formulas(folder, SHARDS)
        slim.write(f"{torch_folder()}/include", str(generated), str(folder / "headers"))
        with ThreadPoolExecutor(2) as pool:
            found = dict(zip(options.sources, pool.map(lambda number: compared(folder, number), options.sources)))
    for result, count in Counter(found.values()).items():
        print(f"{count} of {len(found)}: {result}: {[number for number, each in found.items() if each == result]}")
    return int(DIFFERENT in found.values())


def compared(folder: Path, number: int) -> str:
    """How the objects of a source compare."""
    full, slimmed = folder / f"full_{number}", folder / f"slim_{number}"
    headers = folder / "headers"
    source = folder / "generated" / f"Functions_{number}_formulas.cpp"
    command = ["c++", *compile_flags(headers, optimize="-O2"), "-c", str(source)]
    run([*command, *_outputs(full)])
    prelude = headers / "slim" / slim.PRELUDE
    slim_command = slim.slim_command(str(headers), str(prelude), [*command, *_outputs(slimmed)])
    if subprocess.run(slim_command, capture_output=True, check=False).returncode:
        return NEEDY
    if code(full.with_suffix(".o")) == code(slimmed.with_suffix(".o")):
        return EQUAL
    trees = [formula_trees(each.with_suffix(".tree").read_text(errors="replace")) for each in (full, slimmed)]
    return SAME_TREES if trees[0] and trees[0] == trees[1] else DIFFERENT


def _outputs(path: Path) -> list[str]:
    return ["-o", f"{path}.o", f"-fdump-tree-original={path}.tree"]


def run(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def code(path: Path) -> tuple[list[str], list[str]]:
    """The symbols of an object, and the text of its sections of code, in an order of their own."""
    text = run(["objdump", "-dr", "--no-show-raw-insn", str(path)])
    symbols = run(["nm", "--format=posix", str(path)]).splitlines()
    return sorted(symbols), sorted(text.split("\nDisassembly of section ")[1:])


def formula_trees(dump: str) -> dict[str, str]:
    """The trees of all formulas in a dump, by Node. Numbers of declarations count from one in each."""
    trees: dict[str, str] = {}
    for part in re.split(r"\n(?=;; Function )", dump):
        match = _TREE.match(part)
        if match:
            numbers: dict[str, str] = {}
            body = part.partition("\n{")[2]
            name = match[1].rpartition("::")[2]
            trees[name] = _NUMBER.sub(lambda each, known=numbers: known.setdefault(each[0], f"D.{len(known)}"), body)
    return trees


if __name__ == "__main__":
    sys.exit(main())
