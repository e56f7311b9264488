"""`gradmill lsp`: the language server of the YAML files, on standard input and output."""

from __future__ import annotations

from typing import Any

from doit.exceptions import InvalidCommand

from pipeline.front.commands.command import BuildCommand
from pipeline.front.doit.loader import without_traceback
from pipeline.front.settings.command_line import known_variables
from pipeline.front.settings.config import read_config

_MISSING = "lsp: pygls is not installed\n  pip install 'gradmill[lsp]'"


class Lsp(BuildCommand):
    """Serves one editor until the editor ends the session."""

    name = "lsp"
    names_set = False  # each file has its own
    doc_purpose = "serve an editor: the language server for derivatives.yaml and native_functions.yaml"
    doc_usage = "[specs=SET …]"
    doc_description = (
        "Speaks the Language Server Protocol on standard input and output. Without specs=, a file belongs to the"
        " nearest spec set in its folder or above. Writes no file, but verdicts if the editor verifies a formula."
    )

    def execute(self, opt_values: dict[str, Any], pos_args: list[str]) -> int:
        self.expect_none(pos_args, "gradmill lsp [specs=SET]")
        try:
            from pipeline.front.lsp.features import serve
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
                raise
            raise InvalidCommand(_MISSING) from None
        settings = self.variables()
        with without_traceback():
            if "specs" in settings:
                read_config(settings)
            return serve(known_variables())
