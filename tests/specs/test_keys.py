"""A key of entries is one row of `pipeline/gradmill/model/keys.py`: what reads entries has it from there."""

from __future__ import annotations

from typing import Any, cast

import pytest

from gradmill.grammar.schema import parser
from gradmill.model.keys import KEYS, Key
from gradmill.model.layers import SpecSource
from gradmill.problems.problem import SpecError
from gradmill.releases import resolve
from gradmill.reports.spec_schemas import FILES, spec_schema
from gradmill.rules.derivatives.definition import parse_definition
from gradmill.rules.layers.keys import settled
from gradmill.rules.native.entry import parse_entry
from gradmill.rules.native.python_names import ignored_keys
from gradmill.rules.native.settings import Known, settings_of
from gradmill.specs.values import PlainValues, load_document

SCHEMA = "f(Tensor self) -> Tensor"
RELEASE = resolve("2.13.0")
KNOWN = Known(frozenset(), RELEASE, parser(frozenset(RELEASE.base_types)))


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    for keys in KEYS.values():
        monkeypatch.setitem(keys, "added_key", Key("added_key", "flag"))


def hint_of(entry: dict[str, Any]) -> str:
    with pytest.raises(SpecError) as raised:
        parse_entry(entry, *KNOWN)
    return raised.value.hint


def test_a_function_has_it() -> None:
    assert settings_of({"func": SCHEMA, "added_key": True}, KNOWN) == {"added_key": True}
    with pytest.raises(SpecError, match="neither True nor False"):
        settings_of({"func": SCHEMA, "added_key": 1}, KNOWN)
    assert hint_of({"func": SCHEMA, "aded_key": True}) == "did you mean 'added_key'?"


def test_a_definition_has_it() -> None:
    rows = {"self": "grad"}
    definition, suspicions = parse_definition({"name": SCHEMA, "added_key": True, **rows}, RELEASE)
    assert [row.key for row in definition.dispatch[0][1]] == ["self"] and suspicions == []
    with pytest.raises(SpecError) as raised:
        parse_definition({"name": SCHEMA, "aded_key": True, **rows}, RELEASE)
    assert raised.value.hint == "did you mean 'added_key'?"
    (node,) = load_document(f"- name: {SCHEMA}\n  added_key: 'grad + 1'\n  dispatch: {{}}\n  other: {{1: 2}}\n") or []
    value = PlainValues("", "derivatives").of(node)
    own = cast(dict[str, Any], value)
    assert parse_definition({key: own[key] for key in ("name", "added_key")}, RELEASE)[0].dispatch[0][1] == ()


def test_a_deprecated_form_has_it() -> None:
    assert ignored_keys({"name": SCHEMA, "aten": "f(self)", "added_key": True}) == []


@pytest.mark.parametrize("role", ["native", "derivatives", "tags"])
def test_a_layer_has_it(role: str) -> None:
    """It is no key of another generator."""
    layer = SpecSource(f"{role}:layer", "file.yaml", "layer")
    assert settled(layer, {"added_key": True}) == (layer, [])


@pytest.mark.parametrize("file", FILES)
def test_the_json_schema_has_it(file: str) -> None:
    assert spec_schema(file, RELEASE, ())["items"]["properties"]["added_key"] == {"type": "boolean"}
