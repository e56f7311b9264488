"""The files by which Python sees operators, generated when they are named: an edit rebuilds its own entries."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from jsonschema.validators import validator_for
from project import PACKAGED, Project

FAMILIES = "annotated_args,return_types,enum_tag,view_metas,view_meta_bindings"
VIEWS = ["ViewMetaClasses.cpp", "ViewMetaClasses.h", "ViewMetaClassesPythonBinding.cpp"]  # ATen's templates
ANNOTATED = "annotated_fn_args.py"
TEMPLATES = [*VIEWS, ANNOTATED, "python_enum_tag.cpp", "python_return_types.cpp", "python_return_types.h"]
FILES = [f"ATen/{name}" if name in VIEWS[:2] else name for name in TEMPLATES]
PAIR = """
- func: pair(Tensor self) -> (Tensor first, Tensor second)
  dispatch:
    CompositeExplicitAutograd: pair
"""


@pytest.fixture
def python_set(tmp_path: Path, small_specs: Path, torch_specs: Path) -> Project:
    """The small spec set with torch's templates of Python's files."""
    project = Project(tmp_path, small_specs, "2.13.0")
    project.path("templates/ATen").mkdir()
    for name in TEMPLATES:
        template = f"{name}.in" if name == ANNOTATED else name
        place = f"ATen/templates/{name}" if name in VIEWS else f"{PACKAGED['templates']}/{template}"
        target = f"templates/ATen/{name}" if name in VIEWS else f"templates/{template}"
        project.path(target).write_bytes((torch_specs / place).read_bytes())
    return project


def test_a_function_with_named_results_runs_its_own_class(python_set: Project) -> None:
    python_set.append("native_functions.yaml", PAIR)
    python_set.build(families=FAMILIES)
    assert "PyTypeObject* get_pair_structseq();" in python_set.files()["python_return_types.h"].decode()
    python_set.set_formula("exp", "self", "grad * result")
    run = python_set.run(families=FAMILIES)
    assert (run.status, run.units, run.shards) == (0, [], [])
    python_set.replace("native_functions.yaml", "pair(Tensor self) ->", "pair(Tensor self, int dim=0) ->")
    run = python_set.run(families="return_types")
    assert (run.status, run.units, run.shards) == (0, [], [])
    python_set.replace("native_functions.yaml", "Tensor first, Tensor second)", "Tensor values, Tensor second)")
    run = python_set.run(families="return_types")
    assert (run.units, run.shards) == (["return_types.pair"], ["python_return_types.cpp"])
    assert python_set.files() == python_set.clean_build(families="return_types")


VIEW = """
- func: seen(Tensor(a) self, int[] dims, Tensor? weight=None) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: seen

- func: seen_copy(Tensor self, int[] dims, Tensor? weight=None) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: seen_copy
  tags: view_copy
"""


def test_a_view_runs_its_own_classes(python_set: Project) -> None:
    python_set.append("native_functions.yaml", VIEW)
    views = "view_metas,view_meta_bindings"
    python_set.build(families=views)
    python_set.set_formula("exp", "self", "grad * result")
    run = python_set.run(families=views)
    assert (run.status, run.units, run.shards) == (0, [], [])
    text = python_set.path("native_functions.yaml").read_text()
    python_set.path("native_functions.yaml").write_text(text.replace("int[] dims, Tensor?", "SymInt[] dims, Tensor?"))
    run = python_set.run(families=views)
    assert (run.units, run.shards) == (["seen_ViewMeta", "functionalization.seen_ViewMeta"], ["ATen/ViewMetaClasses.h"])
    header = python_set.files()["ATen/ViewMetaClasses.h"].decode()
    assert "  ::std::vector<c10::SymInt> dims;\n  const ::std::optional<at::Tensor> & weight;\n};" in header
    assert python_set.files() == python_set.clean_build(families=views)


def test_a_list_of_operators_leaves_no_view_to_functionalization(python_set: Project, tmp_path: Path) -> None:
    (tmp_path / "operators.yaml").write_text("operators:\n  aten::exp:\n    is_used_for_training: true\n")
    made = python_set.build(families="functionalization").files()
    assert b"create_binding_with_pickle<at::functionalization::view_ViewMeta>" in made[VIEWS[2]]
    made = python_set.build(families="functionalization", operators=tmp_path / "operators.yaml").files()
    assert b"create_binding_with_pickle" not in made[VIEWS[2]]


def test_since_2_15_one_of_several_views_is_made_alone(python_set: Project) -> None:
    text = VIEW.replace("Tensor(a) self", "Tensor(a -> *) self").replace("-> Tensor\n", "-> Tensor[]\n")
    python_set.append("native_functions.yaml", text.replace("-> Tensor(a)\n", "-> Tensor(a)[]\n"))
    python_set.build(families=FAMILIES)
    assert (
        b"return at::_ops::seen::call(base, dims, weight)[out_index];" in python_set.files()["ATen/ViewMetaClasses.cpp"]
    )
    (python_set.specs / "RELEASE").write_text("2.15.0")
    python_set.run(families=FAMILIES).failed("how 'seen' makes a single one of its views is not known")


def test_before_2_9_there_are_no_view_metas(python_set: Project) -> None:
    (python_set.specs / "RELEASE").write_text("2.8.0")
    run = python_set.run(families="view_metas,view_meta_bindings")
    assert run.status != 0
    reported = re.findall(
        r"templates/ATen/(\w+\.\w+): error: PyTorch 2.8 has no (?:Python bindings of )?ViewMetas\n", run.stderr
    )
    assert reported == ["ViewMetaClasses.h", "ViewMetaClassesPythonBinding.cpp"], run.stderr
    assert python_set.run(families="annotated_args").status == 0


def test_a_required_argument_runs_the_rows_of_its_name(python_set: Project) -> None:
    python_set.append("native_functions.yaml", PAIR.replace("self)", "self, SymInt[2] size, *, bool? flag)"))
    family = "annotated_args"
    text = python_set.build(families=family).files()[ANNOTATED].decode()
    rows = text.partition("    torch._C._VariableFunctions.pair: [")[2].partition("],\n")[0]
    assert rows == (
        "{'is_kwarg_only': 'False', 'name': 'self', 'simple_type': 'Tensor'}, "
        "{'is_kwarg_only': 'False', 'name': 'size', 'simple_type': 'SymIntArrayRef', 'size': 2}, "
        "{'is_kwarg_only': 'True', 'name': 'flag', 'simple_type': 'bool?'}"
    )
    python_set.set_formula("exp", "self", "grad * result")
    run = python_set.run(families=family)
    assert (run.status, run.units, run.shards) == (0, [], [])
    python_set.replace("native_functions.yaml", "*, bool? flag) ->", "*, bool? flag=None) ->")
    run = python_set.run(families=family)
    assert (run.units, run.shards) == (["torch.pair"], [ANNOTATED])
    python_set.replace("native_functions.yaml", "flag=None) ->", "flag=True) ->")
    assert python_set.run(families=family).shards == []
    assert python_set.files() == python_set.clean_build(families=family)


def test_a_tag_runs_the_list_of_tags(python_set: Project) -> None:
    python_set.build(families=FAMILIES)
    python_set.append("tags.yaml", "- tag: a_new_one\n  desc: A tag.")
    run = python_set.run(families=FAMILIES)
    assert (run.status, run.units, run.shards) == (0, [], ["python_enum_tag.cpp"])
    assert '\n        .value("a_new_one", at::Tag::a_new_one)\n' in python_set.files()["python_enum_tag.cpp"].decode()


def test_results_must_all_have_names_or_none(python_set: Project) -> None:
    python_set.append("native_functions.yaml", PAIR.replace("Tensor second", "Tensor"))
    python_set.run(families=FAMILIES).failed("pair: func: some returns have a name and some have none")


@pytest.mark.parametrize(("name", "shown"), [("", "null"), ("12", "12")])
def test_a_tag_that_is_not_text_has_no_place_in_the_list_of_tags(python_set: Project, name: str, shown: str) -> None:
    python_set.append("tags.yaml", f"- tag: {name}\n  desc: A tag.")
    assert python_set.run(families="return_types").status == 0
    run = python_set.run(families="enum_tag")
    assert run.status != 0
    assert re.search(rf"tags\.yaml:\d+:\d+: error: {shown}: tag: the name of the tag is not text", run.stderr), (
        run.stderr
    )


def test_files_of_python_are_explained_by_entries(python_set: Project) -> None:
    python_set.append("native_functions.yaml", PAIR)
    python_set.build(families=FAMILIES)
    explained = python_set.run("explain", "return_types.pair", families=FAMILIES).stdout
    assert re.search(r"made from .*native_functions\.yaml:\d+ pair\n", explained), explained
    assert "functions" not in python_set.run("explain", "python_enum_tag.cpp", families=FAMILIES).stdout


def test_a_tag_is_explained_after_a_failed_run(python_set: Project) -> None:
    python_set.build(families=FAMILIES)
    python_set.append("tags.yaml", "- tag: a_new_one\n  desc: A tag.")
    python_set.set_formula("exp", "self", "grad.sizes()")
    assert python_set.run(families=FAMILIES).status != 0
    python_set.set_formula("exp", "self", "grad * result.conj()")
    run = python_set.run("explain", families=FAMILIES)
    assert (run.status, "python_enum_tag.cpp" in run.stdout) == (0, True), run.stderr


def test_diff_reports_required_arguments_that_changed(python_set: Project, tmp_path: Path) -> None:
    before = tmp_path / "before"
    shutil.copytree(python_set.specs, before)
    python_set.append("native_functions.yaml", PAIR.replace("self)", "self, SymInt[2] size, *, bool? flag)"))
    for name in ("native_functions.yaml", "derivatives.yaml"):
        text = python_set.path(name).read_text()
        python_set.path(name).write_text(text.replace("Tensor end, Scalar weight", "Tensor end, Scalar weight=1"))
    run = python_set.run("diff", "--format", "json", against=before, families="annotated_args").ok()
    report = json.loads(run.stdout)
    with_weight, without = "(Tensor self, Tensor end, Scalar weight)", "(Tensor self, Tensor end)"
    assert {each["name"]: (each["change"], each["before"], each["after"]) for each in report["annotated_args"]} == {
        "Tensor.lerp": ("changed", [with_weight], [without]),
        "Tensor.lerp_": ("changed", [with_weight], [without]),
        "torch.lerp": ("changed", [with_weight] * 2, [without] * 2),  # with an out variant
        "torch.pair": ("added", [], ["(Tensor self, SymIntArrayRef[2] size, keyword bool? flag)"]),
    }
    schema = json.loads(python_set.run("schema", "diff").stdout)
    assert [error.message for error in validator_for(schema)(schema).iter_errors(report)] == []
    text = python_set.run("diff", against=before, families="annotated_args").stdout
    assert "\nannotated arguments: 1 added, 3 changed\n" in text
    page = python_set.run("diff", "--format", "html", against=before, families="annotated_args").stdout
    assert '<article id="annotated_args-torch.pair"' in page
    assert "Annotated arguments: 1 added, 3 changed" in page
