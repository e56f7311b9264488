"""Releases against their own torchgen, how a release is found, and what switching between releases costs.

All releases: python -m tests.campaigns releases
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from project import CORE, Project

from gradmill.problems.problem import SpecError
from gradmill.releases import KNOWN
from gradmill.session.settings.config import read_config
from releases import WHEELS, Result, Source, Unavailable, compare, find_source
from releases.rules import missing_rows

RELEASES = [pytest.param("2.5.1", marks=pytest.mark.campaign), pytest.param("2.13.0", marks=pytest.mark.slow(20))]


def available(find: Callable[[], Any]) -> Any:
    """What is found of a release; without its wheel the test is skipped, in CI it fails."""
    try:
        return find()
    except Unavailable as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))


def source_of(version: str, folder: Path) -> Source:
    source: Source = available(partial(find_source, version, WHEELS, folder))
    return source


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all releases."""
    return tmp_path_factory.mktemp("releases")


@pytest.fixture(scope="module", params=RELEASES)
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Result:
    folder = tmp_path_factory.mktemp(f"release_{request.param}")
    return compare(source_of(request.param, folder / "unpacked"), folder, cache)


def test_the_files_equal_the_release_s_own(result: Result) -> None:
    assert result.files == []


def test_the_matched_functions_equal_the_release_s_own(result: Result) -> None:
    assert result.functions == []
    assert result.total > 3000


@pytest.mark.slow(3)
@pytest.mark.parametrize("version", KNOWN)
def test_facts_are_the_lists_of_the_release_s_own_torchgen(version: str, tmp_path: Path) -> None:
    assert missing_rows(version, source_of(version, tmp_path).root) == []


def packaged(folder: Path) -> Path:
    """The core set, laid out as torchgen/packaged, without a word on its release."""
    copy = Project(folder / "torchgen", CORE, "", packaged=True).specs
    (copy / "RELEASE").unlink()
    return copy.rename(folder / "torchgen" / "packaged")


def write_version(folder: Path, version: str) -> None:
    (folder / "torch").mkdir(parents=True, exist_ok=True)
    (folder / "torch" / "version.py").write_text(f"__version__ = '{version}'\ndebug = False\n")


def test_an_unpacked_package_is_known_by_the_version_next_to_it(tmp_path: Path) -> None:
    specs = packaged(tmp_path)
    write_version(tmp_path, "2.9.1+cpu")
    assert {read_config({"specs": str(path)}).release for path in (specs, specs.parent, tmp_path)} == {"2.9"}


@pytest.mark.parametrize("place", ["version.py", "../version.py", "../torch/version.py", "../../torch/version.py"])
@pytest.mark.parametrize("layout", ["flat", "packaged"])
def test_a_version_of_something_else_near_a_set_is_not_its_release(layout: str, place: str, tmp_path: Path) -> None:
    specs = Project(tmp_path / "all" / "mine", CORE, "", packaged=layout == "packaged", name="specs").specs
    (specs / "RELEASE").unlink()
    path = specs / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("__version__ = '1.0'\n")
    assert read_config({"specs": str(specs), "release": "2.13"}).release == "2.13"
    with pytest.raises(SpecError, match="the spec set does not name its PyTorch release"):
        read_config({"specs": str(specs)})


def test_elsewhere_the_release_is_asked_for_with_those_known(tmp_path: Path) -> None:
    specs = str(packaged(tmp_path))
    with pytest.raises(SpecError) as caught:
        read_config({"specs": specs})
    assert all(version in caught.value.hint for version in KNOWN)
    assert read_config({"specs": specs, "release": "2.10.0"}).release == "2.10"
