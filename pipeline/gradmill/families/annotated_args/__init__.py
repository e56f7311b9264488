"""Family: `annotated_fn_args.py`, the required arguments of what Python calls, for tests of `__torch_function__`.

A unit is a name of a module, or a method of Tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.families.family import Family, Layout
from gradmill.families.file import File, pieces_in
from gradmill.families.rows import FAMILY_ROWS
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release

(TEMPLATE,) = FAMILY_ROWS["annotated_args"].templates
NAME = "annotated_fn_args.py"
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


class AnnotatedArgs(Family):
    """Module by module, with names in the order of their first functions."""

    name, label = "annotated_args", "annotated arguments"
    unit, subject = "binding", "python_names.named_functions"
    rendered = (ROWS,)
    slots = {"annotated_args": ROWS}
    described = False
    known = regex(r"annotated_fn_args\.py")

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The one file: module by module, with names in the order of their first functions."""
        members: dict[str, list[str]] = {module: [] for module in MODULES}
        for unit in units:
            members.get(unit.name.rpartition(".")[0], []).append(unit.name)
        listed = tuple(name for names_of in members.values() for name in names_of)
        return [File(name=NAME, template=TEMPLATE, holes=pieces_in(self.slots), units=listed)]


ANNOTATED_ARGS = AnnotatedArgs()
