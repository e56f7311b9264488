"""A layer's entries as they apply: in the releases that they name, with the keys that the description keeps, under the
layer's name. Keys and lists of a file that the description omits or misspells are reported."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gradmill.model.layers import LAYER_MARK, SpecSource, entry_operator, role_of
from gradmill.problems.problem import SpecError, nearest, problem_of
from gradmill.query.database import Database
from gradmill.query.memo import encode
from gradmill.query.query import query
from gradmill.rules.layers.entry import Key, applies, changed, listed_versions
from gradmill.rules.layers.keys import settled
from gradmill.specs.layers.lists import value_of, values_of
from gradmill.specs.layers.reading import error_at
from gradmill.specs.layers.releases import minor_of
from gradmill.stages.set import place_of_key, source, version
from gradmill.stages.spec_files import Chosen, Named, name_of, of_file, parse_file


def report(db: Database, error: SpecError) -> None:
    """Reports an error of the description, or a warning."""
    problem = problem_of(error, "set", "", "", warning=bool(error.rule))
    db.report(replace(problem, field=place_of_key(db, error.field)))


@query
def releases_of(db: Database, key: str, name: str) -> tuple[Key, ...]:
    """The releases that a file lists under a name; none if it lists none."""
    if not name:
        return ()
    versions = parse_file(db, key, lambda whole: listed_versions(value_of(whole, name), name))
    if versions == ():
        misspelt = nearest(name, parse_file(db, key, values_of) or ())
        hint = misspelt or "name the key that lists them; or leave `all` out"
        at = (*source(db, key).at, "versions", "all")
        rule = "" if misspelt else "unmatched-list"
        report(db, error_at(at, f"the file has no list of releases '{name}'", hint, name, rule=rule))
    elif versions and minor_of(version(db)) not in versions:
        problem = f"'{name}' does not list the release {version(db)}: entries do not apply to it"
        unlisted = SpecError(problem, rule="unlisted-release")
        db.report(replace(of_file(key, unlisted), warning=True))
    return versions or ()


def choose(db: Database, key: str, named: Sequence[Named], keys: Mapping[str, bool]) -> list[Chosen]:
    """The entries that apply to the release, with the layer's changes, and the layer in their names. A rewritten entry
    is keyed by its new name."""
    layer, problems = settled(source(db, key), keys)
    for error in problems:
        if not error.rule:  # warnings are about the whole file, which `checks` looks at
            report(db, error)
    mark = f"{LAYER_MARK}{layer.layer}" if layer.layer else ""
    chosen = []
    for place, (name, raw) in enumerate(named):
        value = _chosen(db, key, layer, f"{name}{mark}", raw)
        if value is not None:
            new_name = name_of(value, role_of(key)) if layer.rewrites and value is not raw else name
            chosen.append((place, f"{new_name}{mark}", value))
    return chosen


def _chosen(db: Database, key: str, of: SpecSource, entry: str, raw: Raw) -> Raw | None:
    operator = entry_operator(entry)
    if not of.layer and not any(each.func == operator for each in of.rewrites):
        return raw
    value = msgspec.msgpack.decode(raw)
    if not isinstance(value, dict):
        return raw
    kept, unmatched = changed(value, of)
    versions = of.versions
    try:
        if versions is not None and not applies(value, versions, releases_of(db, key, versions.all), version(db)):
            return None
    except SpecError as error:
        db.report(replace(problem_of(error, role_of(key), entry, operator), file=key))
    for rewrite in unmatched:
        at = ("base", "rewrite", str(of.rewrites.index(rewrite)), "from")
        problem, hint = "the schema does not have the text", f"it is {value.get('func')}"
        report(db, error_at(at, problem, hint, rewrite.from_, rule="unmatched-text"))
    return Raw(encode(kept))
