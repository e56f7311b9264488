"""The text of a spec file is cut into entries, and each is read as the whole file would be."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from subprocess import run

import msgspec
import pytest
from never_wrong.mutations import HEADS, ODD_VALUES
from project import CORE, ROOT
from steps import assert_linear

from gradmill.problems.problem import Role, SpecError, TextError
from gradmill.specs import entries, plain
from gradmill.specs.values import PlainValues, load_document

FILES: dict[Role, str] = {"native": "native_functions.yaml", "tags": "tags.yaml", "derivatives": "derivatives.yaml"}
MUTATIONS = 4_000

# fmt: off
VALUES = (
    *ODD_VALUES, "1:30", "0o17", "017", "1_000", ".5", "-.inf", "+1", "no", "Off", "NULL", "y", "a: b", "a:", "a #b",
    "a#b", "a:b", "a  b", "a ", "a\tb", "'it''s'", '"a\\n"', "'a' b", "[a, b", "[a,]", "[yes]", "[a: b]", "[a] b",
    "-", "- x", "--- x", "? x", "`x", "x\n    y", "x\n    y: z", "x\n  self: y", "\n    y: z\n    y: z",
    "\n    y: z\n   w: x", "\n  y: z",
)
# fmt: on


@pytest.fixture(scope="module")
def texts(torch_specs: Path) -> dict[Role, list[str]]:
    """The files of core and of torch."""
    return {
        role: [entries.read_text(path.read_bytes()) for path in (CORE / name, *torch_specs.rglob(name))]
        for role, name in FILES.items()
    }


def yaml_value(text: str) -> object:
    """What PyYAML reads in one entry; a TextError where it cannot."""
    nodes = load_document(f"{text}\n") or []
    if len(nodes) != 1:
        raise TextError("not one entry", "", 1, 1)
    return PlainValues(text, "native").of(nodes[0])


def cut_values(text: str, role: Role = "derivatives") -> list[object]:
    """The values of the entries, each read on its own."""
    pieces = entries.cut(text)
    assert pieces is not None
    return [msgspec.msgpack.decode(entries.parse_one(piece.text, role)) for piece in pieces]


def whole_values(text: str, role: Role = "derivatives") -> list[object]:
    """The values of the entries, read at once."""
    return [msgspec.msgpack.decode(value) for _, value in entries.parse_whole(text, role)]


@pytest.mark.parametrize("role", FILES)
def test_entries_read_one_by_one_are_those_of_the_whole_file(role: Role, texts: dict[Role, list[str]]) -> None:
    for text in texts[role]:
        pieces = entries.cut(text)
        assert pieces is not None
        actual = [(piece, entries.parse_one(piece.text, role)) for piece in pieces]
        assert actual == entries.parse_whole(text, role)


def test_few_entries_need_a_yaml_parser(texts: dict[Role, list[str]]) -> None:
    pieces = [p.text for role in ("native", "derivatives") for text in texts[role] for p in entries.cut(text) or []]
    assert len(pieces) > 3_000
    assert sum(plain.read(piece) is None for piece in pieces) < 100


def test_what_the_plain_reader_takes_is_what_yaml_reads(texts: dict[Role, list[str]]) -> None:
    for piece in (piece.text for each in texts.values() for text in each for piece in entries.cut(text) or []):
        check_plain(piece)


def check_plain(piece: str) -> bool:
    """Whether the plain reader takes an entry, which must then be what PyYAML reads, the order of the keys included."""
    value = plain.read(piece)
    if value is not None:
        assert repr(value) == repr(yaml_value(piece)), piece
    return value is not None


def mutated(piece: str, random: Random) -> str:
    """An entry with one or two odd changes."""
    odd = [
        *ODD_VALUES,
        *HEADS,
        *"aZ_0 .,:;()[]{}?!*&#-+'\"|>%@`\\/é~=<\t\n",
        ": ",
        " #",
        "\n  ",
        "\n    ",
        "  x: y\n",
        "\u00a0",
    ]
    for _ in range(random.choice([1, 1, 2])):
        at = random.randrange(len(piece))
        end = random.choice([at, at, at + 1, at + 1, piece.find("\n", at), piece.find(" ", at)])
        piece = piece[:at] + random.choice(["", *odd]) + piece[max(at, end) :]
    return piece


def test_what_the_plain_reader_takes_of_odd_entries_is_what_yaml_reads(texts: dict[Role, list[str]]) -> None:
    random = Random(0)
    pieces = [piece.text for each in texts.values() for text in each for piece in entries.cut(text) or []]
    taken = sum(check_plain(mutated(random.choice(pieces), random)) for _ in range(MUTATIONS))
    assert MUTATIONS / 4 < taken < MUTATIONS  # or the mutations test nothing


@pytest.mark.parametrize("value", VALUES)
def test_a_value_that_yaml_reads_in_its_own_way_is_read_in_that_way(value: str) -> None:
    check_plain(f"- name: f\n  self: {value}\n  other: z")


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u3000"])
def test_white_space_that_yaml_does_not_know_is_kept(space: str) -> None:
    text = f"- name: f\n  self: grad{space}\n- name: g\n  self: grad{space}"
    assert cut_values(text) == whole_values(text) == [{"name": n, "self": f"grad{space}"} for n in "fg"]


@pytest.mark.parametrize(
    "text",
    [
        "- self: |\n    grad  \n- self: x\n",
        "- self: |\n    grad\n     \n\n- self: x\n",
        "- self: >-\n    grad\t\n\n\n- a: b\n",
    ],
)
def test_white_space_at_the_end_of_a_block_text_is_kept(text: str) -> None:
    assert cut_values(text) == whole_values(text)


@pytest.mark.parametrize(
    "text",
    [
        "- self: |\n    grad",
        "---\n- a: b\n",
        "- a: b\u2028- c: d\n",
        "x: y\n- a: b\n",
        "  x: y\n- a: b\n",
        "\u00a0\n- a: b\n",
        "-\ta: b\n",
        "[a]\n",
        "",
    ],
)
def test_text_whose_entries_may_depend_on_the_rest_is_not_cut(text: str) -> None:
    assert entries.cut(text) is None


@pytest.mark.parametrize(
    "text",
    ['- a: "b\n- c: d\n- e: f"\n', "- a: [b\n- c: d\n- e: f]\n", "- &a b: c\n- *a\n", "- a: b\n- a: b\n  a: c\n"],
)
def test_entries_that_cannot_stand_alone_are_not_read_one_by_one(text: str) -> None:
    with pytest.raises(TextError):
        cut_values(text)


def test_an_empty_file_is_an_error() -> None:
    with pytest.raises(SpecError, match="the file is empty"):
        entries.parse_whole("# nothing\n", "native")


def test_unicode_line_ends_are_none_of_the_lines_that_others_count() -> None:
    text = "# a\u2028# b\n# c\u2028\n- name: f\u2028  self: grad\n- name: g\n"
    actual = entries.parse_whole(text, "derivatives")
    assert [(piece.line, piece.text) for piece, _ in actual] == [(3, "- name: f\n  self: grad"), (4, "- name: g")]


def test_an_entry_is_named_by_its_first_line() -> None:
    assert entries.head("- func: exp(Tensor self) -> Tensor\n  variants: method") == "func: exp(Tensor self) -> Tensor"
    assert entries.head("-\n  # x\n  name: f") == "name: f"


def test_the_order_of_dispatch_rows_is_kept() -> None:
    text = "- name: f\n  dispatch:\n    B:\n      self: x\n    A:\n      self: y\n"
    assert cut_values(text) == [{"name": "f", "dispatch": {"!pairs": [["B", {"self": "x"}], ["A", {"self": "y"}]]}}]


def test_plain_entries_are_read_without_a_yaml_parser() -> None:
    code = (
        "import sys; from gradmill.specs import entries;"
        "entries.parse_one('- name: f\\n  self: grad', 'derivatives'); sys.exit('yaml' in sys.modules)"
    )
    assert run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("part", [" ", "a ", "a:", "a#", "a, ", "'"])
def test_long_entries_are_read_in_steps_that_grow_with_their_length(part: str) -> None:
    for piece in ("- name: {}", "- name: [{}", "- {}: x", "- name: x{}\t", "- name: f\n  {}"):
        assert_linear(lambda text, piece=piece: plain.read(piece.format(text)), part)
        plain.read(piece.format(part * 100_000))
