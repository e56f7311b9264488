"""The hooks of a description: Python that selects functions, changes the text of units, and writes files.

They run in a process of their own (`families/hook_files`). What they return depends on their arguments and their text
alone, so each call is remembered as any query is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradmill.families.hook_files.function import Seen, hook_function
from gradmill.families.hook_files.process import Answer, process
from gradmill.model.layers import layer_of
from gradmill.problems.problem import Problem, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.specs.layers.releases import minor_of
from gradmill.specs.text import decode_text
from gradmill.stages.groups import groups
from gradmill.stages.layered.marks import keys_of, lists_of
from gradmill.stages.layered.overridden_units import about
from gradmill.stages.layered.participation import all_participants
from gradmill.stages.schemas import GENERATED, bucket_of_function, entry_of, function
from gradmill.stages.set import defines, hooks, release, spec_label, version

# ---- what hooks see


@query
def seen(db: Database, name: str) -> Seen | None:
    """A function as hooks see it; None if it has an error, which is reported."""
    native, facts = function(db, name), about.item(db, name)
    if native is None or facts is None:
        return None
    together = (each.functions for each in groups(db, bucket_of_function(name)).values() if name in each.functions)
    variants = [function(db, each) for each in next(together, [])]
    functional, out = variants[:2] if len(variants) > 1 else (None, None)
    entry = entry_of(name)
    try:
        return hook_function(
            native,
            release(db),
            facts,
            (functional, out) if functional is not None and out is not None else None,
            generated=name.startswith(GENERATED),
            layer=layer_of(entry),
            keys=keys_of.item(db, name) or {},
            lists=tuple(lists_of.item(db, name) or ()),
        )
    except SpecError as error:
        db.report(problem_of(error, "native", entry, facts.operator))
        return None


# ---- what they return


@query
def is_selected(db: Database, family: str, name: str) -> bool:
    """Whether `select` takes a function into a family."""
    own = seen(db, name)
    return own is None or bool(_value(db, "select", own["operator"], family, (own, family)))


def changed(db: Database, family: str, name: str, pieces: Mapping[str, str]) -> dict[str, str]:
    """The pieces of a function's unit as `unit` changes them; none if it fails, which is reported."""
    own = seen(db, name) if name else None
    if own is None:
        return dict(pieces)
    found = {}
    for piece, arguments in calls(db, family, own, pieces):
        text = _value(db, "unit", own["operator"], f"{family}, {arguments[1]}", arguments)
        if text is None:
            return {}
        found[piece] = text
    return {**pieces, **found}


@table
def texts(db: Database) -> dict[str, str]:
    """The files that `files` writes, by name."""
    found = _value(db, "files", "", "", functions(db)) if defines(db, "files") else {}
    for name in [name for name in found or () if not name or name.startswith(".") or set(name) & set("/\\\0\n")]:
        report(db, "files", "", "", Answer(error=f"'{name}' cannot name a file"))
        return {}
    return found or {}


def calls(db: Database, family: str, own: Seen, pieces: Mapping[str, str]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The calls of `unit` for the pieces of a unit that have text."""
    number = minor_of(version(db))
    for piece, text in pieces.items():
        if text:
            yield piece, (family, piece.partition(" ")[0], own, text, number)


def functions(db: Database) -> tuple[Any, ...]:
    """The arguments of `files`."""
    found = (seen(db, name) for name, _ in all_participants(db))
    return [each for each in found if each is not None], minor_of(version(db))


def _value(db: Database, hook: str, op: str, what: str, arguments: tuple[Any, ...]) -> Any:
    """The value that a hook returns; None if it fails, which is reported."""
    answer = process(modules(db)).call(hook, *arguments)
    if answer.error:
        report(db, hook, op, what, answer)
        return None
    return answer.value


def modules(db: Database) -> tuple[tuple[str, str], ...]:
    """The modules of the hooks with their texts."""
    own = hooks(db)
    assert own is not None
    return tuple((name, decode_text(db.input(spec_label(key)) or b"")) for name, key in own.modules.items())


def report(db: Database, hook: str, op: str, what: str, answer: Answer, hint: str = "") -> None:
    """Reports an error of a hook, at the line that it is from or that defines it."""
    own = hooks(db)
    assert own is not None
    module, line = answer.at if answer.at[1] else (next(iter(own.modules)), own.lines[hook])
    called = f"{hook}({what})" if what else hook
    key = own.modules[module]
    db.report(Problem("hooks", "", op, answer.error, hint, (called,), line=line, column=1, file=key))
