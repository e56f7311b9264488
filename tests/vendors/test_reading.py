"""Parts of layers by themselves: places in TOML, lists in mappings, releases of entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradmill.model.layers import Versions
from gradmill.problems.problem import SpecError
from gradmill.rules.layers.entry import applies, listed_versions
from gradmill.specs.entries import outdented
from gradmill.specs.layers.described import find_described
from gradmill.specs.layers.lists import cut_lists, value_of, whole_lists
from gradmill.specs.spec_set import SpecSet
from gradmill.specs.toml_text import place_in

TOML = """name = "x"
[base]
rewrite = [
    { func = "a", from = "b" },
    { func = "c", from = "d" },
]
[[layer]]
name = "one"
[[layer.native]]
file = "1.yaml"
[[layer.native]]
file = "2.yaml"
[[layer]]
name = "two"
native = { file = "3.yaml", list = "custom" }
[family.nodes]
file."a.h".comment = "[not a table]"
slots.hole = { of = "all" }
"""


@pytest.mark.parametrize(
    "path, needle, expected",
    [
        (("name",), "", (1, 1)),
        (("base", "rewrite", "1", "func"), "c", (5, 15)),
        (("layer", "0", "name"), "", (8, 1)),
        (("layer", "0", "native", "1", "file"), "2.yaml", (12, 9)),
        (("layer", "1", "native", "list"), "", (15, 29)),
        (("family", "nodes", "file", "a.h", "comment"), "", (17, 1)),
        (("family", "nodes", "file", "a.h"), "", (17, 1)),
        (("family", "nodes", "slots", "hole"), "", (18, 1)),
        (("family", "other"), "", (1, 1)),
    ],
)
def test_keys_are_found_in_toml(path: tuple[str, ...], needle: str, expected: tuple[int, int]) -> None:
    assert place_in(TOML, path, needle) == expected


LISTS = """# A comment.
all: [v2.1, v2.2]
other:
  - x
first:

  # Of the first.
  - func: a
    b: c

  - func: d
second:
- func: e
  # Inside.
  f: |
    g
- func: h
"""


def test_lists_are_cut_out_indented_or_not() -> None:
    actual = cut_lists(LISTS, ("second", "first"))
    assert actual is not None
    assert [(piece.line, outdented(piece.text)) for piece in actual] == [
        (13, "- func: e\n  # Inside.\n  f: |\n    g"),
        (17, "- func: h"),
        (8, "- func: a\n  b: c"),
        (11, "- func: d"),
    ]


def test_lists_that_are_cut_are_those_that_a_parser_finds() -> None:
    cut = cut_lists(LISTS, ("first", "second"))
    whole = whole_lists(LISTS, ("first", "second"), "native")
    assert cut is not None
    assert [piece.line for piece in cut] == [piece.line for piece, _ in whole]


@pytest.mark.parametrize("text", ["first: [{func: a}]\n", "first: &x\n- func: a\n", "first:\n\t- func: a\n", "- a\n"])
def test_what_takes_a_parser_is_not_cut(text: str) -> None:
    assert cut_lists(text, ("first",)) is None


def test_values_next_to_lists() -> None:
    assert value_of(LISTS, "all") == ["v2.1", "v2.2"]
    assert value_of(LISTS, "none") is None


KNOWN = listed_versions(["v2.1", "v2.2", "v2.4", "v2.10"], "all")
ONE = Versions(("version",))


@pytest.mark.parametrize(
    "versions, releases",
    [
        ("all_version", "2.1 2.2 2.4 2.10"),
        (["v2.2", "newest"], "2.2 2.4 2.10"),
        (["v2.1", "v2.4"], "2.1 2.2 2.4"),
        (["v2.4", "v2.4"], "2.4"),
        ("v2.2", "2.2"),
        ("v2.1, v2.10", "2.1 2.10"),
        ("v2.1,v2.4,", "2.1 2.4"),
        (["v2.1", "v2.2", "v2.4"], "2.1 2.2 2.4"),
        (2.4, "2.4"),
        ("2.10.0", "2.10"),
        (True, "2.1 2.2 2.3 2.4 2.10 2.11"),
        (False, ""),
    ],
)
def test_entries_hold_for_the_releases_that_they_name(versions: object, releases: str) -> None:
    tried = ("2.1", "2.2", "2.3", "2.4", "2.10", "2.11")
    assert [each for each in tried if applies({"version": versions}, ONE, KNOWN, each)] == releases.split()


def test_one_of_several_keys_is_enough() -> None:
    rules = Versions(("slow", "fast"), missing="dropped")
    assert applies({"slow": "v2.1", "fast": "v2.2"}, rules, KNOWN, "2.2")
    assert not applies({"slow": "v2.1"}, rules, KNOWN, "2.2")
    assert not applies({}, rules, KNOWN, "2.2")


@pytest.mark.parametrize("versions", ["v2", "next", ["v2.1", "later"], ["v2.3", "newest"], [], ">=v2.1", {"a": 1}])
def test_what_is_no_release_is_refused(versions: object) -> None:
    with pytest.raises(SpecError):
        applies({"version": versions}, ONE, KNOWN, "2.2")


@pytest.mark.parametrize(
    "text, message",
    [
        ("release = 1979-05-27", ":1:1: release: expected `string`, got `date`"),
        ("a = " + "[" * 3000, "nested too deep"),
        ("a" + ".a" * 2_000 + " = 1", ":1:1: a: there is no key 'a'"),
        ("name = 18446744073709551616123", ":1:1: name: expected `string`, got `integer`"),
        ("a = " + "9" * 5_000, "a number has too many digits"),
        ("long = [\n" + "1,\n" * 3_000 + "]\nname = 'x'\n", ":1:1: long: there is no key 'long'"),
        ('[base]\nspecs = "a\\u0000b"', ":2:1: base.specs: a null character"),
        ("layer = [3]", "layer.1: expected `table`"),
        ("[[layer]]\nname = 'x'\nnative = [['a']]", ":3:11: layer.1.native.1"),
        ("\xff", "specset.toml:1:1: byte 0xff is not UTF-8"),
    ],
)
def test_odd_descriptions_are_refused_plainly(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "specset.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SpecError) as refused:
        find_described(str(path), "2.13", lambda specs, folder: SpecSet("", {}, {}, ""))
    assert message in refused.value.problem
