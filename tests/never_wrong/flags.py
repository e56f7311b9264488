"""Random arguments of torchgen.gen, and the variables that gradmill's command takes them for."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from random import Random

from gradmill.cli.commands.torchgen import Torchgen

from .specset import Specs, family

_STATIC = ("CPU", "CUDA", "SparseCPU", "CompositeExplicitAutograd")  # which most sets have kernels for
_KEYS = (*_STATIC, "QuantizedCPU", "Meta", "MPS", "ZeroTensor", "NestedTensorCPU", "Vulkan", "XPU")
_OF_RUN = ("specs", "generated", "tree", "shims")  # variables about the folders of a run
# What gradmill alone refuses, as docs/pytorch.md says: a key without kernels, for which torchgen includes a header that
# does not exist; a kernel for a backend that was not asked for, of a function that delegates.
REFUSED_HERE = (
    "operators cannot call them without the dispatcher",
    "but the op is delegated",
    "is declared twice, with kernels for different keys",
)


def random_words(specs: Specs, folder: Path, random: Random) -> list[str]:
    """Arguments for a set. A list of operators is written to `folder`."""
    words = ["--per-operator-headers"] if random.random() < 0.7 else []
    words += [f"--{name}" for name in ("mps", "xpu", "mtia", "rocm") if random.random() < 0.2]
    words += [f"--{name}-registration" for name in ("skip-dispatcher-op", "force-schema") if random.random() < 0.25]
    if random.random() < 0.4:
        keys = [*_STATIC, "QuantizedCPU", "MPS"] if random.random() < 0.1 else _STATIC
        words += ["--static-dispatch-backend", *random.sample(keys, random.choice([0, 1, 1, 2, 3]))]
    if random.random() < 0.3:
        words += ["--backend-whitelist", *random.sample(_KEYS, random.choice([0, 1, 2, 4]))]
    if (selecting := random.random()) < 0.5:
        names = [f"aten::{family(random.choice(specs.native))}" for _ in range(random.choice([0, 1, 3, 8]))]
        names += random.choice([[], ["aten::add.Tensor"], ["aten::mul.out"], ["nope::gm"]])
        if selecting < 0.3:
            words += ["--op-registration-whitelist", *names]
        else:
            path = folder / "selected.yaml"
            rows = [f"  {name}: {{}}\n" for name in dict.fromkeys([*names, "x::y"])]
            path.write_text("".join(["operators:\n", *rows]))
            words += ["--op-selection-yaml-path", str(path)]
    return words


def variables_of(words: list[str], source: Path) -> dict[str, str]:
    """The variables that `gradmill torchgen` takes these words for, without those of folders."""
    command = Torchgen()
    options: Namespace = command.arguments().read(["-s", str(source), *words])
    return {name: value for name, value in command.variables_for(options, {}).items() if name not in _OF_RUN}
