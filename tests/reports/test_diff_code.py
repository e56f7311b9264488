"""`gradmill diff --code`: the generated code of two spec sets, unit by unit. The generated files are the oracle:
something is reported exactly if a byte of them differs."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import RELEASE
from families.test_bindings import DEPRECATED
from families.test_python_files import ANNOTATED, PAIR, TEMPLATES, VIEW, VIEWS
from never_wrong.specset import make_folder, of_families, read_specs
from project import CORE, KERNEL_TEMPLATES, PACKAGED, Project, Run, files_in, sources
from vendors.vendor import Vendor

from gradmill.families.bindings import BINDINGS
from gradmill.families.file import ended, joined
from gradmill.families.table import FAMILIES
from gradmill.reports.diff.code import Code, CodeFile, CodeUnit, read_code
from gradmill.reports.diff.code_changes import CodeChange, CodeName, CodeReport, FileChange, compare_code
from gradmill.reports.diff.code_text import markdown
from gradmill.reports.diff.hunks import Hunk, hunks, own_names, without_names
from gradmill.reports.diff.model import SetSide
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config

NATIVE, DERIVATIVES = "native_functions.yaml", "derivatives.yaml"
OPERATORS = "add mul div exp max mv view full".split()
# Families with tests of their own, below, in test_lazy_backend.py and in aten/; and one that this release lacks.
APART = {"graphs", "lazy", "aggregated_headers", "c_shims", "native_aot_stubs", "type_stubs", "hook_files"}

FORMULA = "  self: grad * result.conj()\n"  # of exp
OF_EACH = re.compile(r"ATen/ops/\w+?(_ops|_native|_meta|_[a-z]+_dispatch)?\.h")
SHARD = re.compile(r"(_\d+(_formulas)?|_common|Everything)(?=\.)")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, torch_specs: Path) -> Project:
    """A few operators with the templates of all families, built, and an equal set `base` next to it, built too."""
    folder = make_folder(tmp_path_factory.mktemp("few") / "set", CORE, RELEASE)
    of_families(read_specs(CORE), OPERATORS).write(folder)
    project = Project(tmp_path_factory.mktemp("whole"), folder, RELEASE, kernels=True)
    project.path("templates/ATen").mkdir()
    for name in (*KERNEL_TEMPLATES, *BINDINGS.row.templates, *TEMPLATES):
        template = f"{name}.in" if name == ANNOTATED else name
        source = "ATen/templates" if name in VIEWS else PACKAGED["templates"]
        target = project.path(f"templates/ATen/{name}" if name in VIEWS else f"templates/{template}")
        target.write_bytes((torch_specs / source / template).read_bytes())
    for family in (each for each in FAMILIES.values() if "aten" in each.row.subsets):
        for name in family.row.templates:
            place = torch_specs / "ATen" / "templates" / name.removeprefix("ATen/")
            if place.exists():
                project.path(f"templates/{name}").write_bytes(place.read_bytes())
    (project.specs / "deprecated.yaml").write_text(DEPRECATED)
    shutil.copytree(project.specs, project.folder / "base")
    return project


class Edit(NamedTuple):
    """An edit of files of the set, and some of what is reported: "FILE CHANGE OPERATOR"."""

    files: str
    old: str  # "": the text is added at the end
    new: str
    reported: tuple[str, ...] = ()

    def apply(self, project: Project) -> None:
        for name in self.files.split():
            path = project.specs / name
            text = path.read_text()
            assert not self.old or self.old in text, (name, self.old)
            path.write_text(text.replace(self.old, self.new) if self.old else f"{text}\n{self.new}\n")


MV = """- name: mv(Tensor self, Tensor vec) -> Tensor
  self: grad.unsqueeze(1) * vec.conj()
  vec: self.t().conj().mv(grad)
  result: at::mv(self_t, vec_p) + at::mv(self_p, vec_t)
"""
EXP = """- func: exp(Tensor self) -> Tensor
  variants: function, method
  device_check: NoCheck
  structured_delegate: exp.out
  tags: core

"""
EXP_ = """- func: exp_(Tensor(a!) self) -> Tensor(a!)
  variants: function, method
  device_check: NoCheck
  structured_delegate: exp.out

"""
OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
FACTORY = f"""- func: fresh(SymInt[] size, *, {OPTIONS}) -> Tensor
  dispatch:
    CompositeExplicitAutograd: fresh"""
FORM = """- name: mul(Tensor other, *, Tensor self) -> Tensor
  aten: mul(self, other)"""
EDITS = {
    "a formula": Edit(
        DERIVATIVES,
        FORMULA,
        FORMULA.replace("grad", "1 * grad"),
        ("Functions.cpp changed exp", "Functions.cpp changed _foreach_exp"),
    ),
    "a forward formula": Edit(
        DERIVATIVES, "  result: self_t.mul(other)\n", "", ("VariableType.cpp changed mul.Scalar",)
    ),
    "a comment": Edit(DERIVATIVES, FORMULA, f"  # of exp\n{FORMULA}"),
    "a comment at the end": Edit(NATIVE, "", "# nothing new"),
    "a default": Edit(
        f"{NATIVE} {DERIVATIVES}",
        "other, Scalar alpha=1)",
        "other, Scalar alpha=2)",
        (
            "python_torch_functions.cpp changed add",
            "ATen/ops/{operator}_ops.h changed add.Scalar",
            "ATen/Declarations.yaml changed add.Scalar",
        ),
    ),
    "a new operator": Edit(
        NATIVE,
        "",
        PAIR,
        (
            "TraceType.cpp added pair",
            "python_return_types.cpp added pair",
            "annotated_fn_args.py added pair",
            "ATen/ops/{operator}.h added pair",
            "ATen/ops/{operator}_native.h added pair",
            "ATen/RegisterCompositeExplicitAutograd.cpp added pair [CompositeExplicitAutograd]",
        ),
    ),
    "a new view": Edit(
        NATIVE,
        "",
        VIEW,
        (
            "ATen/ViewMetaClasses.h added seen",
            "ATen/CompositeViewCopyKernels.cpp added seen",
            "ATen/RegisterFunctionalization.cpp added seen",
            "ViewMetaClassesPythonBinding.cpp added seen",
            "TraceType.cpp added seen",
        ),
    ),
    "a renamed argument of a view": Edit(
        f"{NATIVE} {DERIVATIVES}",
        " self, SymInt[] size)",
        " self, SymInt[] shape)",
        ("ViewFuncs.cpp changed view", "ADInplaceOrViewType.cpp changed view"),
    ),
    "a new factory": Edit(
        NATIVE, "", FACTORY, ("variable_factories.h added fresh", "ATen/RegisterBackendSelect.cpp added fresh")
    ),
    "an operator that goes": Edit(
        f"{DERIVATIVES}",
        MV,
        "",
        ("Functions.h removed mv", "python_functions.cpp removed mv", "VariableType.cpp changed mv"),
    ),
    "operators in another order": Edit(NATIVE, EXP + EXP_, EXP_ + EXP, ("TraceType.cpp moved exp_",)),
    "a deprecated form": Edit("deprecated.yaml", "", FORM, ("python_torch_functions.cpp changed mul",)),
    "a tag": Edit("tags.yaml", "", "- tag: new_tag\n  desc: |\n    New.", ("python_enum_tag.cpp",)),
    "a template of shards": Edit("templates/VariableType.cpp", "#include <ATen/RedispatchFunctions.h>", "// x"),
    "white space at the end of a template": Edit("templates/Functions.h", "", ""),
}


def run(project: Project, *words: str, **variables: object) -> Run:
    return project.run("diff", "--code", *words, against=project.folder / "base", **variables)


def changes_between(before: dict[str, bytes], after: dict[str, bytes]) -> dict[str, str]:
    """How each file differs."""
    before, after = sources(before), sources(after)
    both = before.keys() & after.keys()
    return {
        **dict.fromkeys(after.keys() - both, "added"),
        **dict.fromkeys(before.keys() - both, "removed"),
        **{name: "changed" for name in both if before[name] != after[name]},
    }


def called(name: str) -> set[str]:
    """What a file may be called in a report: by itself, without its shard, or with the headers of other operators."""
    return {name, SHARD.sub("", name), OF_EACH.sub(r"ATen/ops/{operator}\1.h", name)}


def report_of(project: Project, **variables: object) -> dict[str, Any]:
    """The report of a set next to `base`, after it was compared with their generated files."""
    project.run(specs=project.folder / "base", **{**variables, "generated": project.folder / "by_base"}).ok()
    differing = changes_between(files_in(project.folder / "by_base"), project.build(**variables).files())
    done = run(project, "--format=json", **variables)
    assert (done.status, done.stderr) == (bool(differing), "")
    report: dict[str, Any] = json.loads(done.stdout)
    assert {each["name"]: each["change"] for each in report["files"]} == differing
    told = {change["file"] for change in report["changes"]}
    told |= {name["name"] for change in report["changes"] for name in change["names"] if not name["op"]}
    assert [name for name in differing if not called(name) & told] == []
    assert told - {""} <= {each for name in differing for each in called(name)}
    return report


def reported(report: dict[str, Any]) -> set[str]:
    """What a report lists, as "FILE CHANGE OPERATOR"; of the text around units, the names of the files."""
    return {
        f"{change['file']} {change['change']} {name['op']}" if name["op"] else name["name"]
        for change in report["changes"]
        for name in change["names"]
    }


@pytest.mark.slow(1.5)
@pytest.mark.parametrize("edit", EDITS)
def test_something_is_reported_exactly_if_a_byte_differs(whole: Project, edit: str) -> None:
    texts = {path: path.read_bytes() for path in whole.specs.rglob("*") if path.is_file()}
    EDITS[edit].apply(whole)
    try:
        report = report_of(whole, families="all")
        assert set(EDITS[edit].reported) - reported(report) == set()
        assert bool(report["changes"]) == ("comment" not in edit)
    finally:
        for path, data in texts.items():
            if path.read_bytes() != data:
                path.write_bytes(data)


@pytest.mark.extension("graphs", "type_stubs")
def test_the_edits_are_of_files_of_all_families() -> None:
    files = {text.partition(" ")[0].removeprefix("ATen/") for edit in EDITS.values() for text in edit.reported}
    owned = {
        name
        for name, family in FAMILIES.items()
        if name not in APART and any(map(family.owns, (*files, *(f"{f[:-4]}_0.cpp" for f in files))))
    }
    assert {*FAMILIES} - owned == APART


@pytest.mark.parametrize("layout", ["upstream", "split"])
def test_units_and_the_text_around_them_are_all_of_a_file(whole: Project, layout: str) -> None:
    whole.build(families="all", layout=layout)
    values = {"specs": whole.specs, "generated": whole.generated, "cache": whole.cache, "families": "all"}
    with closing(
        Session.open(read_config({**{name: str(value) for name, value in values.items()}, "layout": layout}))
    ) as build:
        code = read_code(build.db, build.layout, "")
    files = sources(whole.files())
    assert code.files.keys() == files.keys()
    places: dict[str, set[str]] = {}
    for (family, _, _), at in code.texts.items():
        places.setdefault(family, set()).update(at)
    for name, file in code.files.items():
        text = file.around
        for place in places.get(file.family, ()):
            indent, _, piece = place.split("|", 2)
            texts = ((unit, code.texts[file.family, file.name, unit].get(place, "")) for unit in file.units)
            printed = b"".join(part for _, *each in joined((unit, ended(own)) for unit, own in texts) for part in each)
            text = text.replace(f"{indent}${{{piece}}}", printed.decode())
        without = "|".join((*FAMILIES[file.family].rendered, r"\w+ header"))  # pieces that no unit here has
        text = re.sub(rf"^ *\$\{{(?:{without})\}}$", "", text, flags=re.MULTILINE)
        before, of_each, after = file.name.partition("{operator}")
        text = text.replace("{operator}", name[len(before) : len(name) - len(after)]) if of_each else text
        assert text == files[name].decode(), name


def test_shards_neither_hide_nor_make_a_change(whole: Project) -> None:
    text = whole.path(DERIVATIVES).read_text()
    EDITS["a formula"].apply(whole)
    try:
        upstream = reported(report_of(whole, families="nodes,variable_type"))
        assert reported(report_of(whole, families="nodes,variable_type", layout="split", shards=3)) == upstream
    finally:
        whole.path(DERIVATIVES).write_text(text)


def test_units_that_another_release_has_in_another_shard_are_moved(whole: Project) -> None:
    (whole.specs / "RELEASE").unlink()
    shutil.copytree(whole.specs, whole.folder / "older")
    try:
        families = "trace_type,annotated_args,return_types"
        words = {"families": families, "against": whole.folder / "older", "against_release": "2.12"}
        older = {"specs": whole.folder / "older", "generated": whole.folder / "by_older", "release": "2.12"}
        assert whole.run(families=families, **older).status == 0
        after = whole.build(families=families, release="2.13").files()
        done = whole.run("diff", "--code", "--format=json", release="2.13", **words)
        report = json.loads(done.stdout)
        assert {each["name"]: each["change"] for each in report["files"]} == changes_between(
            files_in(whole.folder / "by_older"), after
        )
        assert "TraceType.cpp moved div.Scalar" in reported(report)
        assert {change["change"] for change in report["changes"] if change["file"]} == {"moved"}
        text = whole.run("diff", "--code", release="2.13", **words).stdout
        assert re.search(r"\n\d+ TraceType kernels moved: .* more  TraceType\.cpp\n", text)
    finally:
        (whole.specs / "RELEASE").write_text(RELEASE)


VENDOR = {
    "an override": ("set/specset.toml", '{ from = "_symint", to = "" }', '{ from = "_symint", to = "_int" }'),
    "a formula of a layer": ("set/plugin/config/derivatives.yaml", "grad", "1 * grad"),
    "a comment": ("set/specset.toml", "[functions]", "# nothing\n[functions]"),
    "the number of shards": ("set/specset.toml", "shards = 2", "shards = 3"),
}


@pytest.mark.parametrize("edit", VENDOR)
def test_described_sets_are_compared_likewise(tmp_path: Path, edit: str) -> None:
    vendor = Vendor(tmp_path)
    shutil.copytree(tmp_path / "set", tmp_path / "other")
    name, old, new = VENDOR[edit]
    path = tmp_path / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    for own in ({"specs": "other", "generated": "by_other", "cache": "by_other_cache"}, {}):
        assert vendor.run(**own).status == 0  # both sets have one name
    differing = changes_between(files_in(tmp_path / "by_other"), files_in(tmp_path / "generated"))
    done = vendor.run("diff", "--code", "--format=json", against="other")
    report = json.loads(done.stdout)
    assert {each["name"]: each["change"] for each in report["files"]} == differing
    assert done.status == bool(differing) == bool(report["changes"]) == (edit != "a comment")


GRAPH = """
import torch

def wave(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(x)
"""


@pytest.mark.extension("graphs")
def test_graphs_are_compared_as_whole_files(whole: Project) -> None:
    text, graph = whole.path(DERIVATIVES).read_text(), whole.folder / "wave.py"
    graph.write_text(GRAPH)
    assert report_of(whole, families="graphs", graphs=graph)["changes"] == []
    EDITS["a formula"].apply(whole)
    try:
        report = report_of(whole, families="graphs", graphs=graph)
        assert reported(report) == {"graphs/wave.cpp"}
        assert any("1 * " in line for change in report["changes"] for hunk in change["hunks"] for line in hunk["lines"])
    finally:
        whole.path(DERIVATIVES).write_text(text)


# ---- how it is printed


def test_the_same_change_is_printed_once_with_the_number_and_names_of_those_that_have_it(whole: Project) -> None:
    path = whole.path(DERIVATIVES)
    text = path.read_text()
    path.write_text(text.replace("match_domain(self.scalar_type(), ", "match_the_domain(self.scalar_type(), "))
    try:
        printed = run(whole).stdout
        assert run(whole, seed=1).stdout == run(whole, seed=2).stdout == printed
        assert printed.startswith("generated code from base (PyTorch 2.13.0) to set (PyTorch 2.13.0)\nfiles: ")
        assert re.search(r"\nthe same change in \d+ Nodes: .*  Functions\.cpp\n@@ -", printed)
        assert printed.count("+    auto grad_result = any_grad_defined ? (match_the_domain(") < 4
        marked = run(whole, "--format=markdown").stdout
        assert marked.count("<details>") == marked.count("\n```diff\n") == printed.count("  Functions.cpp\n")
        page = run(whole, "--format=html").stdout
        parser = HTMLParser()
        parser.feed(page)
        parser.close()
        assert "<ins>+    auto grad_result" in page and page.count("<article ") == marked.count("<details>")
    finally:
        path.write_text(text)


def test_no_change_is_said_so(whole: Project) -> None:
    assert run(whole).stdout.splitlines()[1:] == ["no generated byte changes"]
    assert "no generated byte changes" in run(whole, "--format=markdown").stdout
    assert "no generated byte changes" in run(whole, "--format=html").stdout
    refused = whole.run("diff", "--format=markdown", against="core")
    assert (refused.status, refused.stdout) == (3, "") and "also write --code" in refused.stderr
    refused = run(whole, layout="split", lines=1)
    assert (refused.status, refused.stdout) == (3, "") and "leave out lines=1" in refused.stderr


def test_an_error_of_either_set_is_no_difference(whole: Project) -> None:
    text = whole.path(DERIVATIVES).read_text()
    whole.path(DERIVATIVES).write_text(text.replace(FORMULA, FORMULA.replace("self", "slef")))
    try:
        for done in (run(whole), whole.run("diff", "--code", specs=whole.folder / "base", against=whole.specs)):
            assert (done.status, done.stdout) == (1, "") and "'slef' is neither" in done.stderr
    finally:
        whole.path(DERIVATIVES).write_text(text)


SIDE = SetSide("set", "2.13.0", "2.13")


def test_markdown_fits_into_a_comment() -> None:
    lines = tuple(f"+  int number_{number} = 0; // ```" for number in range(700))
    change = CodeChange(
        "nodes", "F<b>.cpp", "changed", (CodeName("add", "AddBackward0"),), (Hunk("@@ -1 +1 @@", lines),)
    )
    text = markdown(CodeReport(SIDE, SIDE, (FileChange("F.cpp", "changed"),), (change,) * 90))
    assert 50_000 < len(text) < 65_536
    assert re.search(r"\n… \d+ more lines\n`{4,}\n", text) and re.search(r"\n… and \d+ more changes: ", text)
    assert "F&lt;b&gt;.cpp" in text and "<b>.cpp" not in text


# ---- what is the same change


def code(texts: dict[str, str], digest: bytes, **names: str) -> Code:
    """A side with one file, which has units with one piece of text each; their schemas by name."""
    files = {"F.cpp": CodeFile("nodes", "F.cpp", digest, "${definition}", tuple(texts))}
    listed = {("nodes", name): CodeUnit(name, name, names.get(name, "")) for name in texts}
    return Code(SIDE, files, {("nodes", "F.cpp", name): {"||definition": text} for name, text in texts.items()}, listed)


def changes(before: dict[str, str], after: dict[str, str], **schemas: str) -> list[tuple[str, list[str], int]]:
    """The kind of each change, the units that have it, the number of its hunks."""
    report = compare_code(code(before, b"0", **schemas), code(after, b"1", **schemas))
    return [(each.change, [name.op for name in each.names], len(each.hunks)) for each in report.changes]


FAR = "\n" * 9  # more than the context of a hunk


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": "x", "b": "x"}, {"a": "y", "b": "y"}, [("changed", ["a", "b"], 1)]),
        ({"a": "x", "b": "x"}, {"a": "y", "b": "z"}, [("changed", ["a"], 1), ("changed", ["b"], 1)]),
        ({"a": f"x{FAR}x", "b": "x"}, {"a": f"y{FAR}y", "b": "y"}, [("changed", ["a", "b"], 1), ("changed", ["a"], 1)]),
        ({"a": f"x{FAR}u"}, {"a": f"y{FAR}v"}, [("changed", ["a"], 2)]),
        ({"a": "x"}, {"a": "x", "b": "x"}, [("added", ["b"], 1)]),
        ({"a": "x", "b": "x"}, {"b": "x"}, [("removed", ["a"], 1)]),
        ({"a": "x", "b": "z", "c": "x"}, {"c": "x", "a": "x", "b": "z"}, [("moved", ["c"], 0)]),
        ({"a": "x"}, {"a": "x"}, [("changed", [""], 0)]),  # only the digest of the file is another one
    ],
)
def test_changes_of_units(before: dict[str, str], after: dict[str, str], expected: list[Any]) -> None:
    assert changes(before, after) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("auto self = self_;", "auto mat = mat_;", True),
        ("original_self_t(self)", "original_mat_t(mat)", True),
        ("at::_ops::add_Tensor::call(self)", "at::_ops::mm::call(mat)", True),
        ('m.impl("add.Tensor", f)', 'm.impl("mm", f)', True),
        ("std::shared_ptr<AddBackward0>(AddBackward0())", "std::shared_ptr<MmBackward1>(MmBackward1())", True),
        ("AddBackward0_apply_functional()", "MmBackward1_apply_functional()", True),
        ("f(self, other)", "f(mat, mat)", False),
        ("f(self, 0)", "f(mat, 1)", False),
        ("std::move(self)", "other::move(mat)", False),
        ("x.self()", "x.mat()", False),  # methods, not arguments
        ("at::Tensor x;", "at::Scalar x;", False),
    ],
)
def test_changes_are_the_same_but_for_names_that_are_their_own(one: str, other: str, same: bool) -> None:
    first = own_names(
        "add.Tensor", "AddBackward0", "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    )
    second = own_names("mm", "VariableType::mm", "mm(Tensor mat, int[2] n=[1, 2]) -> Tensor")
    (left,), (right,) = hunks("", "", one), hunks("", "", other)
    assert (without_names(left, first) == without_names(right, second)) is same


def test_hunks_are_those_of_a_unified_diff() -> None:
    old = "\n".join(map(str, range(20)))
    (first, second) = hunks("definition", old, old.replace("\n3\n", "\nthree\n").replace("\n15\n", "\n"))
    assert first == Hunk("@@ -1,7 +1,7 @@ definition", (" 0", " 1", " 2", "-3", "+three", " 4", " 5", " 6"))
    assert second.head == "@@ -13,7 +13,6 @@ definition"
