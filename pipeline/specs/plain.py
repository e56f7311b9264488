"""Entries written the plain way, read without a YAML parser.

Nearly all entries of PyTorch's files are lines of `key: value`, with mappings or a list below some keys. `read`
takes those, where it is certain of what YAML makes of them, and leaves everything else to PyYAML: whatever it returns
equals what `values.plain_value` returns for the same text.
"""

from __future__ import annotations

import re

from pipeline.model.regex import regex

# The words that mean something else than themselves: YAML 1.1 has many ways to say yes.
WORDS: dict[str, bool | None] = {
    form: meaning
    for meaning, names in ((True, ("yes", "true", "on")), (False, ("no", "false", "off")), (None, ("null",)))
    for name in names
    for form in (name, name.title(), name.upper())
}

# A plain scalar that can be nothing but text, by how it starts; ": " and " #" end it.
_TEXT = (
    r"-?(?:[A-Za-z_(]|\d++(?:\.\d++)?[ ][*/][ ](?=[A-Za-z(]))"
    r"[!-9;-~]*+(?:(?::(?=[!-~])|[ ]++(?=[!-\"$-~]))[!-9;-~]*+)*+"
)
# Text in double quotes without escapes, on a line or on several, whose ends count as spaces.
_QUOTED = r'"[ !#-\[\]-~]*+(?:\n[ ]++[!#-\[\]-~][ !#-\[\]-~]*+)*+(?:\n[ ]++)?+"'
# Lines that are kept as they are, without their indentation, which is deeper than that of any key.
_LITERAL = r"\|\n(?P<deep>[ ]{7,}+)[!-~][ -~]*+(?:\n(?:(?P=deep)[ -~]*+|[ ]*+(?=\n(?P=deep))))*+"
_ITEM = r"""(?:[A-Za-z_][\w.]*+|'[ -&(-+\--~]++'|"[ !#-+\--\[\]-~]++")"""
_LIST = rf"\[[ ]*+(?:{_ITEM}(?:,[ ]*+{_ITEM})*+[ ]*+)?\]"
_VALUE = rf"""{_TEXT}|{_QUOTED}|'[ -&(-~]*+'|{_LIST}|{{}}|{_LITERAL}"""
_KEY = r"[A-Za-z_]\w*+(?:[, ]++\w++)*+"
_COMMENT = r"\#[ -~\t]*+"
_MAX_KEY = 200  # a YAML parser looks no further than 1024 characters for the end of a key

# A key with its value, an item of a list, a comment or nothing, and whatever else there is: each from a line's start.
_PAIR = rf"(-[ ]|[ ]{{2}}|[ ]{{4}}|[ ]{{6}})({_KEY}):(?:[ ]++({_VALUE}))?(?:[ ]++{_COMMENT})?[ ]*+\n"
_LINE = regex(rf"{_PAIR}|[ ]{{2}}-[ ]({_TEXT})[ ]*+\n|[ ]*+(?:{_COMMENT})?\n|([^\n]*\n)", re.ASCII)

_FOLD = regex(r"[ ]*\n[ ]*")
_DEEPEST = 2  # mappings within that of the entry


def read(text: str) -> dict[str, object] | None:
    """The mapping that the entry `text` writes, None where that takes a YAML parser to say."""
    if not text.isascii():
        return None
    entry: dict[str, object] = {}
    within = [entry]  # the mappings that the next line may go on with
    items: list[object] | None = None  # the list that it may go on with
    for indent, key, value, _, item, other in _LINE.findall(text + "\n"):
        if item:
            if items is None:
                if len(within) != 2 or within.pop():
                    return None
                entry[next(reversed(entry))] = items = []
            items.append(_value(item))
        elif indent:
            depth = len(indent) // 2 - 1
            if (indent == "- ") == bool(entry) or depth >= len(within) or (depth < len(within) - 1 and not within[-1]):
                return None
            del within[depth + 1 :]
            items = None
            if not _put(within, key, value):
                return None
        elif other:
            return None
    return entry if within[-1] else None


def _put(within: list[dict[str, object]], key: str, value: str) -> bool:
    """Puts a value, or a mapping where there is none yet, into the innermost mapping; whether that can be done."""
    mapping = within[-1]
    if key in mapping or key in WORDS or len(key) > _MAX_KEY or (not value and len(within) > _DEEPEST):
        return False
    if value:
        mapping[key] = _value(value)
    else:
        within.append({})
        mapping[key] = within[-1]
    return True


def _value(text: str) -> object:
    first = text[0]
    if first == "[":
        return [_value(item.strip(" ")) for item in text[1:-1].split(",")] if text.strip("[] ") else []
    if first == "|":
        lines = text[2:].split("\n")
        deep = len(lines[0]) - len(lines[0].lstrip(" "))
        return "".join(f"{line[deep:]}\n" for line in lines)
    if first in "\"'":
        return _FOLD.sub(" ", text[1:-1]) if "\n" in text else text[1:-1]
    return {} if first == "{" else WORDS.get(text, text)
