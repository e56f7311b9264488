"""What commands that write a report share: its format, its file, and the set in `against=` that they compare with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import msgspec

from gradmill.cli.commands.request import Failed
from gradmill.io.files import replace_file
from gradmill.problems import plain
from gradmill.problems.problem import SpecError
from gradmill.session.output.outputs import has_in_head, identities, refusal, refused
from gradmill.session.session import Session
from gradmill.session.settings.config import read_against
from gradmill.session.settings.variables import REVISION

T = TypeVar("T")


def format_of(options: dict[str, Any], build: Session) -> str:
    """The format of a report: that of the option, else "json" if the variable `format` has it, else "text". The other
    values of the variable apply to problems alone."""
    return options["format"] or ("json" if build.config.format == "json" else "text")


def json_text(value: Any) -> bytes:
    """A value as indented JSON with a final line end."""
    return plain.json_text(msgspec.json.format(msgspec.json.encode(value), indent=2)).encode()


def write_output(build: Session, data: bytes, path: str) -> None:
    """Writes `data` to the file `path`, or to standard output if `path` is empty. Replaces an existing file. Raises
    SpecError if the path is an input or cannot be written."""
    if not path:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    if problem := refusal(path, identities(build.inputs.spec_paths()), has_in_head(b"")):
        raise refused(path, problem, "--output FILE")
    try:
        replace_file(path, data)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}", "name a file that can be written") from error


# ---- the other set


def read_other(build: Session, variables: Mapping[str, str], read: Callable[[Session], T], *shared: str) -> T:
    """What is read of the set in `against=`; `git:REVISION` is the set of `build` in a revision. `shared`: the
    variables that apply to it, too. SpecError if there is no such set, Failed if it has errors."""
    named = variables.get("against", "")
    if not named.startswith(REVISION):
        return _read(variables, read, shared)
    from gradmill.session.revision import write_revision

    revision = named.removeprefix(REVISION)
    with TemporaryDirectory(prefix="gradmill-") as folder:
        place = write_revision(build.config.specs, revision, folder)
        release = variables.get("against_release") or variables.get("release", "")
        try:
            return _read({**variables, "against": place, "against_release": release}, read, shared)
        except Failed as failed:
            raise Failed(failed.report.replace(f"{folder}/", f"{revision}:"), failed.format) from None
        except SpecError as error:
            problem = error.problem.replace(f"{folder}/", f"{revision}:")
            raise SpecError(problem, error.hint.replace(f"{folder}/", f"{revision}:")) from None


def _read(variables: Mapping[str, str], read: Callable[[Session], T], shared: tuple[str, ...]) -> T:
    config = read_against(variables, *shared)
    sys.stderr.write(config.release_warning)
    with closing(Session.open(config)) as other:
        return read(other)
