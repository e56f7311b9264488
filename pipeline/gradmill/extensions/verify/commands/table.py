"""The command of the verification."""

from gradmill.cli.commands.command import GENERATE, OUTPUT, Command, Option, format_option

_PACKAGE = "gradmill.extensions.verify.commands"

COMMANDS = {
    "verify": Command(
        GENERATE,
        "check derivative formulas numerically, with the installed torch",
        "[NAME … | --all | against=SET] [specs=SET …] [helpers=FILE.cpp] [python=FILE.py] [format=json|…]",
        "Compiles the formulas of operators or Nodes (NAME), runs them on samples, and compares gradients, tangents and"
        " second derivatives with finite differences, and gradients with those of torch's own formulas. Without names,"
        " verifies those that differ from the set in `against`, by default from the last commit of the git repository"
        " around the set; with --all, or without a repository, all of them. What was verified before is not verified"
        " again. Prints what is wrong at its formula, with the input, and what cannot be checked. The exit status is 1"
        " if a derivative is wrong; with strict=1 also if one differs from torch's own, is wrong as torch's own is, or"
        " is not checked.",
        (
            Option("--all", "verify all formulas of the set"),
            format_option("json"),
            Option("--verbose", "prints each sample, with its checks and the reasons why others were left out"),
            OUTPUT,
        ),
        package=_PACKAGE,
    ),
}
