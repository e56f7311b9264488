"""Text with holes, filled as torchgen's CodeTemplate fills it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from gradmill.families.template import Template, Value, block, indented, template_text, tidy

VALUES: dict[str, Value] = {
    "name": "AddBackward0",
    "number": 3,
    "empty": "",
    "none": [],
    "one": ["a"],
    "two": ["a", "b"],
    "lines": "first\nsecond",
    "blocks": ["if (x) {\n  y;\n}", "z;"],
    "blanks": "a\n\nb",
    "padded": "a  \n  b  ",
    "odd": ["a\fb\u2028c \n", " \n", "", "\x0bd\n\n", "\u00a0e\u00a0"],
    "ends": ["a\n\n", "b \n", "\n"],
}

TEXTS = [
    "no holes",
    "",
    "struct $name {};",
    "struct ${name} {};",
    "f(${two})",
    "f(x${,two})",
    "f(${two,}x)",
    "f(x${,none})",
    "f(${none,}x)",
    "f(x${,one})",
    "n = $number;",
    "${name}Suffix $name.field",
    "a\n  ${lines}\nb\n",
    "a\n  ${blocks}\nb\n",
    "a\n    ${none}\nb\n",
    "a\n  ${empty}\nb\n",
    "${two}\n",
    "  ${two}",
    "  ${number}\n",
    "  ${lines} tail",
    "  ${blanks}\n",
    "  ${padded}\n",
    "a\n\t${lines}\n",
    "${name} ${two} ${number}",
    "a\n\n  ${two}\n\nb",
    "$$name",
    "{$name}",
    "cost: $5",
    "f(${blocks}) ${ends}, ${odd}",
    "${blocks}\n  ${blocks}\nf(${blocks})",
    "${two} $two\n$two ${two}\n",
    "a\f  ${odd}\nb\n",
    "\f${odd}\n",
    "\f${ends}\n",
    " \x0b ${ends}\n",
    "\u2028${odd} ${odd}\n",
    "\u00a0\u3000${blocks}\n",
    "\ufeff${two}\n",
    "\ufeff\n  ${two}\n",
    "${two one} ${} ${two",
    "f(x${,two,}y${,none,}z)",
    "${ two} ${two }",
    "$two$two${two}",
]


def torchgen_fill(torch_specs: Path, text: str, values: Mapping[str, Value]) -> str:
    from torchgen.code_template import CodeTemplate

    return str(CodeTemplate(text).substitute(values))


@pytest.mark.parametrize("text", TEXTS)
def test_a_template_is_filled_as_torchgen_fills_it(torch_specs: Path, text: str) -> None:
    assert Template(text).fill(VALUES) == torchgen_fill(torch_specs, text, VALUES)


def test_random_templates_are_filled_as_torchgen_fills_them(torch_specs: Path) -> None:
    source = random.Random(20)
    names = [*VALUES, *(f",{name}" for name in VALUES), *(f"{name}," for name in VALUES)]
    inline = [name for name in names if not isinstance(VALUES[name.strip(",")], str) or "," not in name]
    pieces = [
        *(f"${{{name}}}" for name in inline),
        *["\n", "\n  ", " ", "(", ")", ";", "x"] * 4,
        *"\f\x0b\x1c\x85\u2028\u00a0\ufeff",
    ]
    texts = ["".join(source.choices(pieces, k=source.randrange(9))) for _ in range(3000)]
    different, compared = [], 0
    for text in texts:
        try:
            expected = torchgen_fill(torch_specs, text, VALUES)
        except (TypeError, AttributeError):
            continue  # a comma beside what is no list
        compared += 1
        if Template(text).fill(VALUES) != expected:
            different.append(text)
    assert different == []
    assert compared > 2000


def test_the_templates_of_torch_are_filled_as_torchgen_fills_them(torch_specs: Path) -> None:
    for path in (torch_specs / "autograd/templates").iterdir():
        text = path.read_text()
        values: dict[str, Value] = {name: ["first;\n  second;", "third;"] for name in Template(text).names}
        assert Template(text).fill(values) == torchgen_fill(torch_specs, text, values)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf// ${generated_comment}\r\n${two}\r\n",
        b"\xef\xbb\xbf${two}\r  ${blocks}\r",
        b'a\f\n\f\f${ends}\n"""\n\n$$one',
        "${two}\u2028${blocks}".encode(),
    ],
)
def test_a_template_file_is_read_as_torchgen_reads_it(torch_specs: Path, tmp_path: Path, data: bytes) -> None:
    from torchgen.utils import FileManager

    (tmp_path / "template").write_bytes(data)
    values: dict[str, Value] = {**VALUES, "generated_comment": "@" + "generated"}
    manager = FileManager(install_dir=tmp_path, template_dir=tmp_path, dry_run=False)
    manager.write_with_template("out", "template", lambda: dict(values))
    assert Template(template_text(data)).fill(values).encode() == (tmp_path / "out").read_bytes()


def test_the_names_of_a_template_are_those_of_its_holes() -> None:
    assert Template("$a ${b} ${,c} ${d,} ${e f}").names == {"a", "b", "c", "d"}


def test_a_name_without_a_value_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Template("${missing}").fill({})


def test_trimming_removes_white_space_at_the_ends_of_lines_in_blocks() -> None:
    assert block(["a  \n   \nb"], "  ", trim=True) == "  a\n\n  b"


def test_without_trimming_blank_lines_keep_the_indentation() -> None:
    assert block(["a\n\nb"], "  ", trim=False) == "  a\n  \n  b"


@pytest.mark.parametrize("indent", ["", "  ", "\t", "\f", " \f "])
@pytest.mark.parametrize("trim", [True, False])
def test_tidied_lines_make_the_block_that_they_would_make_untidied(indent: str, trim: bool) -> None:
    items = ["a  \nb", "", "c\n", "d\n\n", "\n\ne\n \n", "f"]
    tidied = filter(None, (tidy(item, trim=trim) for item in items))
    lines = [indented(item, indent, trim=trim) if indent else item for item in tidied]
    assert "\n".join(lines).rstrip() == block(items, indent, trim=trim)
