"""The commands of the page and the language server."""

from gradmill.cli.commands.command import QUIET, UNDERSTAND, Command

_PACKAGE = "gradmill.extensions.browse.commands"

COMMANDS = {
    "page": Command(
        UNDERSTAND,
        "write a folder of HTML: every operator, its formulas, what they become",
        "[against=SET] [specs=SET …]",
        "The folder is page/ below the generated files; open its index.html. With against=SET, the pages also show the"
        " changes since that spec set, which may be core, torch, a folder or a wheel.",
        (QUIET,),
        package=_PACKAGE,
    ),
    "lsp": Command(
        UNDERSTAND,
        "serve an editor: the language server for derivatives.yaml and native_functions.yaml",
        "[specs=SET …]",
        "Speaks the Language Server Protocol on standard input and output. Without specs=, a file belongs to the"
        " nearest spec set in its folder or above. Writes no file, but verdicts if the editor verifies a formula.",
        package=_PACKAGE,
    ),
}
