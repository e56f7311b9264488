"""The functions that AOTInductor calls by C functions. Part of the stage `schemas`.

torchgen: `gen_aoti_c_shim.gen_aoti_c_shim_files`, `gen_aoti_c_shim.get_fallback_op_name`.
"""

from gradmill.model.native import NativeFunction
from gradmill.model.shims import Shimmed, ShimVersion
from gradmill.model.units import Unit
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.query import table
from gradmill.stages.operators import operator
from gradmill.stages.schemas import all_heads, function
from gradmill.stages.set import release
from gradmill.stages.spec_files import parse_file

ROLE: Role = "fallback_ops"
_DEFAULT = "default"  # in place of an empty overload


@table
def listed(db: Database) -> dict[str, dict[str, tuple[ShimVersion, ...]]]:
    """The versions of an operator's C functions, by the list that it is in, of all operators by name, sorted:
    `aten.add.Tensor`. Reports the errors of the module with the lists."""
    from gradmill.specs.fallback_ops import read_fallback_ops  # parses Python

    lists = parse_file(db, ROLE, lambda text: read_fallback_ops(text, release(db))) or {}
    names = sorted({name for own in lists.values() for name in own})
    return {name: {at: own[name] for at, own in lists.items() if name in own} for name in names}


def _listed_name(namespace: str, name: str) -> str:
    """`aten.add.default`; an overload may be called `default`, too."""
    return f"{namespace}.{name}" if "." in name else f"{namespace}.{name}.{_DEFAULT}"


def name_in_lists(function: NativeFunction) -> str:
    """The name of a function in the lists: `aten.add.Tensor`."""
    return _listed_name(function.namespace, str(function.func.name))


def in_upstreams_order(db: Database, units: list[Unit]) -> list[Unit]:
    """Those of the functions that are listed, sorted by name. Of two with one name, the last in the file counts."""
    own = {unit.function: unit for unit in units}
    by_name = {_listed_name(head.namespace, head.name): own[name] for name, head in all_heads(db) if name in own}
    return [by_name[name] for name in db.names(listed) if name in by_name]


def shim(db: Database, name: str) -> Shimmed | None:
    """A function with its versions in the lists; None if it is in none."""
    own = function(db, name)
    found = listed.item(db, name_in_lists(own)) if own is not None else None
    if own is None or found is None:
        return None
    delegate = own.structured_delegate
    together = operator(db, own.func.name.base) if delegate is not None else None
    others = together.functions if together is not None else ()
    structured = next((each.dispatch for each in others if str(each.func.name) == delegate), {})
    return Shimmed(own, found, structured)
