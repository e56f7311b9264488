"""Names of values: C++ identifiers, each given once."""

from __future__ import annotations

import re

_OTHER = re.compile(r"\W")
_RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
    consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires return short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq at
    c10 std torch gradmill graph saved needs grads found node keep views view base list main errno NULL assert
    stdin stdout stderr linux unix
    """.split()
)


def identifier(name: str) -> str:
    """A name of a function, as C++ can have it."""
    return f"{name}_" if name in _RESERVED else name


class Names:
    """Gives names that nothing else has."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, wanted: str) -> str:
        """A name like `wanted`."""
        plain = re.sub(r"__+", "_", _OTHER.sub("_", wanted)).strip("_") or "value"
        if plain[0].isdigit():
            plain = f"v{plain}"
        found, number = plain, 1
        while found in self._taken or found in _RESERVED:
            number += 1
            found = f"{plain}_{number}"
        self._taken.add(found)
        return found
