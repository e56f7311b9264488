"""The hooks of a description: Python that selects functions, changes the text of units, and writes files.

They run in a process of their own (`families/hook_files`). What they return depends on their arguments and their text
alone, so each call is remembered as any query is.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gradmill.families.hook_files.function import Seen, hook_function
from gradmill.families.hook_files.process import process
from gradmill.model.layers import layer_of
from gradmill.problems.problem import Problem, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.specs.layers.releases import minor_of
from gradmill.specs.text import decode_text
from gradmill.stages.groups import groups
from gradmill.stages.layered.marks import keys_of, marks
from gradmill.stages.layered.overridden_units import about
from gradmill.stages.layered.participation import all_participants
from gradmill.stages.schemas import GENERATED, bucket_of_function, entry_of, function
from gradmill.stages.set import defines, hooks, release, spec_label, version

# ---- what hooks see


@table
def group_of(db: Database, bucket: str) -> dict[str, list[str]]:
    """The functional and the out variant of each function of a bucket, or what it has of them."""
    return {name: each.functions[:2] for each in groups(db, bucket).values() for name in each.functions}


@query
def seen(db: Database, name: str) -> Seen | None:
    """A function as hooks see it; None if it has an error, which is reported."""
    native, facts = function(db, name), about.item(db, name)
    if native is None or facts is None:
        return None
    together = group_of.item(db, bucket_of_function(name), name) or ()
    group = [own for each in together if (own := function(db, each)) is not None]
    entry = entry_of(name)
    try:
        return hook_function(
            native,
            release(db),
            facts,
            group if len(group) > 1 else (),
            generated=name.startswith(GENERATED),
            layer=layer_of(entry),
            keys=keys_of.item(db, name) or {},
            lists=list(dict.fromkeys(mark.listed for mark in marks.item(db, name) or ())),
        )
    except SpecError as error:
        db.report(problem_of(error, "native", entry, facts.operator))
        return None


# ---- what they return


class Call(NamedTuple):
    """A call of a hook: the operator that it is about, and how reports show it."""

    hook: str
    op: str
    title: str
    arguments: tuple[Any, ...]


@query
def is_selected(db: Database, family: str, name: str) -> bool:
    """Whether `select` takes a function into a family."""
    own = seen(db, name)
    return own is None or bool(value(db, selecting(own, family)))


def changed(db: Database, family: str, name: str, pieces: Mapping[str, str]) -> dict[str, str]:
    """The pieces of a function's unit as `unit` changes them; none if it fails, which is reported."""
    own = seen(db, name) if name else None
    found = dict(pieces)
    for piece, call in changing(db, family, own, pieces).items() if own is not None else ():
        text = value(db, call)
        if text is None:
            return {}
        found[piece] = text
    return found


@table
def texts(db: Database) -> dict[str, str]:
    """The files that `files` writes, by name."""
    if not defines(db, "files"):
        return {}
    call = writing(db)
    found = value(db, call) or {}
    for name in found:
        if not name or name.startswith(".") or set(name) & set("/\\\0\n"):
            report(db, call, f"'{name}' cannot name a file")
            return {}
    return found


def selecting(own: Seen, family: str) -> Call:
    return Call("select", own["operator"], f"select({family})", (own, family))


def changing(db: Database, family: str, own: Seen, pieces: Mapping[str, str]) -> dict[str, Call]:
    """The calls of `unit` for the pieces of a unit that have text."""
    names = {piece: piece.partition(" ")[0] for piece, text in pieces.items() if text}
    number = minor_of(version(db))
    return {
        piece: Call("unit", own["operator"], f"unit({family}, {name})", (family, name, own, pieces[piece], number))
        for piece, name in names.items()
    }


def writing(db: Database) -> Call:
    functions = [own for name, _ in all_participants(db) if (own := seen(db, name)) is not None]
    return Call("files", "", "files", (functions, minor_of(version(db))))


def value(db: Database, call: Call, seed: int = 0) -> Any:
    """The value that a hook returns in the process of a seed; None if it fails, which is reported."""
    own = hooks(db)
    modules = {name: decode_text(db.input(spec_label(key)) or b"") for name, key in own.modules.items()}
    of_operator = f" for {call.op}" if call.op else ""
    title = f"{next(iter(own.modules.values())).partition(':')[2]}: {call.title}{of_operator}"
    found = process(tuple(modules.items()), seed).call(call.hook, *call.arguments, title=title)
    if found.error:
        report(db, call, found.error, found.at)
    return found.value


def report(db: Database, call: Call, error: str, at: tuple[str, int] = ("", 0), hint: str = "") -> None:
    """Reports an error of a hook, at the line that it is from or that defines it."""
    own = hooks(db)
    module, line = at if at[1] else (next(iter(own.modules)), own.lines[call.hook])
    key = own.modules[module]
    db.report(Problem("hooks", "", call.op, error, hint, (call.title,), line=line, column=1, file=key))
