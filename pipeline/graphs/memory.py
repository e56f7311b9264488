"""Which results alias which arguments: the annotations of schemas, and a table of aliasing that schemas omit.

A composite operator may return an argument itself, or a view of it, without an annotation in its schema. A write to
such a result writes to the argument.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.graphs.tables import read_table
from pipeline.model.schema import Schema


class Shares(Struct, frozen=True):
    """The argument that a result may alias.

    For an argument that is a list, the result is either a list, each item of which aliases the item of the same index,
    or one tensor, which aliases only if the list has one item.
    """

    argument: str
    copied: bool = False  # whether it may be a copy: that depends on strides, dtypes or numbers at run time
    itself: bool = False  # whether it may be the argument itself
    whole: bool = False  # whether it is always the argument itself or a copy, never a view with other metadata
    untracked: bool = False  # whether autograd treats it as new memory, and so records no write to one for both


_SHARES = {
    operator: Shares(argument, *(word in words for word in ("copied", "itself", "whole", "untracked")))
    for operator, (argument, *words) in read_table("aliases").items()
}
DROPOUTS = frozenset(name for name in _SHARES if name.endswith("dropout"))


def shares(schema: Schema) -> Shares | None:
    """The argument that the result of an operator may alias, other than one that it writes to; None for new memory."""
    if any(argument.is_write for argument in schema.arguments):  # not `dropout_`, which always returns its argument
        return None
    row, marked = _SHARES.get(str(schema.name)), _marked(schema)
    return row or (Shares(marked) if marked is not None else None)


def _marked(schema: Schema) -> str | None:
    """The argument that the result is a view of, by the annotations; None without such an annotation."""
    letters = {r.annotation for r in schema.returns if r.annotation is not None and not r.is_write}
    for argument in schema.arguments:
        annotation = argument.annotation
        if annotation is not None and not argument.is_write and annotation.partition(" ")[0] in letters:
            return argument.name
    return None
