"""What runs after an edit, and what does not: the exact tasks, the files that move, the bytes of a clean build."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from project import ANALYSIS, CORE, ROOT, SHARD_TASKS, Project, finish

# The tasks that an edit of derivatives.yaml passes through, as long as something in it is new.
DERIVATIVES = ["specs", "derivatives", "infos", "foreach", "match"]

# All that a Node is in, for Nodes whose bindings are in the third file, as those of mv and pixel_shuffle are.
SHARDS_OF_M_AND_P = [
    "shard:Functions.h",
    "shard:Functions.cpp",
    "shard:python_functions_3.cpp",
    "shard:python_functionsEverything.cpp",
]

TRIPLE = """
- func: triple(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: triple
"""
TRIPLE_DERIVATIVE = """
- name: triple(Tensor self) -> Tensor
  self: grad * 3
  result: auto_linear
"""
MV_SCALED = """
- func: mv.scaled(Tensor self, Tensor vec, Scalar scale) -> Tensor
  dispatch:
    CompositeExplicitAutograd: mv_scaled
"""
MV_SCALED_DERIVATIVE = """
- name: mv.scaled(Tensor self, Tensor vec, Scalar scale) -> Tensor
  self: times(grad.unsqueeze(1) * vec.conj(), scale.conj())
  result: auto_linear

"""
MV = "- name: mv(Tensor self, Tensor vec) -> Tensor\n"


def assert_runs(project: Project, *tasks: str) -> None:
    """Runs doit: these tasks are executed, and the manifest if there are any; all is as a clean build makes it."""
    run = project.run()
    assert run.status == 0, run.stderr
    assert run.ran == ([*tasks, "manifest"] if tasks else [])
    assert project.files() == project.clean_build()
    assert project.manifest() == project.manifest(project.spare / "cache")


def moved(project: Project, before: dict[str, int]) -> list[str]:
    """The generated files that were written since."""
    return [name for name, time in project.mtimes().items() if time != before.get(name)]


# ---- nothing


def test_first_run_makes_the_analysis_the_nodes_and_the_shards(project: Project) -> None:
    run = project.run()
    assert run.status == 0
    emitted = [task for task in run.ran if task.startswith("emit:")]
    assert sorted(run.ran) == sorted([*ANALYSIS, *emitted, *SHARD_TASKS, "manifest"])
    assert len(emitted) > 150


def test_second_run_executes_nothing(built: Project) -> None:
    assert built.run().ran == []


def test_second_run_writes_no_file(built: Project) -> None:
    before = built.tree()
    built.run()
    assert built.tree() == before


def test_touching_a_spec_executes_nothing(built: Project) -> None:
    built.path("derivatives.yaml").touch()
    assert_runs(built)


# ---- text that means nothing


def _comment(project: Project) -> None:
    project.replace("derivatives.yaml", "- name: neg(Tensor self)", "# Odd.\n- name: neg(Tensor self)")


def _comment_at_the_end_of_a_line(project: Project) -> None:
    project.replace("native_functions.yaml", "- func: exp(Tensor self) -> Tensor\n",
                    "- func: exp(Tensor self) -> Tensor  # entire\n")  # fmt: skip


def _blank_lines(project: Project) -> None:
    project.replace("native_functions.yaml", "- func: exp(Tensor self)", "\n\n\n- func: exp(Tensor self)")


def _key_order(project: Project) -> None:
    project.replace(
        "derivatives.yaml",
        "  self: grad.neg()\n  result: self_t.neg()\n",
        "  result: self_t.neg()\n  self: grad.neg()\n",
    )


def _quotes(project: Project) -> None:
    project.replace("derivatives.yaml", "  self: grad.neg()\n", '  self: "grad.neg()"\n')


def _tags_comment(project: Project) -> None:
    project.append("tags.yaml", "# The end.")


@pytest.mark.parametrize(
    "edit", [_comment, _comment_at_the_end_of_a_line, _blank_lines, _key_order, _quotes, _tags_comment]
)
def test_text_that_means_nothing_runs_only_the_stage_that_reads_it(
    built: Project, edit: Callable[[Project], None]
) -> None:
    before = built.mtimes()
    edit(built)
    assert_runs(built, "specs")
    assert moved(built, before) == []


# ---- formulas


def test_a_formula_runs_its_nodes_and_their_shards(built: Project) -> None:
    before = built.mtimes()
    built.set_formula("mv", "vec", "self.conj().t().mv(grad)")
    assert_runs(built, *DERIVATIVES, "emit:MvBackward0", "shard:Functions.cpp")
    assert moved(built, before) == ["Functions.cpp"]


def test_a_formula_runs_the_foreach_nodes_made_from_it(built: Project) -> None:
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    assert_runs(built, *DERIVATIVES, "emit:ExpBackward0", "emit:ForeachExpBackward0", "shard:Functions.cpp")


def test_a_formula_that_serves_several_foreach_ops_runs_all_their_nodes(built: Project) -> None:
    built.set_formula("pow.Tensor_Scalar", "self", "power_base_adjoint(grad, self, exponent) * 1")
    foreach = ["emit:ForeachPowBackward0Scalar", "emit:ForeachPowBackward0ScalarList"]
    assert_runs(built, *DERIVATIVES, "emit:PowBackward0", *foreach, "shard:Functions.cpp")


def test_a_formula_that_saves_something_else_runs_the_shards_with_declarations_and_bindings(built: Project) -> None:
    built.set_formula("pixel_shuffle", "self", "at::pixel_unshuffle(grad, upscale_factor) + 0 * self")
    assert_runs(built, *DERIVATIVES, "emit:PixelShuffleBackward0", *SHARDS_OF_M_AND_P)


def test_a_forward_formula_that_no_node_prints_moves_no_file(built: Project) -> None:
    before = built.mtimes()
    built.set_formula("mv", "result", "at::mv(self_p, vec_t) + at::mv(self_t, vec_p)")
    run = built.run()
    assert [task for task in run.ran if task.startswith("shard:")] == []
    assert moved(built, before) == []
    assert built.files() == built.clean_build()


def test_one_formula_of_torch_runs_two_nodes_and_one_shard(torch_project: Project) -> None:
    torch_project.build()
    before = torch_project.mtimes()
    torch_project.set_formula("exp", "self", "grad * result.conj() * 1")
    assert_runs(torch_project, *DERIVATIVES, "emit:ExpBackward0", "emit:ForeachExpBackward0", "shard:Functions.cpp")
    assert moved(torch_project, before) == ["Functions.cpp"]


# ---- schemas


def test_a_default_that_no_node_holds_moves_no_file(built: Project) -> None:
    before = built.mtimes()
    built.replace("native_functions.yaml", "- func: mv(Tensor self, Tensor vec) -> Tensor",
                  "- func: mv(Tensor self, Tensor vec, bool dense=True) -> Tensor")  # fmt: skip
    built.replace("native_functions.yaml", "mv.out(Tensor self, Tensor vec, *,",
                  "mv.out(Tensor self, Tensor vec, bool dense=True, *,")  # fmt: skip
    built.replace(
        "derivatives.yaml", "mv(Tensor self, Tensor vec) ->", "mv(Tensor self, Tensor vec, bool dense=True) ->"
    )
    built.build()
    for name in ("native_functions.yaml", "derivatives.yaml"):
        text = built.path(name).read_text()
        built.path(name).write_text(text.replace("bool dense=True", "bool dense=False"))
    assert_runs(built, *ANALYSIS[:2], *DERIVATIVES[1:], "emit:MvBackward0")
    assert moved(built, before) == []


def test_a_type_runs_the_node_that_saves_the_argument(built: Project) -> None:
    for name in ("native_functions.yaml", "derivatives.yaml"):
        built.replace(name, "pixel_shuffle(Tensor self, int upscale", "pixel_shuffle(Tensor self, SymInt upscale")
    assert_runs(
        built, "specs", "schemas", "derivatives", "infos", "foreach", "match",
        "emit:PixelShuffleBackward0", *SHARDS_OF_M_AND_P,
    )  # fmt: skip


def test_an_op_without_derivatives_runs_no_node(built: Project) -> None:
    before = built.mtimes()
    built.append("native_functions.yaml", TRIPLE)
    run = built.run()
    assert [task for task in run.ran if ":" in task] == []
    assert moved(built, before) == []


def test_a_tag_that_no_op_carries_runs_no_node(built: Project) -> None:
    before = built.mtimes()
    built.append("tags.yaml", "- tag: unheard_of\n  desc: |\n    Nothing has it.")
    run = built.run()
    assert run.status == 0
    assert run.ran[:2] == ["specs", "schemas"]
    assert [task for task in run.ran if ":" in task] == []
    assert moved(built, before) == []


# ---- entries


def test_an_added_entry_runs_its_own_node(built: Project) -> None:
    built.append("native_functions.yaml", TRIPLE)
    built.append("derivatives.yaml", TRIPLE_DERIVATIVE)
    run = built.run()
    assert [task for task in run.ran if task.startswith("emit:")] == ["emit:TripleBackward0"]
    assert built.files() == built.clean_build()


def test_a_removed_entry_runs_no_other_node(built: Project) -> None:
    before = built.files()
    built.append("native_functions.yaml", TRIPLE)
    built.build()
    text = built.path("derivatives.yaml").read_text()
    built.append("derivatives.yaml", TRIPLE_DERIVATIVE)
    built.build()
    assert built.files() != before
    built.path("derivatives.yaml").write_text(text)
    run = built.run()
    assert [task for task in run.ran if task.startswith("emit:")] == []
    assert built.files() == before


def test_an_entry_added_before_others_of_its_prefix_moves_their_numbers_only(built: Project) -> None:
    built.append("native_functions.yaml", MV_SCALED)
    built.build()
    built.replace("derivatives.yaml", MV, MV_SCALED_DERIVATIVE + MV)
    assert_runs(built, *DERIVATIVES, "emit:MvBackward0", "emit:MvBackward1", *SHARDS_OF_M_AND_P)


def test_an_entry_added_after_others_of_its_prefix_moves_no_number(built: Project) -> None:
    built.append("native_functions.yaml", MV_SCALED)
    built.build()
    built.append("derivatives.yaml", MV_SCALED_DERIVATIVE)
    assert_runs(built, *DERIVATIVES, "emit:MvBackward1", *SHARDS_OF_M_AND_P)


def test_swapped_entries_of_one_prefix_swap_their_numbers(built: Project) -> None:
    built.append("native_functions.yaml", MV_SCALED)
    built.append("derivatives.yaml", MV_SCALED_DERIVATIVE)
    built.build()
    built.replace("derivatives.yaml", MV_SCALED_DERIVATIVE, "")
    built.replace("derivatives.yaml", MV, MV_SCALED_DERIVATIVE + MV)
    run = built.run()
    assert [task for task in run.ran if task.startswith("emit:")] == ["emit:MvBackward0", "emit:MvBackward1"]
    assert built.files() == built.clean_build()


def test_swapped_entries_of_different_prefixes_run_no_node(built: Project) -> None:
    neg = "- name: neg(Tensor self) -> Tensor\n  self: grad.neg()\n  result: self_t.neg()\n\n"
    built.replace("derivatives.yaml", neg, "")
    built.append("derivatives.yaml", neg)
    run = built.run()
    assert [task for task in run.ran if task.startswith("emit:")] == []
    assert built.files() == built.clean_build()


# ---- templates


@pytest.mark.parametrize(
    ("template", "shards"),
    [
        ("Functions.h", SHARD_TASKS[:1]),
        ("Functions.cpp", SHARD_TASKS[1:2]),
        ("python_functions.h", SHARD_TASKS[2:3]),
        ("python_functions.cpp", SHARD_TASKS[3:]),
    ],
)
def test_a_template_runs_the_shards_made_from_it(built: Project, template: str, shards: list[str]) -> None:
    before = built.mtimes()
    built.append(f"templates/{template}", "// The end.")
    assert_runs(built, *shards)
    assert sorted(moved(built, before)) == sorted(task.removeprefix("shard:") for task in shards)


def test_a_file_beside_the_templates_runs_nothing(built: Project) -> None:
    built.append("templates/core_helpers.h", "// The end.")
    assert_runs(built)


def test_a_template_that_drops_a_hole_and_takes_it_back_gives_the_first_file_again(built: Project) -> None:
    before = built.files()
    built.replace("templates/Functions.h", "${autograd_function_declarations}", "// none")
    built.build()
    built.set_formula("pixel_shuffle", "self", "at::pixel_unshuffle(grad, upscale_factor) + 0 * self")
    assert "shard:Functions.h" not in built.run().ran
    built.set_formula("pixel_shuffle", "self", "at::pixel_unshuffle(grad, upscale_factor)")
    built.replace("templates/Functions.h", "// none", "${autograd_function_declarations}")
    built.build()
    assert built.files() == before


# ---- generated files


def _edit(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"// by hand\n")


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _delete(path: Path) -> None:
    path.unlink()


def _flip(path: Path) -> None:
    """Same size, same time of change."""
    stat = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _flip_by_rename(path: Path) -> None:
    """The same, as an editor that writes a new file beside the old one does it."""
    stat = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    beside = path.with_suffix(".new")
    beside.write_bytes(bytes(data))
    os.utime(beside, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    beside.replace(path)


DAMAGE = [_edit, _truncate, _empty, _delete, _flip, _flip_by_rename]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["Functions.cpp", "python_functions_3.cpp"])
def test_a_generated_file_changed_by_hand_is_put_back_alone(
    built: Project, name: str, damage: Callable[[Path], None]
) -> None:
    files, times = built.files(), built.mtimes()
    damage(built.generated / name)
    run = built.run()
    assert run.status == 0
    assert run.ran == [f"shard:{name}"]
    assert built.files() == files
    assert {k: v for k, v in built.mtimes().items() if k != name} == {k: v for k, v in times.items() if k != name}


def test_a_foreign_file_among_the_generated_ones_is_left_alone(built: Project) -> None:
    (built.generated / "notes.txt").write_text("mine")
    assert built.run().ran == []
    assert (built.generated / "notes.txt").read_text() == "mine"


def test_a_generated_folder_that_is_gone_is_made_again_from_the_cache(built: Project) -> None:
    files = built.files()
    shutil.rmtree(built.generated)
    assert built.run().ran == SHARD_TASKS
    assert built.files() == files


# ---- the cache


@pytest.mark.parametrize("damage", [_truncate, _empty, _delete, _flip])
def test_each_artifact_that_is_damaged_is_noticed_and_made_again(
    built: Project, damage: Callable[[Path], None]
) -> None:
    older = set(built.objects())
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    built.build()
    files, times = built.files(), built.mtimes()
    made = [path for path in built.objects() if path not in older]
    assert len(made) >= 5  # entries, definitions, infos, foreach, matches
    for path in made:
        data = path.read_bytes()
        damage(path)
        run = built.run()
        assert (run.status, len(run.ran)) == (0, 1), run
        assert path.read_bytes() == data
        assert (built.files(), built.mtimes()) == (files, times)
    assert built.run().ran == []


@pytest.mark.parametrize("damage", [_edit, _truncate, _empty, _delete, _flip])
def test_damaged_texts_of_nodes_are_made_again_when_they_are_needed(
    built: Project, damage: Callable[[Path], None]
) -> None:
    damage(built.pack)
    built.append("templates/Functions.cpp", "// The end.")
    built.build()
    assert built.files() == built.clean_build()


@pytest.mark.parametrize("damage", [_edit, _truncate, _empty, _delete, _flip])
def test_damaged_texts_of_nodes_move_no_file(built: Project, damage: Callable[[Path], None]) -> None:
    before = built.mtimes()
    damage(built.pack)
    built.build()
    assert built.mtimes() == before
    assert built.run().ran == []


def test_a_cache_without_artifacts_is_filled_again(built: Project) -> None:
    files, times = built.files(), built.mtimes()
    names = built.objects()
    shutil.rmtree(built.cache / "objects")
    assert built.run().status == 0
    assert built.objects() == names
    assert (built.files(), built.mtimes()) == (files, times)
    assert built.run().ran == []


def test_a_cache_that_is_gone_moves_no_generated_file(built: Project) -> None:
    times = built.mtimes()
    shutil.rmtree(built.cache)
    assert built.run().status == 0
    assert built.mtimes() == times


@pytest.mark.parametrize("damage", [_edit, _truncate, _empty, _delete, _flip])
@pytest.mark.parametrize("which", ["state", "journal"])
def test_damaged_records_cost_work_and_nothing_else(built: Project, which: str, damage: Callable[[Path], None]) -> None:
    files, times = built.files(), built.mtimes()
    for path in built.states() if which == "state" else [built.cache / "journal"]:
        damage(path)
    built.build()
    assert (built.files(), built.mtimes()) == (files, times)
    built.set_formula("mv", "vec", "self.conj().t().mv(grad)")
    assert_runs(built, *DERIVATIVES, "emit:MvBackward0", "shard:Functions.cpp")


# ---- mistakes in the specs


def _unknown_op(project: Project) -> None:
    project.replace("derivatives.yaml", "- name: mv(Tensor self, Tensor vec)", "- name: mw(Tensor self, Tensor vec)")


def _broken_yaml(project: Project) -> None:
    project.append("derivatives.yaml", "- name: [")


def _broken_schema(project: Project) -> None:
    project.replace("native_functions.yaml", "- func: exp(Tensor self) -> Tensor", "- func: exp(Tensor self -> Tensor")


def _missing_file(project: Project) -> None:
    project.path("tags.yaml").unlink()


def _missing_template(project: Project) -> None:
    project.path("templates/python_functions.cpp").unlink()


def _unknown_hole(project: Project) -> None:
    project.append("templates/python_functions.cpp", "${no_such_hole}")


@pytest.mark.parametrize(
    "mistake", [_unknown_op, _broken_yaml, _broken_schema, _missing_file, _missing_template, _unknown_hole]
)
def test_a_mistake_changes_no_generated_file(built: Project, mistake: Callable[[Project], None]) -> None:
    files, times = built.files(), built.mtimes()
    # An edit that is right, and changes Functions.h and Functions.cpp, goes with it.
    built.set_formula("pixel_shuffle", "self", "at::pixel_unshuffle(grad, upscale_factor) + 0 * self")
    mistake(built)
    run = built.run()
    assert run.status == 1
    assert "error:" in run.stderr
    assert "Traceback" not in run.stderr + run.stdout
    assert (built.files(), built.mtimes()) == (files, times)


def test_after_the_mend_only_what_changed_runs(built: Project) -> None:
    _unknown_op(built)
    assert built.run().status == 1
    built.replace("derivatives.yaml", "- name: mw(", "- name: mv(")
    built.set_formula("mv", "vec", "self.conj().t().mv(grad)")
    assert_runs(built, *DERIVATIVES, "emit:MvBackward0", "shard:Functions.cpp")


def test_a_mistake_that_is_taken_back_moves_no_file(built: Project) -> None:
    files, times = built.files(), built.mtimes()
    text = built.path("derivatives.yaml").read_text()
    _unknown_op(built)
    assert built.run().status == 1
    built.path("derivatives.yaml").write_text(text)
    run = built.run()
    assert run.status == 0
    assert [task for task in run.ran if ":" in task] == []
    assert (built.files(), built.mtimes()) == (files, times)


def test_a_mistake_is_told_again_by_the_next_run(built: Project) -> None:
    _unknown_op(built)
    first, second = built.run(), built.run()
    assert (first.status, second.status) == (1, 1)
    assert second.stderr == first.stderr


# ---- going back


def test_an_edit_taken_back_is_served_from_the_cache(built: Project) -> None:
    files = built.files()
    text = built.path("derivatives.yaml").read_text()
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    built.build()
    assert built.files() != files
    objects, journal = built.objects(), (built.cache / "journal").read_bytes()
    built.path("derivatives.yaml").write_text(text)
    built.build()
    assert built.files() == files
    assert (built.objects(), (built.cache / "journal").read_bytes()) == (objects, journal)


def test_two_spec_sets_on_one_cache_do_not_disturb_each_other(built: Project, tmp_path: Path) -> None:
    other = Project(tmp_path, CORE, "2.13.0", name="other")
    other.generated = tmp_path / "other files"
    other.set_formula("exp", "self", "grad * result.conj() * 1")
    other.build()
    assert built.files() != other.files()
    assert (built.run().ran, other.run().ran) == ([], [])
    assert (built.files(), other.files()) == (built.clean_build(), other.clean_build())


def test_two_spec_sets_that_take_turns_in_one_generated_folder_leave_the_last_one_there(
    built: Project, tmp_path: Path
) -> None:
    first = built.files()
    other = Project(tmp_path, CORE, "2.13.0", name="other")
    other.set_formula("exp", "self", "grad * result.conj() * 1")
    other.build()
    assert built.files() == other.clean_build()
    assert built.run().ran == ["shard:Functions.cpp"]
    assert built.files() == first


def test_two_releases_that_take_turns_leave_the_last_one_there(built: Project) -> None:
    newer = built.files()
    assert built.run(release="2.12.1").status == 0
    older = built.files()
    objects = built.objects()
    assert built.run(release="2.13.0").status == 0
    assert built.files() == newer
    assert built.run(release="2.12.1").status == 0
    assert (built.files(), built.objects()) == (older, objects)


def test_two_generated_folders_on_one_cache_share_artifacts(built: Project, tmp_path: Path) -> None:
    objects = built.objects()
    second = tmp_path / "second"
    assert built.run(generated=second).status == 0
    assert {path.name: path.read_bytes() for path in second.iterdir()} == built.files()
    assert built.objects() == objects
    assert (built.run().ran, built.run(generated=second).ran) == ([], [])


# ---- gradmill's own code


@pytest.fixture
def own_code(tmp_path: Path) -> Project:
    """A project that is built by a copy of gradmill."""
    root = tmp_path / "gradmill"
    root.mkdir()
    for name in ("pyproject.toml", "dodo.py"):
        shutil.copyfile(ROOT / name, root / name)
    for name in ("pipeline", "specs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    return Project(tmp_path, CORE, "2.13.0", root=root).build()


def test_text_that_nodes_are_printed_from_makes_every_node_anew(own_code: Project) -> None:
    path = own_code.root / "pipeline/outputs/text/node.cpp"
    path.write_text(path.read_text().replace("variable_list apply(variable_list&& grads)", "variable_list apply2()"))
    before = own_code.mtimes()
    run = own_code.run()
    nodes = len([task for task in run.ran if task.startswith("emit:")])
    assert nodes > 150
    assert moved(own_code, before) == ["Functions.h"]
    assert own_code.files()["Functions.h"].count(b"variable_list apply2()") == nodes
    assert own_code.files() == own_code.clean_build()


def test_code_that_prints_nodes_makes_every_node_anew(own_code: Project) -> None:
    path = own_code.root / "pipeline/outputs/node.py"
    path.write_text(path.read_text() + "\n# The end.\n")
    times = own_code.mtimes()
    run = own_code.run()
    assert len([task for task in run.ran if task.startswith("emit:")]) > 150
    assert not set(run.ran) & set(ANALYSIS)
    assert own_code.mtimes() == times


def test_code_that_assembles_files_makes_every_file_anew(own_code: Project) -> None:
    path = own_code.root / "pipeline/stages/shard.py"
    path.write_text(path.read_text() + "\n# The end.\n")
    times = own_code.mtimes()
    assert own_code.run().ran == [*SHARD_TASKS, "manifest"]
    assert own_code.mtimes() == times


def test_code_of_one_stage_runs_that_stage(own_code: Project) -> None:
    path = own_code.root / "pipeline/rules/foreach.py"
    path.write_text(path.read_text() + "\n# The end.\n")
    assert own_code.run().ran in (["foreach"], ["foreach", "manifest"])


@pytest.mark.parametrize("module", ["graph.py", "graph_shard.py", "build/texts.py"])
def test_code_that_carries_artifacts_makes_everything_anew(own_code: Project, module: str) -> None:
    path = own_code.root / "pipeline" / module
    path.write_text(path.read_text() + "\n# The end.\n")
    times = own_code.mtimes()
    assert {*ANALYSIS, *SHARD_TASKS, "emit:ExpBackward0", "manifest"} <= set(own_code.run().ran)
    assert own_code.mtimes() == times


def test_the_manifest_tells_the_code_that_was_used(own_code: Project) -> None:
    path = own_code.root / "pipeline/rules/foreach.py"
    path.write_text(path.read_text() + "\n# The end.\n")
    own_code.build()
    own_code.clean_build()
    assert own_code.manifest() == own_code.manifest(own_code.spare / "cache")


def test_code_that_makes_no_output_runs_nothing(own_code: Project) -> None:
    path = own_code.root / "pipeline/commands/show.py"
    path.write_text(path.read_text() + "\n# The end.\n")
    assert own_code.run().ran == []


# ---- what is looked up


def _without_exp(project: Project) -> None:
    path = project.path("derivatives.yaml")
    head, start, rest = path.read_text().partition("- name: exp(")
    path.write_text(head + rest.partition("\n\n")[2])
    assert start


def _another_formula(project: Project) -> None:
    project.set_formula("exp", "self", "grad * result.conj() * 1")


def _new_function(project: Project) -> None:
    project.append("native_functions.yaml", TRIPLE)
    project.append("derivatives.yaml", TRIPLE_DERIVATIVE)


def _function_without_derivative(project: Project) -> None:
    project.append("native_functions.yaml", TRIPLE)


def _another_function_then_another_formula(project: Project) -> None:
    start = "- func: exp(Tensor self) -> Tensor\n"
    project.replace("native_functions.yaml", f"{start}  variants: function, method\n", f"{start}  variants: function\n")
    project.build()
    _another_formula(project)


@pytest.mark.parametrize(
    "edit",
    [
        _without_exp,
        _another_formula,
        _new_function,
        _function_without_derivative,
        _another_function_then_another_formula,
    ],
)
def test_what_serves_every_function_is_that_of_a_clean_build(
    built: Project, tmp_path: Path, edit: Callable[[Project], None]
) -> None:
    edit(built)
    built.build()
    for stage in ("infos", "foreach", "match"):
        found, clean = built.run("show", stage), built.run("show", stage, cache=tmp_path / "clean")
        assert (found.status, clean.status) == (0, 0)
        assert found.stdout == clean.stdout
    assert built.files() == built.clean_build()


# ---- more than one process


def test_two_processes_make_what_one_makes(project: Project) -> None:
    run = project.run("-n", "2")
    assert run.status == 0, run.stderr
    assert project.files() == project.clean_build()
    assert project.run().ran == []


def test_two_processes_run_what_one_runs_after_an_edit(built: Project) -> None:
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    run = built.run("-n", "2")
    expected = [*DERIVATIVES, "emit:ExpBackward0", "emit:ForeachExpBackward0", "shard:Functions.cpp", "manifest"]
    assert sorted(run.ran) == sorted(expected)
    assert built.files() == built.clean_build()


def test_two_runs_at_once_on_one_cache_both_end_right(project: Project, tmp_path: Path) -> None:
    second = tmp_path / "second"
    both = [project.start(), project.start(generated=second)]
    assert [finish(process).status for process in both] == [0, 0]
    expected = project.clean_build()
    assert project.files() == expected
    assert {path.name: path.read_bytes() for path in second.iterdir()} == expected


def test_two_runs_at_once_into_one_folder_both_end_right(project: Project) -> None:
    both = [project.start(), project.start()]
    assert [finish(process).status for process in both] == [0, 0]
    assert project.files() == project.clean_build()
