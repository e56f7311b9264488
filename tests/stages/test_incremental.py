"""What runs after an edit, and what does not: the exact tasks, the files that move, the bytes of a clean build.

The sections are the rows of the table in docs/contributing/design.md: what happened since the last run, and what runs.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest
from conftest import RELEASE
from never_wrong.runs import Place
from never_wrong.specset import read_specs
from project import ANALYSIS, CORE, DAMAGES, JOINED, SHARD_TASKS, SHARDS, Project, files_in

from gradmill.session.paths import stores_in

# All that an edit of derivatives.yaml passes through, where foreach functions or in-place variants follow it, and
# where none does.
ALONE = ["specs", "derivatives", "infos"]
FOLLOWED = [*ALONE, "foreach", "match"]

# All files that a Node is in, for Nodes whose bindings are in the third file, as those of mv and pixel_shuffle are.
FILES_OF_M_AND_P = [
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
MV_EDITED = "self.conj().t().mv(grad)"
EXP_EDITED = "grad * result.conj() * 1"


def assert_runs(project: Project, *tasks: str) -> None:
    """Runs doit: these tasks are executed, and the manifest if there are any; only files of `shard` tasks are written,
    and all is as a clean build makes it."""
    before = project.mtimes()
    assert project.run().ok().ran == ([*tasks, "manifest"] if tasks else [])
    assert set(moved(project, before)) <= {task.removeprefix("shard:") for task in tasks}
    assert_clean(project)


def assert_clean(project: Project) -> None:
    """All is as a clean build makes it, and the next run executes nothing."""
    assert project.files() == project.clean_build()
    assert project.manifest() == project.clean_manifest()
    assert project.run().ran == []


def moved(project: Project, before: dict[str, int]) -> list[str]:
    """The generated files that were written since."""
    now = project.mtimes()
    return sorted(name for name in {*before, *now} if now.get(name) != before.get(name))


# ---- nothing: nothing; no file is written, no mtime moves


def test_first_run_makes_the_analysis_the_units_and_the_shards(project: Project) -> None:
    run = project.run().clean()
    assert run.ran == [*ANALYSIS, *(f"emit:{unit}" for unit in run.units), *SHARD_TASKS, "manifest"]
    assert sorted(run.units) == sorted(project.units())
    assert sorted(project.files()) == sorted(SHARDS)


def test_second_run_executes_nothing_and_writes_no_file(project: Project) -> None:
    before = project.build().tree()
    run = project.run()
    assert (run.status, run.ran, run.stderr) == (0, [], "")
    assert f"-- emit: {len(project.units())} units" in run.stdout
    assert project.tree() == before


def test_a_copy_of_a_built_project_is_as_good_as_a_built_one(built: Project) -> None:
    """The fixture that most tests begin with: nothing in it may be looked at twice."""
    before = built.mtimes()
    assert built.run().ran == []
    assert built.mtimes() == before


def test_touching_a_spec_executes_nothing_and_moves_no_file(built: Project) -> None:
    built.path("derivatives.yaml").touch()
    assert_runs(built)


def test_a_spec_saved_with_the_same_bytes_executes_nothing(built: Project) -> None:
    path = built.path("derivatives.yaml")
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)
    assert_runs(built)


# ---- a comment, blank line or key order that means nothing: the stage that reads the text; no unit, no shard


EXP_SCHEMA = "- func: exp(Tensor self) -> Tensor\n"
NEG = "  self: grad.neg()\n"
MEANINGLESS = {  # a file, a text in it, and what takes its place
    "a comment": ("derivatives.yaml", "- name: neg(Tensor self)", "# Odd.\n- name: neg(Tensor self)"),
    "a comment in an entry": ("derivatives.yaml", NEG, f"  # Odd.\n{NEG}"),
    "a comment behind a key": ("native_functions.yaml", EXP_SCHEMA, f"{EXP_SCHEMA[:-1]}  # entire\n"),
    "blank lines": ("native_functions.yaml", EXP_SCHEMA, f"\n\n\n{EXP_SCHEMA}"),
    "key order": ("derivatives.yaml", f"{NEG}  result: self_t.neg()\n", f"  result: self_t.neg()\n{NEG}"),
    "quotes": ("derivatives.yaml", NEG, '  self: "grad.neg()"\n'),
    "a comment on tags": ("tags.yaml", "- tag: core\n", "# Odd.\n- tag: core\n"),
}


@pytest.mark.parametrize("edit", MEANINGLESS)
def test_text_that_means_nothing_runs_only_the_stage_that_reads_it(built: Project, edit: str) -> None:
    manifest = built.manifest()
    built.replace(*MEANINGLESS[edit])
    assert_runs(built, "specs")
    assert built.manifest() != manifest


# ---- one derivative formula: that entry; the units whose text really changes; the shards that hold them


def test_a_formula_runs_its_node_and_its_shard(built: Project) -> None:
    built.set_formula("mv", "vec", MV_EDITED)
    assert_runs(built, *ALONE, "emit:MvBackward0", "shard:Functions.cpp")


def test_a_formula_runs_the_foreach_nodes_made_from_it(built: Project) -> None:
    built.set_formula("exp", "self", EXP_EDITED)
    assert_runs(built, *FOLLOWED, "emit:ExpBackward0", "emit:ForeachExpBackward0", "shard:Functions.cpp")


def test_a_formula_that_serves_several_foreach_ops_runs_all_their_nodes(built: Project) -> None:
    built.set_formula("pow.Tensor_Scalar", "self", "power_base_adjoint(grad, self, exponent) * 1")
    foreach = ["emit:ForeachPowBackward0Scalar", "emit:ForeachPowBackward0ScalarList"]
    assert_runs(built, *FOLLOWED, "emit:PowBackward0", *foreach, "shard:Functions.cpp")


def test_a_formula_that_saves_something_else_runs_the_shards_with_declarations_and_bindings(built: Project) -> None:
    before = built.mtimes()
    built.set_formula("pixel_shuffle", "self", "at::pixel_unshuffle(grad, upscale_factor) + 0 * self")
    assert_runs(built, *ALONE, "emit:PixelShuffleBackward0", *FILES_OF_M_AND_P)
    assert moved(built, before) == sorted(task.removeprefix("shard:") for task in FILES_OF_M_AND_P)


def test_a_forward_formula_that_no_node_prints_runs_no_unit_and_moves_no_file(built: Project) -> None:
    built.set_formula("mv", "result", "at::mv(self_p, vec_t) + at::mv(self_t, vec_p)")
    assert_runs(built, *ALONE)


def test_one_formula_of_core_runs_two_nodes_and_the_kernels_that_print_it(core_project: Project) -> None:
    """`exp` says auto_element_wise: its forward formula is the backward one, and kernels print that."""
    core_project.build()
    core_project.set_formula("exp", "self", EXP_EDITED)
    kernels = [f"emit:VariableType::{name}" for name in ("exp_", "exp", "_foreach_exp_", "_foreach_exp")]  # by file
    files = ["Functions.cpp", *(f"VariableType_{shard}.cpp" for shard in (0, 2, 4, 7)), "VariableTypeEverything.cpp"]
    shards = [f"shard:{file}" for file in files]
    assert_runs(core_project, *FOLLOWED, "emit:ExpBackward0", "emit:ForeachExpBackward0", *kernels, *shards)
    before = core_project.mtimes()  # and a formula that no kernel prints
    core_project.set_formula("mv", "self", "grad.ger(vec.conj()).clone()")
    assert core_project.run().ran == [*ALONE, "emit:MvBackward0", "shard:Functions.cpp", "manifest"]
    assert moved(core_project, before) == ["Functions.cpp"]


# ---- one schema: that entry and what refers to it


def _in_schemas_of_mv(project: Project, old: str, new: str) -> None:
    """Changes the arguments of mv in its schema, in that of its out variant, and where its derivatives name it."""
    for name in ("native_functions.yaml", "derivatives.yaml"):
        path = project.path(name)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


def test_a_default_that_no_node_holds_moves_no_file(built: Project) -> None:
    _in_schemas_of_mv(built, "(Tensor self, Tensor vec", "(Tensor self, Tensor vec, bool dense=True")
    built.build()
    before = built.mtimes()
    _in_schemas_of_mv(built, "dense=True", "dense=False")
    run = built.run()
    assert (run.status, run.units, run.shards) == (0, ["MvBackward0"], [])  # another schema is another entry
    assert run.ran[:2] == ["specs", "schemas"]
    assert moved(built, before) == []
    assert_clean(built)


def test_an_argument_that_its_node_does_not_print_runs_no_other_node(built: Project) -> None:
    _in_schemas_of_mv(built, "(Tensor self, Tensor vec", "(Tensor self, Tensor vec, bool dense=True")
    run = built.run().ok()
    assert run.units == ["MvBackward0"]
    assert_clean(built)


def test_a_renamed_argument_runs_its_node_and_its_files(built: Project) -> None:
    _in_schemas_of_mv(built, "(Tensor self, Tensor vec", "(Tensor self, Tensor by")
    text = built.path("derivatives.yaml").read_text()
    head, start, entry = text.partition("- name: mv(")
    body, end, tail = entry.partition("\n\n")
    body = body.replace("vec", "by")
    built.path("derivatives.yaml").write_text(head + start + body + end + tail)
    assert_runs(built, *ANALYSIS, "emit:MvBackward0", *FILES_OF_M_AND_P)


def test_a_function_that_makes_tensors_runs_its_wrapper_and_its_file(built: Project) -> None:
    built.replace("native_functions.yaml", "- func: zeros(SymInt[] size, *, ScalarType? dtype=None",
                  "- func: zeros(SymInt[] size, *, ScalarType? dtype=long")  # fmt: skip
    before = built.mtimes()
    run = built.run()
    assert (run.status, run.units, run.shards) == (0, ["zeros"], ["variable_factories.h"])
    assert moved(built, before) == ["variable_factories.h"]
    assert_clean(built)


def test_a_tag_of_a_function_runs_no_unit(built: Project) -> None:
    built.replace("native_functions.yaml", "- func: mv(Tensor self, Tensor vec) -> Tensor\n",
                  "- func: mv(Tensor self, Tensor vec) -> Tensor\n  tags: core\n")  # fmt: skip
    run = built.run()
    assert (run.status, run.units, run.shards) == (0, [], [])
    assert run.ran[:2] == ["specs", "schemas"]
    assert_clean(built)


# ---- an entry added, removed or moved: itself, and later Nodes of the same prefix if their numbers move


def test_a_function_without_derivatives_runs_no_unit(built: Project) -> None:
    built.append("native_functions.yaml", TRIPLE)
    assert_runs(built, "specs", "schemas", "foreach", "match")


def test_an_added_entry_runs_its_own_node(built: Project) -> None:
    built.append("native_functions.yaml", TRIPLE)
    built.append("derivatives.yaml", TRIPLE_DERIVATIVE)
    assert_runs(built, *ANALYSIS, "emit:TripleBackward0", *FILES_OF_M_AND_P)


def test_a_removed_entry_runs_no_unit(built: Project) -> None:
    before = built.files()
    built.append("native_functions.yaml", TRIPLE)
    built.build()
    text = built.path("derivatives.yaml").read_text()
    built.append("derivatives.yaml", TRIPLE_DERIVATIVE)
    built.build()
    assert built.files() != before
    built.path("derivatives.yaml").write_text(text)
    assert_runs(built, *FILES_OF_M_AND_P)
    assert built.files() == before


def test_an_entry_removed_for_the_first_time_runs_no_unit(built: Project) -> None:
    built.remove_entry("mv")
    assert_runs(built, *ALONE, "match", *FILES_OF_M_AND_P)


def test_an_entry_added_before_others_of_its_prefix_moves_their_numbers_only(built: Project) -> None:
    built.append("native_functions.yaml", MV_SCALED)
    built.build()
    built.replace("derivatives.yaml", MV, MV_SCALED_DERIVATIVE + MV)
    assert_runs(built, *ALONE, "match", "emit:MvBackward0", "emit:MvBackward1", *FILES_OF_M_AND_P)


def test_an_entry_added_after_others_of_its_prefix_moves_no_number(built: Project) -> None:
    built.append("native_functions.yaml", MV_SCALED)
    built.build()
    built.append("derivatives.yaml", MV_SCALED_DERIVATIVE)
    assert_runs(built, *ALONE, "match", "emit:MvBackward1", *FILES_OF_M_AND_P)


def test_swapped_entries_of_one_prefix_swap_their_numbers(built: Project) -> None:
    built.append("native_functions.yaml", MV_SCALED)
    built.append("derivatives.yaml", MV_SCALED_DERIVATIVE)
    built.build()
    built.replace("derivatives.yaml", MV_SCALED_DERIVATIVE, "")
    built.replace("derivatives.yaml", MV, MV_SCALED_DERIVATIVE + MV)
    assert_runs(built, *ALONE, "match", "emit:MvBackward0", "emit:MvBackward1", *FILES_OF_M_AND_P)


def test_swapped_entries_of_different_prefixes_run_no_unit(built: Project) -> None:
    neg = "- name: neg(Tensor self) -> Tensor\n  self: grad.neg()\n  result: self_t.neg()\n\n"
    built.replace("derivatives.yaml", neg, "")
    built.append("derivatives.yaml", neg)
    run = built.run()
    assert (run.status, run.units) == (0, [])
    assert run.shards == ["Functions.h", "Functions.cpp", "python_functions_0.cpp", "python_functionsEverything.cpp"]
    assert_clean(built)


def test_a_function_that_is_moved_runs_no_unit(built: Project) -> None:
    path = built.path("native_functions.yaml")
    head, start, rest = path.read_text().partition("- func: neg(")
    entry, end, tail = rest.partition("\n\n")
    path.write_text(f"{head}{tail}\n{start}{entry}{end}")
    run = built.run()
    assert (run.status, run.units) == (0, [])
    assert_clean(built)


def test_a_second_definition_hides_the_first_one_also_when_only_the_first_is_edited(built: Project) -> None:
    second = "\n- name: exp(Tensor self) -> Tensor\n  self: grad * result.conj() * 2\n  result: auto_element_wise\n"
    built.append("derivatives.yaml", second)
    built.build()
    built.set_formula("exp", "self", "grad * result.conj() * 3")
    assert_runs(built, *ALONE)
    assert b"result.conj() * 2" in built.files()["Functions.cpp"]
    assert b"result.conj() * 3" not in built.files()["Functions.cpp"]


# ---- a template: the shards made from it


OF_TEMPLATES = {
    "Functions.h": SHARD_TASKS[:1],
    "Functions.cpp": SHARD_TASKS[1:2],
    "python_functions.h": SHARD_TASKS[2:3],
    "python_functions.cpp": SHARD_TASKS[3:9],
    "variable_factories.h": SHARD_TASKS[9:],
}


@pytest.mark.parametrize("template", OF_TEMPLATES)
def test_a_template_runs_the_shards_made_from_it(built: Project, template: str) -> None:
    built.append(f"templates/{template}", "// The end.")
    assert_runs(built, *OF_TEMPLATES[template])


def test_a_file_next_to_the_templates_runs_nothing(built: Project) -> None:
    built.append("templates/core_helpers.h", "// The end.")
    assert_runs(built)


def test_a_template_that_drops_a_hole_and_takes_it_back_gives_the_first_file_again(built: Project) -> None:
    before = built.files()
    built.replace("templates/Functions.h", "${autograd_function_declarations}", "// none")
    assert_runs(built, "shard:Functions.h")
    assert built.files() != before
    built.set_formula("pixel_shuffle", "self", "at::pixel_unshuffle(grad, upscale_factor) + 0 * self")
    assert_runs(built, *ALONE, "emit:PixelShuffleBackward0", *FILES_OF_M_AND_P[1:])
    built.set_formula("pixel_shuffle", "self", "at::pixel_unshuffle(grad, upscale_factor)")
    built.replace("templates/Functions.h", "// none", "${autograd_function_declarations}")
    assert_runs(built, *FILES_OF_M_AND_P)
    assert built.files() == before


def test_a_template_that_a_set_may_leave_out_takes_its_file_with_it(built: Project) -> None:
    before = built.files()
    path = built.path("templates/variable_factories.h")
    data = path.read_bytes()
    path.unlink()
    run = built.run()
    assert (run.status, run.units, run.shards) == (0, [], [])
    assert sorted(built.files()) == sorted({*SHARDS} - {"variable_factories.h"})
    assert_clean(built)
    path.write_bytes(data)
    run = built.run()
    assert (run.status, run.units, run.shards) == (0, [], ["variable_factories.h"])
    assert built.files() == before
    assert_clean(built)


# ---- a generated file edited, truncated or deleted by hand: that file is put back


def _edit(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"// by hand\n")


def _flip(path: Path, *, by_rename: bool = False) -> None:
    """Same size, same time of change; also as an editor does it that writes a new file beside the old one."""
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    written = path.with_suffix(".new") if by_rename else path
    written.write_bytes(bytes(data))
    os.utime(written, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    written.replace(path)


BY_HAND: dict[str, tuple[str, Callable[[Path], object]]] = {  # the file, and what happens to it
    "edited": ("python_functions_3.cpp", _edit),
    "cut": ("Functions.cpp", DAMAGES["cut"]),
    "emptied": ("Functions.cpp", DAMAGES["emptied"]),
    "deleted": ("variable_factories.h", DAMAGES["lost"]),
    "flipped": ("variable_factories.h", _flip),
    "flipped by a rename": ("Functions.cpp", partial(_flip, by_rename=True)),
}


@pytest.mark.parametrize("damage", BY_HAND)
def test_a_generated_file_changed_by_hand_is_put_back_alone(built: Project, damage: str) -> None:
    name, change = BY_HAND[damage]
    files, times = built.files(), built.mtimes()
    change(built.generated / name)
    run = built.run()
    assert (run.status, run.ran) == (0, [f"shard:{name}"])
    assert built.files() == files
    assert moved(built, times) == [name]
    assert built.run().ran == []


def test_a_generated_file_changed_by_hand_before_an_edit_is_put_back_too(built: Project) -> None:
    _edit(built.generated / "Functions.h")
    built.set_formula("mv", "vec", MV_EDITED)
    assert_runs(built, *ALONE, "emit:MvBackward0", "shard:Functions.h", "shard:Functions.cpp")


def test_a_foreign_file_among_the_generated_ones_is_left_alone(built: Project) -> None:
    (built.generated / "notes.txt").write_text("mine")
    assert built.run().ran == []
    built.set_formula("mv", "vec", MV_EDITED)
    built.build()
    assert (built.generated / "notes.txt").read_text() == "mine"


def test_a_generated_folder_that_is_deleted_is_made_again_from_the_cache(built: Project) -> None:
    files = built.files()
    shutil.rmtree(built.generated)
    assert built.run().ran == SHARD_TASKS
    assert built.files() == files
    assert built.run().ran == []


# ---- a spec with an error: nothing in `generated/` changes; after the mend, only what changed runs


def _unknown_op(project: Project) -> None:
    project.replace("derivatives.yaml", "- name: mv(Tensor self, Tensor vec)", "- name: mw(Tensor self, Tensor vec)")


ERRORS: dict[str, Callable[[Project], object]] = {  # what the message names
    "mw": _unknown_op,
    "derivatives.yaml": lambda project: project.append("derivatives.yaml", "- name: ["),
    "exp": lambda project: project.replace("native_functions.yaml", "exp(Tensor self) ->", "exp(Tensor self ->"),
    "tags.yaml": lambda project: project.path("tags.yaml").unlink(),
    "python_functions.cpp": lambda project: project.path("templates/python_functions.cpp").unlink(),
    "no_such_hole": lambda project: project.append("templates/python_functions.cpp", "${no_such_hole}"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_changes_no_generated_file(built: Project, name: str) -> None:
    files, times, manifest = built.files(), built.mtimes(), built.manifest()
    # An edit that is right, and changes Functions.h and Functions.cpp, goes with it.
    built.set_formula("pixel_shuffle", "self", "at::pixel_unshuffle(grad, upscale_factor) + 0 * self")
    ERRORS[name](built)
    built.run().failed("error:", name, status=1)
    assert (built.files(), built.mtimes(), built.manifest()) == (files, times, manifest)


def test_after_the_mend_only_what_changed_runs(built: Project) -> None:
    _unknown_op(built)
    assert built.run().status == 1
    built.replace("derivatives.yaml", "- name: mw(", "- name: mv(")
    built.set_formula("mv", "vec", MV_EDITED)
    assert_runs(built, *ALONE, "emit:MvBackward0", "shard:Functions.cpp")


def test_an_error_that_is_taken_back_runs_nothing_and_moves_no_file(built: Project) -> None:
    text = built.path("derivatives.yaml").read_text()
    _unknown_op(built)
    assert built.run().status == 1
    built.path("derivatives.yaml").write_text(text)
    assert_runs(built)


def test_an_error_is_reported_again_by_the_next_run(built: Project) -> None:
    _unknown_op(built)
    first, second = built.run(), built.run()
    assert (first.status, second.status) == (1, 1)
    assert second.stderr == first.stderr != ""


def test_a_warning_is_reported_again_by_a_run_that_has_nothing_to_do(built: Project) -> None:
    built.set_formula("mv", "vec", "self.conj().t().mv(grad) + rezult")
    first, second = built.run(), built.run()
    assert (first.status, second.status, second.ran) == (0, 0, [])
    assert second.stderr == first.stderr
    assert "unknown name 'rezult'" in first.stderr


# ---- switching and back: what was made before is reused; files of the other layout do not stay behind


def test_an_edit_taken_back_runs_no_query_again(built: Project) -> None:
    files = built.files()
    text = built.path("derivatives.yaml").read_text()
    built.set_formula("exp", "self", EXP_EDITED)
    built.build()
    assert built.files() != files
    built.path("derivatives.yaml").write_text(text)
    assert_runs(built, "shard:Functions.cpp")
    assert built.files() == files
    built.set_formula("exp", "self", EXP_EDITED)
    assert_runs(built, "shard:Functions.cpp")


def test_two_spec_sets_on_one_cache_do_not_disturb_each_other(built: Project, tmp_path: Path) -> None:
    other = Project(tmp_path, built.specs, RELEASE, name="other")
    other.generated = tmp_path / "other files"
    other.set_formula("exp", "self", EXP_EDITED)
    other.build()
    assert built.files() != other.files()
    assert (built.run().ran, other.run().ran) == ([], [])
    assert (built.files(), other.files()) == (built.clean_build(), other.clean_build())


def test_two_releases_that_take_turns_leave_the_last_one_there(built: Project) -> None:
    (built.specs / "RELEASE").unlink()
    built.build(release="2.13.0")
    newer = built.files()
    built.build(release="2.12.1")
    older = built.files()
    assert newer != older
    for release, files in (("2.13.0", newer), ("2.12.1", older)):
        run = built.run(release=release)
        assert (run.status, run.units) == (0, [])
        assert not set(run.ran) & set(ANALYSIS)
        assert built.files() == files


def test_two_layouts_that_take_turns_leave_no_file_of_the_other(built: Project) -> None:
    upstream = built.files()
    built.build(layout="split", shards=4)
    split = built.files()
    assert "Functions_3.cpp" in split and "Functions_3.cpp" not in upstream
    run = built.run()
    assert (run.status, run.units, set(run.ran) & set(ANALYSIS)) == (0, [], set())
    assert built.files() == upstream
    built.build(layout="split", shards=4)
    assert built.files() == split


def test_two_generated_folders_on_one_cache_share_what_is_made(built: Project, tmp_path: Path) -> None:
    second = tmp_path / "second"
    run = built.run(generated=second)
    assert (run.status, run.ran) == (0, SHARD_TASKS)
    assert files_in(second) == built.files()
    assert (built.run().ran, built.run(generated=second).ran) == ([], [])


# ---- gradmill's own code, or a library it relies on for output: what that code makes; never a stale mix


@pytest.fixture
def own_code(own_code: Project) -> Project:
    """A project that a copy of gradmill has built."""
    return own_code.build()


def test_a_comment_in_code_rebuilds_all_and_changes_no_file(own_code: Project) -> None:
    path, times = own_code.root / "pipeline/gradmill/cli/commands/show.py", own_code.mtimes()
    path.write_text(path.read_text() + "\n# The end.\n")
    assert set(ANALYSIS) <= set(own_code.run().ran)
    assert moved(own_code, times) == []
    assert_clean(own_code)


def test_text_that_nodes_are_printed_from_changes_every_node(own_code: Project) -> None:
    path, times = own_code.root / "pipeline/gradmill/families/nodes/node.cpp", own_code.mtimes()
    path.write_text(path.read_text().replace("variable_list apply(variable_list&& grads)", "variable_list apply2()"))
    own_code.run()
    nodes = [unit for unit in own_code.units() if "Backward" in unit]
    assert moved(own_code, times) == ["Functions.h"]
    assert own_code.files()["Functions.h"].count(b"variable_list apply2()") == len(nodes)
    assert_clean(own_code)


def test_the_stores_of_two_versions_of_the_code_are_kept(own_code: Project) -> None:
    """Going back makes files alone; the store of a third version takes the place of the one that was used last."""
    path = own_code.root / "pipeline/gradmill/stages/shard.py"
    text, first = path.read_text(), own_code.rows
    assert text.count(JOINED) == 1
    path.write_text(text.replace(JOINED, f'{JOINED} + b"// The end.\\n"'))
    assert set(ANALYSIS) < set(own_code.run().ran)
    assert all(data.endswith(b"// The end.\n") for data in own_code.files().values())
    path.write_text(text)
    assert set(own_code.run().ran) == {*SHARD_TASKS, "manifest"}
    path.write_text(text + "\n# The end.\n")
    own_code.build()
    assert first.exists()
    assert len(stores_in(str(first.parent))) == 2


# ---- what serves every function


def _another_function_then_another_formula(project: Project) -> None:
    start = "- func: exp(Tensor self) -> Tensor\n"
    project.replace("native_functions.yaml", f"{start}  variants: function, method\n", f"{start}  variants: function\n")
    project.build()
    project.set_formula("exp", "self", EXP_EDITED)


def _new_function(project: Project) -> None:
    project.append("native_functions.yaml", TRIPLE)
    project.append("derivatives.yaml", TRIPLE_DERIVATIVE)


@pytest.mark.parametrize(
    "edit",
    [
        lambda project: project.remove_entry("exp"),
        lambda project: project.set_formula("exp", "self", EXP_EDITED),
        _new_function,
        lambda project: project.append("native_functions.yaml", TRIPLE),
        _another_function_then_another_formula,
    ],
    ids=["entry removed", "formula", "function", "function without derivatives", "function, then formula"],
)
def test_what_serves_every_function_is_that_of_a_clean_build(
    built: Project, tmp_path: Path, edit: Callable[[Project], None]
) -> None:
    before = built.run("show", "match").stdout
    edit(built)
    built.build()
    for stage in ("foreach", "match"):
        actual, clean = built.run("show", stage), built.run("show", stage, cache=tmp_path / "clean")
        assert (actual.status, clean.status) == (0, 0)
        assert actual.stdout == clean.stdout
    assert built.run("show", "match").stdout != before
    assert_clean(built)


def test_two_nodes_of_one_name_are_the_same_incrementally(built: Project) -> None:
    built.append(
        "native_functions.yaml",
        "- func: _foreach_exp.x(Tensor[] self, Scalar x) -> Tensor[]\n  device_check: NoCheck\n"
        "  dispatch:\n    CompositeExplicitAutograd: foreach_exp_x\n",
    )
    built.append(
        "derivatives.yaml", "- name: _foreach_exp.x(Tensor[] self, Scalar x) -> Tensor[]\n  self: mul(grads, self, x)\n"
    )
    built.build()
    assert_clean(built)
    for formula in ("mul(grads, self)", "mul(grads, x)", "mul(grads, self, x)"):
        built.set_formula("_foreach_exp.x", "self", formula)
        built.build()
        assert_clean(built)
        built.set_formula("exp", "self", f"{len(formula)} * grad * result.conj()")
        built.build()
        assert_clean(built)
    built.remove_entry("exp")
    built.build()
    assert_clean(built)


def test_units_that_share_a_title_have_the_same_numbers_in_every_run(kernels: Project) -> None:
    from gradmill.session.session import Session
    from gradmill.session.settings.config import read_config
    from gradmill.session.units import titles_of
    from gradmill.session.units import units as units_of

    schema = "- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha"
    kernels.replace("native_functions.yaml", f"{schema}=1", f"{schema}=2")
    kernels.build()  # the in-place variant has another default now, so it gets a functional variant of its own
    build = Session.open(read_config(kernels.values))
    units = units_of(build.db)
    at = [(family, unit.name) for family, unit in units.values()]
    some = [(at[i : i + 8], [*units][i : i + 8]) for i in range(0, len(at), 8)]
    assert [titles_of(build.db, each) for each, _ in some] == [titles for _, titles in some]
    build.close()
    assert "TraceType::add_Tensor#2" in units
    kernels.replace("native_functions.yaml", f"{schema}=2", f"{schema}=3")
    run = kernels.run()
    assert [units[name][1].function for name in run.units if name.startswith("TraceType::")] == ["add.Tensor"]


def test_a_view_without_any_derivative_is_built_and_edited(built: Project) -> None:
    built.replace(
        "derivatives.yaml",
        "- name: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n  self: grad.transpose(dim0, dim1)\n"
        "  result: auto_linear\n",
        "- name: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n  dispatch: {}\n",
    )
    built.build()
    assert_clean(built)
    built.set_formula("exp", "self", "2 * grad * result.conj()")
    built.build()
    assert_clean(built)


def test_a_node_does_not_run_for_a_forward_formula_that_it_does_not_print(tmp_path: Path) -> None:
    specs = read_specs(CORE)
    folder = tmp_path / "set"
    shutil.copytree(CORE, folder)
    place = Place(tmp_path)
    before = place.run(specs=folder).files
    row = re.compile(r"(?m)^(  (?:    )?result: )(.+)$")
    at = [i for i, entry in enumerate(specs.derivatives) if row.search(entry)]
    ran = {}
    for i in Random(0).sample(at, 12):
        edited = specs.copy()
        edited.derivatives[i] = row.sub(_other_formula, specs.derivatives[i], count=1)
        edited.write(folder)
        made = place.run(specs=folder)
        if made.outcome.status:
            continue  # a formula that names what is not there
        same = all(before[name] == made.files[name] for name in before)
        units = [task for task in made.outcome.ran if task.startswith(("emit:", "shard:"))]
        if same and units:
            ran[specs.derivatives[i].partition("\n")[0]] = units
        before = made.files
    assert ran == {}


def _other_formula(match: re.Match[str]) -> str:
    return match[1] + ("self_t" if match[2].startswith("auto_") else f"({match[2]}) * 1")


def test_an_entry_may_not_be_called_as_the_list_of_all_entries(built: Project) -> None:
    path = built.path("derivatives.yaml")
    text = path.read_text()
    odd = '- name: "\\0"\n  self: grad\n'
    for tail in (odd, f"{odd}\n{odd}", odd):
        path.write_text(f"{text}\n{tail}")
        run = built.run()
        assert run.status == 1
        assert run.stderr.count("derivatives.yaml:") == tail.count("name"), run.stderr
    path.write_text(text)
    assert built.run().status == 0
    assert built.files() == built.clean_build()
