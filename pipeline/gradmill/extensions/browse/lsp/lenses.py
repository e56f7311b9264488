"""Code lenses above entries: how many units depend on the entry, and, if it was edited since the last run, which
of them a run would rebuild; whether its formulas are verified. A click on this one verifies them, while the server
goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from lsprotocol import types

from gradmill.cli.commands.run import counted
from gradmill.doors import checker
from gradmill.extensions.browse.editor.rebuilt import Cost
from gradmill.extensions.browse.lsp.answers import request_at
from gradmill.extensions.browse.lsp.buffers import Text
from gradmill.problems.problem import SpecError

if TYPE_CHECKING:
    from gradmill.extensions.browse.lsp.server import Server
    from gradmill.extensions.browse.lsp.sessions.session import Session

COMMAND = "gradmill.verify"  # its arguments: the URI of derivatives.yaml, the entry
_ERRORS = "the spec set has errors: formulas are verified once it has none"
_NAMED = 4  # units that a lens lists
_LONGEST = 100  # characters of what was found
_RUNNING = "verifying …"


def lenses(costs: list[Cost], text: Text, encoding: str) -> list[types.CodeLens]:
    """The lenses of a file's entries."""
    return [
        types.CodeLens(text.range(cost.line - 1, 0, 0, encoding), types.Command(title, ""))
        for cost in costs
        if (title := _title(cost))
    ]


def _title(cost: Cost) -> str:
    """The text for an entry; "" if no unit depends on it."""
    if cost.rebuilt is None:
        return f"{counted(cost.units, 'unit')} made from it" if cost.units else ""
    if not cost.rebuilt:
        return "edited: rebuilds no unit"
    some = ", ".join(cost.rebuilt[:_NAMED]) + (", …" if len(cost.rebuilt) > _NAMED else "")
    return f"edited: rebuilds {counted(len(cost.rebuilt), 'unit')}: {some}"


def verification_lenses(
    costs: list[Cost], states: Mapping[str, str], running: Collection[str], text: Text, uri: str, encoding: str
) -> list[types.CodeLens]:
    """A lens above each definition with what earlier verifications found, whose command verifies it. `states`: by
    entry; `running`: the entries that are being verified."""
    not_yet = checker().NOT_YET
    titles = {cost.entry: states.get(cost.entry, not_yet) for cost in costs} | dict.fromkeys(running, _RUNNING)
    return [
        types.CodeLens(
            text.range(cost.line - 1, 0, 0, encoding),
            types.Command(_shortened(titles[cost.entry], not_yet), COMMAND, arguments=[uri, cost.entry]),
        )
        for cost in costs
    ]


def _shortened(state: str, not_yet: str) -> str:
    if state == not_yet:
        return "verify"
    return state if len(state) <= _LONGEST else f"{state[: _LONGEST - 2]} …"


# ---- the command


def register_command(server: Server) -> None:
    """Registers the command. It is answered at once; lenses and diagnostics show the result."""
    tasks = set[asyncio.Task[None]]()

    @server.command(COMMAND)
    def verify(uri: str, entry: str) -> None:
        request = request_at(server, uri, types.Position(0, 0))
        if request is None:
            return
        session = request.session
        if session.failed:
            _warn(server, _ERRORS)
        elif entry not in session.verifying:
            task = asyncio.get_running_loop().create_task(_verify(server, session, entry))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


async def _verify(server: Server, session: Session, entry: str) -> None:
    try:
        verify = session.verification(entry)
        session.verifying.add(entry)
        server.refresh("code_lens")
        await asyncio.to_thread(verify)
    except SpecError as error:
        _warn(server, error.problem + (f": {error.hint}" if error.hint else ""))
    except OSError as error:
        _warn(server, str(error))
    finally:
        session.verifying.discard(entry)
    server.verified(session)


def _warn(server: Server, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
