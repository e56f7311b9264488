"""What the language server answers of places: completion, hover, definitions, renaming, the lines above entries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from copies import copy_of
from lsprotocol import types
from project import Project
from pygls.exceptions import JsonRpcException

from browse.editing import IN_ONE_LOOP, editor, project, restored
from browse.editor import DERIVATIVES, NATIVE, TAGS, Editor

__all__ = ["editor", "project", "restored"]  # fixtures

pytestmark = IN_ONE_LOOP

MV = "- name: mv(Tensor self, Tensor vec) -> Tensor\n"
NATIVE_MV = "- func: mv(Tensor self, Tensor vec) -> Tensor\n"


# ---- completion


@pytest.mark.parametrize(
    ("name", "old", "new", "offered", "not_offered"),
    [
        # keys: inputs that have no formula yet, outputs, what all entries may have
        (DERIVATIVES, MV, MV + "  ¦\n", ["dispatch", "output_differentiability"], ["self", "vec", "exp"]),
        (DERIVATIVES, MV, MV + "  dispatch:\n    Aut¦\n", ["AutogradCUDA"], ["Default", "CPU"]),
        (DERIVATIVES, MV, MV + "  dispatch:\n    Default:\n      ¦\n", ["self", "vec", "result"], ["dispatch"]),
        (DERIVATIVES, "  vec: self.t()", "  v¦: self.t()", ["vec"], ["self"]),
        (DERIVATIVES, MV, "- ¦\n" + MV, ["name"], ["self", "dispatch"]),
        (DERIVATIVES, MV, "- n¦\n" + MV, ["name"], []),
        (DERIVATIVES, MV, "-¦\n" + MV, [], ["name", "dispatch"]),
        (DERIVATIVES, MV, "n¦\n" + MV, ["name"], ["output_differentiability"]),
        (DERIVATIVES, MV, MV + "  dispatch: ¦\n", [], ["self", "exp", "Default"]),
        # nothing stands right behind a colon
        (DERIVATIVES, "  vec: self.t()", "  vec:¦ self.t()", [], ["self", "dispatch", "output_differentiability"]),
        (DERIVATIVES, MV, MV + "  dispatch:¦\n", [], ["self", "output_differentiability"]),
        (NATIVE, NATIVE_MV, NATIVE_MV + "  tags:¦\n", [], ["core", "variants", "autogen"]),
        # schemas
        (DERIVATIVES, MV, MV.replace("mv(", "ad¦("), ["add.Tensor", "add_.Scalar"], ["mv"]),
        # formulas
        (DERIVATIVES, "  vec: self.t()", "  vec: se¦", ["self"], ["vec", "exp"]),
        (DERIVATIVES, "  vec: self.t()", "  vec: gra¦", ["grad", "grads"], []),
        (DERIVATIVES, "  vec: self.t()", "  vec: self.transp¦", ["transpose"], ["grad"]),
        (DERIVATIVES, "  vec: self.t()", "  vec: is_o¦", ["is_one"], []),
        (DERIVATIVES, "  vec: self.t()", "  vec: cumsum_b¦", ["cumsum_backward"], []),  # no header: the release has it
        (DERIVATIVES, "  vec: self.t()", "  vec: at::cumsum_b¦", [], ["cumsum_backward"]),
        (DERIVATIVES, "  result: at::mv(self_t, vec_p)", "  result: sel¦", ["self_t", "self_p"], []),
        (DERIVATIVES, "  result: at::mv(self_t, vec_p)", "  result: at::ex¦", ["exp"], ["self_t"]),
        # the other file
        (NATIVE, NATIVE_MV, NATIVE_MV + "  de¦\n", ["device_check", "device_guard"], ["func"]),
        (NATIVE, NATIVE_MV, NATIVE_MV + "  tags: inpl¦\n", ["inplace_view"], ["core"]),
        (NATIVE, NATIVE_MV, NATIVE_MV + "  tags: [core, gen¦]\n", ["generated"], ["core"]),
        (NATIVE, NATIVE_MV, NATIVE_MV + "  variants: me¦\n", ["method"], ["function"]),
        (NATIVE, NATIVE_MV, NATIVE_MV + "  variants: function, me¦\n", ["method"], ["function"]),
        (NATIVE, NATIVE_MV, NATIVE_MV + "  dispatch:\n    Comp¦\n", ["CompositeExplicitAutograd"], ["CPU"]),
        (NATIVE, NATIVE_MV, NATIVE_MV + "  autogen: exp.o¦\n", ["exp.out"], ["mv"]),
        (NATIVE, NATIVE_MV, NATIVE_MV + "  structured_delegate: ad¦\n", ["add.out"], []),
        (NATIVE, NATIVE_MV, NATIVE_MV + "  device_check: ¦\n", ["NoCheck", "ExactSame"], []),
        (NATIVE, NATIVE_MV, "- func: mv(Tens¦ self, Tensor vec) -> Tensor\n", ["Tensor"], ["Scalar"]),
        # while the file is no YAML
        (NATIVE, NATIVE_MV, NATIVE_MV + "  tags: [core\n  structured_delegate: ad¦\n", ["add.out"], []),
        (DERIVATIVES, MV, MV + "  output_differentiability: [¦\n", ["True", "False"], []),
    ],
)
async def test_what_may_stand_there_is_offered(
    editor: Editor, project: Project, name: str, old: str, new: str, offered: list[str], not_offered: list[str]
) -> None:
    labels = [item.label for item in await editor.offered(project.path(name), old, new)]
    assert [label for label in offered if label not in labels] == []
    assert [label for label in not_offered if label in labels] == []


@pytest.mark.parametrize(
    ("name", "line", "result"),
    [
        (DERIVATIVES, "- n¦", "- name: "),
        (DERIVATIVES, "n¦", "- name: "),
        (NATIVE, "- f¦", "- func: "),
        (NATIVE, "f¦", "- func: "),
        (TAGS, "- t¦", "- tag: "),
        (TAGS, "t¦", "- tag: "),
        (TAGS, "  d¦", "  desc: "),
    ],
)
async def test_an_entry_begins_with_one_dash(
    editor: Editor, project: Project, name: str, line: str, result: str
) -> None:
    first = {DERIVATIVES: MV, NATIVE: NATIVE_MV, TAGS: "- tag: core\n"}[name]
    (item, *_) = await editor.offered(project.path(name), first, f"{line}\n{first}")
    place, text = item.text_edit.range, line.replace("¦", "")
    assert text[: place.start.character] + item.text_edit.new_text + text[place.end.character :] == result


async def test_an_output_is_offered_once(editor: Editor, project: Project) -> None:
    items = await editor.offered(project.path(DERIVATIVES), "  vec: self.t()", "  vec: resu¦")
    assert [item.label for item in items if item.label == "result"] == ["result"]


async def test_a_schema_takes_the_place_of_the_rest_of_the_line(editor: Editor, project: Project) -> None:
    items = await editor.offered(project.path(DERIVATIVES), MV, "- name: exp_¦(Tensor self)\n")
    choice = next(item for item in items if item.label == "exp_")
    assert choice.text_edit.new_text == "exp_(Tensor(a!) self) -> Tensor(a!)"
    place = choice.text_edit.range
    assert (place.start.character, place.end.character) == (len("- name: "), len("- name: exp_(Tensor self)"))


async def test_a_word_takes_the_place_of_its_letters(editor: Editor, project: Project) -> None:
    items = await editor.offered(project.path(DERIVATIVES), "  vec: self.t()", "  vec: /* \U0001f600 */ gra¦")
    choice = next(item for item in items if item.label == "grads")
    assert editor.text_at(project.path(DERIVATIVES).as_uri(), choice.text_edit.range) == "gra"


# ---- hover


async def test_an_operator_shows_its_schema_its_node_and_what_that_saves(editor: Editor, project: Project) -> None:
    for name, text in ((DERIVATIVES, MV), (NATIVE, NATIVE_MV)):
        hover = await editor.hover(project.path(name), text, after=9)
        assert "mv(Tensor self, Tensor vec) -> Tensor" in hover
        assert "**MvBackward0**: gradients of `self`, `vec`" in hover
        assert "saves `self` (at::Tensor), `vec` (at::Tensor)" in hover
        link = re.search(r"C\+\+: \[Functions.cpp:(\d+)\]\((.*)#L(\d+)\)$", hover)
        assert link is not None and link[2] == (project.generated / "Functions.cpp").as_uri()
        line = (project.generated / "Functions.cpp").read_text().split("\n")[int(link[3]) - 1]
        assert link[1] == link[3] and line.startswith("static variable_list MvBackward0_apply")
        assert hover.count("\n") < 20


async def test_the_cpp_is_that_of_what_is_typed(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    old, new = "  self: grad.unsqueeze(1) * vec.conj()", "  self: grad.unsqueeze(1) * vec"
    await editor.edit(path, old, new)
    hover = await editor.hover(path, MV, after=9)
    assert "```cpp\n" in hover and "(grad.unsqueeze(1) * vec)" in hover


async def test_a_helper_shows_its_declaration(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    formula = "  self: times(grad, at::conj(other))"
    text = editor.texts[path.as_uri()]
    line = next(line for line in text.split("\n") if "times(" in line and text.count(line + "\n") == 1)
    hover = await editor.hover(path, line, after=line.index("times(") + 1)
    assert "inline Tensor times(const Tensor& t, const Scalar& s);" in hover, formula


@pytest.mark.parametrize(
    ("text", "after", "message"),
    [
        ("  self: grad.unsqueeze(1) * vec.conj()", 29, "`Tensor vec`: an argument of `mv`"),
        ("  self: grad.unsqueeze(1) * vec.conj()", 9, "`grad`: the gradient of the first output"),
        ("  result: at::mv(self_t, vec_p)", 18, "`Tensor self`: the tangent of an argument of `mv`"),
        ("  result: at::mv(self_t, vec_p)", 15, "mv(Tensor self, Tensor vec) -> Tensor"),
    ],
)
async def test_a_word_of_a_formula_shows_what_it_is(
    editor: Editor, project: Project, text: str, after: int, message: str
) -> None:
    assert message in await editor.hover(project.path(DERIVATIVES), text, after)


async def test_a_tag_shows_its_meaning(editor: Editor, project: Project) -> None:
    path = project.path(NATIVE)
    new = NATIVE_MV + "  tags: inplace_view\n"
    await editor.edit(path, NATIVE_MV, new)
    hover = await editor.hover(path, new, after=len(new) - 4)
    assert hover.startswith("**inplace_view**\n\n")


async def test_nothing_is_reported_of_a_comment(editor: Editor, project: Project) -> None:
    path = project.path(NATIVE)
    new = "# a comment about nothing\n\n" + editor.texts[path.as_uri()][:60]
    old = editor.texts[path.as_uri()][:60]
    await editor.edit(path, old, new)
    hover = await editor.hover(path, "# a comment about nothing", after=12)
    assert hover == ""


# ---- definitions


async def test_from_a_formula_to_the_schema_and_to_the_header(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    assert await editor.definition(path, MV, 9) == [(NATIVE, "mv")]
    assert await editor.definition(path, "  self: grad.unsqueeze(1) * vec.conj()", 29) == [(NATIVE, "vec")]
    assert await editor.definition(path, "  result: at::mv(self_t, vec_p)", 15) == [(NATIVE, "mv")]
    text = editor.texts[path.as_uri()]
    line = next(line for line in text.split("\n") if "times(" in line and text.count(line + "\n") == 1)
    location = await editor.definition(path, line, line.index("times(") + 1)
    assert location == [("core_helpers.h", "times")] * len(location) and location


@pytest.mark.parametrize("call", ["cumsum_backward(grad, 1)", "nowhere(grad)", "grad.nowhere()"])
async def test_what_no_file_of_the_set_declares_leads_nowhere(editor: Editor, project: Project, call: str) -> None:
    path = project.path(DERIVATIVES)
    await editor.edit(path, "  vec: self.t()", f"  vec: {call}")
    assert await editor.definition(path, f"  vec: {call}", f"  vec: {call}".index("(") - 1) == []


async def test_from_a_gradient_to_the_schema_of_its_operator(editor: Editor, project: Project) -> None:
    line = "  self: grad.unsqueeze(1) * vec.conj()"
    assert await editor.definition(project.path(DERIVATIVES), line, line.index("grad")) == [(NATIVE, "mv")]


async def test_from_a_schema_to_its_derivatives_and_to_what_it_refers_to(editor: Editor, project: Project) -> None:
    path = project.path(NATIVE)
    assert await editor.definition(path, NATIVE_MV, 9) == [(DERIVATIVES, "mv")]
    text = editor.texts[path.as_uri()]
    line = next(line for line in text.split("\n") if "structured_delegate: sin.out" in line)
    at = text.index(line)
    location = await editor.definition(path, text[at - 60 : at + len(line)], 60 + line.index("sin.out") + 1)
    assert location == [(NATIVE, "sin.out")]


# ---- renaming


async def renamed(editor: Editor, path: Path, text: str, after: int, new: str) -> dict[str, str]:
    params = types.RenameParams(**editor.at(path, text, after=after), new_name=new)
    return editor.applied(await editor.client.text_document_rename_async(params))


async def test_an_operator_is_renamed_in_both_files_with_its_variants(
    editor: Editor, project: Project, tmp_path: Path
) -> None:
    """A run over the renamed files finds all as before, under the new name."""
    files = await renamed(editor, project.path(DERIVATIVES), MV, 9, "matvec")
    assert set(files) == {DERIVATIVES, NATIVE}
    assert "- name: matvec(Tensor self" in files[DERIVATIVES] and "at::matvec(self_t, vec_p)" in files[DERIVATIVES]
    assert "- func: matvec.out(" in files[NATIVE] and "mv(" not in files[NATIVE].replace("matvec(", "")
    copy = Project(tmp_path, project.specs, (project.specs / "RELEASE").read_text())
    for name, text in files.items():
        copy.path(name).write_text(text)
    copy.run().clean()
    before, after = project.units(), copy.units()
    assert [unit.replace("Matvec", "Mv").replace("matvec", "mv") for unit in after] == before
    assert after != before


DEPRECATED = """
- name: mv(Tensor vec, *, Tensor mat) -> Tensor
  aten: mv(mat, vec)

- name: mv(Tensor vec, *, Tensor mat, Tensor(a!) out) -> Tensor(a!)
  aten: mv_out(out, mat, vec)

- name: mvx(Tensor vec) -> Tensor
  aten: mvx(vec)
"""


async def test_an_operator_is_renamed_in_deprecated_forms_that_no_generated_file_reads(
    editor: Editor, project: Project
) -> None:
    path = project.specs / "deprecated.yaml"
    path.write_text(DEPRECATED)
    try:
        files = await renamed(editor, project.path(DERIVATIVES), MV, 9, "matvec")
    finally:
        path.unlink()
    assert files["deprecated.yaml"] == DEPRECATED.replace("mv(", "matvec(").replace("mv_out(", "matvec_out(")


async def test_references_follow_a_renamed_operator(editor: Editor, project: Project) -> None:
    text = "- func: sin(Tensor self) -> Tensor\n"
    asin = "- func: asin(Tensor self) -> Tensor\n"
    await editor.edit(project.path(NATIVE), text, f"{asin}\n{text}")
    files = await renamed(editor, project.path(NATIVE), text, 9, "sine")
    assert "structured_delegate: sine.out" in files[NATIVE]
    assert "- func: sine_(Tensor(a!) self)" in files[NATIVE]
    assert "sin.out" not in files[NATIVE]
    assert "self.sine()" in files[DERIVATIVES]
    assert asin in files[NATIVE]


async def test_an_overload_is_renamed_alone(editor: Editor, project: Project) -> None:
    text = "- name: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    files = await renamed(editor, project.path(DERIVATIVES), text, len("- name: add.T"), "Other")
    assert "- name: add.Other(Tensor self" in files[DERIVATIVES]
    assert "- func: add.Other(Tensor self" in files[NATIVE]
    assert "- func: add_.Tensor(" in files[NATIVE]


@pytest.mark.parametrize("new", ["exp", "no name", "2nd", "name_", "class", "template"])
async def test_a_name_that_cannot_be_had_is_refused(editor: Editor, project: Project, new: str) -> None:
    with pytest.raises(JsonRpcException):
        await renamed(editor, project.path(DERIVATIVES), MV, 9, new)


async def test_where_a_name_may_be_changed_is_reported_first(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    ask = editor.client.text_document_prepare_rename_async
    response = await ask(types.PrepareRenameParams(**editor.at(path, MV, after=9)))
    assert response.placeholder == "mv"
    assert await ask(types.PrepareRenameParams(**editor.at(path, "  self: grad.unsqueeze(1) * vec", after=9))) is None


# ---- the lines above entries


async def test_entries_tell_how_many_units_are_made_from_them(editor: Editor, project: Project) -> None:
    """As many as the manifest of a run has for them."""
    for name, line, schema in ((DERIVATIVES, MV, "mv("), (NATIVE, NATIVE_MV, "mv(")):
        actual = (await editor.lenses(project.path(name)))[line.rstrip("\n")]
        assert actual == "1 unit made from it", schema


async def test_an_edited_entry_shows_what_a_run_would_rebuild(editor: Editor, project: Project, tmp_path: Path) -> None:
    """The units that a run over the same texts then makes, and the entries that `explain` has for them."""
    path = project.path(DERIVATIVES)
    exp = "- name: exp(Tensor self) -> Tensor\n  self: "
    mv = "  self: {}grad.unsqueeze(1) * vec.conj()"
    edits = [
        (f"{exp}grad", f"{exp}2 * grad"),
        (mv.format(""), mv.format("3 * ")),
        (mv.format("3 * "), mv.format("4 * ")),
    ]
    for old, new in edits:
        await editor.edit(path, old, new)
    lenses = await editor.lenses(path)
    copy = copy_of(project, tmp_path)
    copy.path(DERIVATIVES).write_text(editor.texts[path.as_uri()])
    run = copy.run()
    await editor.restore()
    printed = {line: title for line, title in lenses.items() if title.startswith("edited")}
    assert printed == {
        "- name: exp(Tensor self) -> Tensor": "edited: rebuilds 2 units: ExpBackward0, ForeachExpBackward0",
        MV.rstrip("\n"): "edited: rebuilds 1 unit: MvBackward0",
    }
    assert sorted(run.units) == ["ExpBackward0", "ForeachExpBackward0", "MvBackward0"]
    assert [title for title in (await editor.lenses(path)).values() if title.startswith("edited")] == []
