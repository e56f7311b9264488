"""Names of Nodes: `AddBackward0`, numbered in the order of the file. Rule: upstream's load_derivatives."""

from __future__ import annotations

from collections import Counter


class NodeNames:
    """Gives out names; asked in the order of the file."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def next(self, operator: str, dispatch_key: str) -> str:
        """The next name of `operator`'s prefix: a dispatch key has numbers of its own."""
        prefix = node_prefix(operator) + ("" if dispatch_key == "Default" else dispatch_key)
        number = self._given[prefix]
        self._given[prefix] += 1
        return f"{prefix}{number}"


def node_prefix(operator: str) -> str:
    """`UpsampleNearest2DBackward` of `upsample_nearest2d`; `…_forward` leaves its last word out."""
    camel = "".join(part.title() for part in operator.split("_"))
    return f"{camel}Backward".replace("ForwardBackward", "Backward")
