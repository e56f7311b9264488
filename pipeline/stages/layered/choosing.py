"""What a layer makes of its entries before anything of them is checked: one name may be there once for each release."""

from collections.abc import Sequence

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from pipeline.model.layers import LAYER_MARK, Source, role_of
from pipeline.problems.problem import Problem, SpecError
from pipeline.query.database import Database
from pipeline.query.query import query
from pipeline.query.row import encode
from pipeline.rules.layers.entry import in_namespace, looked_at, operator_of, rewritten
from pipeline.rules.layers.versions import Key, holds, is_listed, listed_versions
from pipeline.specs.layers.lists import value_of
from pipeline.stages.layered.files import Chosen, Named, name_of, of_file, text
from pipeline.stages.set import RELEASE, source


@query
def releases_of(db: Database, key: str) -> tuple[Key, ...]:
    """The releases that a file lists; none where it lists none."""
    rules = source(db, key).versions
    whole = text(db, key) if rules is not None and rules.all else None
    if rules is None or whole is None:
        return ()
    try:
        found = listed_versions(value_of(whole, rules.all), rules.all)
    except SpecError as error:
        db.report(of_file(key, error))
        return ()
    release = _release(db)
    if not is_listed(release, found):
        unlisted = SpecError(f"'{rules.all}' does not list the release {release}: entries do not hold for it")
        db.report(replace(of_file(key, unlisted), warning=True))
    return found


def choose(db: Database, key: str, found: Sequence[Named]) -> list[Chosen]:
    """The entries that hold for the release, as the layer has them, with the layer in their names. An entry that is
    rewritten goes by what it says then: by its name it is found."""
    rules = source(db, key)
    mark = f"{LAYER_MARK}{rules.layer}" if rules.layer else ""
    made = []
    for place, (name, raw) in enumerate(found):
        value = _chosen(db, key, rules, name, raw)
        if value is not None:
            called = name_of(value, role_of(key)) if rules.rewrites and value is not raw else name
            made.append((place, f"{called}{mark}", value))
    return made


def _chosen(db: Database, key: str, rules: Source, name: str, raw: Raw) -> Raw | None:
    if not rules.layer and not any(each.func == operator_of(name) for each in rules.rewrites):
        return None if operator_of(name) in rules.exclude else raw
    value = msgspec.msgpack.decode(raw)
    if not isinstance(value, dict):
        return raw
    try:
        if rules.versions is not None and not holds(value, rules.versions, releases_of(db, key), _release(db)):
            return None
        entry = in_namespace(looked_at(value, rules), rules.namespace)
        return Raw(encode(rewritten(entry, rules.rewrites)))
    except SpecError as error:
        op = operator_of(name)
        db.report(
            Problem(
                role_of(key),
                f"{name}{LAYER_MARK}{rules.layer}" if rules.layer else name,
                op,
                error.problem,
                error.hint,
                error.field,
                error.needle,
                file=key,
            )
        )
        return Raw(encode(looked_at(value, rules)))


def _release(db: Database) -> str:
    return (db.input(RELEASE) or b"").decode()
