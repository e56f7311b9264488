"""The door of the verification of formulas."""

from gradmill.doors import Extension

_HERE = "gradmill.extensions.verify"

EXTENSION = Extension(
    variables=f"{_HERE}.settings:variables",
    commands=f"{_HERE}.commands.table",
    printed=f"{_HERE}.report:PRINTED",
    states=f"{_HERE}.known:states_of",
    verdicts=f"{_HERE}.known",
    garbage=f"{_HERE}.remembered:collect",
    beside=f"{_HERE}.beside:Verifying",
)
