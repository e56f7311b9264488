"""Regular expressions that are compiled when somebody first uses them: a run with little to do uses few of them, and
compiling those of all modules takes as long as printing a hundred Nodes."""

import re
from typing import Any, AnyStr, cast

_METHODS = ("finditer", "findall", "fullmatch", "match", "search", "split", "sub", "subn")


class _Pattern:
    """What stands for a compiled pattern until one is needed."""

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
    """A regular expression: its methods are those of `re.compile(text, flags)`, which the first use of one calls."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))
