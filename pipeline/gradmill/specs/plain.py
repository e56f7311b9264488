"""Reads simple entries without a YAML parser.

Nearly all entries of PyTorch's files are lines of `key: value`, with mappings or a list below some keys. `read`
accepts those if their meaning in YAML is certain, and leaves everything else to PyYAML. Its result always equals that
of `values.PlainValues` for the same text.
"""

from __future__ import annotations

import re

from gradmill.model.regex import regex

# Words that are not text in YAML 1.1: booleans and null.
WORDS: dict[str, bool | None] = {
    form: meaning
    for meaning, names in ((True, ("yes", "true", "on")), (False, ("no", "false", "off")), (None, ("null",)))
    for name in names
    for form in (name, name.title(), name.upper())
}

# A plain scalar that is certainly text, by its start; ": " and " #" end it.
_TEXT = (
    r"-?(?:[A-Za-z_(]|\d++(?:\.\d++)?[ ][*/][ ](?=[A-Za-z(]))"
    r"[!-9;-~]*+(?:(?::(?=[!-~])|[ ]++(?=[!-\"$-~]))[!-9;-~]*+)*+"
)
# Text in double quotes without escapes, on one or several lines; a line end counts as a space.
_QUOTED = r'"[ !#-\[\]-~]*+(?:\n[ ]++[!#-\[\]-~][ !#-\[\]-~]*+)*+(?:\n[ ]++)?+"'
# A literal block: its lines lose only their indentation, which is deeper than that of any key.
_LITERAL = r"\|\n(?P<deep>[ ]{7,}+)[!-~][ -~]*+(?:\n(?:(?P=deep)[ -~]*+|[ ]*+(?=\n(?P=deep))))*+"
_ITEM = r"""(?:[A-Za-z_][\w.]*+|'[ -&(-+\--~]++'|"[ !#-+\--\[\]-~]++")"""
_LIST = rf"\[[ ]*+(?:{_ITEM}(?:,[ ]*+{_ITEM})*+[ ]*+)?\]"
_VALUE = rf"""{_TEXT}|{_QUOTED}|'[ -&(-~]*+'|{_LIST}|{{}}|{_LITERAL}"""
_KEY = r"[A-Za-z_]\w*+(?:[, ]++\w++)*+"
_COMMENT = r"\#[ -~\t]*+"
_MAX_KEY = 200  # a YAML parser searches at most 1024 characters for the end of a key

# From the start of a line: a key with its value, an item of a list, a comment or blank line, or any other line.
_PAIR = rf"(-[ ]|[ ]{{2}}|[ ]{{4}}|[ ]{{6}})({_KEY}):(?:[ ]++({_VALUE}))?(?:[ ]++{_COMMENT})?[ ]*+\n"
_LINE = regex(rf"{_PAIR}|[ ]{{2}}-[ ]({_TEXT})[ ]*+\n|[ ]*+(?:{_COMMENT})?\n|([^\n]*\n)", re.ASCII)

_FOLD = regex(r"[ ]*\n[ ]*")
_DEEPEST = 2  # levels of mappings inside the entry's mapping


def read(text: str) -> dict[str, object] | None:
    """The mapping in the entry `text`; None if only a YAML parser can read it."""
    if not text.isascii():
        return None
    entry: dict[str, object] = {}
    within = [entry]  # the open mappings, which the next line may continue
    items: list[object] | None = None  # the open list
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
    """Puts a value into the innermost mapping, or opens a new mapping if `value` is empty. Returns whether it could."""
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
