"""The class that replays a view in functionalization: its name, and the rules for views that have one.

torchgen: `functionalization.classname`, `functionalization.base_ctor_arguments`,
`functionalization.extra_ctor_arguments`, `functionalization.is_multi_output`.
"""

from __future__ import annotations

from gradmill.model.schema import Schema
from gradmill.problems.problem import SpecError


def view_meta(name: str) -> str:
    """The name of the class: `select_int_ViewMeta` for `select.int`."""
    return f"{name.replace('.', '_')}_ViewMeta"


def makes_several(schema: Schema) -> bool:
    """Whether a view makes several views: an instance of the class replays one of them."""
    return len(schema.returns) > 1 or (len(schema.returns) == 1 and "[" in schema.returns[0].type)


def check_base(schema: Schema) -> None:
    """SpecError for a view whose first argument is not a tensor, its base."""
    if not schema.arguments or schema.arguments[0].type != "Tensor":
        raise SpecError(f"the first argument of view '{schema.name}' is not a Tensor", "let it be the base", needle="(")
