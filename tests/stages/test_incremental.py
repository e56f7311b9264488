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

import pytest
from conftest import RELEASE
from project import ANALYSIS, DAMAGES, SHARD_TASKS, SHARDS, Project, files_in, with_end

from gradmill.session.paths import stores_in

NATIVE, DERIVATIVES = "native_functions.yaml", "derivatives.yaml"

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
EXP_AGAIN = """
- name: exp(Tensor self) -> Tensor
  self: grad * result.conj() * 2
  result: auto_element_wise
"""
OF_TEMPLATES = {
    "Functions.h": SHARD_TASKS[:1],
    "Functions.cpp": SHARD_TASKS[1:2],
    "python_functions.h": SHARD_TASKS[2:3],
    "python_functions.cpp": SHARD_TASKS[3:9],
    "variable_factories.h": SHARD_TASKS[9:],
}


def assert_runs(project: Project, *tasks: str) -> None:
    """Runs doit: these tasks are executed, and the manifest if there are any; files of `shard` tasks are written, no
    others, and all is as a clean build makes it."""
    before = project.mtimes()
    assert project.run().ok().ran == ([*tasks, "manifest"] if tasks else [])
    shards = (task.removeprefix("shard:") for task in tasks if task.startswith("shard:"))
    assert moved(project, before) == sorted(shards)
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


# ---- the rows: edits, of which all but the last are built, and the tasks that the last one runs

Edit = Callable[[Project], object]


def formula(op: str, field: str, text: str) -> Edit:
    return lambda project: project.set_formula(op, field, text)


def appended(file: str, *texts: str) -> Edit:
    return lambda project: [project.append(file, text) for text in texts]


def replaced(file: str, *old_and_new: tuple[str, str]) -> Edit:
    return lambda project: [project.replace(file, old, new) for old, new in old_and_new]


def both(*edits: Edit) -> Edit:
    return lambda project: [edit(project) for edit in edits]


def saved_again(project: Project) -> None:
    path = project.path(DERIVATIVES)
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def in_mv(pattern: str, new: str) -> Edit:
    """Replaces what matches in all entries of mv and of its out variant."""

    def edit(project: Project) -> None:
        for name in (NATIVE, DERIVATIVES):
            entry = re.compile(r"^- \w+: mv(\.out)?\(.*(\n  .*)*", re.MULTILINE)
            text = entry.sub(lambda found: re.sub(pattern, new, found[0]), project.path(name).read_text())
            project.path(name).write_text(text)

    return edit


def moved_to_the_end(file: str, start: str) -> Edit:
    def edit(project: Project) -> None:
        head, _, rest = project.path(file).read_text().partition(start)
        entry, _, tail = rest.partition("\n\n")
        project.path(file).write_text(f"{head}{tail}\n{start}{entry}\n")

    return edit


EXP_SCHEMA = "- func: exp(Tensor self) -> Tensor\n"
NEG = "  self: grad.neg()\n"
VIEW = "- name: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n"
SHUFFLED = "at::pixel_unshuffle(grad, upscale_factor) + 0 * self"
DENSE = "bool dense="
RUNS: dict[str, tuple[list[Edit], list[str]]] = {
    # nothing: nothing; no file is written, no mtime moves
    "a spec touched": ([lambda project: project.path(DERIVATIVES).touch()], []),
    "a spec saved with the same bytes": ([saved_again], []),
    "a file next to the templates": ([appended("templates/core_helpers.h", "// The end.")], []),
    # a comment, blank line or key order that means nothing: the stage that reads the text; no unit, no shard
    "a comment": ([replaced(DERIVATIVES, ("- name: neg(Tensor self)", "# Odd.\n- name: neg(Tensor self)"))], ["specs"]),
    "a comment in an entry": ([replaced(DERIVATIVES, (NEG, f"  # Odd.\n{NEG}"))], ["specs"]),
    "a comment behind a key": ([replaced(NATIVE, (EXP_SCHEMA, f"{EXP_SCHEMA[:-1]}  # entire\n"))], ["specs"]),
    "blank lines": ([replaced(NATIVE, (EXP_SCHEMA, f"\n\n\n{EXP_SCHEMA}"))], ["specs"]),
    "key order": (
        [replaced(DERIVATIVES, (f"{NEG}  result: self_t.neg()\n", f"  result: self_t.neg()\n{NEG}"))],
        ["specs"],
    ),
    "quotes": ([replaced(DERIVATIVES, (NEG, '  self: "grad.neg()"\n'))], ["specs"]),
    "a comment on tags": ([replaced("tags.yaml", ("- tag: core\n", "# Odd.\n- tag: core\n"))], ["specs"]),
    # one derivative formula: that entry; the units whose text really changes; the shards that hold them
    "a formula": ([formula("mv", "vec", MV_EDITED)], [*ALONE, "emit:MvBackward0", "shard:Functions.cpp"]),
    "a formula that a foreach Node is made from": (
        [formula("exp", "self", EXP_EDITED)],
        [*FOLLOWED, "emit:ExpBackward0", "emit:ForeachExpBackward0", "shard:Functions.cpp"],
    ),
    "a formula that several foreach Nodes are made from": (
        [formula("pow.Tensor_Scalar", "self", "power_base_adjoint(grad, self, exponent) * 1")],
        [
            *(*FOLLOWED, "emit:PowBackward0"),
            *("emit:ForeachPowBackward0Scalar", "emit:ForeachPowBackward0ScalarList", "shard:Functions.cpp"),
        ],
    ),
    "a formula that saves something else": (
        [formula("pixel_shuffle", "self", SHUFFLED)],
        [*ALONE, "emit:PixelShuffleBackward0", *FILES_OF_M_AND_P],
    ),
    "a forward formula that no Node prints": (
        [formula("mv", "result", "at::mv(self_p, vec_t) + at::mv(self_t, vec_p)")],
        [*ALONE],
    ),
    "a formula next to a view without any derivative": (
        [
            replaced(
                DERIVATIVES,
                (f"{VIEW}  self: grad.transpose(dim0, dim1)\n  result: auto_linear", f"{VIEW}  dispatch: {{}}"),
            ),
            formula("exp", "self", "2 * grad * result.conj()"),
        ],
        [*FOLLOWED, "emit:ExpBackward0", "emit:ForeachExpBackward0", "shard:Functions.cpp"],
    ),
    # one schema: that entry and what refers to it
    "an argument that its Node does not print": (
        [in_mv("Tensor vec", f"Tensor vec, {DENSE}True")],
        [*ANALYSIS, "emit:MvBackward0"],
    ),
    "a default that its Node does not print": (
        [in_mv("Tensor vec", f"Tensor vec, {DENSE}True"), in_mv(f"{DENSE}True", f"{DENSE}False")],
        [*ANALYSIS, "emit:MvBackward0"],
    ),
    "an argument renamed": (
        [in_mv(r"\bvec(?=\b|_[tp]\b)", "by")],
        [*ANALYSIS, "emit:MvBackward0", *FILES_OF_M_AND_P],
    ),
    "a default of a function that makes tensors": (
        [
            replaced(
                NATIVE,
                ("zeros(SymInt[] size, *, ScalarType? dtype=None", "zeros(SymInt[] size, *, ScalarType? dtype=long"),
            )
        ],
        ["specs", "schemas", "foreach", "match", "emit:zeros", "shard:variable_factories.h"],
    ),
    "a tag": (
        [
            replaced(
                NATIVE,
                (
                    "- func: mv(Tensor self, Tensor vec) -> Tensor\n",
                    "- func: mv(Tensor self, Tensor vec) -> Tensor\n  tags: core\n",
                ),
            )
        ],
        ["specs", "schemas", "infos", "foreach", "match"],
    ),
    # an entry added, removed or moved: itself, and later Nodes of the same prefix if their numbers move
    "a function without derivatives": ([appended(NATIVE, TRIPLE)], ["specs", "schemas", "foreach", "match"]),
    "a function with derivatives": (
        [both(appended(NATIVE, TRIPLE), appended(DERIVATIVES, TRIPLE_DERIVATIVE))],
        [*ANALYSIS, "emit:TripleBackward0", *FILES_OF_M_AND_P],
    ),
    "an entry removed": ([lambda project: project.remove_entry("mv")], [*ALONE, "match", *FILES_OF_M_AND_P]),
    "an entry removed after it was added": (
        [
            appended(NATIVE, TRIPLE),
            appended(DERIVATIVES, TRIPLE_DERIVATIVE),
            replaced(DERIVATIVES, (f"\n{TRIPLE_DERIVATIVE}\n", "")),
        ],
        FILES_OF_M_AND_P,
    ),
    "an entry before others of its prefix": (
        [appended(NATIVE, MV_SCALED), replaced(DERIVATIVES, (MV, MV_SCALED_DERIVATIVE + MV))],
        [*ALONE, "match", "emit:MvBackward0", "emit:MvBackward1", *FILES_OF_M_AND_P],
    ),
    "an entry after others of its prefix": (
        [appended(NATIVE, MV_SCALED), appended(DERIVATIVES, MV_SCALED_DERIVATIVE)],
        [*ALONE, "match", "emit:MvBackward1", *FILES_OF_M_AND_P],
    ),
    "entries of one prefix swapped": (
        [
            both(appended(NATIVE, MV_SCALED), appended(DERIVATIVES, MV_SCALED_DERIVATIVE)),
            replaced(DERIVATIVES, (MV_SCALED_DERIVATIVE, ""), (MV, MV_SCALED_DERIVATIVE + MV)),
        ],
        [*ALONE, "match", "emit:MvBackward0", "emit:MvBackward1", *FILES_OF_M_AND_P],
    ),
    "an entry moved among other prefixes": (
        [moved_to_the_end(DERIVATIVES, "- name: neg(")],
        [
            *(*ALONE, "match", "shard:Functions.h", "shard:Functions.cpp"),
            *("shard:python_functions_0.cpp", "shard:python_functionsEverything.cpp"),
        ],
    ),
    "a function moved": (
        [moved_to_the_end(NATIVE, "- func: neg(")],
        ["specs", "schemas", "infos", "foreach", "match"],
    ),
    "the first of two entries of an operator, which the second hides": (
        [appended(DERIVATIVES, EXP_AGAIN), formula("exp", "self", "grad * result.conj() * 3")],
        ALONE,
    ),
    # a template: the shards made from it
    **{
        f"the template {name}": ([appended(f"templates/{name}", "// The end.")], tasks)
        for name, tasks in OF_TEMPLATES.items()
    },
    # a generated file edited by hand before
    "a formula, and a file edited by hand": (
        [both(lambda project: _edit(project.generated / "Functions.h"), formula("mv", "vec", MV_EDITED))],
        [*ALONE, "emit:MvBackward0", "shard:Functions.h", "shard:Functions.cpp"],
    ),
    # switching and back: what was made before is reused
    "a formula taken back": (
        [formula("exp", "self", EXP_EDITED), formula("exp", "self", "grad * result.conj()")],
        ["shard:Functions.cpp"],
    ),
    "a formula again": (
        [*(formula("exp", "self", text) for text in (EXP_EDITED, "grad * result.conj()", EXP_EDITED))],
        ["shard:Functions.cpp"],
    ),
}


@pytest.mark.parametrize("what", RUNS)
def test_an_edit_runs_what_depends_on_it(built: Project, what: str) -> None:
    (*before, last), tasks = RUNS[what]
    for edit in before:
        edit(built)
        built.build()
    last(built)
    assert_runs(built, *tasks)


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


# ---- a template: the shards made from it


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
    path.write_text(with_end(text, "// The end."))
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


@pytest.mark.parametrize(
    "edit",
    [
        lambda project: project.remove_entry("exp"),
        lambda project: project.append("native_functions.yaml", TRIPLE),
        _another_function_then_another_formula,
    ],
    ids=["entry removed", "function without derivatives", "function, then formula"],
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
    for formula in ("mul(grads, self)", "mul(grads, self, x)"):
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
