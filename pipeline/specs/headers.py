"""Headers that declare what formulas call: the torch package's own, and those that a spec set has beside its templates.

`FunctionsManual.h` is where PyTorch's formulas have their helpers. The torch package ships it, a checkout has it among
its sources; a folder may have it beside its YAML files or its templates. Any other header beside the templates is one
of the set's own.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from pipeline.specs.location import Location

MANUAL = "FunctionsManual.h"
IN_PACKAGE = f"torch/include/torch/csrc/autograd/{MANUAL}"
IN_CHECKOUT = f"torch/csrc/autograd/{MANUAL}"


def headers_of(folder: str, templates: str, known: Collection[str]) -> tuple[dict[str, Location], tuple[str, ...]]:
    """The headers of a set by name, and where a header was looked for. `known` are headers that are templates."""
    above = os.path.dirname(os.path.abspath(folder))
    packages = (os.path.join(os.path.dirname(above), IN_PACKAGE), os.path.join(above, IN_PACKAGE))
    places = (os.path.join(folder, IN_CHECKOUT), *packages, os.path.join(folder, MANUAL))
    found = {}
    for path in places:
        if os.path.isfile(path):
            found[MANUAL] = Location(path)
            break
    beside = {name: Location(os.path.join(templates, name)) for name in _listed(templates) if name not in known}
    return beside | found, (*places, templates)


def _listed(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".h") and not name.startswith("."))
    except OSError:
        return []
