"""The output families. A new one is a module of its own and a row here."""

from __future__ import annotations

from pipeline.outputs import autograd_functions, python_functions
from pipeline.outputs.family import Family

FAMILIES: tuple[Family, ...] = (autograd_functions.FAMILY, python_functions.FAMILY)
