"""Declarations.yaml: its text, and its scalars, which PyYAML writes in torchgen."""

from __future__ import annotations

import random
import re

import yaml
from project import Project

from aten.conftest import Expected, generated
from gradmill.families.declarations.text import scalar

NAME = "Declarations.yaml"
# Texts that mean something else without quotes, and characters that the emitter looks at.
ODD = (
    *("", "~", "null", "Null", "TRUE", "yes", "on", "Off", "y", "=", "<<", "1", "-1", "0x1", "1e5", "1.5", "1:20"),
    *("- a", "-", "--- a", "...", "? a", "?a", ": a", ":a", "::a", "a:", "a: b", "a :b", "a #b", "a#b", "# a", "&a"),
    *("*a", ".inf", "!a", "|", ">", "'a'", '"a"', "it's", "{}", "[]", "a, b", "%a", "@a", "`a", " a", "a ", "a  b"),
    *("2026-11-27", "a\nb", "a\tb", "é", "a\u2028b", "a\x07b", "\ufeffa", "😀", "a" * 200 + " " + "b" * 200),
)  # fmt: skip
VALUES = (None, True, False, 0, 1, -1, 10**30, 0.0, 1.0, 1e-05, 1e22, 0.1, float("inf"), float("-inf"), float("nan"))


def test_odd_declarations_equal_torchgens(aten: Project, by_gen: Expected) -> None:
    expected = by_gen("--generate", "declarations_yaml")
    assert generated(aten, families="declarations") == {NAME: expected[NAME]}


def test_what_show_prints_is_in_torchgens_files(aten: Project, by_gen: Expected) -> None:
    expected = by_gen("--generate", "headers", "declarations_yaml")
    rows = aten.run("show", "declarations").rows
    listed = {each["schema_string"]: each for each in yaml.safe_load(expected[NAME])}
    assert {row["declaration"]["schema_string"]: row["declaration"] for row in rows} == listed
    structs = b"".join(text for name, text in expected.items() if name.endswith("_ops.h")).decode()
    methods = expected["core/TensorBody.h"].decode()
    for row in rows:
        cpp = row["cpp"]
        header, struct_header = (expected[name.removeprefix("ATen/")].decode() for name in cpp["headers"])
        assert all(f"inline {declaration} {{" in header for declaration in cpp["functions"])
        assert all(f"  {declaration};" in methods for declaration in cpp["methods"])
        struct = cpp["struct"].removeprefix("at::_ops::")
        assert f"struct TORCH_API {struct} {{\n  using schema = {cpp['dispatcher']};\n" in struct_header
    assert structs.count("TORCH_API") == len(rows)
    (row,) = aten.run("show", "declarations", "odd_factory.names").rows
    argument = {"name": "size", "schema": "SymInt[]", "dispatcher": "c10::SymIntArrayRef", "cpp": "at::IntArrayRef"}
    assert argument in row["cpp"]["arguments"]


def test_functions_that_cpp_lacks_are_reported_and_all_others_shown(aten: Project) -> None:
    whole = aten.run("show", "declarations").stdout
    path = aten.path("native_functions.yaml")
    first, last = (f"- func: odd_{name}(Tensor self, int[] n=3) -> Tensor\n\n" for name in ("first", "last"))
    path.write_text(f"{first}{path.read_text()}\n{last}")
    run = aten.run("show", "declarations")
    assert (run.status, run.stdout) == (1, whole)
    assert re.findall(r"error: (odd_\w+): ", run.stderr) == ["odd_first", "odd_last"], run.stderr


def test_scalars_are_pyyamls() -> None:
    chars, random_ = "aZ_09 .:,#-?'\"&*!|>%@`{}[]()=<~\\/\n\té", random.Random(7)
    texts = ["".join(random_.choices(chars, k=random_.randint(1, 9))) for _ in range(3000)]
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    for value in (*ODD, *VALUES, *texts):
        whole = yaml.dump([{"k": [{"k": value}]}], Dumper=dumper, width=1e9)
        assert f"- k:\n  - k: {scalar(value, 2)}\n" == whole, value
        assert f"- k: {scalar(value, 1)}\n" == yaml.dump([{"k": value}], Dumper=dumper, width=1e9), value
