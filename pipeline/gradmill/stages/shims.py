"""The functions that AOTInductor calls by C functions. Part of the stage `schemas`.

torchgen: `gen_aoti_c_shim.gen_aoti_c_shim_files`, `gen_aoti_c_shim.get_fallback_op_name`.
"""

from msgspec import Struct

from gradmill.grammar.buckets import in_buckets
from gradmill.model.native import NativeFunction
from gradmill.model.shims import Shimmed, ShimVersion
from gradmill.model.units import Unit
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.stages.layered.files import parse_file
from gradmill.stages.operators import operator
from gradmill.stages.schemas import buckets, function, heads, in_order
from gradmill.stages.set import release

ROLE: Role = "fallback_ops"
_DEFAULT = "default"  # in place of an empty overload


class Listed(Struct, frozen=True, array_like=True):
    """The versions of an operator's C functions, by the list that it is in."""

    versions: dict[str, tuple[ShimVersion, ...]]


@table
def listed(db: Database) -> dict[str, Listed]:
    """The operators in the lists of the module, by name, sorted: `aten.add.Tensor`. Reports its errors."""
    from gradmill.specs.fallback_ops import read_fallback_ops  # parses Python

    lists = parse_file(db, ROLE, lambda text: read_fallback_ops(text, release(db))) or {}
    names = sorted({name for own in lists.values() for name in own})
    return {name: Listed({at: own[name] for at, own in lists.items() if name in own}) for name in names}


@table
def listed_in(db: Database) -> dict[str, list[str]]:
    """The names of these operators by bucket, without their namespaces."""
    return in_buckets(name.partition(".")[2] for name in db.names(listed))


@query
def shimmed(db: Database, bucket: str) -> dict[str, str]:
    """The functions of a bucket that are listed, by identity, each with its name in the list."""
    names = set(listed_in.item(db, bucket) or ())
    if not names:
        return {}
    found = {name: _listed_name(head.namespace, head.name) for name, head in heads(db, bucket)}
    return {name: own for name, own in found.items() if own.partition(".")[2] in names and listed.item(db, own)}


def _listed_name(namespace: str, name: str) -> str:
    """`aten.add.default`; an overload may be called `default`, too."""
    return f"{namespace}.{name}" if "." in name else f"{namespace}.{name}.{_DEFAULT}"


def name_in_lists(function: NativeFunction) -> str:
    """The name of a function in the lists: `aten.add.Tensor`."""
    return _listed_name(function.namespace, str(function.func.name))


def in_upstreams_order(db: Database, units: list[Unit]) -> list[Unit]:
    """Those of the functions that are listed, sorted by name. Of two with one name, the last in the file counts."""
    own = {unit.function: unit for unit in units}
    pairs = [pair for bucket in db.names(buckets) for pair in shimmed(db, bucket).items()]
    by_name = {name: own[each] for each, name in in_order(db, pairs, lambda pair: pair[0]) if each in own}
    return [by_name[name] for name in sorted(by_name)]


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
    return Shimmed(own, found.versions, structured)
