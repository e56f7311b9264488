"""Which release a version means, and that the table of changes gives facts for all of them."""

from __future__ import annotations

import pytest

from pipeline.problems.problem import SpecError
from pipeline.releases import KNOWN, newest_at, resolve, resolve_version


@pytest.mark.parametrize("version", ["2.13", "2.13.0", "2.13.1", "2.13.0+cpu", "2.13.0+cu130"])
def test_a_known_version_is_its_minor_release(version: str) -> None:
    assert resolve_version(version) == ("2.13", "")


def test_every_known_release_resolves_to_itself_without_a_warning() -> None:
    assert [resolve_version(version) for version in KNOWN] == [(version.rpartition(".")[0], "") for version in KNOWN]


def test_known_releases_are_in_order() -> None:
    assert sorted(KNOWN, key=lambda version: [int(part) for part in version.split(".")]) == list(KNOWN)


@pytest.mark.parametrize("version", ["2.99.0", "3.0", "3.0.0a0+git1234"])
def test_a_newer_version_is_read_as_the_newest_known_with_a_warning(version: str) -> None:
    release, warning = resolve_version(version)
    assert release == KNOWN[-1].rpartition(".")[0]
    assert version in warning
    assert release in warning


@pytest.mark.parametrize("version", ["2.3", "2.3.1", "1.13.1", "0", "", "latest", "v2.13.0", "2", "2.x"])
def test_an_older_or_malformed_version_is_refused_with_the_known_ones(version: str) -> None:
    with pytest.raises(SpecError) as caught:
        resolve_version(version)
    assert f"'{version}' is not known" in caught.value.problem
    assert KNOWN[0] in caught.value.hint


@pytest.mark.parametrize("version", KNOWN)
def test_every_known_release_has_facts(version: str) -> None:
    release, _ = resolve_version(version)
    facts = resolve(release)
    assert facts.version == release
    assert "Tensor" in facts.base_types
    assert "CompositeImplicitAutograd" in facts.dispatch_keys


def test_newest_at_takes_numbers_for_numbers() -> None:
    assert newest_at("2.10", ["2.4", "2.9", "2.10", "2.11"]) == "2.10"
    assert newest_at("2.8", ["2.4", "2.9", "2.10"]) == "2.4"


def test_newest_at_is_none_when_all_are_newer() -> None:
    assert newest_at("2.4", ["2.5", "2.10"]) is None
