"""What is wrong with a description, as the stages see it."""

from msgspec import Struct

Path = tuple[str, ...]


class Finding(Struct, frozen=True):
    """One mistake: where the description has it, and the text to point at."""

    path: Path
    problem: str
    hint: str = ""
    needle: str = ""
    follows: bool = False  # whether it may follow from any other mistake
    suspected: bool = False  # whether it may be meant
