"""Renders the backend's own nodes, for operations that no native function declares.

torchgen: `lazy_ir.generate_non_native_lazy_ir_nodes`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.lazy.ir import NON_NATIVE, chosen, ir_schema
from pipeline.families.lazy.node_text import node
from pipeline.families.sections import Text
from pipeline.model.backends import OwnNode
from pipeline.problems.problem import SpecError
from pipeline.releases.model import Release

FILES = Text("lazy/files.cpp", phrases=True)
Numbered = list[tuple[int, str]]


def own_nodes(nodes: Sequence[OwnNode], release: Release) -> tuple[Numbered, list[tuple[int, SpecError]]]:
    """The classes of the nodes, and the errors of the others, each with its number."""
    texts: Numbered = []
    errors: list[tuple[int, SpecError]] = []
    for number, own in enumerate(nodes):
        try:
            texts.append((number, _class(own, release)))
        except SpecError as error:
            errors.append((number, error))
    return texts, errors


def _class(own: OwnNode, release: Release) -> str:
    properties = chosen(NON_NATIVE, own.properties)
    return node(ir_schema(own.schema, release, symint=True, kind=own.kind, properties=properties), release)
