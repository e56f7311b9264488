"""Which results alias which arguments: the annotations of schemas, and a table of aliasing that schemas omit.

A composite operator may return an argument itself, or a view of it, without an annotation in its schema. A write to
such a result writes to the argument.
"""

from __future__ import annotations

from msgspec.structs import replace

from gradmill.extensions.graphs.traits import SHARES, Shares, name_of
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema


def shares(function: NativeFunction) -> Shares | None:
    """The argument that the result of an operator may alias, other than one that it writes to; None for new memory."""
    if any(
        argument.is_write for argument in function.func.arguments
    ):  # not `dropout_`, which always returns its argument
        return None
    row, marked = SHARES.get(name_of(function)), _marked(function.func)
    if marked is None:
        return row
    return replace(row or Shares(marked), annotated=True)


def _marked(schema: Schema) -> str | None:
    """The argument that the result is a view of, by the annotations; None without such an annotation."""
    letters = {r.annotation for r in schema.returns if r.annotation is not None and not r.is_write}
    for argument in schema.arguments:
        annotation = argument.annotation
        if annotation is not None and not argument.is_write and annotation.partition(" ")[0] in letters:
            return argument.name
    return None
