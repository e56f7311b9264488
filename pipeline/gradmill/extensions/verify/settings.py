"""The variables of the command line that `verify` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradmill.session.settings.variables import Variable

_NO_VERIFICATION = "an action verifies no formulas"


def variables() -> dict[str, Variable]:
    """The variables, by name."""
    from gradmill.session.settings.variables import Variable, flag

    return {
        "verify": flag(
            "for watch: verify=1 verifies the formulas that changed", exported=False, not_in_actions=_NO_VERIFICATION
        ),
        "helpers": Variable(
            "for verify: a C++ file with helpers of formulas, such as an edited FunctionsManual.cpp",
            path=(".cpp",),
            exported=False,
            not_in_actions=_NO_VERIFICATION,
        ),
        "python": Variable(
            "for verify: a Python file with functions in the place of operators that torch lacks",
            path=(".py",),
            exported=False,
            not_in_actions=_NO_VERIFICATION,
        ),
    }
