"""deprecated.yaml in an editor: errors as they are typed, completion, definitions, and lines above entries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from families.test_bindings import DEPRECATED, bound
from lsprotocol import types
from project import Project

from browse.editor import Editor

pytestmark = pytest.mark.slow  # each has an editor, and builds the bindings

__all__ = ["bound"]  # the fixture

FORM, OUT = (line for line in DEPRECATED.splitlines() if line.startswith("- name: "))
CALL = "aten: mv(self, vec)"


@pytest.fixture
def path(bound: Project) -> Path:
    return bound.build(families="bindings").specs / "deprecated.yaml"


@pytest_asyncio.fixture
async def editor(bound: Project, path: Path) -> AsyncIterator[Editor]:
    response = await Editor.of(bound, "families=bindings")
    assert await response.open(path) == []
    yield response
    await response.end_in_peace()


@pytest.mark.asyncio
async def test_deprecated_forms_are_checked_as_they_are_typed(editor: Editor, path: Path) -> None:
    """As problems of bindings are, after a rest: these are no part of what each key checks."""

    async def shown(old: str, new: str, word: str) -> list[types.Diagnostic]:
        editor.type(path, old, new)
        uri = path.as_uri()
        await editor.until(lambda: any(word in each.message for each in editor.shown[uri].diagnostics))
        return list(editor.shown[uri].diagnostics)

    (error,) = await shown(CALL, CALL.replace("vec", "vek"), "vek")
    assert (error.message, str(error.range)) == (
        "mv: aten: unknown argument 'vek'\nhint: did you mean 'vec'?",
        "3:17-3:20",
    )
    (warning,) = await shown(CALL.replace("vec", "vek"), f"{CALL}\n  since: 2", "since")
    assert warning.message.startswith("mv: since: unknown key 'since'")


@pytest.mark.asyncio
async def test_deprecated_forms_have_the_bindings_that_parse_them(editor: Editor, path: Path) -> None:
    assert await editor.lenses(path) == {FORM: "2 units made from it", OUT: "1 unit made from it"}
    await editor.edit(path, FORM, "- name: mv(Tensor vec, Tensor self) -> Tensor")
    await editor.edit(path, OUT, "- name: mv(Tensor vec, Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
    assert {*(await editor.lenses(path)).values()} == {"edited: rebuilds 2 units: torch.mv, Tensor.mv"}


@pytest.mark.asyncio
async def test_the_call_of_a_form_leads_to_the_functions_of_its_name(editor: Editor, path: Path) -> None:
    assert [name for _, name in await editor.definition(path, CALL, after=7)] == ["mv", "mv.out"]


@pytest.mark.asyncio
async def test_forms_refer_to_their_operator(editor: Editor, path: Path) -> None:
    """By their names and their calls, also of the out variant, whose C++ name ends with `_out`."""
    found = [line for name, line in await editor.references(path, CALL, after=7) if name == path.name]
    assert found == [FORM.replace("mv", "[mv]", 1), OUT.replace("mv", "[mv]", 1), f"aten: [mv]{CALL[8:]}", found[-1]]
    assert found[-1].startswith("aten: [mv_out](out, ")
    help_ = await editor.signature(path, CALL, "aten: mv(self, ¦")
    assert help_ is not None and help_.active_parameter == 1
    assert help_.signatures[0].label == "mv(Tensor self, Tensor vec) -> Tensor"


OFFERED = [
    (f"{CALL}\n\n¦", ["name"], ["mv"]),
    (f"at¦: {CALL[6:]}", ["aten"], ["name"]),
    ("aten: m¦", ["mv", "mul"], ["masked_fill_backward", "vec"]),
    ("aten: mv(self, v¦", ["vec"], ["mv"]),
]


@pytest.mark.asyncio
async def test_what_may_stand_in_a_form_is_offered(editor: Editor, path: Path) -> None:
    for new, offered, not_offered in OFFERED:
        labels = {each.label for each in await editor.offered(path, CALL, new)}
        assert {*offered} <= labels
        assert not {*not_offered} & labels
        await editor.restore()
