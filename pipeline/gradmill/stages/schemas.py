"""Stage `schemas`: the entries of native_functions.yaml to native functions.

A function is keyed by its entry's identity; one that upstream generates, by its kind and the entry of its base.
Lookups among functions depend on heads only, bucket by bucket.

torchgen: `gen.parse_native_yaml_struct`, `gen.error_check_native_functions`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gradmill.grammar.buckets import bucket_of, in_buckets
from gradmill.model.layers import entry_operator, layer_of
from gradmill.model.native import FunctionSummary, NativeFunction, WithOrigin
from gradmill.model.schema import SchemaKind
from gradmill.model.units import Unit
from gradmill.model.views import ViewNames
from gradmill.problems.problem import Problem, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table, unkept
from gradmill.rules.native.heads import head_of, within
from gradmill.stages.set import release
from gradmill.stages.specs import entries, title, value
from gradmill.stages.tags import tags

if TYPE_CHECKING:
    from gradmill.rules.native.groups import GroupError

GENERATED = "generated "  # the key of a generated function begins with it, before the kind and the base
_FUNCTIONS, _VARIANTS, _VIEWS = 1, 2, 3  # ranks of the rules between functions, in upstream's order

T = TypeVar("T")
Listed = tuple[str, FunctionSummary]  # a function's identity and head


class Generated(Struct, frozen=True, array_like=True):
    """A function to generate: its base and its kind."""

    base: str
    kind: SchemaKind
    first: str  # of its variants, in the order of the file


@table
def buckets(db: Database) -> dict[str, list[str]]:
    """The native entries by bucket, in the order of the file."""
    return in_buckets(db.names(entries, "native"))


@table
def declared(db: Database, bucket: str) -> dict[str, NativeFunction]:
    """The functions that the entries of a bucket declare, by entry, without the invalid ones. Reports errors."""
    from gradmill.grammar.checks import odd_names  # much code, only needed for entries that changed
    from gradmill.grammar.schema import parser
    from gradmill.rules.native.dispatch import odd_kernels
    from gradmill.rules.native.entry import parse_entry
    from gradmill.rules.native.generation import odd_autogen

    functions = {}
    known, facts = frozenset(tags(db)), release(db)
    schemas = parser(frozenset(facts.base_types))
    for entry in buckets.item(db, bucket) or ():
        raw = value(db, "native", entry)
        try:
            dispatch = raw.get("dispatch") if isinstance(raw, Mapping) else None
            functions[entry] = parsed = parse_entry(raw, known, facts, schemas, layered=bool(layer_of(entry)))
            for error in (*odd_names(parsed.func), *odd_kernels(dispatch, parsed), *odd_autogen(parsed)):
                db.report(problem_of(error, "native", entry, title(raw, "func"), warning=True))
        except SpecError as error:
            for each in (error, *error.others):
                db.report(problem_of(each, "native", entry, title(raw, "func")))
    return functions


@query
def declared_heads(db: Database, bucket: str) -> list[Listed]:
    """The heads of the functions that the entries of a bucket declare."""
    return [(entry, _head(entry, parsed)) for entry, parsed in declared(db, bucket).items()]


def _head(name: str, parsed: NativeFunction) -> FunctionSummary:
    return head_of(parsed, layered=bool(layer_of(entry_of(name))))


# ---- generated functions


@table
def generated(db: Database, bucket: str) -> dict[str, Generated]:
    """The functions that upstream generates for a bucket, by key. Reports errors between variants."""
    from gradmill.lints.split import instead_of_lacking
    from gradmill.rules.native.groups import GroupError, group_variants, ignored_autogen, missing_variants

    listed = declared_heads(db, bucket)
    plain = [head for _, head in listed]
    variant_groups, errors = group_variants(plain)
    wanted: dict[str, Generated] = {}
    ignored: list[GroupError] = []
    facts = release(db)
    for group in variant_groups:
        first = listed[next(iter(group.values()))][0]
        try:
            lacking = missing_variants(group, plain, facts)
            ignored += ignored_autogen(group, lacking, plain, facts)
            for missing in lacking:
                base = listed[missing.base][0]
                wanted[f"{GENERATED}{missing.kind} {base}"] = Generated(base, missing.kind, first)
        except GroupError as error:
            errors.append(instead_of_lacking(error, plain))
    report_between(db, errors, listed, _VARIANTS)
    report_between(db, ignored, listed, _VARIANTS, warning=True)
    return wanted


@table
def variants(db: Database, bucket: str) -> dict[str, NativeFunction]:
    """The generated functions of a bucket by key, without the invalid ones."""
    functions = {}
    for name, origin in generated(db, bucket).items():
        parsed = declared.item(db, bucket, origin.base)
        variant = _variant(db, origin, parsed) if parsed is not None else None
        if variant is not None:
            functions[name] = variant
    return functions


def _variant(db: Database, origin: Generated, parsed: NativeFunction) -> NativeFunction | None:
    """The out or functional variant of a declared function; None if it would be invalid, which is reported."""
    from gradmill.grammar.checks import check_schema
    from gradmill.rules.native.entry import check_function
    from gradmill.rules.native.generation import generate_functional, generate_out

    facts = release(db)
    generate = generate_out if origin.kind == "out" else generate_functional
    schema = f"of '{parsed.func}'"
    try:
        variant = generate(parsed, facts.automatic_tags)
        schema = f"'{variant.func}'"
        check_schema(variant.func)
        check_function(variant, facts)
    except SpecError as error:
        invalid = SpecError(f"its generated variant {schema} is invalid: {error.problem}", field=("func",))
        db.report(_between(invalid, origin.base, str(parsed.func.name), _VARIANTS))
        return None
    return variant


def bucket_of_function(name: str) -> str:
    """The bucket of a function, by its identity."""
    return bucket_of(entry_of(name))


def function(db: Database, name: str) -> NativeFunction | None:
    """A function by its identity, declared or generated; None if there is none."""
    return (variants if name.startswith(GENERATED) else declared).item(db, bucket_of_function(name), name)


def all_functions(db: Database, names: Sequence[str]) -> tuple[NativeFunction, ...] | None:
    """Functions by their identities; None if one of them is invalid."""
    found = tuple(own for name in names if (own := function(db, name)) is not None)
    return found if len(found) == len(names) else None


def schema_of(db: Database, name: str) -> str:
    """The schema of a function; "" if there is none."""
    native = function(db, name)
    return "" if native is None else str(native.func)


def origin(db: Database, name: str) -> Generated | None:
    """The base and kind of a generated function; None for a declared one."""
    return generated.item(db, bucket_of_function(name), name)


def entry_of(name: str) -> str:
    """The entry of a function, by its identity."""
    return name.removeprefix(GENERATED).partition(" ")[2] if name.startswith(GENERATED) else name


def with_origin(db: Database, name: str) -> WithOrigin | None:
    """A function with the one that it was generated from; None if there is none."""
    own, base = function(db, name), function(db, entry_of(name))
    return None if own is None or base is None else WithOrigin(own, base)


@query
def heads(db: Database, bucket: str) -> list[Listed]:
    """The heads of a bucket of functions: declared ones in the order of the file, then generated ones."""
    return declared_heads(db, bucket) + [(name, _head(name, variant)) for name, variant in variants(db, bucket).items()]


@query
def texts(db: Database, bucket: str) -> dict[str, str]:
    """The schemas of a bucket of functions, by identity."""
    return {name: head.schema for name, head in heads(db, bucket)}


@unkept
def schema_texts(db: Database) -> dict[str, str]:
    """The schemas of all functions, by identity."""
    return {name: schema for bucket in db.names(buckets) for name, schema in texts(db, bucket).items()}


@query
def operator_names(db: Database) -> list[str]:
    """The names of all functions, without namespaces and overloads; sorted."""
    return sorted({head.unqualified for bucket in db.names(buckets) for _, head in heads(db, bucket)})


@unkept
def all_heads(db: Database) -> list[Listed]:
    """The heads of all functions, in their order."""
    return in_order(db, [listed for bucket in db.names(buckets) for listed in heads(db, bucket)], lambda each: each[0])


@query
def positions(db: Database) -> dict[str, int]:
    """The positions of all functions: declared ones in the order of the file, then generated ones, each by the first of
    its variants in the file."""
    declared_at = {entry: i for i, entry in enumerate(db.names(entries, "native"))}
    made = ((name, own.first) for bucket in db.names(buckets) for name, own in generated(db, bucket).items())
    return declared_at | {name: len(declared_at) + declared_at[first] for name, first in made}


def in_order(db: Database, items: Iterable[T], function: Callable[[T], str]) -> list[T]:
    """Items of functions in the order of these. `function` returns the function of an item."""
    position, listed = positions(db), list(items)
    at = [position[function(each)] for each in listed]
    return [listed[i] for i in sorted(range(len(at)), key=at.__getitem__)]


def of_file(db: Database, units: list[Unit]) -> list[Unit]:
    """Units that are named by functions, in the order of these."""
    return in_order(db, units, lambda unit: unit.name)


class Views(Struct, frozen=True, array_like=True):
    """The functions of a bucket by view group."""

    order: list[str]  # all functions, group by group
    copies: list[tuple[str, str]]  # views and their copies
    groups: list[ViewNames]  # of the views


@query
def views(db: Database, bucket: str) -> Views:
    """The view groups of a bucket. Reports groups that are not well formed."""
    from gradmill.lints.split import instead_of_lacking
    from gradmill.rules.native.groups import GroupError, check_view_group, untagged, view_groups

    listed = heads(db, bucket)
    plain = [head for _, head in listed]
    view_triples, errors = view_groups(plain)
    for group in view_triples:
        try:
            check_view_group(group, plain)
        except GroupError as error:
            errors.append(instead_of_lacking(error, plain))
    report_between(db, errors, listed, _VIEWS)
    report_between(
        db, [error for group in view_triples for error in untagged(group, plain)], listed, _VIEWS, warning=True
    )
    copies = [(listed[g.view][0], listed[g.copy][0]) for g in view_triples if g.view is not None and g.copy is not None]
    groups = [
        ViewNames(*("" if i is None else listed[i][0] for i in (g.view, g.inplace, g.copy, min(g.members))))
        for g in view_triples
        if g.view is not None
    ]
    return Views([listed[i][0] for group in view_triples for i in group.members], copies, groups)


@query
def structured(db: Database) -> dict[str, bool]:
    """The declared operators, each with whether it is structured."""
    heads = (head for bucket in db.names(buckets) for _, head in declared_heads(db, bucket))
    return dict(sorted({head.name: head.structured for head in heads}.items()))


@query
def checked(db: Database, bucket: str) -> bool:
    """Reports errors between the functions of a bucket: view groups, delegates, in-place views, duplicates, variants
    that do not form a group."""
    from gradmill.lints.split import split_variants
    from gradmill.rules.native.groups import GroupError, check_functions

    db.digest(views, bucket)
    listed = declared_heads(db, bucket)
    report_between(db, check_functions([head for _, head in listed], lambda: structured(db)), listed, _FUNCTIONS)
    every = heads(db, bucket)
    split = list(split_variants([head for _, head in every]))
    report_between(db, split, every, _FUNCTIONS, warning=True)
    for (other, other_head), (name, head) in repeated(every):
        if other_head.schema == head.schema or share_kernels(db, other, name):
            layer = layer_of(entry_of(other))
            also = f": {_called(layer)} has it too" if layer != layer_of(entry_of(name)) else ""
            hint = "use another overload name" + (", or exclude the base's" if also and not layer else "")
            twice = GroupError(0, f"operator '{head.name}' is declared twice{also}", hint)
            apart = [error for error in split if name.startswith(GENERATED) and other in _functions(error, every)]
            report_between(db, apart, every, _FUNCTIONS)
            if not apart:
                problem = _between(twice, entry_of(name), head.name, _FUNCTIONS)
                db.report(replace(problem, see=("native", entry_of(other), "")))
    return True


def repeated(listed: Iterable[Listed]) -> Iterator[tuple[Listed, Listed]]:
    """Functions of one name and overload: the first with each later one."""
    first: dict[str, Listed] = {}
    for name, head in listed:
        operator = within(head.namespace, head.name) if layer_of(entry_of(name)) else head.name
        other = first.setdefault(operator, (name, head))
        if other[0] != name:
            yield other, (name, head)


def _functions(error: "GroupError", listed: Sequence[Listed]) -> list[str]:
    """The functions that an error is about, by identity."""
    return [listed[i][0] for i in (error.function, *(error.other or ())[:1])]


def _called(layer: str) -> str:
    return f"layer '{layer}'" if layer else "the base"


def share_kernels(db: Database, one: str, other: str) -> bool:
    """Whether two functions have kernels for one key."""
    left, right = function(db, one), function(db, other)
    return left is not None and right is not None and bool(set(left.dispatch) & set(right.dispatch))


@query
def cased(db: Database) -> bool:
    """Reports declared operators whose names, with or without overload, differ from another's in case alone."""
    first: dict[str, str] = {}
    for entry in db.names(entries, "native"):
        operator = entry_operator(entry)
        for name in (operator.partition(".")[0], operator):
            other = first.setdefault(name.lower(), entry)
            named = entry_operator(other)
            if name not in (named, named.partition(".")[0]):
                problem = f"'{operator}' and '{named}' differ in case alone"
                again = SpecError(problem, "rename one", field=("func",), rule="name-case")
                twice = problem_of(again, "native", entry, operator, warning=True)
                db.report(replace(twice, see=("native", other, "")))
                break
    return True


@query
def stage(db: Database) -> int:
    """Validates all functions and the rules between them; returns the number of buckets."""
    db.digest(cased)
    return len([db.digest(checked, bucket) for bucket in db.names(buckets)])


def report_between(
    db: Database, errors: "Sequence[GroupError]", listed: Sequence[Listed], rank: int, *, warning: bool = False
) -> None:
    """Reports errors of functions, which may follow from others, and from those of a lower rank."""
    for error in errors:
        name, head = listed[error.function]
        problem = _between(error, entry_of(name), head.name, rank)
        if error.other is not None:
            other, needle = error.other
            problem = replace(problem, see=("native", entry_of(listed[other][0]), needle))
        db.report(replace(problem, warning=True, derived=False) if warning else problem)


def _between(error: SpecError, entry: str, name: str, rank: int) -> Problem:
    """An error that may follow from one in another entry."""
    return replace(problem_of(error, "native", entry, name, derived=True), rank=rank)
