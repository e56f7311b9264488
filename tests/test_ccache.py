"""examples/ninja and examples/cmake with ccache and a storage that machines share: what one has compiled, none compiles
again, wherever its clone is."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cpp import toolchain
from installed import copy_clone
from project import Project, replace_once, run_program

FORMULA = "  self: grad * result.conj()\n"  # of exp
COMPILED = 2  # sources of one shard


class Machine:
    """A clone with a small spec set, and an empty ccache, of one machine."""

    def __init__(self, place: Path, origin: Project, url: str) -> None:
        self.clone = place / "clone"
        copy_clone(self.clone, ("pipeline", "examples", "dodo.py"), "bazel-*")
        shutil.copytree(origin.specs, self.clone / "specs" / "core")
        self.flags = ["-O0", *toolchain.hasty_flags()]
        self._environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "CCACHE_DIR": str(place / "ccache"),
            "CCACHE_REMOTE_STORAGE": url,
            "CCACHE_BASEDIR": str(self.clone),
            "CCACHE_NOHASHDIR": "1",
        }

    def run(self, *command: object) -> str:
        """Runs a command in the clone."""
        return run_program(*command, cwd=self.clone, env=self._environment)

    def edit(self, old: str, new: str) -> None:
        replace_once(self.clone / "specs" / "core" / "derivatives.yaml", old, new)

    @property
    def counts(self) -> tuple[int, int]:
        """How many compilations were found in the shared storage, and how many were done."""
        lines = (line.split("\t") for line in self.run("ccache", "--print-stats").splitlines())
        counted = {name: int(value) for name, value in lines}
        return counted["direct_cache_hit"] + counted["preprocessed_cache_hit"], counted["cache_miss"]


def ninja(machine: Machine) -> list[str]:
    """Configures; the command that builds."""
    flags = f"--flags={' '.join(machine.flags)}"
    words = ["--launcher", "ccache", "--no-precompiled", "--shards", "1", flags]
    machine.run(sys.executable, "examples/ninja/configure.py", *words)
    return ["ninja", "-C", "build/ninja"]


def cmake(machine: Machine) -> list[str]:
    """The same with CMake."""
    definitions = ["CMAKE_CXX_COMPILER_LAUNCHER=ccache", "CMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "SHARDS=1"]
    definitions += [f"Python3_EXECUTABLE={sys.executable}", f"CMAKE_CXX_FLAGS={' '.join(machine.flags)}"]
    words = [f"-D{definition}" for definition in definitions]
    machine.run("cmake", "-G", "Ninja", "-S", "examples/cmake", "-B", "build/cmake", *words)
    return ["cmake", "--build", "build/cmake"]


@pytest.mark.slow(25)
@pytest.mark.parametrize(("configure", "programs"), [(ninja, ["ninja"]), (cmake, ["ninja", "cmake"])])
def test_a_second_machine_compiles_nothing_again(
    tmp_path: Path, tiny_built: Project, configure: Callable[[Machine], list[str]], programs: list[str], nginx: str
) -> None:
    if reason := toolchain.missing(*programs, "ccache"):
        pytest.skip(reason)
    first = Machine(tmp_path / "first", tiny_built, nginx)
    first.edit(FORMULA, FORMULA.replace("grad * ", "grad * 1 * "))
    first.run(*configure(first))
    assert first.counts == (0, COMPILED)
    second = Machine(tmp_path / "the second" / "machine", tiny_built, nginx)
    second.edit(FORMULA, FORMULA.replace("grad * ", "grad * 1 * "))
    second.run(*configure(second))
    assert second.counts == (COMPILED, 0)
