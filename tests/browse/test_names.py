"""What the language server knows of names: their references, the signatures of calls, methods by use."""

from __future__ import annotations

import re

import pytest
from project import Project

from browse.editing import IN_ONE_LOOP, editor, project, restored
from browse.editor import DERIVATIVES, NATIVE, Editor
from gradmill.cpp.header import parameters_of
from gradmill.extensions.browse.editor.signatures import OpenCall, call_in

__all__ = ["editor", "project", "restored"]  # fixtures

pytestmark = IN_ONE_LOOP

MV = "- name: mv(Tensor self, Tensor vec) -> Tensor\n"
VEC = "  vec: self.t().conj().mv(grad)\n"
SELF = "  self: grad.unsqueeze(1) * vec.conj()\n"


# ---- references

OF_MV = [
    (NATIVE, "- func: [mv](Tensor self, Tensor vec) -> Tensor"),
    (NATIVE, "- func: [mv.out](Tensor self, Tensor vec, *, Tensor(a!) out) -> Tensor(a!)"),
    (DERIVATIVES, "- name: [mv](Tensor self, Tensor vec) -> Tensor"),
    (DERIVATIVES, "vec: self.t().conj().[mv](grad)"),
    (DERIVATIVES, "result: at::[mv](self_t, vec_p) + at::mv(self_p, vec_t)"),
    (DERIVATIVES, "result: at::mv(self_t, vec_p) + at::[mv](self_p, vec_t)"),
]


@pytest.mark.parametrize(("text", "after"), [(MV, 9), (VEC, VEC.index("mv(") + 1), ("  result: at::mv(self_t", 15)])
async def test_an_operator_is_referred_to_by_schemas_definitions_and_formulas(
    editor: Editor, project: Project, text: str, after: int
) -> None:
    path = project.path(DERIVATIVES)
    assert await editor.references(path, text, after) == OF_MV
    assert await editor.references(path, text, after, declared=False) == OF_MV[2:]


async def test_references_are_those_of_the_text_in_the_editor(editor: Editor, project: Project) -> None:
    """Also while it is no YAML, and of a file that is not open."""
    path = project.path(DERIVATIVES)
    await editor.edit(path, SELF, '  self: "grad.mv(vec) + mv_(grad) + mvx(mv\n')
    found = await editor.references(project.path(NATIVE), "- func: mv(", 9)
    typed = [line for name, line in found if "mvx" in line]
    assert typed == ['self: "grad.[mv](vec) + mv_(grad) + mvx(mv']
    editor.close(project.path(NATIVE))
    assert await editor.references(path, MV, 9) == found
    await editor.open(project.path(NATIVE))


async def test_an_overload_is_referred_to_by_its_whole_name(editor: Editor, project: Project) -> None:
    text = "- name: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    found = await editor.references(project.path(DERIVATIVES), text, len("- name: add.T"))
    assert [line for _, line in found] == [
        "- func: [add.Tensor](Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "- name: [add.Tensor](Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    ]
    whole = [line for _, line in await editor.references(project.path(DERIVATIVES), text, len("- name: a"))]
    assert {line for _, line in found} < set(whole) and any("structured_delegate: [add.out]" in line for line in whole)


async def test_a_helper_is_referred_to_by_all_formulas_that_call_it(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    await editor.edit(path, VEC, "  vec: times(self.t(), times) + x.times(grad)  # times(\n")
    text = editor.texts[path.as_uri()]
    calls = len(re.findall(r"(?<![\w.])times\(", text)) - 1  # one is in a comment
    found = await editor.references(path, "times(self.t()", 2, declared=False)
    assert len(found) == calls > 4
    assert ("derivatives.yaml", "vec: [times](self.t(), times) + x.times(grad)  # times(") in found
    header = [line for name, line in await editor.references(path, "times(self.t()", 2) if name == "core_helpers.h"]
    assert header and all("[times](const Tensor&" in line for line in header)


@pytest.mark.parametrize(("text", "after"), [(SELF, SELF.index("vec") + 1), (VEC, 3), (MV, MV.index("vec") + 1)])
async def test_an_argument_is_referred_to_within_its_entry(
    editor: Editor, project: Project, text: str, after: int
) -> None:
    """In the schema, in keys and formulas; its tangent and its primal as well."""
    found = [line for name, line in await editor.references(project.path(DERIVATIVES), text, after, declared=False)]
    assert found == [
        "- name: mv(Tensor self, Tensor [vec]) -> Tensor",
        "self: grad.unsqueeze(1) * [vec].conj()",
        "[vec]: self.t().conj().mv(grad)",
        "result: at::mv(self_t, [vec_p]) + at::mv(self_p, vec_t)",
        "result: at::mv(self_t, vec_p) + at::mv(self_p, [vec_t])",
    ]
    declared = await editor.references(project.path(DERIVATIVES), text, after)
    assert ("native_functions.yaml", "- func: mv(Tensor self, Tensor [vec]) -> Tensor") in declared


async def test_a_gradient_is_referred_to_within_its_entry(editor: Editor, project: Project) -> None:
    found = await editor.references(project.path(DERIVATIVES), SELF, SELF.index("grad") + 1)
    assert [line for _, line in found] == ["self: [grad].unsqueeze(1) * vec.conj()", "vec: self.t().conj().mv([grad])"]


async def test_what_is_no_name_has_no_references(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    await editor.edit(path, SELF, SELF + "  # about mv\n")
    assert await editor.references(path, "# about mv", 9) == []
    assert await editor.references(path, SELF, SELF.index("1)")) == []


# ---- signatures


async def test_a_call_of_an_operator_shows_its_overloads(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    help_ = await editor.signature(path, VEC, "  vec: at::mean(self, {0, 1}, ¦\n")
    assert help_ is not None and help_.active_parameter == 2
    labels = [each.label for each in help_.signatures]
    assert labels[help_.active_signature].startswith("mean.")
    assert not [label for label in labels if ".out" in label]
    own = help_.signatures[help_.active_signature]
    shown = [own.label[each.label[0] : each.label[1]] for each in own.parameters]
    assert shown[0] == "Tensor self" and len(shown) > 2
    assert all(text in own.label and ", " not in text for text in shown)


async def test_the_tensor_of_a_method_is_no_argument(editor: Editor, project: Project) -> None:
    help_ = await editor.signature(project.path(DERIVATIVES), VEC, "  vec: self.t().mv(¦)\n")
    assert help_ is not None and help_.active_parameter == 0
    (own,) = help_.signatures
    assert own.label == "mv(Tensor self, Tensor vec) -> Tensor"
    assert [own.label[each.label[0] : each.label[1]] for each in own.parameters] == ["Tensor vec"]


async def test_a_call_of_a_helper_shows_its_declarations(editor: Editor, project: Project) -> None:
    """In a text over several lines that is no YAML; of one that only the release declares, how many it takes."""
    path = project.path(DERIVATIVES)
    help_ = await editor.signature(path, VEC, '  vec: "times(grad.sum({0}),\n    ¦\n')
    assert help_ is not None and help_.active_parameter == 1
    own = help_.signatures[0]
    assert own.label == "inline Tensor times(const Tensor& t, const Scalar& s)"
    assert [own.label[e.label[0] : e.label[1]] for e in own.parameters] == ["const Tensor& t", "const Scalar& s"]
    await editor.restore()
    help_ = await editor.signature(path, VEC, "  vec: cumsum_backward(¦\n")
    assert help_ is not None and "takes 2 arguments" in str(help_.signatures[0].documentation)


async def test_no_signature_is_shown_outside_of_calls(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    for new in ("  vec: (grad + ¦\n", "  vec: mv(grad)¦\n", "  vec: nowhere(¦\n", "  v(¦ec: grad\n"):
        assert await editor.signature(path, VEC, new) is None, new
        await editor.restore()


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("f(", OpenCall("f", "", 0)),
        ("f(a, g(b), ", OpenCall("f", "", 2)),
        ("f(a, g(b", OpenCall("g", "", 0)),
        ("x.f(a, (b, c", OpenCall("f", ".", 1)),
        ("at::f({a, b", OpenCall("f", "at::", 0)),
        ("f([&](int a, int b) { return g(", OpenCall("g", "", 0)),
        ("f('(', \",\", /* , */ ", OpenCall("f", "", 2)),
        ('f("a, ', OpenCall("f", "", 0)),
        ("(a", None),
        ("f(a)", None),
        ("))", None),
    ],
)
async def test_the_innermost_unclosed_call_counts(text: str, call: OpenCall | None) -> None:
    assert call_in(text) == call


async def test_parameters_are_cut_at_commas_between_them() -> None:
    text = "const Tensor& a, std::array<bool, 2> b, int c = f(1, 2)) -> x;"
    assert [text[start:end] for start, end in parameters_of(text)] == [
        "const Tensor& a",
        "std::array<bool, 2> b",
        "int c = f(1, 2)",
    ]
    assert parameters_of(")") == []


# ---- methods by use


async def test_the_methods_that_formulas_call_most_often_come_first(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    items = [item.label for item in await editor.offered(path, VEC, "  vec: self.¦\n")]
    formulas = "".join(line for line in editor.texts[path.as_uri()].split("\n") if "- name" not in line)
    counts = [formulas.count(f".{name}(") for name in items]
    assert items[0] == "conj" and counts[:5] == sorted(counts[:5], reverse=True) and counts[4] > 1
    assert {"mv", "scalar_type"} <= set(items) and "full" not in items
