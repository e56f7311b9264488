"""What an output family is: its units, the plan of one, the pieces of its text, and the files they make up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from pipeline.families.file import File
from pipeline.model.native import FunctionHead
from pipeline.model.units import Unit
from pipeline.releases.model import Release


class Layout(Struct, frozen=True, array_like=True):
    """How units are put into files: as upstream has them, or split over so many shards."""

    name: Literal["upstream", "split"] = "upstream"
    shards: int = 0


class Family(Struct, frozen=True):
    """An output, as the stages know it.

    What is printed of a unit is planned first, from its info if it is a Node, from its schema if it is a function.
    """

    name: str
    unit: Literal["Node", "function"]
    plan: Callable[[Unit, Any, Release], Any]
    pieces: Mapping[str, Callable[[Any, Release], str]]  # by name, each rendered from a plan
    files: Callable[[Sequence[Unit], Layout], list[File]]
    owns: Callable[[str], bool]  # whether a file of this name is one of its files, in whatever layout
    needs: str = ""  # a template without which a spec set leaves the family out
    selects: Callable[[FunctionHead], bool] = bool  # which functions are units


def generated_comment(folder: str, template: str) -> str:
    """The line that says where a file came from; in two parts, so that it marks nothing but generated files."""
    return "@" + f"generated from {folder}/{template}"
