"""Verifies the formulas of one entry, on a click on the lens above it, while the server goes on."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from typing import TYPE_CHECKING

from lsprotocol import types

from pipeline.front.lsp.answers import request_at
from pipeline.problems.problem import SpecError

if TYPE_CHECKING:
    from pipeline.front.lsp.server import Server
    from pipeline.front.lsp.sessions.session import Session

COMMAND = "gradmill.verify"  # its arguments: the URI of derivatives.yaml, the entry
_ERRORS = "the spec set has errors: formulas are verified once it has none"


def can_verify() -> bool:
    """Whether formulas can be verified here: on Linux, with a torch."""
    return sys.platform == "linux" and importlib.util.find_spec("torch") is not None


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
    from pipeline.verify.run import verify

    try:
        codes, settings = session.to_verify(entry)
        session.verifying.add(entry)
        server.refresh("code_lens")
        await asyncio.to_thread(verify, codes, settings)
    except SpecError as error:
        _warn(server, error.problem + (f": {error.hint}" if error.hint else ""))
    except OSError as error:
        _warn(server, str(error))
    finally:
        session.verifying.discard(entry)
    server.verified(session)


def _warn(server: Server, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
