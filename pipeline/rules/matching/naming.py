"""Names of Nodes: `AddBackward0`, numbered in the order of the file. Rule: upstream's load_derivatives."""

from __future__ import annotations


class NodeNames:
    """Gives out names; asked in the order of the file."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def next(self, operator: str, dispatch_key: str) -> str:
        """The next name of `operator`'s prefix: a dispatch key has numbers of its own."""
        prefix = node_prefix(operator) + ("" if dispatch_key == "Default" else dispatch_key)
        number = self._given.get(prefix, 0)
        self._given[prefix] = number + 1
        return f"{prefix}{number}"


def node_prefix(operator: str) -> str:
    """`UpsampleNearest2DBackward` of `upsample_nearest2d`; `…_forward` leaves its last word out."""
    camel = operator.title().replace("_", "")  # an underscore ends a word for `title`
    return f"{camel}Backward".replace("ForwardBackward", "Backward")
