"""What the language server shows of whole files: symbols, folds, hints, semantic tokens; and what it offers to mend."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest
from copies import copy_of
from lsprotocol import types
from project import CORE, Project

from browse.editing import IN_ONE_LOOP, editor, project, restored
from browse.editor import DERIVATIVES, NATIVE, TAGS, Editor
from gradmill.extensions.browse.editor.outline import comment_runs, formulas, outline
from gradmill.extensions.browse.editor.symbols import rank_of
from gradmill.extensions.browse.lsp.tokens import LEGEND, difference

__all__ = ["editor", "project", "restored"]  # fixtures

pytestmark = IN_ONE_LOOP

MV = "- name: mv(Tensor self, Tensor vec) -> Tensor\n"
VEC = "  vec: self.t().conj().mv(grad)\n"
EXP = "  self: grad * result.conj()\n"


def document(path: Path) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(path.as_uri())


# ---- symbols


async def test_the_symbols_of_a_file_are_its_entries_with_their_fields(editor: Editor, project: Project) -> None:
    for name in (DERIVATIVES, NATIVE, TAGS):
        path = project.path(name)
        params = types.DocumentSymbolParams(document(path))
        symbols = await editor.client.text_document_document_symbol_async(params)
        assert symbols is not None
        text = editor.texts[path.as_uri()]
        assert len(symbols) == sum(line.startswith("- ") for line in text.split("\n"))
        for each in symbols:
            whole, inner = (editor.text_at(path.as_uri(), place) for place in (each.range, each.selection_range))
            assert whole.startswith("- ") and inner in whole and each.name in inner
    symbols = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(document(project.path(DERIVATIVES)))
    )
    mv = next(each for each in symbols or [] if each.name == "mv")
    assert (mv.detail, [each.name for each in mv.children]) == (
        "(Tensor self, Tensor vec) -> Tensor",
        ["self", "vec", "result"],
    )
    assert editor.text_at(project.path(DERIVATIVES).as_uri(), mv.children[1].range) == VEC.strip()


async def named(editor: Editor, query: str) -> list[tuple[str, str, str]]:
    """The workspace symbols of a query: name, file, the text there."""
    found = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams(query))
    return [
        (each.name, Path(each.location.uri).name, editor.text_at(each.location.uri, each.location.range))
        for each in found or []
    ]


async def test_operators_nodes_and_helpers_are_found_by_name(editor: Editor, project: Project) -> None:
    assert (await named(editor, "mv"))[0] == ("mv", NATIVE, "mv")
    assert await named(editor, "mvback") == [("MvBackward0", DERIVATIVES, MV.rstrip("\n"))]
    assert ("times", "core_helpers.h", "times") in await named(editor, "TIMES")
    assert ("add.Tensor", NATIVE, "add.Tensor") in await named(editor, "adten")
    assert await named(editor, "no such name") == []
    assert len(await named(editor, "")) > 200


@pytest.mark.parametrize(
    ("letters", "better", "worse"),
    [("mv", "mv", "mv.out"), ("mv", "mv.out", "addmv"), ("out", "mv.out", "about"), ("out", "about", "o_u_t")],
)
async def test_closer_names_come_first(letters: str, better: str, worse: str) -> None:
    best, other = rank_of(letters, better), rank_of(letters, worse)
    assert best is not None and other is not None and best < other
    assert rank_of(letters, "tuo") is None


async def test_a_node_is_found_at_its_entry_while_text_moves(editor: Editor, project: Project) -> None:
    """Also with a text that is no YAML, whose entries are at other lines than in its last readable version."""
    path = project.path(DERIVATIVES)
    await editor.edit(path, MV, "# one\n# two\n\n- name: {\n" + MV)
    assert await named(editor, "mvback") == [("MvBackward0", DERIVATIVES, MV.rstrip("\n"))]


# ---- folds


async def test_entries_and_runs_of_comments_fold(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    await editor.edit(path, MV, "# one\n# two\n\n" + MV)
    found = await editor.client.text_document_folding_range_async(types.FoldingRangeParams(document(path)))
    lines = editor.texts[path.as_uri()].split("\n")
    folded = {lines[each.start_line]: (lines[each.end_line], each.kind) for each in found or []}
    assert folded["# one"] == ("# two", types.FoldingRangeKind.Comment)
    assert folded[MV.rstrip("\n")] == ("  result: at::mv(self_t, vec_p) + at::mv(self_p, vec_t)", None)


async def test_runs_of_comments_are_of_several_lines() -> None:
    lines = ["# a", "# b", "", "# c", "- x", "  # d", "  # e"]
    assert list(comment_runs(lines)) == [(0, 1), (5, 6)]


# ---- hints


async def hints(editor: Editor, path: Path) -> dict[str, list[str]]:
    """The hints at the ends of the lines of a file, by line."""
    lines = editor.texts[path.as_uri()].split("\n")
    place = types.Range(types.Position(0, 0), types.Position(len(lines), 0))
    found: dict[str, list[str]] = {}
    for each in await editor.client.text_document_inlay_hint_async(types.InlayHintParams(document(path), place)) or []:
        assert each.position.character == len(lines[each.position.line])
        found.setdefault(lines[each.position.line], []).append(str(each.label))
    return found


async def test_a_definition_shows_its_nodes_and_its_differentiable_outputs(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    assert (await hints(editor, path))[MV.rstrip("\n")] == ["MvBackward0"]
    await editor.edit(path, MV, "# one\n" + MV)
    await editor.edit(path, VEC, VEC + "  output_differentiability: [False]\n")
    assert (await hints(editor, path))[MV.rstrip("\n")] == ["MvBackward0", "differentiable: no output"]
    assert await hints(editor, project.path(NATIVE)) == {}


async def test_hints_are_of_the_lines_that_an_editor_shows(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    line = editor.at(path, MV, after=0)["position"].line
    place = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
    found = await editor.client.text_document_inlay_hint_async(types.InlayHintParams(document(path), place))
    assert [each.label for each in found or []] == ["MvBackward0"]


async def test_an_editor_requests_again_what_another_file_changed(editor: Editor, project: Project) -> None:
    path, native = project.path(DERIVATIVES), project.path(NATIVE)
    assert ("exp", "method.defaultLibrary") not in await in_entry(editor, path, MV)
    await editor.edit(path, VEC, "  vec: self.exq()\n")
    assert ("exq", "unresolvedReference") in await in_entry(editor, path, MV)
    await editor.lenses(path)
    before, func = editor.renamed, "- func: exp(Tensor self) -> Tensor\n  variants: function, method\n"
    await editor.edit(native, func, func.replace("exp", "exq") + "\n" + func)
    await editor.until(lambda: editor.renamed >= before + 2)
    assert ("exq", "method.defaultLibrary") in await in_entry(editor, path, MV)


@pytest.mark.slow
async def test_of_several_outputs_a_hint_names_the_differentiable_ones(tmp_path: Path) -> None:
    shutil.copytree(CORE, tmp_path / "core")
    path = tmp_path / "core" / DERIVATIVES
    own = await Editor.start(tmp_path, "cache=cache", "generated=generated")
    assert await own.open(path) == []
    shown = {line.partition("(")[0]: each for line, each in (await hints(own, path)).items()}
    assert shown["- name: topk"] == ["TopkBackward0", "differentiable: values"]
    assert shown["- name: linalg_inv_ex"] == ["LinalgInvExBackward0", "differentiable: inverse"]
    assert all(each[0] == "no Node" or "Backward" in each[0] for each in shown.values()) and len(shown) > 100
    await own.end_in_peace()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["core", "lsp-stderr"]


# ---- semantic tokens


def decoded(numbers: list[int], text: str) -> list[tuple[str, str]]:
    """The words with tokens, and what they are."""
    words, lines, line, column = [], text.split("\n"), 0, 0
    for at in range(0, len(numbers), 5):
        down, right, size, kind, modifiers = numbers[at : at + 5]
        line, column = line + down, right if down else column + right
        unit = lines[line].encode("utf-16-le")[column * 2 : (column + size) * 2].decode("utf-16-le")
        of = [name for place, name in enumerate(LEGEND.token_modifiers) if modifiers >> place & 1]
        words.append((unit, ".".join([LEGEND.token_types[kind], *of])))
    return words


async def in_entry(editor: Editor, path: Path, text: str) -> list[tuple[str, str]]:
    """The tokens in the entry of a text that stands once."""
    place = editor.at(path, text, after=0)["position"]
    params = types.SemanticTokensRangeParams(document(path), types.Range(place, place))
    found = await editor.client.text_document_semantic_tokens_range_async(params)
    return decoded(list(found.data), editor.texts[path.as_uri()]) if found is not None else []


async def test_the_words_of_a_formula_have_tokens(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    new = "  vec: times(grad, reslt) /* \U0001f600 */ + result.conj() + at::mv(self, 2) + nowhere(vec.nothing())\n"
    await editor.edit(path, VEC, new)
    actual = await in_entry(editor, path, MV)
    vec = actual[actual.index(("times", "function.helper")) :]
    assert vec[:13] == [
        ("times", "function.helper"),
        ("grad", "variable.gradient"),
        ("reslt", "unresolvedReference"),
        ("/* \U0001f600 */", "comment"),
        ("result", "variable.readonly"),
        ("conj", "method.defaultLibrary"),
        ("mv", "function.defaultLibrary"),
        ("self", "parameter"),
        ("2", "number"),
        ("nowhere", "unresolvedReference"),
        ("vec", "parameter"),
        ("nothing", "unresolvedReference"),
        ("mv", "function.defaultLibrary"),
    ]
    assert ("self_t", "variable.gradient") in vec and ("vec_p", "parameter") in vec


async def test_no_word_of_a_valid_set_is_unknown(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    params = types.SemanticTokensParams(document(path))
    found = await editor.client.text_document_semantic_tokens_full_async(params)
    assert found is not None
    words = decoded(list(found.data), editor.texts[path.as_uri()])
    assert [word for word, kind in words if kind == "unresolvedReference"] == [] and len(words) > 300
    assert {kind.partition(".")[0] for _, kind in words} >= {"variable", "parameter", "function", "method", "keyword"}


async def test_tokens_are_sent_as_a_difference(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    ask, ask_since = (
        editor.client.text_document_semantic_tokens_full_async,
        editor.client.text_document_semantic_tokens_full_delta_async,
    )
    first = await ask(types.SemanticTokensParams(document(path)))
    assert first is not None and first.result_id is not None
    await editor.edit(path, VEC, "  vec: self.t().conj().mv(2 * grad)\n")
    since = types.SemanticTokensDeltaParams(document(path), first.result_id)
    delta = await ask_since(since)
    assert isinstance(delta, types.SemanticTokensDelta)
    whole = await ask(types.SemanticTokensParams(document(path)))
    assert applied(list(first.data), delta.edits) == list(whole.data) if whole is not None else False
    assert sum(len(each.data or ()) for each in delta.edits) < 20
    assert isinstance(await ask_since(since), types.SemanticTokens), "an old result is not known"


def applied(numbers: list[int], edits: Any) -> list[int]:
    for each in edits:
        numbers = [*numbers[: each.start], *(each.data or ()), *numbers[each.start + each.delete_count :]]
    return numbers


async def test_a_difference_gives_the_new_numbers() -> None:
    for old, new in itertools.product(([], [1], [1, 1], [1, 2, 1], [1, 2, 2, 1], [2, 1, 2]), repeat=2):
        assert applied(list(old), difference(old, new)) == new


# ---- formulas in YAML


async def test_a_formula_is_found_however_yaml_writes_it() -> None:
    text = (
        "- name: f(Tensor self, Tensor other) -> Tensor\n"
        "  # a comment: not a key\n"
        '  self, other: "g(\\"a: b\\", x) # no comment"  # a comment\n'
        "  version: v2.12\n"
        "  result: >\n"
        "    h(self_t,\n"
        "      self: z)\n"
        "  dispatch:\n"
        "    Default:\n"
        "      self: 'i(''c'')\n"
        "        + 1'\n"
        "      other: plain\n"
        "        + 2  # a comment\n"
        "\n# about the next one\n"
    )
    (block,) = outline(text.split("\n"))
    found = [(each.field.path, each.field.key, each.text.split()) for each in formulas("derivatives", block.body)]
    assert found == [
        ((), "self, other", ["g(", '"a:', "b", '",', "x)", "#", "no", "comment"]),
        ((), "result", ["h(self_t,", "self:", "z)"]),
        (("dispatch", "Default"), "self", ["i(", "'c", "')", "+", "1"]),
        (("dispatch", "Default"), "other", ["plain", "+", "2"]),
    ]
    lines = text.split("\n")
    for each in formulas("derivatives", block.body):
        for line, own in enumerate(each.text.split("\n"), each.field.line):
            kept = [a for a, b in zip(own, lines[line]) if a == b or (b in "\\'" and a == " ")]
            assert len(own) == len(lines[line]) and len(kept) >= len(own.split())
    assert block.last == 12
    keys = [field.key for field in block.body.fields]
    assert keys == ["name", "self, other", "version", "result", "dispatch", "Default", "self", "other"]


# ---- code actions


async def test_all_certain_fixes_are_one_action_as_check_makes_them(
    editor: Editor, project: Project, tmp_path: Path
) -> None:
    path = project.path(DERIVATIVES)
    await editor.edit(path, EXP, "  self: grad * reslt.conj();\n")
    await editor.edit(path, VEC, "  vec: self.t().cnj().mv(grad)\n")
    actions = await editor.actions(path, "  self: grad * reslt", types.CodeActionKind.SourceFixAll)
    (action,) = actions.values()
    assert action.title == "Fix all 3 certain problems of this file"
    mended = editor.applied(action.edit)[DERIVATIVES]
    copy = copy_of(project, tmp_path)
    copy.path(DERIVATIVES).write_text(editor.texts[path.as_uri()])
    assert copy.run("check", fix=1).status == 0
    assert copy.path(DERIVATIVES).read_text() == mended == path.read_text()
    quick = await editor.actions(path, "reslt.conj")
    assert next(iter(quick)) == "Write 'result' for 'reslt'" and action.title in quick


async def test_a_warning_is_silenced_for_its_entry(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    await editor.edit(path, VEC, "  vec: self.t().conj().mv(grad) * unfamiliar\n")
    actions = await editor.actions(path, "unfamiliar")
    (title,) = actions
    assert title == "Silence [unknown-name] for this entry, with a reason that you write"
    text = editor.applied(actions[title].edit)[DERIVATIVES]
    comment = "# gradmill: ignore unknown-name TODO: the reason\n"
    assert comment + MV in text
    assert await editor.edit(path, MV, comment + MV) == []


async def test_an_error_cannot_be_silenced_and_other_kinds_are_not_offered(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    await editor.edit(path, "  vec: self.t()", "  vce: self.t()")
    assert [title for title in await editor.actions(path, "vce") if "Silence" in title] == []
    assert await editor.actions(path, "vce", types.CodeActionKind.Refactor) == {}


async def test_of_two_keys_that_may_be_meant_for_one_the_first_is_fixed(editor: Editor, project: Project) -> None:
    """As `check fix=1` does: the other one is fixed after it."""
    path = project.path(DERIVATIVES)
    await editor.edit(path, "  self: grad.unsqueeze(1) * vec.conj()\n" + VEC, "  slef: grad\n  sefl: grad\n")
    both = {**await editor.actions(path, "slef"), **await editor.actions(path, "sefl")}
    assert [title for title in both if title.startswith("Write ")] == ["Write 'self' for 'slef'"]
