"""A key of entries is one row of `pipeline/gradmill/model/keys.py`: completion offers it and its values."""

from __future__ import annotations

from typing import cast

import pytest

from gradmill.extensions.browse.editor.completion import Context, complete
from gradmill.extensions.browse.editor.cursor import cursor_at
from gradmill.extensions.browse.editor.outline import formulas, outline
from gradmill.model.keys import KEYS, Key
from gradmill.problems.problem import Role
from gradmill.query.database import Database

SCHEMA = "f(Tensor self) -> Tensor"


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    for keys in KEYS.values():
        monkeypatch.setitem(keys, "added_key", Key("added_key", "flag"))
    monkeypatch.setattr("gradmill.extensions.browse.editor.completion.schema_of", lambda db, text: None)


def offered(role: Role, *lines: str) -> list[str]:
    """The completions at the end of the last line."""
    cursor = cursor_at(role, lines, len(lines) - 1, len(lines[-1]))
    return [each.label for each in complete(Context(cast(Database, None), cursor, lines)).choices]


@pytest.mark.parametrize("role", ["native", "derivatives", "deprecated"])
def test_the_editor_has_it(role: Role) -> None:
    head = next(iter(KEYS[role]))
    assert offered(role, f"- {head}: {SCHEMA}", "  added") == ["added_key"]
    (block,) = outline([f"- {head}: {SCHEMA}", "  added_key: self"])
    assert formulas(role, block.body) == []


def test_the_editor_has_its_values() -> None:
    assert offered("native", f"- func: {SCHEMA}", "  added_key: ") == ["True", "False"]
