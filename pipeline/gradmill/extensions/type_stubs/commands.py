"""The command of type stubs."""

from gradmill.cli.commands.command import GENERATE, Command

_PACKAGE = "gradmill.extensions.type_stubs"

COMMANDS = {
    "pyi": Command(GENERATE, "write what PyTorch's tools/pyi/gen_pyi.py writes", script=True, package=_PACKAGE),
}
