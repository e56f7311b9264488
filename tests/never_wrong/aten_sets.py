"""Mutated sets of functions, and what torchgen.gen and gradmill make of them: the verdict, and ATen's files.

The mutations are of dispatch tables, structured functions and generated variants, besides those of schemas. The sets
have no derivatives, which torchgen.gen does not read.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from project import files_in

from . import bound
from .builds import clean_build
from .edits import in_entry
from .flags import REFUSED_HERE, random_words, variables_of
from .groups import group_added
from .oracle import Oracle
from .specset import NATIVE, TAGS, Specs, family, of_families, read_specs, torch_folder, torch_version
from .values import key_with_value
from .verdicts import Verdict, compared

FAMILIES = 10  # operators of a set, besides those that all have
ALWAYS = ("abs", "mul", "mm")
USUAL = ("--per-operator-headers",)
_LATER = "torch/csrc/inductor/"

_KEYS = (
    "CPU", "CUDA", "CPU, CUDA", "CPU, CUDA, MPS", "MPS", "Meta", "SparseCPU", "SparseCsrCUDA", "QuantizedCPU",
    "NestedTensorCPU, NestedTensorCUDA", "MkldnnCPU", "ZeroTensor", "XPU", "MTIA", "CompositeExplicitAutograd",
    "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutogradNestedTensor",
    "Autograd", "PrivateUse1", "Nope",
)  # fmt: skip
_KERNELS = ("gm", "gm_out", "gm_symint", "mine::gm", "at::native::gm", "gm, gm2", "structured_gm", "legacy::gm", "")
_STRUCTURED = """
- func: gm.out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: gm_out

- func: gm(Tensor self, int n=1) -> Tensor
  structured_delegate: gm.out

- func: gm_(Tensor(a!) self, int n=1) -> Tensor(a!)
  structured_delegate: gm.out
"""

Mutation = Callable[[Specs, Random], None]


def _kernel_added(entry: str, random: Random) -> str:
    row = f"    {random.choice(_KEYS)}: {random.choice(_KERNELS)}\n"
    if "  dispatch:\n" not in entry:
        entry = entry.replace("\n", "\n  dispatch:\n", 1)
    return entry.replace("  dispatch:\n", f"  dispatch:\n{row}", 1)


def _rows(entry: str) -> list[re.Match[str]]:
    return list(re.finditer(r"(?m)^    ([A-Z][\w, ]*): (\S+)\n", entry))


def _kernel_removed(entry: str, random: Random) -> str:
    rows = _rows(entry)
    row = random.choice(rows) if rows else None
    return entry if row is None else entry[: row.start()] + entry[row.end() :]


def _kernel_renamed(entry: str, random: Random) -> str:
    rows = _rows(entry)
    if not rows:
        return entry
    row, name = random.choice(rows), random.choice([*_KERNELS[:-1], "toggled", "toggled", "elsewhere"])
    old = row[2]
    toggled = old.removesuffix("_symint") if old.endswith("_symint") else f"{old}_symint"
    new = {"toggled": toggled, "elsewhere": f"mine::{old}"}.get(name, name)
    return entry[: row.start(2)] + new + entry[row.end(2) :]


def _key_of_kernel(entry: str, random: Random) -> str:
    rows = _rows(entry)
    row = random.choice(rows) if rows else None
    return entry if row is None else entry[: row.start(1)] + random.choice(_KEYS) + entry[row.end(1) :]


def _structured_changed(entry: str, random: Random) -> str:
    """A line about structured kernels, generated variants or what is precomputed removed, or with another value."""
    found = list(
        re.finditer(r"(?m)^  (structured\w*|autogen|precomputed|ufunc_inner_loop): ?(.*)\n(    .*\n|  - .*\n)*", entry)
    )
    if not found:
        return entry
    line = random.choice(found)
    values = {
        "structured": ["False", "1"], "structured_delegate": ["mul.out", "gm.out", "abs.out", f"{line[2]}2"],
        "structured_inherits": ["TensorIterator"], "autogen": ["gm.out", f"{line[2]}, gm", f"{line[2]}2"],
    }  # fmt: skip
    new = f"  {line[1]}: {random.choice(values[line[1]])}\n" if line[1] in values and random.random() < 0.5 else ""
    return entry[: line.start()] + new + entry[line.end() :]


def _autogen_added(entry: str, random: Random) -> str:
    """A variant that upstream is to generate, of the function's own name as a rule."""
    text = bound.Text(entry)
    name = text.name.rstrip("_")
    value = random.choice(
        [f"{name}.out", f"{name}.out", f"{name}{text.overload}_out", f"{name}.gm_out", name, "gm.out"]
    )
    return entry.replace("\n", f"\n  autogen: {value}\n", 1)


def entries_moved(specs: Specs, random: Random) -> None:
    """A function elsewhere in the file, all kernels of a key before others perhaps."""
    specs.native.insert(random.randrange(len(specs.native)), specs.native.pop(random.randrange(len(specs.native))))


def structured_added(specs: Specs, random: Random) -> None:
    """A structured function with its variants, mutated as a rule."""
    entries = [f"- func:{each}" for each in _STRUCTURED.split("- func:")[1:]]
    if random.random() < 0.7:
        at = random.randrange(len(entries))
        change = random.choice(_OF_ENTRIES)
        entries[at] = change(entries[at], random)
    at = random.choice([0, len(specs.native)])
    specs.native[at:at] = [f"{each.rstrip()}\n\n" for each in entries]


def group_of_functions_added(specs: Specs, random: Random) -> None:
    """A view or a function with its variants, without derivatives."""
    group_added(specs, random)
    specs.derivatives.clear()


_OF_ENTRIES = (
    _kernel_added, _kernel_added, _kernel_removed, _kernel_removed,
    _kernel_renamed, _kernel_renamed, _key_of_kernel, _structured_changed, _structured_changed, _structured_changed,
    _autogen_added,
)  # fmt: skip
MUTATIONS: tuple[Mutation, ...] = (
    *(in_entry(each.__name__.removeprefix("_"), each) for each in (*_OF_ENTRIES, *_OF_ENTRIES)),
    *bound.MUTATIONS,
    *(key_with_value for _ in range(6)),
    entries_moved,
    entries_moved,
    *(structured_added for _ in range(4)),
    *(group_of_functions_added for _ in range(3)),
)


def mutated(base: Specs, seed: int) -> tuple[Specs, list[str]]:
    """A small set with one to three mutations, and their names. Every seed gives another."""
    random = Random(seed)
    known = sorted({family(entry) for entry in base.native})
    specs = of_families(base, {*random.sample(known, FAMILIES), *ALWAYS})
    specs.derivatives.clear()
    made = []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        mutation = random.choice(MUTATIONS)
        mutation(specs, random)
        made.append(mutation.__name__)
    return specs, made


class JudgeOfAten:
    """The folders and torchgen's process for a number of mutated sets."""

    def __init__(self, folder: Path, torchgen: Oracle, *, flags: bool = False, only: str = "") -> None:
        self._base = read_specs(torch_folder())
        self._folder, self._scratch = folder / "set", folder / "scratch"
        shutil.copytree(torch_folder(), self._folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        (self._folder / "RELEASE").write_text(torch_version())
        (self._folder / "autograd" / "derivatives.yaml").write_text("[]\n")
        self._torchgen, self._flags = torchgen, flags
        self._only = ("--generate", only) if only else ()  # the type of files

    def judge(self, seed: int) -> tuple[Verdict, list[str]]:
        """The verdict on the mutated set of a seed, its mutations, and its arguments."""
        specs, made = mutated(self._base, seed)
        words = random_words(specs, self._folder.parent, Random(f"flags {seed}")) if self._flags else USUAL
        words = [*words, *self._only]
        return self.judge_specs(specs, words), [*made, *(words if self._flags else ())]

    def judge_specs(self, specs: Specs, words: Sequence[str] = USUAL) -> Verdict:
        """The verdict on any set of functions. `words`: arguments of torchgen.gen."""
        texts = specs.texts()
        for name in (NATIVE, TAGS):
            (self._folder / "ATen" / "native" / name).write_text(texts[name])
        shutil.rmtree(self._scratch, ignore_errors=True)
        theirs = self._scratch / "torchgen"
        theirs.mkdir(parents=True)
        error = self._torchgen.run_gen(self._folder / "ATen", theirs, *words)
        variables = variables_of([*words], self._folder / "ATen")
        ours = clean_build(self._folder, self._scratch / "gradmill", **variables)
        if not error and any(reason in ours.refusal for reason in REFUSED_HERE):
            return Verdict(False, "", ours.refusal)  # as documented
        made = {name.removeprefix("ATen/"): data for name, data in ours.files.items() if name.startswith("ATen/")}
        expected = {} if error else files_in(theirs)
        return compared(error, ours, made, {name: expected[name] for name in expected if not name.startswith(_LATER)})
