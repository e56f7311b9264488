"""What an editor shows next to the text of a definition: the names of its Nodes, and its differentiable outputs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from gradmill.extensions.browse.editor.outline import Block, outline
from gradmill.extensions.browse.editor.symbols import entries_of
from gradmill.model.entries import by_key
from gradmill.problems.problem import SpecError
from gradmill.query.database import Database
from gradmill.rules.kernels.derivative import differentiability_of
from gradmill.rules.matching.differentiability import differentiable_outputs
from gradmill.stages import infos
from gradmill.stages.match import info
from gradmill.stages.schemas import function
from gradmill.stages.set import release

DEFAULT = "Default"
_MANY = 4  # Nodes that a hint names


class Hint(Struct, frozen=True):
    """A text at the end of a line. `detail` is for its tooltip."""

    line: int
    text: str
    detail: str = ""


def hints(db: Database, key: str, lines: Sequence[str], first: int, last: int) -> list[Hint]:
    """The hints of definitions that start between two lines of a file of derivatives, which has a key in the set."""
    rows = by_key((row.definition, row) for row in infos.rows(db).values() if not row.is_copy)
    found = []
    for block, entry in entries_of(db, key, outline(lines)):
        if first <= block.line <= last and entry in rows:
            first_row = rows[entry][0]
            named = ((row.node, row.dispatch_key) for row in rows[entry] if row.node)
            nodes = [node if key == DEFAULT else f"{node} ({key})" for node, key in named]
            shown = ", ".join(nodes[:_MANY]) + (", …" if len(nodes) > _MANY else "")
            line = _line_of_head(block)
            found.append(Hint(line, shown or "no Node", "the Nodes generated from this entry"))
            outputs = _outputs(db, first_row.function, first_row.dispatch_key)
            if outputs:
                found.append(Hint(line, outputs, "output_differentiability, or the types of the outputs"))
    return found


def _line_of_head(block: Block) -> int:
    """The last line of the schema."""
    return next((block.line + field.last for field in block.body.fields if field.key == "name"), block.line)


def _outputs(db: Database, name: str, key: str) -> str:
    """Which outputs of a function are differentiable; "" if it has one output, and that is."""
    native, own = function(db, name), info(db, name, key)
    if native is None or own is None:
        return ""
    try:
        outputs = [each.name for each in differentiable_outputs(native, differentiability_of(own), release(db))]
    except SpecError:
        return ""
    count = len(native.func.returns)
    if len(outputs) == count == 1 or not count:
        return ""
    return f"differentiable: {', '.join(outputs) or 'no output'}"
