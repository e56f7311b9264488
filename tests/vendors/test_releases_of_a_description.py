"""`since` and `until`: one description for releases that differ."""

from __future__ import annotations

import msgspec
import pytest

from gradmill.problems.problem import SpecError
from gradmill.specs.layers.description import Description, SpecFile
from gradmill.specs.layers.reading import read_description
from gradmill.specs.layers.releases import applies, for_release
from vendors.vendor import Vendor

TEXT = """
comment = [
    { value = "old", until = "2.6" },
    { value = "new", since = "2.7", until = "2.9" },
]

[[layer]]
name = "a"
[[layer.native]]
until = "2.6"
file = "old.yaml"
[[layer.native]]
file = "new.yaml"
since = "2.7"

[family.nodes]
templates = [{ value = "all" }, { value = "later", since = "2.7" }]
replace = [
    { from = "1", to = "x", until = "2.5" },
    { from = "2", to = "y" },
    { from = "3", to = "z", since = "2.7" },
]
"""


def _for(release: str) -> tuple[Description, dict[tuple[str, ...], tuple[str, ...]]]:
    value, moved = for_release(read_description("specset.toml", TEXT.encode())[1], release)
    return msgspec.convert(value, Description), moved


@pytest.mark.parametrize(
    ("release", "comment", "templates", "replaced", "file"),
    [
        ("2.5.1", "old", "all", "12", "old.yaml"),
        ("2.6", "old", "all", "2", "old.yaml"),
        ("2.8.0", "new", "later", "23", "new.yaml"),
        ("2.10", "", "later", "23", "new.yaml"),
    ],
)
def test_each_release_has_its_values(release: str, comment: str, templates: str, replaced: str, file: str) -> None:
    description, _ = _for(release)
    nodes = description.family["nodes"]
    assert (description.comment, nodes.templates) == (comment, templates)
    assert "".join(each.from_ for each in nodes.replace) == replaced
    assert description.layers[0].native == (SpecFile(file),)


def test_what_applies_keeps_the_place_where_it_is_written() -> None:
    moved = _for("2.8")[1]
    assert moved["comment",] == ("comment", "1", "value")
    assert moved["layer", "0", "native", "0"] == ("layer", "0", "native", "1")
    assert moved["family", "nodes", "replace", "0"] == ("family", "nodes", "replace", "1")
    assert ("family", "nodes", "replace", "0") not in _for("2.5")[1]


def test_a_bound_is_included_and_a_patch_release_does_not_count() -> None:
    assert applies({"since": "2.7", "until": "2.7.0"}, "2.7.1")
    assert not applies({"until": "2.9"}, "2.10.0")
    assert applies({"since": "2.7", "until": "2.9"}, ""), "without a release, all applies"


@pytest.mark.parametrize("bound", ['since = "next"', 'until = "2.x"'])
def test_every_table_with_a_bound_is_validated(bound: str) -> None:
    with pytest.raises(SpecError) as refused:
        read_description("specset.toml", TEXT.replace('since = "2.7", until = "2.9"', bound).encode())
    assert "is not a release" in str(refused.value)


def test_templates_and_hooks_of_two_releases(vendor: Vendor) -> None:
    vendor.replace("hooks.py", 'function.operator != "mm"', 'function.operator != "mm" or release < (2, 13)')
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
    assert old["Functions.h"].startswith("// old\n") and not new["Functions.h"].startswith("// old\n")
