"""Names of Nodes: `AddBackward0`, numbered in the order of the file.

torchgen: `load_derivatives.create_differentiability_info`, `load_derivatives._create_op_prefix`.
"""

from __future__ import annotations


class NodeNames:
    """Assigns names. Call `next` in the order of the file."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def next(self, operator: str, dispatch_key: str) -> str:
        """The next name with `operator`'s prefix. Each dispatch key has its own numbers."""
        prefix = node_prefix(operator) + ("" if dispatch_key == "Default" else dispatch_key)
        number = self._counts.get(prefix, 0)
        self._counts[prefix] = number + 1
        return f"{prefix}{number}"


def node_prefix(operator: str) -> str:
    """`UpsampleNearest2DBackward` of `upsample_nearest2d`; `…_forward` loses its last word."""
    camel = operator.title().replace("_", "")  # an underscore ends a word for `title`
    return f"{camel}Backward".replace("ForwardBackward", "Backward")
