"""Family: the Python bindings of functions and methods. A unit is a name of a module, or a method of Tensor.

deprecated.yaml adds signatures to them. The number of shards is fixed by handwritten code, which gathers their tables,
so every layout has the same sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.families.family import Family, Layout, shard_of
from pipeline.families.file import File
from pipeline.model.regex import regex
from pipeline.model.units import Unit
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.families.bindings.plan import BindingPlan
    from pipeline.model.bindings import Binding

SHARDED = "python_torch_functions.cpp"
SHARDS = 3
# Templates -> the module of the names in the file.
_FILES = {
    "python_variable_methods.cpp": "Tensor",
    **{
        f"python_{module}_functions.cpp": f"torch.{module}"
        for module in ("nn", "fft", "linalg", "nested", "sparse", "special")
    },
}
INCLUDE, DECLARATION, DEFINITION, ROW = "include", "declaration", "definition", "row"
_SLOTS = {"ops_headers": INCLUDE, "py_forwards": DECLARATION, "py_methods": DEFINITION, "py_method_defs": ROW}

_SHARD = regex(r"python_torch_functions(_\d+|Everything)\.cpp")


def files(units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The shards of the module torch, in the order of the spec files; one sorted file for each other module."""
    modules: dict[str, list[str]] = {}
    for unit in units:
        modules.setdefault(unit.name.rpartition(".")[0], []).append(unit.name)
    listed = []
    for shard, names in _shards(units, layout).items():
        name = SHARDED.replace(".", f"{shard}.")
        listed.append(File(name, SHARDED, {"shard_id": shard}, dict(_SLOTS), names, shard=shard))
    for template, module in _FILES.items():
        listed.append(File(template, template, {}, dict(_SLOTS), tuple(sorted(modules.get(module, ())))))
    return listed


def _shards(units: Sequence[Unit], layout: Layout) -> dict[str, tuple[str, ...]]:
    """The names of the module torch by shard. Upstream's layout adds all of them together, which no build compiles."""
    own = [unit for unit in units if unit.name.rpartition(".")[0] == "torch"]
    members: list[list[str]] = [[] for _ in range(SHARDS)]
    for unit in own:
        members[shard_of(unit.operator, SHARDS)].append(unit.name)
    shards = {f"_{i}": tuple(names) for i, names in enumerate(members)}
    return shards if layout.name == "split" else {**shards, "Everything": tuple(unit.name for unit in own)}


def owns(name: str) -> bool:
    """Whether a file name belongs to this family."""
    return name in _FILES or _SHARD.fullmatch(name) is not None


def plan(binding: Binding, release: Release) -> BindingPlan:
    """The plan of a binding. Raises SpecError as its planner does."""
    from pipeline.families.bindings.plan import plan_binding  # only rendering needs it

    return plan_binding(binding, release)


def render(plan: BindingPlan, release: Release) -> dict[str, str]:
    """The pieces of its text, by name."""
    from pipeline.families.bindings import text

    return {
        INCLUDE: text.include(plan, release),
        DECLARATION: text.declaration(plan, release),
        DEFINITION: text.definition(plan, release),
        ROW: text.row(plan, release),
    }


BINDINGS = Family(
    "bindings",
    "Python bindings",
    "binding",
    "binding",
    plan,
    render,
    files,
    owns,
    (INCLUDE, DECLARATION, DEFINITION, ROW),
    described=False,
    templates=(SHARDED, *_FILES),
    subsets={"pybindings": ""},
    by_default=False,
    needs=SHARDED,
    reads=("deprecated",),
    homes={"shard_id": ""},
)
