"""`gradmill lsp`: the language server of the YAML files, on standard input and output."""

from __future__ import annotations

from gradmill.cli.commands.request import Request
from gradmill.problems.problem import SpecError


def main(request: Request) -> int:
    """Serves one editor until the editor ends the session."""
    request.expect_none("gradmill lsp [specs=SET]")
    try:
        from gradmill.extensions.browse.lsp.features import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise SpecError("lsp: pygls is not installed", "pip install 'gradmill[lsp]'") from None
    if "specs" in request.variables:  # else each file has its own
        request.config(request.variables)
    return serve(request.variables)
