"""gradmill equals torchgen on mutated sets. `python -m tests.campaigns` has more."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from project import CORE

from never_wrong.aten_sets import JudgeOfAten
from never_wrong.campaign import wrong
from never_wrong.edits import KINDS
from never_wrong.groups import group_added
from never_wrong.mutations import HEADS, MUTATIONS, Judge, Mutation, mutated
from never_wrong.oracle import Oracle
from never_wrong.specset import FILES, Specs, of_families, read_specs, subset

SETS = 4
GROUPS = 3
SETS_OF_BINDINGS = 2
SETS_OF_ATEN = 2


@pytest.fixture(scope="module")
def core() -> Specs:
    return read_specs(CORE)


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory, torchgen: Oracle) -> Judge:
    return Judge(tmp_path_factory.mktemp("judge"), torchgen)


def test_mutated_sets_get_the_verdict_and_the_bytes_of_torchgen(judge: Judge) -> None:
    assert wrong_sets(judge, SETS) == [], "python -m tests.campaigns sets"


@pytest.mark.parametrize(("option", "count"), [("--python", SETS_OF_BINDINGS), ("--aten", SETS_OF_ATEN)])
def test_other_mutated_sets_get_the_verdict_and_the_bytes_of_torchgen(
    tmp_path: Path, torchgen: Oracle, option: str, count: int
) -> None:
    judge = JudgeOfAten(tmp_path, torchgen) if option == "--aten" else Judge(tmp_path, torchgen, python=True)
    assert wrong_sets(judge, count) == [], f"python -m tests.campaigns sets {option}"


def wrong_sets(judge: Judge | JudgeOfAten, count: int) -> list[str]:
    judged = ((seed, *judge.judge(seed)) for seed in range(count))
    return wrong(verdict.trial(f"--seed {seed} --count 1 ({', '.join(made)})") for seed, verdict, made in judged)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("head", HEADS)
def test_what_stands_before_the_first_entry_gets_the_verdict_of_torchgen(
    judge: Judge, core: Specs, name: str, head: str
) -> None:
    specs = subset(core, Random(0), 4)
    specs.heads[name] = head + specs.heads[name]
    verdict = judge.judge_specs(specs)
    assert not verdict.wrong, verdict.detail


@pytest.mark.slow
@pytest.mark.parametrize("key", ["1", "1.5", "null", "yes", "2020-01-01", "[a]", "{a: b}", "''", "<<", "="])
@pytest.mark.parametrize("name", FILES)
def test_a_key_that_is_no_text_gets_the_verdict_of_torchgen(judge: Judge, core: Specs, name: str, key: str) -> None:
    specs = subset(core, Random(0), 4)
    first, _, rest = specs.entries[name][0].partition("\n")
    specs.entries[name][0] = f"{first}\n  ? {key}\n  : {{}}\n{rest}"
    verdict = judge.judge_specs(specs)
    assert not verdict.wrong, verdict.detail


EIGH = {  # whether torchgen accepts it
    "eigenvalues, nope": True,
    "nope, eigenvalues": True,
    "nope, result0": True,
    "eigenvectors": False,
    "eigenvalues, eigenvectors, nope": False,
}


@pytest.mark.parametrize("key", EIGH)
def test_a_forward_formula_for_some_outputs_gets_the_bytes_of_torchgen(
    judge: Judge, torch_specs: Path, key: str
) -> None:
    verdict = judge.judge_specs(_changed(torch_specs, "_linalg_eigh", "  eigenvalues, eigenvectors: ", f"  {key}: "))
    assert (verdict.wrong, verdict.accepted) == ("", EIGH[key]), verdict.detail


GROUPED = {  # functions of one operator, and whether torchgen accepts them
    "gm_copy(Tensor(a) self) -> Tensor(a)": True,  # a composite view needs no copy
    "gm_scatter(Tensor(a) self) -> Tensor(a)": True,
    "gm_copy_inverse(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: gm": True,
    "gm_copy(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: gm": False,
    "gm_copy(Tensor(a) self) -> Tensor(a)\n- func: gm_copy_copy(Tensor self) -> Tensor\n  tags: view_copy": False,
    "gm(Tensor(a) self) -> Tensor(a)\n- func: gm_copy(Tensor self) -> Tensor\n  tags: view_copy": True,
    "__gm__(Tensor(a) self) -> Tensor(a)\n- func: __gm_copy__(Tensor self) -> Tensor": False,  # has no tag
    # Schemas have no namespace.
    "other::gm.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: gm_out\n"
    "- func: gm(Tensor self) -> Tensor\n  dispatch:\n    CPU: gm": True,
    "other::gm(Tensor self) -> Tensor\n- func: gm(Tensor self) -> Tensor": False,
    # Returns of odd types.
    "gm(Tensor self) -> Tensor?[]\n  autogen: gm.out": True,
    "gm(Tensor self) -> Tensor[][]\n  autogen: gm.out": True,
    "gm(Tensor self) -> (Tensor, Tensor[2])\n  autogen: gm.out": False,
}


@pytest.mark.parametrize("functions", GROUPED)
def test_functions_of_one_operator_get_the_verdict_and_the_bytes_of_torchgen(
    judge: Judge, core: Specs, functions: str
) -> None:
    specs = of_families(core, ("add",))
    specs.native.append(f"\n- func: {functions}\n")
    verdict = judge.judge_specs(specs)
    assert (verdict.wrong, verdict.accepted) == ("", GROUPED[functions]), verdict.detail


def test_groups_of_functions_get_the_verdict_and_the_bytes_of_torchgen(judge: Judge, core: Specs) -> None:
    for seed in range(GROUPS):
        specs = of_families(core, ("add",))
        group_added(specs, Random(seed))
        verdict = judge.judge_specs(specs)
        assert not verdict.wrong, f"{verdict.wrong}: seed {seed}, {specs.native[-4:]}\n{verdict.detail}"


def test_a_generated_variant_that_is_declared_already_gets_the_verdict_of_torchgen(
    judge: Judge, torch_specs: Path
) -> None:
    own = "_foreach_mul_.Scalar(Tensor(a!)[] self, "
    verdict = judge.judge_specs(_changed(torch_specs, "_foreach_mul", f"{own}Scalar", f"{own}float"))
    assert (verdict.wrong, verdict.accepted) == ("", False)
    assert "error: _foreach_mul_.Scalar: func: '_foreach_mul_.Scalar' is not a variant of " in verdict.detail


def _changed(torch_specs: Path, operator: str, old: str, new: str) -> Specs:
    """torch's entries of one operator, with something else in them."""
    specs = read_specs(torch_specs)
    for entries in (specs.native, specs.derivatives):
        own = [entry for entry in entries if re.match(rf"- (func|name): {operator}_?[.(]", entry)]
        entries[:] = [entry.replace(old, new) for entry in own]
    assert any(new in entry for entry in (*specs.native, *specs.derivatives))
    return specs


# ---- the edits themselves


@pytest.mark.parametrize("mutation", dict.fromkeys((*KINDS, *MUTATIONS)))
def test_every_mutation_changes_a_set(core: Specs, mutation: Mutation) -> None:
    tried = [core.copy() for _ in range(20)]
    for seed, specs in enumerate(tried):
        mutation(specs, Random(seed))
    assert any(specs.texts() != core.texts() for specs in tried)


def test_a_seed_always_makes_the_same_set(core: Specs) -> None:
    assert mutated(core, 5)[0].texts() == mutated(core, 5)[0].texts()
    assert mutated(core, 5)[0].texts() != mutated(core, 6)[0].texts()
