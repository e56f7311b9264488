"""The Python names of a function. Rules: torchgen.packaged.autograd.gen_python_functions."""

from __future__ import annotations

from functools import lru_cache
from re import Pattern

from pipeline.model.native import FunctionHead
from pipeline.model.regex import regex
from pipeline.releases.model import Release


def is_bound(head: FunctionHead, release: Release) -> bool:
    """Whether a function has a generated Python binding. Of generated functions, only copies of views have one."""
    if head.generated and not head.view_copy:
        return False
    return head.schema not in release.unbound_schemas and not _unbound(release.unbound).fullmatch(head.cpp_name)


@lru_cache(maxsize=8)
def _unbound(patterns: frozenset[str]) -> Pattern[str]:
    return regex("|".join(sorted(patterns)))
