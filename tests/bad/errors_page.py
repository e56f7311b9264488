"""docs/errors-table.md: realistic errors in specs, with the messages of torchgen and of gradmill.

The errors are the rows here with `shown: true`. torchgen's verdicts come from the installed torch, run live. gradmill's
messages are those that the rows expect. tests/problems/test_bad_specs.py writes the page with UPDATE_GOLDEN=1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors-table.md"
HEAD = """\
# Errors next to torchgen's output

{count} realistic errors in `derivatives.yaml`, `native_functions.yaml` and a template, each in a small spec set.
torchgen {torch} accepts {accepted} of them, and its output then fails in the C++ compiler or is silently wrong. It
rejects {refused}; the table shortens its messages. [Errors](errors.md) says where problems are reported, and how to
silence warnings. The tables are in `tests/bad`.

| error | torchgen | gradmill | place | hint |
|---|---|---|---|---|
"""

_MESSAGE = re.compile(r"(?P<place>SPECS\S*?): (?P<level>error|warning): (?P<text>.*)")
_LONG = 90  # characters of torchgen's message in the table


class Message(NamedTuple):
    """The first message that gradmill reports for an error."""

    level: str
    place: str
    text: str
    hint: str
    more: int  # further messages


def shown() -> list[str]:
    """The names of the errors in the table, those in derivatives.yaml first."""
    from problems.test_bad_specs import NAMES, read

    cases = [case for case in map(read, NAMES) if case.shown]
    return [case.name for case in sorted(cases, key=lambda case: str(case.edits[0]["in"]))]


def first_message(name: str) -> Message:
    """The first message that a row expects."""
    from problems.test_bad_specs import read

    lines = read(name).expected.splitlines()
    messages = [(number, match) for number, line in enumerate(lines) if (match := _MESSAGE.fullmatch(line)) is not None]
    number, match = messages[0]
    following = lines[number + 1 : messages[1][0] if len(messages) > 1 else None]
    hint = next((line[8:].replace("SPECS/", "") for line in following if line.startswith("  hint: ")), "")
    return Message(match["level"], match["place"].removeprefix("SPECS/"), match["text"], hint, len(messages) - 1)


def page(verdicts: Mapping[str, str]) -> str:
    """The page. `verdicts` are torchgen's messages by name, "" if it accepts the specs."""
    from problems.test_bad_specs import read

    names = shown()
    accepted = sum(not verdicts[name] for name in names)
    head = HEAD.format(
        count=len(names),
        accepted=accepted,
        refused=len(names) - accepted,
        torch=metadata.version("torch").split("+")[0],
    )
    rows = [_row(read(name).error, verdicts[name], first_message(name)) for name in names]
    return head + "".join(rows)


def _row(error: str, verdict: str, message: Message) -> str:
    torchgen = _code(_short(verdict)) if verdict else "accepts"
    more = f" (and {message.more} more)" if message.more else ""
    cells = [error, torchgen, f"{message.level}: {_code(message.text)}{more}", _code(message.place)]
    return f"| {' | '.join([*cells, _code(message.hint)])} |\n"


def _short(verdict: str) -> str:
    text = " ".join(re.sub(r"(/[\w.-]+)+/", "", verdict).split())
    return text if len(text) <= _LONG else f"{text[:_LONG].rstrip()} …"


def _code(text: str) -> str:
    return f"`` {text} ``".replace("|", "\\|") if text else ""
