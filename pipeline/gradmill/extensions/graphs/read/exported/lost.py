"""What the file shows of what an export leaves out: the backward of a `torch.autograd.Function`.

The calls of its forward are in the file like any others. Their stack traces have the line that applies it, and next the
`forward` that it leads to, as no module's call has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from gradmill.extensions.graphs.read.exported.format import Graph
from gradmill.problems.problem import TextError

RULE = "lost-backward"
_FRAME = re.compile(r'File "(?:[^"]*[/\\])?([^"/\\]+)", line (\d+), in (\w+)\n([^\n]*)')
_APPLIED = re.compile(r"\b_*[A-Z]\w*\.apply\(")  # a class, not a module that applies a function to its parts


def lost_backwards(graph: Graph) -> list[TextError]:
    """A warning for each line of the model that applies a `torch.autograd.Function`."""
    hint = "make it a custom operator: torch.library.custom_op, with register_autograd"
    return [
        TextError(
            f"{line} applies a torch.autograd.Function, whose backward is not in the file: the gradients are those of"
            " its forward",
            hint,
            0,
            0,
        )
        for line in dict.fromkeys(_applied(graph))
    ]


def _applied(graph: Graph) -> Iterator[str]:
    for node in graph.nodes:
        frames = _FRAME.findall(node.metadata.get("stack_trace", ""))
        for (file, line, _, text), (_, _, called, _) in pairwise(frames):
            if called == "forward" and _APPLIED.search(text):
                yield f"{file}:{line}"
        for each in node.inputs:
            if each.arg.as_graph is not None:
                yield from _applied(each.arg.as_graph.graph)
