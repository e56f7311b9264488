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


def torchgen_fill(torch_specs: Path, text: str, values: Mapping[str, Value]) -> str:
    from torchgen.code_template import CodeTemplate

    return str(CodeTemplate(text).substitute(values))


def test_random_templates_are_filled_as_torchgen_fills_them(torch_specs: Path) -> None:
    source = random.Random(20)
    names = [*VALUES, *(f",{name}" for name in VALUES), *(f"{name}," for name in VALUES)]
    inline = [name for name in names if not isinstance(VALUES[name.strip(",")], str) or "," not in name]
    pieces = [
        *(f"${{{name}}}" for name in inline),
        *["\n", "\n  ", " ", "(", ")", ";", "x"] * 4,
        *"$two|$name|$number.x|$$|$5|{|}|${|${}|${ two}|${two }|${two one}|${,two,}".split("|"),
        *"\f\x0b\x1c\x85\u2028\u00a0\ufeff",
    ]
    texts = ["".join(source.choices(pieces, k=source.randrange(9))) for _ in range(3000)]
    different, compared = [], 0
    for text in texts:
        try:
            expected = torchgen_fill(torch_specs, text, VALUES)
        except (TypeError, AttributeError, KeyError):
            continue  # a comma beside what is no list; a name that goes on
        compared += 1
        if Template(text).fill(VALUES) != expected:
            different.append(text)
    assert different == []
    assert compared > 2000


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


def test_without_trimming_blank_lines_keep_the_indentation() -> None:
    assert block(["a\n\nb"], "  ", trim=False) == "  a\n  \n  b"


@pytest.mark.parametrize("indent", ["", "  ", "\t", "\f", " \f "])
@pytest.mark.parametrize("trim", [True, False])
def test_tidied_lines_make_the_block_that_they_would_make_untidied(indent: str, trim: bool) -> None:
    items = ["a  \nb", "", "c\n", "d\n\n", "\n\ne\n \n", "f"]
    tidied = filter(None, (tidy(item, trim=trim) for item in items))
    lines = [indented(item, indent, trim=trim) if indent else item for item in tidied]
    assert "\n".join(lines).rstrip() == block(items, indent, trim=trim)
