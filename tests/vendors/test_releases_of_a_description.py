"""`since` and `until`: one description for releases that differ."""

from __future__ import annotations

import msgspec
import pytest

from gradmill.model.layers import Versions
from gradmill.specs.layers.description import Description, Functions, Slot, SpecFile
from gradmill.specs.layers.reading import read_description
from gradmill.specs.layers.releases import ForRelease, applies, bounded
from gradmill.specs.layers.validation import validate
from vendors.vendor import Vendor, kernel

TEXT = """
comment = [
    { value = "old", until = "2.6" },
    { value = "new", since = "2.7", until = "2.9" },
]

[functions]
exclude = ["a", { value = ["b", "c"], since = "2.6" }, { value = "d", until = "2.5" }]

[family.nodes]
replace = [
    { from = "1", to = "x", until = "2.5" },
    { from = "2", to = "y" },
    { from = "3", to = "z", since = "2.7" },
]

[family.nodes.file."a.cc"]
since = "2.8"
raw = true
"""

VALUES = """
[functions]
order = [{ value = "name", until = "2.6" }, { value = "file", since = "2.7" }]
take = ["own", { value = "tag:core", since = "2.7" }]

[[layer]]
name = "a"
[[layer.native]]
until = "2.6"
file = "old.yaml"
versions = { keys = ["fast", { value = "sparse", until = "2.5" }] }
[[layer.native]]
file = "new.yaml"
since = "2.7"
list = ["all", { value = "more", since = "2.8" }]

[family.nodes]
shards = [{ value = 2, until = "2.6" }, { value = 3, since = "2.7" }]

[family.nodes.slots]
comment = [{ piece = "declaration", until = "2.6" }, { text = "", since = "2.7" }]
order = { piece = "definition", since = "2.7" }
"""


def _for(release: str) -> ForRelease:
    return ForRelease(read_description("specset.toml", TEXT.encode()).value, release)


@pytest.mark.parametrize(
    ("release", "comment", "exclude", "replaced", "files"),
    [
        ("2.5.1", "old", ["a", "d"], "12", []),
        ("2.6", "old", ["a", "b", "c"], "2", []),
        ("2.8.0", "new", ["a", "b", "c"], "23", ["a.cc"]),
        ("2.10", None, ["a", "b", "c"], "23", ["a.cc"]),
    ],
)
def test_each_release_has_its_values(
    release: str, comment: str | None, exclude: list[str], replaced: str, files: list[str]
) -> None:
    value = _for(release).value
    assert value.get("comment") == comment
    assert value["functions"]["exclude"] == exclude
    assert "".join(each["from"] for each in value["family"]["nodes"]["replace"]) == replaced
    assert list(value["family"]["nodes"]["file"]) == files


def test_values_names_files_and_slots_of_each_release() -> None:
    value = read_description("specset.toml", VALUES.encode()).value
    old, new = (msgspec.convert(ForRelease(value, release).value, Description) for release in ("2.6", "2.8"))
    assert (old.functions, new.functions) == (Functions(("own",)), Functions(("own", "tag:core"), order="file"))
    assert [layer.native for layer in (*old.layers, *new.layers)] == [
        (SpecFile("old.yaml", versions=Versions(("fast",))),),
        (SpecFile("new.yaml", lists=("all", "more")),),
    ]
    assert [each.family["nodes"].shards for each in (old, new)] == [2, 3]
    assert old.family["nodes"].slots == {"comment": Slot("declaration")}
    assert new.family["nodes"].slots == {"comment": Slot(text=""), "order": Slot("definition")}


def test_what_applies_keeps_the_place_where_it_is_written() -> None:
    moved = {each.path: each.written for each in _for("2.8").moved}
    assert moved["comment",] == ("comment", "1", "value")
    assert moved["functions", "exclude", "2"] == ("functions", "exclude", "1", "value")
    assert moved["family", "nodes", "replace", "0"] == ("family", "nodes", "replace", "1")
    assert ("family", "nodes", "replace", "0") not in [each.path for each in _for("2.5").moved]


def test_a_bound_is_included_and_a_patch_release_does_not_count() -> None:
    assert applies("2.7.1", "2.7", "2.7.0")
    assert not applies("2.10.0", "", "2.9")
    assert applies("", "2.7", "2.9"), "without a release, all applies"


def test_every_table_with_a_bound_is_validated() -> None:
    written = read_description("specset.toml", TEXT.replace('since = "2.8"', 'since = "next"').encode())
    assert len(list(bounded(written.value))) == 7
    assert [each.problem for each in validate(written)] == ["'next' is not a release"]


def test_names_templates_and_hooks_of_two_releases(vendor: Vendor) -> None:
    vendor.replace("hooks.py", 'function.operator != "mm"', 'function.operator != "mm" or release < (2, 13)')
    vendor.replace("specset.toml", 'exclude = ["noise"]', 'exclude = [{ value = "swish", since = "2.13" }, "noise"]')
    vendor.path("old").mkdir()
    vendor.path("old/Functions.h").write_text("// old\n" + vendor.path("templates/Functions.h").read_text())
    vendor.replace(
        "specset.toml",
        '[family.nodes]\ntemplates = "templates"',
        '[family.nodes]\ntemplates = [{ value = "old", until = "2.12" }, { value = "templates", since = "2.13" }]',
    )
    new = vendor.build()
    (vendor.folder / "base" / "RELEASE").write_text("2.12.1")
    old = vendor.build()
    assert "if (plain())" in new["VariableType_0.cpp"] and "if (plain())" not in old["VariableType_0.cpp"]
    assert kernel(old["VariableType_0.cpp"], "swish") and not kernel(new["VariableType_0.cpp"], "swish")
    assert old["Functions.h"].startswith("// old\n") and not new["Functions.h"].startswith("// old\n")


def test_a_rule_after_one_of_another_release_is_reported_at_its_own_line(vendor: Vendor) -> None:
    """Numbers of rules count those that are written, not those that apply."""
    vendor.replace("specset.toml", "\nreplace = [\n", '\nreplace = [\n    { from = "a", to = "b", since = "2.15" },\n')
    vendor.replace("specset.toml", '{ from = "at::redispatch", to', '{ from = "at::redispach", to')
    run = vendor.run()
    line = next(
        number
        for number, text in enumerate(vendor.path("specset.toml").read_text().split("\n"), 1)
        if "redispach" in text
    )
    assert f"set/specset.toml:{line}:" in run.stderr
    assert "replace: 2: from: nothing that variable_type prints has the text" in run.stderr
