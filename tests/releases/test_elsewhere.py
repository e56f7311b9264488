"""What other releases accept is dated by the table of changes, and the report ends in a question about the release."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gradmill.problems.problem import SpecError
from gradmill.releases import KNOWN, minor, resolve
from gradmill.releases.elsewhere import dated, dated_name, doubt

RELEASES = [minor(version) for version in KNOWN]
KEYS = {release: resolve(release).kernel_keys for release in RELEASES}
ADDED = [(since, key) for before, since in pairwise(RELEASES) for key in sorted(KEYS[since] - KEYS[before])]


@pytest.mark.parametrize(("since", "key"), ADDED, ids=lambda each: each)
def test_a_key_is_right_since_the_release_that_added_it(since: str, key: str) -> None:
    error = dated(SpecError("no kernels"), lambda release: key in release.kernel_keys)
    assert error.releases == tuple(RELEASES[RELEASES.index(since) :])
    assert f"PyTorch {since} and newer" in error.hint


def test_a_removed_type_is_right_until_then() -> None:
    error = dated(SpecError("no type"), lambda release: "Dimname" in release.base_types)
    assert error.releases[-1] == "2.12"
    assert "Dimname" not in resolve("2.13").base_types
    assert error.hint == "it is right in PyTorch 2.12 and older: is the release right?"


def test_what_no_release_accepts_keeps_its_hint() -> None:
    error = dated(SpecError("no type", "did you mean 'Tensor'?"), lambda release: "Tensr" in release.base_types)
    assert (error.releases, error.hint) == ((), "did you mean 'Tensor'?")


def test_a_hint_may_stay_behind_the_question() -> None:
    error = dated(SpecError("no kernels", "write a key"), lambda release: release.version == "2.6", keep=True)
    assert error.hint == "it is right in PyTorch 2.6: is the release right? Else write a key"


@pytest.mark.parametrize(
    ("name", "first"), [("masked_fill_inplace_if_safe", "2.14"), ("not_implemented", "2.4"), ("no_such_helper", "")]
)
def test_a_function_is_dated_by_the_names_of_the_releases(name: str, first: str) -> None:
    assert dated_name(SpecError("unknown"), name).releases[:1] == ((first,) if first else ())


def test_the_question_names_the_releases_that_accept_most() -> None:
    problems = [("2.9", "2.10"), ("2.10", "2.11"), ("2.4",)]
    assert doubt(problems, 7) == "2 of these 7 problems do not exist in PyTorch 2.10"
    assert doubt([("2.14", "2.15")] * 2, 2) == "none of these 2 problems exists in PyTorch 2.14 and newer"
    assert doubt([("2.4", "2.6")] * 3, 3).endswith("PyTorch 2.4, 2.6")
    assert doubt(problems[:1], 1) == ""
