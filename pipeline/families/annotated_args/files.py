"""Family: `annotated_fn_args.py`, the required arguments of what Python calls, for tests of `__torch_function__`.

A unit is a name of a module, or a method of Tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.families.family import Family, Layout, Place
from pipeline.families.file import File
from pipeline.model.units import Unit
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.families.annotated_args.plan import AnnotatedArgs
    from pipeline.model.bindings import Binding

NAME, TEMPLATE = "annotated_fn_args.py", "annotated_fn_args.py.in"
ROWS = "rows"
# The modules of names, in their order, and what the file calls them. It has no nested and no sparse functions.
MODULES = {
    "torch": "torch._C._VariableFunctions",
    "torch.nn": "torch._C._nn",
    "torch.linalg": "torch._C._linalg",
    "torch.special": "torch._C._special",
    "torch.fft": "torch._C._fft",
    "Tensor": "torch.Tensor",
}


def files(names: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The one file: module by module, with names in the order of their first functions."""
    members: dict[str, list[str]] = {module: [] for module in MODULES}
    for unit in names:
        members.get(unit.name.rpartition(".")[0], []).append(unit.name)
    listed = tuple(name for names_of in members.values() for name in names_of)
    return [File(NAME, TEMPLATE, {}, {"annotated_args": ROWS}, listed)]


def plan(binding: Binding, release: Release) -> AnnotatedArgs:
    """The plan of a name. Raises SpecError as its planner does."""
    from pipeline.families.annotated_args.plan import plan_args  # only rendering needs it

    return plan_args(MODULES.get(binding.module, ""), binding)


def render(plan: AnnotatedArgs, release: Release) -> dict[str, str]:
    """The one piece of its text: a row for each overload."""
    rows = (f"    {plan.name}: {[row.fields() for row in overload]!r},\n" for overload in plan.overloads)
    return {ROWS: "".join(rows)}


ANNOTATED_ARGS = Family(
    "annotated_args",
    "annotated arguments",
    "binding",
    "named",
    plan,
    render,
    files,
    NAME.__eq__,
    (ROWS,),
    described=False,
    templates=(TEMPLATE,),
    by_default=False,
    subsets={"python": ""},
    place=Place("torch/testing/_internal/generated", ""),
    needs=TEMPLATE,
)
