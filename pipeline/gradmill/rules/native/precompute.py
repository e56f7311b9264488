"""`precomputed:`, the values that a structured op's meta function hands to its kernel.

Rows read `argument -> declaration, declaration`; a last row without an arrow adds declarations.

torchgen: `model.Precompute.parse`.
"""

from __future__ import annotations

from gradmill.grammar.schema import SchemaParser
from gradmill.model.native import Precompute
from gradmill.model.schema import Argument
from gradmill.problems.problem import SpecError


def parse_precompute(raw: object, parser: SchemaParser) -> Precompute | None:
    """The replaced and the added kernel arguments; None if the entry has none. Raises a SpecError."""
    if not raw and raw != {}:  # as in upstream: 0 and False are ignored, an empty mapping is not
        return None
    if not isinstance(raw, list) or not all(isinstance(row, str) for row in raw):
        raise SpecError(f"precomputed is not a list of rows: {raw!r}", "write - argument -> declaration")
    rows = list(raw)
    add = _declarations(rows.pop(), parser) if " -> " not in rows[-1] else ()
    replace: dict[str, tuple[Argument, ...]] = {}
    for row in rows:
        argument, arrow, declarations = row.partition(" -> ")
        if not arrow:
            raise SpecError(f"'{row}' replaces nothing", "only the last row may do so", needle=row)
        if " " in argument or " -> " in declarations:
            raise SpecError(f"illegal precomputed row '{row}'", "write argument -> declaration", needle=row)
        replace[argument] = _declarations(declarations, parser)
        if ", ".join(str(a) for a in replace[argument]) != declarations:
            raise SpecError(f"'{row}' is not in canonical form", "separate declarations by ', '", needle=row)
    if len(replace) != len(rows):
        raise SpecError("an argument is replaced twice")
    return Precompute(replace, add)


def _declarations(text: str, parser: SchemaParser) -> tuple[Argument, ...]:
    declared = tuple(parser.argument(piece.strip()) for piece in text.split(","))
    for argument in declared:
        if argument.name.upper() == argument.name:
            problem = f"precomputed argument '{argument.name}' is all upper case"
            raise SpecError(problem, "template parameters are upper case: use another name", needle=argument.name)
    return declared
