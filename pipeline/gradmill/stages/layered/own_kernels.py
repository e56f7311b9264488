"""Checks of the kernels of a vendor's own functions: PyTorch's text calls functions that libtorch has only for
PyTorch's, and autograd must know what they write to, and which results are views.
"""

from collections.abc import Iterator

from gradmill.families.family import ATEN, OPERATORS, Family
from gradmill.families.overrides import CALLS, calls_in, filled
from gradmill.families.table import FAMILIES
from gradmill.model.entries import by_key
from gradmill.model.layers import LAYER_MARK, layer_of
from gradmill.model.schema import Schema
from gradmill.model.units import Unit
from gradmill.problems.problem import SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.rules.native.heads import within
from gradmill.specs.layers.reading import error_at
from gradmill.stages import emit
from gradmill.stages.layered.overridden_units import about_unit
from gradmill.stages.requested import families, lacking
from gradmill.stages.schemas import all_heads, entry_of, function
from gradmill.stages.set import asked_families, families_described, release
from gradmill.stages.units import unit, units


def own_kernels(db: Database) -> Iterator[SpecError]:
    """The warnings about a description; those about functions are reported."""
    kinds = [FAMILIES[name] for name in families(db)]
    if not any(OPERATORS in kind.folders for kind in kinds):  # else the run writes ATen's headers, which declare all
        for kind in kinds:
            yield from _undeclared_calls(db, kind) if kind.described and kind.unit != "Node" else ()
    for kind in kinds:
        if kind.registered is not None and kind.registered.by_key:  # autograd's kernels
            own = _own_units(db, kind.name)
            _report_views(db, own)
            yield from _missing_families(db, kind.name, own) if not asked_families(db) else ()


def _own_units(db: Database, family: str) -> list[Unit]:
    """The units of functions that only a layer has."""
    return [each for each in units(db, family) if LAYER_MARK in each.function and "own" in about_unit(db, each).words]


@query
def calls(db: Database, family: str, name: str) -> list[str]:
    """The calls in a unit's text of its own function, as `CALLS` has them."""
    member = unit(db, family, name)
    return [] if member is None else calls_in(emit.text(db, family, name), about_unit(db, member))


def _undeclared_calls(db: Database, kind: Family) -> Iterator[SpecError]:
    own = _own_units(db, kind.name)
    for call, callers in by_key((call, each) for each in own for call in calls(db, kind.name, each.name)).items():
        first, facts = callers[0].function, about_unit(db, callers[0])
        namespace = layer_of(entry_of(first)) if facts.namespace == ATEN else facts.namespace
        called = filled(call, facts).strip("(:")
        problem = f"the text of {_shown(db, callers)} calls {called}, which PyTorch does not declare"
        name = CALLS[call] if kind.registered is not None else call.removeprefix("at::")  # it takes TensorOptions
        to = f'to = "{namespace}::{name}", of = "own"'
        hint = f'add to replace, with the namespace that declares it: {{ from = "{call}", {to} }}'
        yield error_at(("family", kind.name, "replace"), problem, hint, rule="undeclared-call")


def _shown(db: Database, members: list[Unit]) -> str:
    """The first operator, and how many more there are."""
    facts = about_unit(db, members[0])
    more = f" and {len(members) - 1} more" if len(members) > 1 else ""
    return f"{within(facts.namespace, facts.operator)}{more}"


def _report_views(db: Database, own: list[Unit]) -> None:
    """Reports functions whose schemas say that they return views, and that autograd does not know of."""
    for each in own:
        native = function(db, each.function)
        argument = _viewed(native.func) if native is not None else ""
        base = each.overload.partition(".")[0]
        if argument and release(db).viewed(base) is None and release(db).aliased(base) is None:
            problem = f"it returns a view of '{argument}', and autograd does not know that"
            hint = f'write in the description: [[facts]] add.views = {{ {base} = "{argument}" }}'
            error = SpecError(problem, hint, field=("func",), needle=") -> ", rule="untracked-view")
            db.report(problem_of(error, "native", entry_of(each.function), each.overload, warning=True))


def _viewed(schema: Schema) -> str:
    """The argument that results are views of, by their annotations; "" if there is none."""
    letters = {each.annotation for each in schema.returns if each.annotation is not None and not each.is_write}
    inputs = (each for each in schema.arguments if (each.annotation or "").partition(" ")[0] in letters)
    return next((each.name for each in inputs), "")


def _missing_families(db: Database, kernels: str, own: list[Unit]) -> Iterator[SpecError]:
    heads, known = dict(all_heads(db)), families(db)
    for kind in FAMILIES.values() if families_described(db) else ():
        lacks = kind.completes and kind.name not in known and not lacking(db, kind.name)
        needed = [each for each in own if lacks and kind.selects(heads[each.function], release(db))]
        if needed:
            shown = _shown(db, needed)
            problem = f"{kind.name} is not generated, and has kernels of {shown}: without it {kind.completes}"
            hint = f"write [family.{kind.name}], and name it in families if the description has that key"
            yield error_at(("family", kernels), problem, hint, rule="missing-family")
