"""Headers that declare the functions which formulas call: the release's header, and those next to a set's templates.

`FunctionsManual.h` declares the helpers of PyTorch's formulas. A checkout has it among its sources, the torch package
among its headers, next to `torchgen`. Any set may have one next to its YAML files or templates. A header elsewhere,
for example in a virtual environment around the set, does not belong to the set. All other headers next to the
templates do.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from msgspec import Struct

from gradmill.specs.location import Location

MANUAL = "FunctionsManual.h"
IN_PACKAGE = f"torch/include/torch/csrc/autograd/{MANUAL}"
IN_CHECKOUT = f"torch/csrc/autograd/{MANUAL}"


class Headers(Struct, frozen=True):
    """The headers of a set."""

    by_name: dict[str, Location]
    looked_for: tuple[str, ...]  # all paths where a header may be; a change of any of them may change the set
    whole: bool  # whether the release's header is where PyTorch has it: the set is then a whole release


def headers_of(folder: str, templates: str, known: Collection[str], of_release: str = "") -> Headers:
    """The headers of the set in a folder.

    `templates` is its folder of templates, `known` the names of templates, which are not headers of the set.
    `of_release` is the path of the release's header in the set's layout, "" if the layout has none.
    """
    headers = {name: Location(os.path.join(templates, name)) for name in _listed(templates) if name not in known}
    places = [of_release] * bool(of_release) + [os.path.join(folder, MANUAL)]
    manual = next(filter(os.path.isfile, places), "")
    if manual:
        headers[MANUAL] = Location(manual)
    return Headers(headers, (*places, templates), bool(manual) and manual == of_release)


def _listed(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".h") and not name.startswith("."))
    except OSError:
        return []
