"""Errors and warnings about a description."""

from msgspec import Struct

Path = tuple[str, ...]


class DescriptionProblem(Struct, frozen=True):
    """An error or a warning about a description: its path there, and the text to point at."""

    path: Path
    problem: str
    hint: str = ""
    needle: str = ""
    follows: bool = False  # whether it may follow from any other error
    suspected: str = ""  # the rule, if it is a warning, as it may be intended; "" for an error
