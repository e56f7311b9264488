"""Headers that declare what formulas call: the release's own, and those that a spec set has next to its templates.

`FunctionsManual.h` declares the helpers of PyTorch's formulas. A checkout has it among its sources, the torch package
among its headers, next to `torchgen`. Any set may have one next to its YAML files or templates. A header that merely
lies near a set, as in a virtual environment around it, is not the set's. Any other header next to the templates is the
set's own.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import NamedTuple

from pipeline.specs.location import Location

MANUAL = "FunctionsManual.h"
IN_PACKAGE = f"torch/include/torch/csrc/autograd/{MANUAL}"
IN_CHECKOUT = f"torch/csrc/autograd/{MANUAL}"


class Headers(NamedTuple):
    """The headers of a set."""

    found: dict[str, Location]  # by name
    looked_for: tuple[str, ...]  # where a header would be found
    whole: bool  # whether the release's header is where PyTorch has it: then the set is a release's, and no part of one


def headers_of(folder: str, templates: str, known: Collection[str], of_release: str = "") -> Headers:
    """The headers of a set in a folder. `templates`: the folder of templates, and `known` those that are headers;
    `of_release`: where the layout of the set has the release's header, "" where it has none."""
    found = {name: Location(os.path.join(templates, name)) for name in _listed(templates) if name not in known}
    places = [of_release] * bool(of_release) + [os.path.join(folder, MANUAL)]
    manual = next(filter(os.path.isfile, places), "")
    if manual:
        found[MANUAL] = Location(manual)
    return Headers(found, (*places, templates), bool(manual) and manual == of_release)


def _listed(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".h") and not name.startswith("."))
    except OSError:
        return []
