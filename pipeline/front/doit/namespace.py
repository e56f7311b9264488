"""Where a dodo.py that was copied from gradmill 0.2 imports `namespace` from."""

from pipeline.front.doit.loader import namespace

__all__ = ["namespace"]
