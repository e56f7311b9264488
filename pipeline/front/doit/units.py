"""The tasks of units: one per unit, or one per batch if many units have work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.front.doit.effect import Effect
from pipeline.front.doit.work import Task, Work
from pipeline.front.run import contents
from pipeline.front.run.contents import At
from pipeline.front.run.notes import IGNORED, read_notes
from pipeline.front.run.stale import Named, StaleUnits, named_units

BATCH = 64  # units per task, in a run with more units than this


class UnitTasks:
    """The tasks of the units of one run."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._stale = StaleUnits(work.build)

    def tasks(self) -> Iterator[Task]:
        """A task for each unit that has work; for every unit if tasks are listed or named on the command line."""
        work, build = self._work, self._work.build
        few = work.asked.running and not work.asked.names("emit")
        units = self._units(only_stale=bool(few and not work.asked.always))
        work.check_names("emit", units)
        docs = {} if work.asked.running else contents.schemas_of(build.db, contents.units(build.db))
        for batch in self._batches(list(units), BATCH if few and len(units) > BATCH else 1):
            look = lambda effect, places=[units[name][0] for name in batch]: self._look(places, effect)  # noqa: E731
            name = f"{batch[0]} and {len(batch) - 1} more" if len(batch) > 1 else batch[0]
            task = work.task(f"emit:{name}", docs.get(batch[0]) or units[batch[0]][1], look, name=name)
            task["actions"][0].units = len(batch)
            yield task

    def _units(self, *, only_stale: bool) -> dict[str, Named]:
        if not only_stale:
            return named_units(self._work.build)
        return {} if self._work.build.nothing_changed or self._work.stops else self._stale.find()

    def _batches(self, names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
        """The units of each task. A unit that `doit ignore` names has its own task."""
        notes = read_notes(self._work.build.paths.notes)
        ignored = [name for name in names if IGNORED in notes.get(f"emit:{name}", ())]
        others = [name for name in names if name not in ignored]
        yield from (others[at : at + size] for at in range(0, len(others), size))
        yield from ([name] for name in ignored)

    def _look(self, units: Sequence[At], effect: Effect) -> bool:
        from pipeline.stages.emit import text

        build = self._work.build
        roots = [(text, *at) for at in units]
        current = all((text.name, *at) not in build.db.ran and build.db.is_valid(text, *at) for at in units)
        for at in units:
            self._stale.bring(*at)
        build.inputs.code.check()  # immediately: later changes of code belong to the next run
        effect.failure = self._work.failure(roots)
        return current and not effect.failure
