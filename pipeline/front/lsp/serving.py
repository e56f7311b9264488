"""The language server of one editor, on standard input and output."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from json import JSONDecodeError

from pygls.exceptions import JsonRpcException

from pipeline.front.lsp import features
from pipeline.front.lsp.protocol import Protocol
from pipeline.front.lsp.server import Server
from pipeline.front.run.own_code import running_code

_NO_MESSAGE = (JSONDecodeError, JsonRpcException, RecursionError, UnicodeDecodeError)


def serve(variables: Mapping[str, str]) -> int:
    """Serves the editor on standard input and output until it ends the session. Returns the exit status: 1 if the
    editor sent no `shutdown` before. CodeChanged as in `OwnCode.take`."""
    log = logging.StreamHandler(sys.stderr)
    log.addFilter(_logged)
    logging.basicConfig(level=logging.ERROR, handlers=[log])
    server = Server(variables, running_code())
    features.register(server)
    with (
        os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out,
        redirect_stdout(sys.stderr),
    ):  # for the protocol
        try:
            server.start_io(stdout=out)
        finally:
            server.sets.close()
    return int(isinstance(server.protocol, Protocol) and server.protocol.without_notice)


def _logged(record: logging.LogRecord) -> bool:
    """Whether a record is logged: a refusal is not. What an editor sent that is no message is, in one line."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, _NO_MESSAGE):
        record.msg, record.args, record.exc_info = f"{record.getMessage()}: {error}", (), None
    return not isinstance(error, features.Refused)
