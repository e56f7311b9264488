"""Regular expressions that are compiled at first use.

An incremental run uses few of them, and compiling those of all modules takes as long as printing a hundred Nodes.
"""

import re
from typing import Any, AnyStr, cast

_METHODS = ("finditer", "findall", "fullmatch", "match", "search", "split", "sub", "subn")


class _Pattern:
    """A stand-in for a compiled pattern, which compiles it at first use."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self._text, self._flags)
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A regular expression with the methods of `re.compile(text, flags)`, compiled when a method is first used."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))
