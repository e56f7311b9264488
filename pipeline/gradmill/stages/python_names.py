"""Python bindings: the functions that share a name, the deprecated forms of their calls, the classes of named results.

This is not a stage: the families by which Python sees functions depend on it, and those that print bindings read
deprecated.yaml, too.
"""

from gradmill.grammar.buckets import bucket_of
from gradmill.grammar.schema import parser
from gradmill.model.bindings import Binding, DeprecatedForm, Overload
from gradmill.model.entries import by_key
from gradmill.model.native import NativeFunction, Structseq
from gradmill.problems.problem import Role, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.native.python_names import ignored_keys, is_bound, parse_form, python_names, stands_for, uncalled
from gradmill.rules.native.structseqs import structseqs as structseqs_of
from gradmill.stages.schemas import bucket_of_function, entry_of, function, heads
from gradmill.stages.set import release
from gradmill.stages.specs import entries, title, value

ROLE: Role = "deprecated"

Bound = list[tuple[str, tuple[str, ...]]]  # functions by identity, each with its Python names


@table
def bound(db: Database, bucket: str) -> dict[str, Bound]:
    """The bound functions of a bucket by name, without overload, in their order."""
    facts = release(db)
    bound_heads = ((name, head) for name, head in heads(db, bucket) if is_bound(head, facts))
    return by_key((head.unqualified, (name, python_names(head))) for name, head in bound_heads)


@table
def forms(db: Database) -> dict[str, DeprecatedForm]:
    """The deprecated forms by entry. Reports errors, and keys that are ignored."""
    parsed = {}
    schemas = parser(frozenset(release(db).base_types))
    for entry in db.names(entries, ROLE):
        raw = value(db, ROLE, entry)
        try:
            parsed[entry] = parse_form(raw, schemas)
        except SpecError as error:
            db.report(problem_of(error, ROLE, entry, title(raw, "name")))
            continue
        for warning in ignored_keys(raw):
            db.report(problem_of(warning, ROLE, entry, title(raw, "name"), warning=True))
    return parsed


@table
def calling(db: Database) -> dict[str, list[str]]:
    """The entries of the deprecated forms that call the functions of each name."""
    return by_key((form.operator, entry) for entry, form in forms(db).items())


@query
def called(db: Database, name: str) -> list[tuple[str, str]]:
    """The bound functions of a name that deprecated forms call, each with the entry of a form. Reports forms that call
    none."""
    calls = []
    listed = [each for each, _ in bound.item(db, bucket_of(name), name) or []]
    schemas = {each: own.func for each in listed if (own := function(db, each)) is not None}
    for entry in calling.item(db, name) or []:
        form = forms.item(db, entry)
        assert form is not None
        of_form = [each for each, schema in schemas.items() if stands_for(form, schema)]
        calls += [(each, entry) for each in of_form]
        if not of_form:
            error = uncalled(form, list(schemas.values()), () if schemas else db.names(calling))
            db.report(problem_of(error, ROLE, entry, str(form.schema.name), derived=True))
    return calls


@query
def stage(db: Database) -> int:
    """Validates all deprecated forms; returns the number of functions that they call."""
    return len([db.digest(called, name) for name in db.names(calling)])


def named_functions(db: Database, name: str) -> Binding | None:
    """The overloads of a Python name without deprecated forms. None if there is none."""
    functions = _functions(db, name)
    return _binding(name, [Overload(own, entry_of(each)) for each, own in functions.items()])


@query
def binding(db: Database, name: str) -> Binding | None:
    """The overloads of a Python name: its functions, then the deprecated forms. None if there is none."""
    functions = _functions(db, name)
    overloads = [Overload(own, entry_of(each)) for each, own in functions.items()]
    for each, entry in called(db, name.rpartition(".")[2]):
        form = forms.item(db, entry)
        if each in functions and form is not None:
            overloads.append(Overload(functions[each], entry_of(each), form, entry))
    return _binding(name, overloads)


def _functions(db: Database, name: str) -> dict[str, NativeFunction]:
    """The functions of a Python name."""
    plain = name.rpartition(".")[2]
    listed = bound.item(db, bucket_of(plain), plain) or []
    return {each: own for each, names in listed if name in names and (own := function(db, each)) is not None}


def _binding(name: str, overloads: list[Overload]) -> Binding | None:
    module, _, plain = name.rpartition(".")
    return Binding(module, plain, tuple(overloads)) if overloads else None


# ---- classes of named results


@table
def structseqs(db: Database, bucket: str) -> dict[str, Structseq | None]:
    """The classes of named results of a bucket, by function; None for a repeated class."""
    return structseqs_of(heads(db, bucket), release(db))


def structseq(db: Database, function: str) -> Structseq | None:
    """The class of a function's named results; None if it has none, or repeats that of another overload."""
    return structseqs.item(db, bucket_of_function(function), function)
