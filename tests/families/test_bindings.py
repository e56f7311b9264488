"""Python bindings of functions and methods: an edit rebuilds the names that it concerns, and
errors in deprecated.yaml are reported at their own lines."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from copies import copy_of
from project import PACKAGED, Project

from gradmill.families.bindings import BINDINGS

FILES = {*BINDINGS.row.templates, "python_torch_functionsEverything.cpp"} - {BINDINGS.row.needs}
DEPRECATED = """
# Old ways to call functions.
- name: mv(Tensor vec, *, Tensor self) -> Tensor
  aten: mv(self, vec)

- name: mv(Tensor vec, *, Tensor self, Tensor(a!) out) -> Tensor(a!)
  aten: mv_out(out, self, vec)
"""
PAIR = """
- func: pair(Tensor self, int dim=0) -> Tensor
  variants: function, method
  dispatch:
    CompositeExplicitAutograd: pair
"""
ALONE = PAIR.replace(", method", "")


def with_bindings(folder: Path, small_specs: Path, torch_specs: Path) -> Project:
    """The small spec set with torch's templates of bindings, one more function, and deprecated forms of `mv`."""
    project = Project(folder, small_specs, "2.13.0")
    for name in BINDINGS.row.templates:
        source = torch_specs / PACKAGED["templates"] / name
        project.path(f"templates/{name}").write_bytes(source.read_bytes())
    project.append("native_functions.yaml", PAIR)
    (project.specs / "deprecated.yaml").write_text(DEPRECATED)
    return project


@pytest.fixture
def bound(tmp_path: Path, small_specs: Path, torch_specs: Path) -> Project:
    """This set, never built."""
    return with_bindings(tmp_path, small_specs, torch_specs)


@pytest.fixture(scope="module")
def bound_built(tmp_path_factory: pytest.TempPathFactory, small_specs: Path, torch_specs: Path) -> Project:
    return with_bindings(tmp_path_factory.mktemp("bound"), small_specs, torch_specs).build(families="bindings")


@pytest.fixture
def made(tmp_path: Path, bound_built: Project) -> Project:
    """The same, built."""
    return copy_of(bound_built, tmp_path)


def test_bindings_are_generated_only_when_named(bound: Project) -> None:
    assert not FILES & {*bound.build().files()}
    (bound.specs / "deprecated.yaml").write_text("an error")
    assert bound.run().ran == []  # a run without bindings does not read it
    (bound.specs / "deprecated.yaml").unlink()
    assert {*bound.build(families="all").files()} >= FILES


def test_an_edit_rebuilds_the_names_that_it_concerns(bound: Project) -> None:
    bound.build(families="bindings")

    def runs(name: str = "", shard: str = "") -> None:
        run = bound.run(families="bindings")
        units = [f"torch.{name}", f"Tensor.{name}"] if name else []
        files = [f"python_torch_functions{each}.cpp" for each in (shard, "Everything")] if name else []
        assert (run.status, run.units) == (0, units), run.stderr
        assert run.shards == [*files, *(["python_variable_methods.cpp"] if name else [])]

    bound.replace("native_functions.yaml", "pair(Tensor self, int dim=0)", "pair(Tensor self, int dim=1)")
    runs("pair", "_1")
    bound.set_formula("exp", "self", "grad * result")
    runs()
    bound.append("native_functions.yaml", "# A comment.")
    runs()
    deprecated = bound.specs / "deprecated.yaml"
    deprecated.write_text(DEPRECATED.replace("vec", "vector"))
    runs("mv", "_2")
    deprecated.write_text("# Another comment.\n" + deprecated.read_text())
    runs()
    bound.append("native_functions.yaml", PAIR.replace("pair", "another"))
    runs("another", "_2")
    assert bound.files() == bound.clean_build(families="bindings")


def test_a_new_file_of_deprecated_forms_is_read(bound: Project) -> None:
    (bound.specs / "deprecated.yaml").unlink()
    bound.build(families="bindings")
    (bound.specs / "deprecated.yaml").write_text(DEPRECATED)
    assert bound.run(families="bindings").units == ["torch.mv", "Tensor.mv"]


def test_a_deprecated_form_rebuilds_no_annotated_arguments(bound: Project, torch_specs: Path) -> None:
    template = "annotated_fn_args.py.in"
    bound.path(f"templates/{template}").write_bytes((torch_specs / PACKAGED["templates"] / template).read_bytes())
    families = "bindings,annotated_args"
    bound.build(families=families)
    (bound.specs / "deprecated.yaml").write_text(DEPRECATED.replace("vec", "vector"))
    run = bound.run(families=families)
    assert run.units == ["torch.mv", "Tensor.mv"]


def test_every_layout_has_the_same_sources(bound: Project) -> None:
    files = bound.build(families="bindings").files()
    assert bound.run(families="bindings", layout="split").status == 0
    del files["python_torch_functionsEverything.cpp"]
    assert {name: data for name, data in bound.files().items() if not name.endswith(".d")} == files


def test_bindings_are_explained_by_all_entries_that_they_are_made_from(bound: Project) -> None:
    bound.build(families="bindings")
    text = bound.run("explain", "torch.mv", families="bindings").stdout
    assert text.count("deprecated.yaml:") == text.count("native_functions.yaml:") == 2
    assert "torch.mv, in python_torch_functions_" in bound.run("explain", "mv.out", families="bindings").stdout


@pytest.mark.extension("browse")
def test_a_page_shows_a_binding_once_with_its_first_function(bound: Project) -> None:
    assert bound.run("page", families="bindings").status == 0
    page = (bound.generated / "page" / "op" / "mv.html").read_text()
    assert re.findall(r'<details class="cpp" id="(bindings-[^"]+)"', page) == [
        "bindings-torch.mv",
        "bindings-Tensor.mv",
    ]
    assert len(re.findall(r'href="[^"]*mv\.html#bindings-torch\.mv"', page)) == 2  # from edits of `mv` and of `mv.out`


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("aten: mv(self, vec)", "atn: mv(self, vec)", "4:3", "no 'aten'\\n.*\\n.*\\n.*did you mean 'aten'"),
        ("aten: mv(self, vec)", "aten: mv(self, vek)", "4:18", "unknown argument 'vek'\\n.*\\n.*\\n.*'vec'"),
        ("aten: mv(self, vec)", "aten: mw(self, vec)", "4:9", "no function 'mw' with a"),
        ("aten: mv(self, vec)", "aten: mv(self)", "4:9", "no function 'mv' takes and returns"),
        ("aten: mv(self, vec)", "aten: mv", "4:9", "not a call: 'mv'"),
        ("Tensor self) -> Tensor", "Tensr self) -> Tensor", "3:27", "unrecognized type 'Tensr'"),
        (DEPRECATED[:102], "", "2:9", "no variant without `out`"),
        ("mv_out(out, self, vec)", "mv(self, vec)", "7:9", "no function 'mv' takes and returns"),
    ],
)  # fmt: skip
def test_errors_in_deprecated_forms_are_reported_at_their_lines(
    made: Project, old: str, new: str, place: str, message: str
) -> None:
    assert DEPRECATED.count(old) == 1
    (made.specs / "deprecated.yaml").write_text(DEPRECATED.replace(old, new))
    run = made.run(families="bindings").failed(f"deprecated.yaml:{place}: error: mv: ")
    assert re.search(message, run.stderr), run.stderr
    assert run.stderr.count("error: ") == 1, run.stderr


def test_an_unknown_key_of_a_deprecated_form_is_a_warning(bound: Project) -> None:
    (bound.specs / "deprecated.yaml").write_text(DEPRECATED.replace("vec)\n\n", "vec)\n  since: 2\n\n"))
    run = bound.run(families="bindings")
    warned = "deprecated.yaml:5:3: warning: mv: since: unknown key 'since'"
    assert (run.status, warned in run.stderr) == (0, True), run.stderr
    assert "remove it: the keys are name and aten" in run.stderr
    assert bound.run(families="bindings").stderr == run.stderr  # remembered
    assert bound.run(families="bindings", strict=1).status != 0
    assert bound.files() == bound.clean_build(families="bindings")


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (PAIR.replace("pair(", "pair.other(").replace("int dim", "Symbol dim"), "unrecognized type 'Symbol'"),
        (PAIR.replace("pair(", "pair.other(").replace("=0", "=0, bool requires_grad=False"), "'requires_grad'"),
        (ALONE.replace("pair(", "pair.other(").replace("self", "input"), "is that of 'pair' too"),
        (ALONE.replace("pair(", "make(").replace("Tensor self, ", ""), "category_override: dummy"),
        (PAIR.replace("-> Tensor", "-> (Tensor, int, bool)"), "cannot return ::std::tuple<at::Tensor,int64_t,bool>"),
        (PAIR.replace("int dim", "QScheme scheme"), "cannot read type 'QScheme'"),
        (PAIR.replace("int dim", "int[] dim"), "the default of int[] is not a list: 0"),
    ],
)  # fmt: skip
def test_functions_that_python_cannot_call_are_errors(made: Project, functions: str, message: str) -> None:
    functions = functions.replace("pair(", "couple(") if ": pair(" in functions else functions
    made.append("native_functions.yaml", functions)
    run = made.run(families="bindings")
    assert (run.status != 0, message in run.stderr) == (True, True), run.stderr
    assert re.search(r"native_functions.yaml:\d+:\d+: error: (pair|couple|make)", run.stderr), run.stderr


LISTS = """
- func: couple(Tensor self, Tensor[] lists) -> Tensor
  dispatch:
    CompositeExplicitAutograd: couple

- func: couple.names(Tensor self, Dimname[] lists) -> Tensor
  dispatch:
    CompositeExplicitAutograd: couple_names
"""


@pytest.mark.parametrize("release", ["2.4.0", "2.12.1"])  # the first, and the last one with named tensors
def test_overloads_that_precede_one_another_are_errors(bound: Project, release: str) -> None:
    (bound.specs / "RELEASE").unlink()
    assert bound.run(families="bindings", release=release).status == 0
    files = bound.files()
    bound.append("native_functions.yaml", LISTS)
    lines = bound.path("native_functions.yaml").read_text().split("\n")
    run = bound.run(families="bindings", release=release)
    assert (run.status, bound.files()) == (1, files), run.stderr
    problem = "Python has no order in which to try its overloads: 'couple.names' must follow 'couple', and "
    for name in ("couple", "couple.names"):
        line = next(i for i, text in enumerate(lines, 1) if f" {name}(" in text)
        assert f"native_functions.yaml:{line}:9: error: {name}: func: {problem}" in run.stderr, run.stderr
    assert run.stderr.count("hint: give one of them another name, or another number of arguments") == 2
    assert run.stderr.endswith("\n2 errors\n")


def test_show_prints_signatures_lambdas_and_deprecated_forms(bound: Project) -> None:
    rows = {row["binding"]: row for row in bound.run("show", "bindings", "mv").rows}
    assert {*rows} == {"torch.mv", "Tensor.mv"}
    row = rows["torch.mv"]
    assert [case["signature"] for case in row["cases"]] == [
        "mv(Tensor input, Tensor vec, *, Tensor out=None)",
        "mv(Tensor vec, *, Tensor input, Tensor out=None)|deprecated",
    ]
    assert "[](const at::Tensor & self, const at::Tensor & vec) -> at::Tensor {" in row["cases"][0]["call"]
    assert "\n    return self.mv(vec);\n" in row["cases"][0]["call"]
    assert [each["entry"] for each in row["deprecated"]] == ["mv", "mv#2"]
    run = bound.run("show", "bindings", specs="core")
    assert (run.status, run.stdout) == (3, "")
    assert run.stderr == (
        "ERROR: families=bindings: 'bindings' is made from the template python_torch_functions.cpp, which the spec set"
        " does not have\n  also write specs=torch\n"
    )
    assert "there is no such spec set" in bound.run("show", "bindings", specs="cora").stderr
    run = bound.run("show", "bindings", "mv", families="nodes")
    assert (run.status != 0, "write families=bindings" in run.stderr) == (True, True)
    (bound.specs / "deprecated.yaml").write_text(DEPRECATED.replace("aten: mv(self, vec)", "aten: mv(self, vek)"))
    run = bound.run("show", "bindings", "mv")
    assert (run.status != 0, "unknown argument 'vek'" in run.stderr) == (True, True)


def test_diff_reports_signatures_that_changed_if_bindings_are_requested(bound: Project, tmp_path: Path) -> None:
    before = tmp_path / "before"
    shutil.copytree(bound.specs, before)
    bound.replace("native_functions.yaml", "pair(Tensor self, int dim=0)", "pair(Tensor self, int dim=1)")
    bound.append("native_functions.yaml", PAIR.replace("pair", "couple"))
    (bound.specs / "deprecated.yaml").unlink()
    changes = {
        "Tensor.mv": ("changed", ["mv(Tensor vec, *, Tensor self)|deprecated"], []),
        "Tensor.couple": ("added", [], ["couple(int64_t dim=0)"]),
        "Tensor.pair": ("changed", ["pair(int64_t dim=0)"], ["pair(int64_t dim=1)"]),
        "torch.couple": ("added", [], ["couple(Tensor input, int64_t dim=0)"]),
        "torch.mv": ("changed", ["mv(Tensor vec, *, Tensor input, Tensor out=None)|deprecated"], []),
        "torch.pair": ("changed", ["pair(Tensor input, int64_t dim=0)"], ["pair(Tensor input, int64_t dim=1)"]),
    }
    run = bound.run("diff", "--format", "json", against=before, families="bindings").ok()
    report = json.loads(run.stdout)
    assert {each["name"]: (each["change"], each["before"], each["after"]) for each in report["bindings"]} == changes
    text = bound.run("diff", against=before, families="bindings").stdout
    assert "\nPython bindings: 2 added, 4 changed\n" in text and "\n    + pair(int64_t dim=1)\n" in text
    page = bound.run("diff", "--format", "html", against=before, families="bindings").stdout
    assert '<article id="bindings-torch.pair"' in page and "Python bindings: 2 added, 4 changed" in page
    report = json.loads(bound.run("diff", "--format", "json", against=before).stdout)
    assert report["bindings"] == []
