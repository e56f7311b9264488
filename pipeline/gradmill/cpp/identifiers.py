"""Searches identifiers in C++ formulas as upstream does.

Upstream searches for a name with `(^|\\W)name($|\\W)`, which consumes the character on either side. Its replacement
therefore misses the second of two uses with a single character between them (`grad*grad`). Byte equality requires the
same. The name of an argument may not be a word, such as `x.y` or `x+`: it is then part of the pattern.

torchgen: `utils.split_name_params`, `load_derivatives.saved_variables`.
"""

from __future__ import annotations

import re
import warnings

from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError

KEYWORDS = frozenset(  # of C++
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int
    long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
    this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
    while xor xor_eq
    """.split()
)
_WORD = regex(r"\w+")
_WHOLE = r"(^|\W){}($|\W)"


def small_int(digits: str) -> int:
    """The number in `digits`. One that is too large for any index becomes another one that is too large."""
    return int(digits.lstrip("0")[:9] or "0")


def words(text: str) -> frozenset[str]:
    """Every identifier, keyword and number in `text`."""
    return frozenset(_WORD.findall(text))


def is_word(name: str) -> bool:
    """Whether a name has only letters, digits and underscores, and so matches itself in a pattern."""
    return name.replace("_", "0").isalnum()


def pattern(text: str, name: str) -> re.Pattern[str]:
    """The pattern `text` with `name` for its `{}`; raises a SpecError if the result is not a valid pattern."""
    filled = text.replace("{}", name)
    if is_word(name):
        return re.compile(filled)
    try:
        with warnings.catch_warnings(action="ignore"):
            return re.compile(filled)
    except re.error as error:
        problem = f"'{name}' cannot be searched for: {error}"
        raise SpecError(problem, "name the argument with letters, digits and underscores") from error


def uses(text: str, name: str) -> bool:
    """Whether `text` contains `name` as a whole word."""
    if not is_word(name):
        return pattern(_WHOLE, name).search(text) is not None
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not _goes_on(text[at - 1 : at]) and not _goes_on(text[end : end + 1]):
            return True
        at = text.find(name, end)
    return False


def _goes_on(character: str) -> bool:
    """Whether a word continues at a character; "" is the start or end of the text."""
    return character == "_" or character.isalnum()


def occurrences(text: str, name: str) -> list[int]:
    """The offset of each use of `name` that upstream's search sees."""
    return [match.end(1) for match in pattern(_WHOLE, name).finditer(text)] if name in text else []


def replace(text: str, name: str, replacement: str) -> str:
    """The text with each use of `name` that upstream's search sees replaced by `replacement`."""
    if is_word(name) and name not in text:
        return text
    return pattern(_WHOLE, name).sub(lambda match: f"{match.group(1)}{replacement}{match.group(2)}", text)
