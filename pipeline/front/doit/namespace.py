"""Where a dodo.py that was copied from an earlier clone imports `namespace` from."""

from pipeline.front.doit.loader import namespace

__all__ = ["namespace"]
