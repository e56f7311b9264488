"""The `emit` artifact: the C++ text of one Node, in pieces."""

from __future__ import annotations

from pipeline.model.artifact import Artifact


class NodeText(Artifact, frozen=True, dict=True, tag="emit/1"):
    """Pieces of text by name, each as it stands in a block of a file."""

    node: str
    pieces: dict[str, str]
