"""Kinds of units: what the units of a family are, how they are found by name, and in which order they are printed.

A module has the functions of a kind, and `KIND`, which lists them. A family names its kind (`Family.unit`).
"""

from importlib import import_module

from gradmill.doors import extensions
from gradmill.families.family import Family
from gradmill.stages.kinds.kind import Kind

# The module of each kind. Few runs have units of most kinds, so modules are loaded when one of them is.
_OWN = {
    "Node": "nodes",
    "function": "functions",
    "kernel": "kernels",
    "binding": "python_names",
    "backend": "backends",
    "operator": "operators",
    "registration": "registrations",
    "group": "printed_groups",
    "variants": "variants",
    "stub": "stubs",
}
KINDS = {kind: f"{__name__}.{module}" for kind, module in _OWN.items()}
for _extension in extensions().values():
    KINDS |= _extension.kinds


def kind_of(family: Family) -> Kind:
    """The kind of a family's units."""
    kind: Kind = import_module(KINDS[family.unit]).KIND
    return kind
