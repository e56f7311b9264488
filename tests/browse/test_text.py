"""Texts and places in them, as editors send and count them."""

from __future__ import annotations

import pytest
from lsprotocol import types

from gradmill.extensions.browse.editor.cursor import cursor_at
from gradmill.extensions.browse.editor.outline import outline
from gradmill.extensions.browse.lsp.buffers import Buffer, Text, column_of, units

FACE = "a\U0001f600é|"  # one, two and one units of UTF-16; one, four and two bytes of UTF-8


@pytest.mark.parametrize(("encoding", "length"), [("utf-8", 8), ("utf-16", 5), ("utf-32", 4)])
def test_characters_are_counted_in_units(encoding: str, length: int) -> None:
    assert units(FACE, encoding) == length
    assert column_of(FACE, length - 1, encoding) == FACE.index("|")
    assert column_of(FACE, 99, encoding) == len(FACE)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_the_protocol_says(end: str) -> None:
    """And not where Python has a line end too, as YAML would."""
    text = Text(f"one{end}t\u2028wo{end}\x0cthree")
    assert text.lines == ["one", "t\u2028wo", "\x0cthree"]
    assert text.offset(types.Position(2, 1), "utf-16") == text.text.index("three")
    assert text.offset(types.Position(9, 9), "utf-16") == len(text.text)


def changed(text: str, start: tuple[int, int], end: tuple[int, int], new: str) -> str:
    place = types.Range(types.Position(*start), types.Position(*end))
    change = types.TextDocumentContentChangePartial(place, new)
    return Buffer("file:///a.yaml", text, 1).changed(change, 2, "utf-16").text


def test_a_text_is_changed_in_its_middle_and_at_its_ends() -> None:
    assert changed("one\ntwo\n", (0, 1), (1, 1), "-") == "o-wo\n"
    assert changed("one\r\ntwo", (0, 3), (1, 0), "") == "onetwo"
    assert changed("\U0001f600two", (0, 2), (0, 3), "T") == "\U0001f600Two"
    assert changed("one\n", (1, 0), (1, 0), "two") == "one\ntwo"
    assert changed("", (0, 0), (0, 0), "new") == "new"


ENTRIES = """\
# a comment
- name: exp(Tensor self) -> Tensor
  self: grad *
    result
  dispatch:
    Default:
      self: grad
    AutogradCUDA:
      self: 2 * grad
  output_differentiability: [True]

- name: mv(Tensor self, Tensor vec) -> Tensor
"""


@pytest.mark.parametrize(
    ("line", "column", "path", "in_value"),
    [
        (1, 12, ("name",), True),
        (2, 3, (), False),
        (2, 14, ("self",), True),
        (3, 6, ("self",), True),  # the formula goes on
        (4, 4, (), False),
        (5, 6, ("dispatch",), False),
        (6, 8, ("dispatch", "Default"), False),
        (6, 14, ("dispatch", "Default", "self"), True),
        (8, 14, ("dispatch", "AutogradCUDA", "self"), True),
        (9, 30, ("output_differentiability",), True),
    ],
)
def test_a_place_has_the_path_of_keys_around_it(line: int, column: int, path: tuple[str, ...], in_value: bool) -> None:
    actual = cursor_at("derivatives", ENTRIES.split("\n"), line, column)
    assert (actual.path, actual.in_value) == (path, in_value)
    assert actual.entry is not None
    assert actual.entry.body.head == "exp(Tensor self) -> Tensor"


def test_a_colon_in_the_text_of_a_value_ends_no_key() -> None:
    actual = cursor_at("tags", ["- tag: inplace", "  desc: |", "    an operator: it mutates"], 2, 20)
    assert (actual.path, actual.in_value) == (("desc",), True)


def test_above_the_first_entry_there_is_none() -> None:
    assert cursor_at("derivatives", ENTRIES.split("\n"), 0, 3).entry is None


def test_entries_are_found_in_lists_of_layers_too() -> None:
    lines = ["own:", "  - name: a::b(Tensor self) -> Tensor  # why", "    self: grad", '  - name: "c() -> Tensor"']
    assert [(block.line, block.body.head) for block in outline(lines)] == [
        (1, "a::b(Tensor self) -> Tensor"),
        (3, "c() -> Tensor"),
    ]
    actual = cursor_at("derivatives", lines, 2, 12)
    assert actual.entry is not None
    assert (actual.entry.body.head, actual.path, actual.in_value) == ("a::b(Tensor self) -> Tensor", ("self",), True)
