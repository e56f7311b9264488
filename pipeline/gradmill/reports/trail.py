"""Trails from a row back to the inputs it depends on, and to those that changed, by the dependencies in the database.

A trail ends at an entry of a spec file, at an input such as a template.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gradmill.doors import extensions, readers
from gradmill.model.layers import entry_operator, layer_of, role_of
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.explain import changed_items, changes, item_before, reads, replaced
from gradmill.query.memo import INPUT, ITEM, NAMES, Name
from gradmill.query.query import Query
from gradmill.specs.location import DESCRIPTION as SET_KEY
from gradmill.specs.spec_set import ROLES
from gradmill.stages.derivatives import definitions
from gradmill.stages.foreach import synthesized
from gradmill.stages.infos import infos_of
from gradmill.stages.python_names import forms, structseqs
from gradmill.stages.schemas import declared, entry_of, variants
from gradmill.stages.set import (
    DESCRIBED,
    FAMILIES,
    RELEASE,
    SET,
    source_keys,
    spec_label,
    spec_set,
    template_label,
)
from gradmill.stages.specs import entries, lines, raw_value, values

NEVER: Name = (INPUT, "never built")
TOUCHED: Name = (INPUT, "its output was changed or removed")
SEEN: Name = (INPUT, "a change that an earlier run read and did not write: it failed, or made other files")

Ends = dict[Name, None]  # in the order of their discovery


_PARTS = {infos_of.name, synthesized.name}  # tables with items that are parts of one value
# Tables of extensions -> the labels of the inputs that their items are from.
_ENDS = {table: label for extension in extensions().values() for table, label in extension.ends.items()}


class Trail:
    """The trails in one database. All its rows must be up to date."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._causes: dict[Name, Ends] = {}
        self._lines: dict[Role, dict[str, int]] = {}
        self.edits = {role: self._edited(role) for role in ROLES}

    def _edited(self, role: Role) -> dict[str, str]:
        """The entries of a file that changed since the last run, and how; empty if there was no run."""
        if changes(self._db, row(entries, role)) is None:
            return {}
        listed = changed_items(self._db, entries, role)
        edited = {entry: how for entry, how in listed.items() if how != "changed" or self._differs(role, entry)}
        remade = (name[1:] for name in replaced(self._db, values) if role_of(name[1]) == role)
        kept = (entry for key, group in remade for entry in values(self._db, key, group) if entry not in listed)
        edited |= {entry: "changed" for entry in kept if self._differs(role, entry)}
        place = {entry: at for at, entry in enumerate(self._db.names(entries, role))}
        return dict(sorted(edited.items(), key=lambda each: place.get(each[0], len(place))))

    def _differs(self, role: Role, entry: str) -> bool:
        """Whether an entry that was there before has another value."""
        place = item_before(self._db, entries, role, entry)
        before = None if place is None else item_before(self._db, values, *place, entry)
        return before != raw_value(self._db, role, entry)

    def made_from(self, name: Name) -> Ends:
        """The ends that a row depends on. For a part of a value (`_PARTS`), the trail follows the whole value."""
        ends: Ends = {}
        seen = {name}
        waiting = [name]
        while waiting:
            for read in reads(self._db, waiting.pop()):
                end = end_of(read)
                if end is not None:
                    ends[end] = None
                    continue
                further = _whole(read)
                if further not in seen and further[0] != ITEM:
                    seen.add(further)
                    waiting.append(further)
        return ends

    def leading_to(self, names: Iterable[Name], ends: Collection[Name]) -> list[Name]:
        """The rows among `names` that depend on one of the `ends`, by the trail of `made_from`."""
        known: dict[Name, bool] = {}

        def leads(name: Name) -> bool:
            if name not in known:
                known[name] = any(map(reaches, reads(self._db, name)))
            return known[name]

        def reaches(read: Name) -> bool:
            end = end_of(read)
            if end is not None:
                return end in ends
            further = _whole(read)
            return further[0] != ITEM and leads(further)

        return [name for name in names if leads(name)]

    def causes(self, name: Name) -> Ends:
        """The changed ends that made this build replace a row. Empty if the row is unchanged."""
        changed = changes(self._db, name)
        if changed is None:
            return {NEVER: None}
        return {end: None for read in changed for end in self._followed(read)}

    def _followed(self, name: Name) -> Ends:
        """The ends of a changed dependency."""
        end = end_of(name)
        if end is not None and end[0] == INPUT:
            return {end: None}
        if end is not None and (name[0] != ITEM or end[-1] is NAMES or end[-1] in self.edits[end[2]]):
            return self._entries_for(end)
        if name[0] == ITEM and name[1] in (entries.name, values.name):
            return {}  # an entry that was moved
        if name not in self._causes:
            self._causes[name] = {}
            changed = [name[1:-1]] if name[0] == ITEM else changes(self._db, name)
            ends = {end: None for read in changed or () for end in self._followed(read)}
            self._causes[name] = ends or {SEEN: None}  # this revision did not replace it
        return self._causes[name]

    def _entries_for(self, end: Name) -> Ends:
        """Replaces the list of all entries by the entries that were added or deleted."""
        if end[-1] is not NAMES:
            return {end: None}
        role = end[2]
        listed = {(*end[:-1], entry): None for entry, how in self.edits[role].items() if how != "changed"}
        return listed or {end: None}

    def describe(self, end: Name, paths: Mapping[str, str] | None = None) -> str:
        """The text for an end: `derivatives.yaml:151 exp`. `paths` gives the files' paths by key, if wanted."""
        named = paths or spec_set(self._db).files
        if end[0] != ITEM:
            return _input_name(self._db, str(end[1]), named)
        if end[-1] is NAMES:
            return f"{named[self._key(end[2], '')]}: its entries were reordered"
        file, line, op = self.place(end, named)
        return f"{file}:{line} {op}" if line else f"{file} {op} (deleted)"

    def place(self, end: Name, named: Mapping[str, str]) -> tuple[str, int, str]:
        """An entry's file, its line (0 if the entry was deleted) and its operator."""
        role, entry = end[2], end[3]
        if role not in self._lines:
            self._lines[role] = lines(self._db, role)
        return named[self._key(role, entry)], self._lines[role].get(entry, 0), entry_operator(str(entry))

    def reason(self, end: Name) -> str:
        """The text for an end as the reason of a rebuild."""
        text = self.describe(end)
        return text if end in (NEVER, TOUCHED, SEEN) or end[-1] is NAMES or text.endswith(")") else f"{text} changed"

    def _key(self, role: Role, entry: str) -> str:
        """The key of an entry's file. For a deleted entry, the key of any file of its layer."""
        if (own := entries.item(self._db, role, entry)) is not None:
            return own[0]
        keys = source_keys(self._db, role)
        layer = layer_of(entry)
        near = [key for key in keys if layer and key.startswith(f"{role}:{layer}/")] or keys
        return next(iter(near), SET_KEY)


def row(query: Query[Any, Any], *args: object) -> Name:
    """The name of the row that `query` has for `args`."""
    return (query.name, *args)


def _whole(name: Name) -> Name:
    """The row of the whole value for an item that is a part of one; else the name itself."""
    return name[1:-1] if name[0] == ITEM and name[1] in _PARTS else name


def end_of(name: Name) -> Name | None:
    """The end that a row or an item stands for; None if the trail goes on."""
    if name[0] == ITEM:
        if name[1] in _ENDS:
            return (INPUT, _ENDS[name[1]].format(name[2]))
        if name[1] in (variants.name, structseqs.name):
            return entry_end("native", entry_of(name[-1]))
        if name[1] == values.name:
            return entry_end(role_of(name[2]), name[-1])
        role = name[2] if name[1] == entries.name else _ENTRIES.get(name[1])
        return None if role is None else entry_end(role, name[-1])
    return name if name[0] == INPUT else None


# Tables by entry.
_ENTRIES: dict[str, Role] = {declared.name: "native", definitions.name: "derivatives", forms.name: "deprecated"}


def entry_end(role: Role, entry: str) -> Name:
    """The name of an entry's item in the store, at which the trail of what an entry affects begins."""
    return (ITEM, entries.name, role, entry)


def _input_name(db: Database, label: str, files: Mapping[str, str]) -> str:
    named = {spec_label(key): file for key, file in files.items()}
    named |= {template_label(name): f"templates/{name}" for name in spec_set(db).templates}
    return {
        **named,
        **{name: f"{name}=" for name in readers()},
        RELEASE: "the release",
        FAMILIES: "families=",
        SET: "the spec set",
        DESCRIBED: "the description",
    }.get(label, label)
