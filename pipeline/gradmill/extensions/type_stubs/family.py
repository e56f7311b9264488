"""Family: the type stubs of torch, `.pyi` files. A unit is a name of the module torch, or a method of Tensor.

Templates are in a checkout, and in no package. What is in no YAML file is in the checkout's own script.

PyTorch: tools/pyi/gen_pyi.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.extensions.type_stubs.extension import EXTENSION
from gradmill.families.family import Family, Layout, comment_of_script
from gradmill.families.file import Content, File, pieces_in
from gradmill.model.layers import role_of
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release

_HERE = "gradmill.extensions.type_stubs"
ROLES = ROLE, TORCH_DOCS, TENSOR_DOCS, MODEL = tuple(map(role_of, EXTENSION.files))
_SLOTS = {"function_hints": "hints", "tensor_method_hints": "hints", "structseq_defs": "class"}
FUNCTIONS, METHODS, CLASSES = _SLOTS  # as in stand_ins.py, which few runs need
_OF_FUNCTIONS = "torch/_C/_VariableFunctions.pyi.in"
# Files -> their templates, and the hole that takes text of units.
STUBS = {
    "torch/_C/__init__.pyi": ("torch/_C/__init__.pyi.in", METHODS),
    "torch/_C/_VariableFunctions.pyi": (_OF_FUNCTIONS, FUNCTIONS),
    "torch/_VF.pyi": (_OF_FUNCTIONS, FUNCTIONS),
    "torch/return_types.pyi": ("torch/_C/return_types.pyi.in", CLASSES),
    "torch/nn/functional.pyi": ("torch/nn/functional.pyi.in", ""),
    "torch/_C/_nn.pyi": ("torch/_C/_nn.pyi.in", ""),
}


class TypeStubs(Family):
    """Names in the order of the script."""

    name, label = "type_stubs", "type stubs"
    unit, subject, given = "hint", f"{_HERE}.kind.hint", f"{_HERE}.kind.holes"
    rendered = ("hints", "class")
    slots = _SLOTS
    described = False
    runs_code = True
    folders = ("torch", "torch/_C", "torch/nn")
    known = regex("|".join(name.replace(".", r"\.") for name in STUBS))

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The files. What no unit prints comes from the script, if that is known, and so does the order of units."""
        found = []
        for name, holes in layout.given.get(self.name, {name: {} for name in STUBS}).items():
            template, slot = STUBS[name]
            contents: dict[str, Content] = {hole: text for hole, text in holes.items() if hole not in _SLOTS}
            contents |= pieces_in({hole: _SLOTS[hole] for hole in holes if hole in _SLOTS})
            comment = str(holes.get("generated_comment", comment_of_script("tools/pyi/gen_pyi.py", template)))
            found.append(File(name, template, contents, tuple(holes.get(slot, ())), comment=comment))
        return found


TYPE_STUBS = TypeStubs()
