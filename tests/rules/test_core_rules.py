"""The core spec set shows every rule that it claims to show, each by an entry of its own; see core_rules.yaml."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml
from project import CORE, Project

Row = dict[str, Any]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

RULES: list[Row] = yaml.load(
    (Path(__file__).parent / "core_rules.yaml").read_text(encoding="utf-8"),
    Loader=_LOADER,  # noqa: S506
)

KEYS = {"native_functions.yaml": "func", "derivatives.yaml": "name", "tags.yaml": "tag"}


class Core:
    """All that is known of the core spec set: its entries, and what gradmill makes of them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @cached_property
    def entries(self) -> dict[str, dict[str, Row]]:
        """The entries of each file, by what they are called."""
        return {
            file: {entry[key]: entry for entry in yaml.load((CORE / file).read_text(), Loader=_LOADER)}  # noqa: S506
            for file, key in KEYS.items()
        }

    @cached_property
    def functions(self) -> set[str]:
        """Every schema, written or generated."""
        return {row["func"] for row in self._rows("schemas")}

    @cached_property
    def matches(self) -> dict[str, Row]:
        return {row["func"]: row for row in self._rows("match")}

    @cached_property
    def infos(self) -> list[Row]:
        return self._rows("infos")

    @cached_property
    def files(self) -> dict[str, str]:
        return {name: data.decode() for name, data in self._project.files().items()}

    def infos_of(self, file: str, entry: str) -> list[Row]:
        """What the definition gives, or what the function is matched with."""
        if file == "derivatives.yaml":
            return [row for row in self.infos if row["entry"] == entry.partition("(")[0]]
        match = self.matches[_schema(entry)]
        return list((match["info"] or {}).values())

    def forward_formulas(self, file: str, entry: str) -> Iterator[str]:
        if file == "native_functions.yaml":
            for derivatives in (self.matches[_schema(entry)]["fw_derivatives"] or {}).values():
                yield from (derivative["formula"] for derivative in derivatives)
        for info in self.infos_of(file, entry):
            yield from (derivative["formula"] for derivative in info["forward_derivatives"])

    def _rows(self, stage: str) -> list[Row]:
        return self._project.run("show", stage, specs="core").rows


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Core:
    project = Project(tmp_path_factory.mktemp("core"), CORE, "2.13.0")
    project.run(specs="core").ok()
    return Core(project)


def _schema(entry: str) -> str:
    """The schema of an entry: a namespace stands before the name."""
    return entry.rpartition("::")[2]


# ---- what shows that a rule was applied


def declares(core: Core, rule: Row, keys: Row) -> None:
    entry = core.entries[rule["file"]][rule["entry"]]
    for key, value in keys.items():
        assert key in entry
        assert value is None or entry[key] == value


def function(core: Core, rule: Row, schema: str) -> None:
    assert schema in core.functions


def match_info(core: Core, rule: Row, wanted: Row) -> None:
    info = core.matches[wanted["func"]]["info"]
    assert wanted["op"] in ({result["op"] for result in info.values()} if info else {None})


def node(core: Core, rule: Row, name: str) -> None:
    assert name in {info["op"] for info in core.infos_of(rule["file"], rule["entry"])}
    assert f" {name} : public " in core.files["Functions.h"]


def saved(core: Core, rule: Row, wanted: Row) -> None:
    infos = core.infos_of(rule["file"], rule["entry"])
    result = [one for info in infos for one in (*info["all_saved_inputs"], *info["all_saved_outputs"])]
    types = [one["type"] for one in result if one["name"] == wanted["name"]]
    assert types
    assert "type" not in wanted or wanted["type"] in types


def formula(core: Core, rule: Row, text: str) -> None:
    infos = core.infos_of(rule["file"], rule["entry"])
    assert any(text in derivative["formula"] for info in infos for derivative in info["derivatives"])


def fw_formula(core: Core, rule: Row, text: str) -> None:
    assert any(text in result for result in core.forward_formulas(rule["file"], rule["entry"]))


def text(core: Core, rule: Row, wanted: Row) -> None:
    content = core.files[wanted["file"]]
    assert wanted.get("contains", "") in content
    assert "lacks" not in wanted or wanted["lacks"] not in content


EVIDENCE: dict[str, Callable[[Core, Row, Any], None]] = {
    check.__name__: check for check in (declares, function, match_info, node, saved, formula, fw_formula, text)
}


@pytest.mark.parametrize("rule", RULES, ids=[row["rule"] for row in RULES])
def test_the_entry_shows_the_rule(core: Core, rule: Row) -> None:
    assert rule["entry"] in core.entries[rule["file"]]
    assert rule["evidence"]
    for kind, wanted in rule["evidence"].items():
        EVIDENCE[kind](core, rule, wanted)


def test_every_rule_has_a_name_of_its_own() -> None:
    names = [rule["rule"] for rule in RULES]
    assert sorted(names) == sorted(set(names))


def test_the_set_has_no_warnings(core: Core) -> None:
    core._project.run(specs="core").clean()
