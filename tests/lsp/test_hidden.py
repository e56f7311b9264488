"""Hidden outputs in an editor: a description names them, and the formulas of their operator use them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types
from vendors.vendor import Vendor

from lsp.editing import IN_ONE_LOOP, restored
from lsp.editor import MARK, Editor

__all__ = ["restored"]  # a fixture

pytestmark = IN_ONE_LOOP

VIEWS = 'add.views = { head = "self" }'
HIDDEN = 'add.hidden_outputs = { scaled = "Tensor mask, SymInt[] sizes" }'
SCALED = "- name: scaled(Tensor self, Scalar by, bool twice=False) -> Tensor"
FORMULA = "(grad * mask).expand_symint(sizes)"


@pytest.fixture(scope="module")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    """The set with two hidden outputs of `scaled`."""
    vendor = Vendor(tmp_path_factory.mktemp("hidden"))
    vendor.replace("specset.toml", VIEWS, f"{VIEWS}\n{HIDDEN}")
    vendor.replace("plugin/config/derivatives.yaml", '"twice ? grad * by * 2 : grad * by"', FORMULA)
    return vendor


@pytest.fixture(scope="module")
def path(vendor: Vendor) -> Path:
    return vendor.path("plugin/config/derivatives.yaml")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def editor(vendor: Vendor, path: Path) -> AsyncIterator[Editor]:
    """An editor on the definitions of the layer, in a set on top of the one that has it."""
    own = vendor.folder / "own" / "specset.toml"
    own.parent.mkdir()
    own.write_text('name = "own"\nbase = "../set/specset.toml"\n')
    editor = await Editor.start(vendor.folder, "specs=own", "cache=cache")
    assert await editor.open(path) == []
    yield editor
    await editor.end_in_peace()


@pytest.mark.parametrize(
    ("typed", "label", "detail"),
    [
        (f"ma{MARK}", "mask", "Tensor, a hidden output"),
        (f"grad.expand_symint(si{MARK}", "sizes", "SymInt[], a hidden output"),
    ],
)
async def test_they_are_offered_in_formulas_of_their_operator(
    editor: Editor, path: Path, typed: str, label: str, detail: str
) -> None:
    first = (await editor.offered(path, FORMULA, typed))[0]
    assert (first.label, first.detail, first.kind) == (label, detail, types.CompletionItemKind.Variable)


async def test_they_are_offered_in_forward_formulas(editor: Editor, path: Path) -> None:
    offered = await editor.offered(path, FORMULA, f"{FORMULA}\n  result: self_t * ma{MARK}")
    assert offered[0].label == "mask"


async def test_they_are_offered_nowhere_else(editor: Editor, path: Path) -> None:
    assert "sizes" not in {each.label for each in await editor.offered(path, "swish_gradient(", f"sizes{MARK}(")}
    assert "sizes" not in {each.label for each in await editor.offered(path, FORMULA, f"grad.siz{MARK}")}


async def test_a_word_shows_its_type_and_its_operator(editor: Editor, path: Path) -> None:
    assert await editor.hover(path, "mask).expand") == "`Tensor mask`: a hidden output of `scaled`"
    assert await editor.hover(path, "sizes)") == "`SymInt[] sizes`: a hidden output of `scaled`"


async def test_their_operator_shows_them(editor: Editor, path: Path) -> None:
    assert "hidden outputs: `Tensor mask`, `SymInt[] sizes`" in await editor.hover(path, SCALED, after=10)


async def test_a_definition_has_a_hint_with_their_names(editor: Editor, path: Path) -> None:
    document = types.TextDocumentIdentifier(path.as_uri())
    whole = types.Range(types.Position(0, 0), types.Position(999, 0))
    found = await editor.client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
    line = editor.at(path, SCALED, after=0)["position"].line
    assert [each.label for each in found or [] if each.position.line == line] == [
        "ScaledBackward0",
        "hidden: mask, sizes",
    ]
    assert sum("hidden" in str(each.label) for each in found or []) == 1


async def test_they_lead_to_the_description(editor: Editor, path: Path) -> None:
    assert await editor.definition(path, "mask).expand") == [("specset.toml", "mask")]
    references = await editor.references(path, "sizes)", 1)
    assert references == [
        ("derivatives.yaml", "self: (grad * mask).expand_symint([sizes])"),
        ("specset.toml", HIDDEN.replace("sizes", "[sizes]")),
    ]
    assert await editor.references(path, "sizes)", 1, declared=False) == references[:1]


@pytest.mark.slow
async def test_an_edited_description_counts_at_once(tmp_path: Path) -> None:
    vendor = Vendor(tmp_path)
    path = vendor.path("plugin/config/derivatives.yaml")
    editor = await Editor.start(tmp_path, "specs=set", "cache=cache")
    assert await editor.open(path) == []
    assert all(each.label != "mask" for each in await editor.offered(path, "twice ? grad", f"ma{MARK} ? grad"))
    vendor.replace("specset.toml", VIEWS, f"{VIEWS}\n{HIDDEN}")
    editor.changed_on_disk(vendor.path("specset.toml"))
    assert (await editor.offered(path, "ma ? grad", f"mas{MARK} ? grad"))[0].label == "mask"
    await editor.edit(path, "mas ? grad", "mask ? grad")
    assert await editor.definition(path, "mask ? grad") == [("specset.toml", "mask")]
    await editor.edit(path, "mask ? grad", "twice ? grad")
    assert (await editor.end(), editor.errors.read_text()) == (0, "")
