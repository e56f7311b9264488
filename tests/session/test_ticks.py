"""A save in the clock tick of the read before it: the file keeps its stat, and the next run sees it all the same."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from never_wrong.builds import Kept, clean_build
from project import Project

from gradmill.io import files, stats
from gradmill.io.files import COARSE_TICK, TICK, UNSETTLED, Moment, Stat, evidence, is_settled, moment, stat_of
from gradmill.query.memo import Input
from gradmill.session.inputs import Inputs
from gradmill.specs.location import Location

OLD, NEW = b"result.conj()\n", b"result.real()\n"  # of one length


def check_rewrites_are_seen(project: Project, count: int) -> None:
    """Saves an input just before it is read and just after, and runs again, until the file kept its stat in `count` of
    the saves: a busy machine misses ticks."""
    path, kept_stat = project.path("derivatives.yaml"), 0
    texts = [path.read_bytes(), path.read_bytes().replace(OLD, NEW, 1)]
    assert texts[0] != texts[1] and len(texts[0]) == len(texts[1])
    clean = []
    for text in texts:
        path.write_bytes(text)
        clean.append(clean_build(project.specs, project.folder / "clean"))
    for number in range(20 * count):
        same: list[bool] = []
        path.touch()  # else nothing would be read
        with closing(Kept(project.specs, project.folder)) as kept, pytest.MonkeyPatch.context() as patch:
            _save_around_a_read(patch, path, texts[number % 2], texts[1 - number % 2], same)
            assert kept.update() == clean[number % 2]
        kept_stat += same == [True]
        with closing(Kept(project.specs, project.folder)) as kept:
            assert kept.update() == clean[1 - number % 2], f"save {number}"
        if kept_stat == count:
            return
    pytest.fail(f"of {20 * count} saves {kept_stat} kept the stat: this file system has fine times")


def _save_around_a_read(patch: pytest.MonkeyPatch, path: Path, before: bytes, after: bytes, same: list[bool]) -> None:
    """Has a file say one thing when it is read, and another right after that."""
    take, read = Inputs._take_specs, Location.read

    def taken(inputs: Inputs) -> Mapping[str, Input]:
        _overwrite(path, before)
        return take(inputs)

    def read_and_saved(location: Location) -> bytes:
        data, stat = read(location), stat_of(location.path)
        if location.path == str(path):
            _overwrite(path, after)
            same.append(stat_of(str(path)) == stat)
        return data

    patch.setattr(Inputs, "_take_specs", taken)
    patch.setattr(Location, "read", read_and_saved)


def _overwrite(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.write(data)


@pytest.mark.parametrize("tick", [10_000_000, 2_000_000_000])
def test_a_save_within_a_long_tick_is_seen_by_the_next_run(
    tiny: Project, monkeypatch: pytest.MonkeyPatch, tick: int
) -> None:
    """As where times are whole seconds; nothing has to be mounted for that."""

    class Coarse:
        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

        def stat(self, path: str) -> SimpleNamespace:
            result = os.stat(path)
            named = {name: getattr(result, name) for name in dir(result) if name.startswith("st_")}
            times = {name: named[name] // tick * tick for name in ("st_mtime_ns", "st_ctime_ns")}
            return SimpleNamespace(**{**named, **times})

    for module in (files, stats):
        monkeypatch.setattr(module, "os", Coarse())
    check_rewrites_are_seen(tiny, 4)


def test_a_stat_is_evidence_once_the_clock_has_ticked(tmp_path: Path) -> None:
    at = 1_700_000_000_123_456_789
    fine, whole = Stat(1, 0, at, 2, 3), Stat(1, 0, at // 10**9 * 10**9, 2, 3)
    assert [is_settled(fine, Moment(at + after)) for after in (0, TICK, TICK + 1)] == [False, False, True]
    assert [is_settled(whole, Moment(at + after)) for after in (TICK + 1, COARSE_TICK)] == [False, True]
    assert [is_settled(fine, Moment(0, 3, at + after)) for after in (0, 1)] == [False, True]  # by its own clock
    assert evidence(fine, Moment(at)) == UNSETTLED
    assert evidence(None, Moment(at)) is None
    clock = tmp_path / "clock"
    assert moment(str(clock)).device == -1
    clock.touch()
    assert moment(str(clock)).device == clock.stat().st_dev
