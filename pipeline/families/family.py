"""What an output family is: how one Node is rendered, and which files are assembled from Nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from pipeline.families.file import File
from pipeline.families.nodes.plan import NodePlan
from pipeline.model.infos import NodeRow
from pipeline.releases.model import Release


class Family(Struct, frozen=True):
    """Pieces by name, each rendered from a Node's plan, and the files that they make up."""

    pieces: Mapping[str, Callable[[NodePlan, Release], str]]
    files: Callable[[Sequence[NodeRow]], list[File]]


def generated_comment(folder: str, template: str) -> str:
    """The line that says where a file came from; in two parts, so that it marks nothing but generated files."""
    return "@" + f"generated from {folder}/{template}"
