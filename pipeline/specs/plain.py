"""Entries written the plain way, read without a YAML parser.

Nearly all entries of PyTorch's files are lines of `key: value`, with at most one level of mapping below a key. `read`
takes those, where it is certain of what YAML makes of them, and leaves everything else to PyYAML: whatever it returns
equals what `values.plain_value` returns for the same text.
"""

from __future__ import annotations

import re

# The words that mean something else than themselves: YAML 1.1 has many ways to say yes.
WORDS: dict[str, bool | None] = {
    form: meaning
    for meaning, names in ((True, ("yes", "true", "on")), (False, ("no", "false", "off")), (None, ("null",)))
    for name in names
    for form in (name, name.title(), name.upper())
}

# A plain scalar that can be nothing but text, by how it starts; ": " and " #" end it.
_TEXT = r"-?[A-Za-z_(][!-9;-~]*+(?:(?::(?=[!-~])|[ ]++(?=[!-\"$-~]))[!-9;-~]*+)*+"
_ITEM = r"[A-Za-z_][\w.]*+"
_LIST = rf"\[[ ]*+(?:{_ITEM}(?:,[ ]*+{_ITEM})*+[ ]*+)?\]"
_VALUE = rf"""{_TEXT}|"[ !#-\[\]-~]*+"|'[ -&(-~]*+'|{_LIST}|{{}}"""
_KEY = r"[A-Za-z_]\w*+(?:[, ]++\w++)*+"
_COMMENT = r"\#[ -~\t]*+"
_MAX_KEY = 200  # a YAML parser looks no further than 1024 characters for the end of a key

# One line each: a key with its value, a comment or nothing, and whatever else there is.
_PAIR = rf"(-[ ]|[ ]{{2}}|[ ]{{4}})({_KEY}):(?:[ ]++({_VALUE}))?(?:[ ]++{_COMMENT})?[ ]*+\n"
_LINE = re.compile(rf"{_PAIR}|[ ]*+(?:{_COMMENT})?\n|([^\n]*\n)", re.ASCII)


def read(text: str) -> dict[str, object] | None:
    """The mapping that the entry `text` writes, None where that takes a YAML parser to say."""
    if not text.isascii():
        return None
    entry: dict[str, object] = {}
    nested: dict[str, object] | None = None
    for indent, key, value, other in _LINE.findall(text + "\n"):
        if not indent:
            if other:
                return None
            continue
        if indent == "    ":
            mapping = nested
        elif nested == {} or (indent == "- ") == bool(entry):
            return None
        else:
            mapping, nested = entry, None
        if mapping is None or key in mapping or key in WORDS or len(key) > _MAX_KEY:
            return None
        if value:
            mapping[key] = _value(value)
        elif mapping is entry:
            nested = entry[key] = {}
        else:
            return None
    return entry if entry and nested != {} else None


def _value(text: str) -> object:
    first = text[0]
    if first in "\"'":
        return text[1:-1]
    if first == "[":
        items = text[1:-1].replace(",", " ").split()
        return [WORDS.get(item, item) for item in items]
    return {} if first == "{" else WORDS.get(text, text)
