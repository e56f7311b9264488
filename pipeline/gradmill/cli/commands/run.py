"""`gradmill run`, also without its name: regenerates what changed."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress

from gradmill.cli.commands.request import Request, Terminal, print_report
from gradmill.io.files import evidence, stat_of
from gradmill.problems.plain import lines, text_of
from gradmill.problems.problem import SpecError
from gradmill.session.answer import command_of, is_plain
from gradmill.session.own_code import CodeChanged
from gradmill.session.session import EVERYTHING, SILENT, Progress, Session
from gradmill.session.settings.config import Config, read_config
from gradmill.session.settings.reader import read_settings, settings_report
from gradmill.session.units import At, titles_of

FEW = 8  # names that fit on a line
_REST = "  all files are complete, as before or new: the next run writes the others\n"


def main(request: Request) -> int:
    """Brings everything up to date, or what is named. Or prints the settings of such a run."""
    if request.options.get("show_settings"):
        sys.stdout.write(settings_report(request.settings()))
        return 0
    return run(request, request.config())


def run(request: Request, config: Config) -> int:
    """A run of a configuration; returns the exit status. A plain command line has its answer kept for the next one."""
    if config.stamp and request.names:
        raise SpecError(
            f"{config.option('stamp', config.stamp)}: a stamp is of a whole run", "leave it out, or the names"
        )
    with closing(Session.open(config, writes=True)) as session:
        printed = None if request.options.get("quiet") else Lines(session, verbose=bool(request.options.get("verbose")))
        selection = EVERYTHING
        if request.names:
            from gradmill.cli.commands.table import COMMANDS
            from gradmill.session.selection import names_of, selection_of

            selection = selection_of(session, names_of(session, request.names, [*COMMANDS]))
        try:
            updated = session.update(selection, progress=printed or SILENT)
            failure = updated.problems().report if updated.failed else ""
            failed = updated.failed
        except (SpecError, CodeChanged, OSError) as error:
            failed, failure = True, f"{text_of(error)}\n" + (_REST if isinstance(error, OSError) else "")
        if printed is not None:
            printed.end(failed=failed)
        if failed:
            print_report(failure, config.format)
            session.save(failed=True)
            return 1
        session.save()
        print_report(updated.problems().report, config.format)
        if is_plain(request.line):
            keep_answer(session, request.line)
    return 0


class Lines(Progress):
    """Prints a line for each stage, with names if there are few; with `verbose` one for each unit and each file. On a
    terminal, one more line shows the current work."""

    def __init__(self, session: Session, *, verbose: bool) -> None:
        self._session = session
        self._verbose = verbose
        self._terminal = Terminal(sys.stdout)
        self._start = time.perf_counter()
        self._written: list[str] = []  # the names of files that changed
        self._current = 0  # the names of files that did not
        self._files = self._changed = 0
        self._worked = False

    def doing(self, text: str) -> None:
        self._terminal.show(text)

    def stage(self, name: str, *, current: bool) -> None:
        self._sum_up()
        self._worked = self._worked or not current
        self._print(f"{'-- ' if current else '.  '}{name}\n")

    def units(self, rebuilt: Sequence[At], current: int) -> None:
        named = self._verbose or len(rebuilt) <= FEW
        names = titles_of(self._session.db, rebuilt) if named and rebuilt else []
        if self._verbose:
            self._print(lines(f".  emit:{name}" for name in names))
        elif rebuilt:
            self._print(done("emit", names, len(rebuilt), "unit"))
        if current:
            self._print(up_to_date("emit", current, "unit"))

    def file(self, name: str, changed: int, count: int) -> None:
        self._files, self._changed = self._files + count, self._changed + changed
        if self._verbose:
            self._print(lines([f"{'.  ' if changed else '-- '}shard:{name}"]))
        elif changed:
            self._written.append(name)
        else:
            self._current += 1

    def _sum_up(self) -> None:
        """Prints the lines of files that have no lines yet."""
        if self._written:
            self._print(done("shard", self._written, len(self._written), "file"))
        if self._current:
            self._print(up_to_date("shard", self._current, "file"))
        self._written, self._current = [], 0

    def end(self, *, failed: bool) -> None:
        """Prints the last line of a run that looked at files, and succeeded."""
        self._terminal.clear()
        if self._files and not failed:
            self._sum_up()
            generated, removed = self._session.config.generated, self._session.outputs.removed
            worked = self._worked or self._changed or removed
            took = time.perf_counter() - self._start if worked else None
            self._print(summary(self._files, generated, self._changed, took, removed))
        sys.stdout.flush()

    def _print(self, text: str) -> None:
        self._terminal.clear()
        try:
            sys.stdout.write(text)
        except OSError as error:
            raise SpecError(f"standard output: {error.strerror}") from None


# ---- its lines


def done(stage: str, names: Sequence[str], count: int, what: str) -> str:
    """The line for rebuilt units or files: their names, or their count."""
    few = len(names) == count <= FEW
    return lines([f".  {stage}: {', '.join(names) if few else counted(count, what)}"])


def up_to_date(stage: str, count: int, what: str) -> str:
    """The line for units or files that were up to date: their count."""
    return f"-- {stage}: {counted(count, what)}\n"


def summary(files: int, folder: str, changed: int, seconds: float | None = None, removed: int = 0) -> str:
    """The last line of a run: the number of generated files, how many changed, and how many others were deleted.
    `seconds`: the time of a run that had work to do."""
    took = "" if seconds is None else f", {seconds:.1f} s"
    gone = f"; {removed} removed" if removed else ""
    return lines([f"{counted(files, 'file')} in {folder}{took}; {changed or 'none'} changed{gone}"])


def counted(count: int, what: str) -> str:
    """A count with its noun: `1 file`, `2 files`."""
    many = f"{what.removesuffix('y')}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else many}"


# ---- the answer of a complete run to the same command line, as long as nothing has changed


def keep_answer(session: Session, words: list[str]) -> None:
    """Adds the answer to a plain command line to the record of its complete run. Other runs leave no answer."""
    last, config = session.record, session.config
    if last is None or not last.complete:
        return
    # A new file in one of these folders may change the set: take their stats before the set is resolved again.
    given = dict(word.split("=", 1) for word in words)
    with suppress(SpecError):
        before, now = read_settings(given), session.inputs.now()
        added = (each.root for each in config.added.values())
        folders = (*config.specs.looked_for, *before.looked_for, *added, *sys.path)
        stats = {path: evidence(stat_of(path), now) for path in folders}
        settings = read_settings(given)
        if settings.looked_for == before.looked_for and read_config(settings) == config and not config.stamp:
            warnings = settings.notice + config.release_warning + session.problems().report
            out, error = (text.encode("utf-8", "surrogateescape") for text in (_nothing_to_do(session), warnings))
            session.keep_answer(command_of(words), out, error, stats)


def _nothing_to_do(session: Session) -> str:
    """What a run prints when everything is up to date."""
    count, files = session.count_of_units(), session.file_names()
    texts = [f"-- {stage}\n" for stage in session.stages.analysis]
    texts += [up_to_date("emit", count, "unit")] if count else []
    texts += [up_to_date("shard", len(files), "file")] if files else []
    end = [summary(sum(len(session.members(name)) for name in files), session.config.generated, 0)] if files else []
    return "".join((*texts, "-- manifest\n", *end))
