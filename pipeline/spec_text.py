"""Bytes of a spec file to text, within limits that keep a hostile file from taking the machine."""

from __future__ import annotations

import re

from pipeline.problems import SpecError

MAX_BYTES = 64 << 20  # upstream's largest file has 0.7 MB
MAX_LINE = 200_000  # characters
MAX_DEPTH = 200  # nested collections; upstream's files nest four deep

_ASCII = bytes(range(0x20, 0x7F)) + b"\t\n\r"
_NOT_TEXT = r"[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_NESTED_LINE = re.compile(rf"^(?:[-?:] *){{{MAX_DEPTH},}}", re.MULTILINE)
_BRACKETS = re.compile(r"[\[\]{}]")


def decode_text(data: bytes) -> str:
    """UTF-8 text with `\\n` line ends and no byte-order mark."""
    if len(data) > MAX_BYTES:
        raise SpecError(f"the file has {len(data)} bytes", f"a spec file may have {MAX_BYTES}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError(
            f"line {line} is not UTF-8: byte 0x{data[error.start]:02x}", "save the file as UTF-8"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def check_limits(text: str) -> None:
    """Refuses text with control characters, with endless lines or with bottomless nesting."""
    plain = text.isascii() and not text.encode().translate(None, _ASCII)
    odd = None if plain else re.search(_NOT_TEXT, text)
    if odd is not None:
        line = text.count("\n", 0, odd.start()) + 1
        raise SpecError(f"line {line} has the control character U+{ord(odd.group()):04X}", "remove it")
    if len(text) > MAX_LINE and max(map(len, text.split("\n"))) > MAX_LINE:
        raise SpecError(f"a line is longer than {MAX_LINE} characters", "break it")
    if _NESTED_LINE.search(text) or _bracket_depth(text) > MAX_DEPTH:
        raise SpecError(f"collections are nested deeper than {MAX_DEPTH}", "spec files are lists of flat mappings")


def _bracket_depth(text: str) -> int:
    """The deepest run of brackets that opens within one entry, quotes and comments not told apart."""
    deepest = depth = 0
    for entry in text.split("\n- "):
        if entry.count("[") + entry.count("{") <= MAX_DEPTH:
            continue
        depth = 0
        for bracket in _BRACKETS.findall(entry):
            depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
            deepest = max(deepest, depth)
    return deepest
