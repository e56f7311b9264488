"""Compares the facts of two spec sets, and reports the changes operator by operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gradmill.reports.diff.entries import Entries
from gradmill.reports.diff.facts import Autograd, Facts, Key, Wordings
from gradmill.reports.diff.model import Change, Count, EntryChange, Kind, OpChange, Part, Report

# The kinds of change in each part: if it changed, was gained, was lost; None if a change in another part implies it.
_Kinds = tuple[Kind, Kind | None, Kind | None]
_KINDS: dict[Part, _Kinds] = {
    Part.SCHEMA: (Kind.SCHEMA, None, None),
    Part.NODE: (Kind.RENUMBERED, None, None),  # an operator has a Node if it has gradients
    Part.GRADIENT: (Kind.FORMULA, Kind.GRADIENT_GAINED, Kind.GRADIENT_LOST),
    Part.TANGENT: (Kind.FORWARD_FORMULA, Kind.FORWARD_GAINED, Kind.FORWARD_LOST),
    Part.SAVED: (Kind.SAVED,) * 3,
    Part.OUTPUTS: (Kind.OUTPUTS,) * 3,
    Part.VARIANTS: (Kind.VARIANTS,) * 3,
}


def compare(before: Autograd, after: Autograd) -> Report:
    """The changes from `before` to `after`, by operator. Operators with their own formulas come first."""
    ops = []
    for old, new in _pairs(before, after):
        changes = tuple(_changes(old, new))
        if changes:
            ops.append(_op_change(old, new, changes, before, after))
    ops.sort(key=_order)
    both = before.entries.keys() & after.entries.keys()
    changed = {name: tuple(_entries(before.entries[name], after.entries[name])) for name in both}
    return Report(before.side, after.side, _counts(ops), tuple(ops), **changed)


def _entries(before: Entries, after: Entries) -> Iterator[EntryChange]:
    """The entries whose texts differ, sorted by name."""
    for name in sorted(before.keys() | after.keys()):
        left, right = before.get(name), after.get(name)
        removed, added = _without(left or (), right or ()), _without(right or (), left or ())
        if removed or added or left is None or right is None:
            yield EntryChange(
                name, removed, added, "added" if left is None else "removed" if right is None else "changed"
            )


def _without(texts: Wordings, others: Wordings) -> tuple[str, ...]:
    """The texts that are not among the others, each as often as it is missing there."""
    missing = Counter(texts)
    missing.subtract(others)
    return tuple(text for text in dict.fromkeys(texts) for _ in range(missing[text]))


def _order(op: OpChange) -> tuple[bool, str, str, bool, str]:
    return bool(op.follows), op.op.lstrip("_"), op.op, op.dispatch_key != "Default", op.dispatch_key


def _pairs(before: Autograd, after: Autograd) -> Iterator[tuple[Facts | None, Facts | None]]:
    """Pairs the operators of both sides: by schema, or else by name, because a schema may have changed."""
    left = {key: facts for key, facts in before.facts.items() if key not in after.facts}
    renamed: dict[Key, Facts] = {(facts.op, facts.dispatch_key): facts for facts in left.values()}
    for key, new in after.facts.items():
        yield before.facts.get(key) or renamed.pop((new.op, new.dispatch_key), None), new
    for old in renamed.values():
        yield old, None


def _changes(old: Facts | None, new: Facts | None) -> Iterator[Change]:
    names = _renamed_arguments(old, new) if old and new else {}
    for part, kinds in _KINDS.items():
        lefts = old.parts[part] if old else {}
        rights = new.parts[part] if new else {}
        if part is Part.GRADIENT:
            lefts = {names.get(name, name): wordings for name, wordings in lefts.items()}
        whole = Kind.ADDED if old is None else Kind.REMOVED if new is None else None  # then it is that of all parts
        yield from _part_changes(part, (whole,) * 3 if whole else kinds, lefts, rights)


def _part_changes(
    part: Part, kinds: _Kinds, lefts: dict[str, Wordings], rights: dict[str, Wordings]
) -> Iterator[Change]:
    """The changes in one part. Names with the same change share one `Change`."""
    alike: dict[tuple[Kind, str, str], list[str]] = {}
    for name in {**rights, **lefts}:
        left, right = lefts.get(name, ()), rights.get(name, ())
        kind = kinds[1 if not left else 2 if not right else 0]
        if left == right or kind is None:
            continue
        alike.setdefault((kind, *_first_difference(left, right)), []).append(name)
    for (kind, before, after), names in alike.items():
        yield Change(kind, part, tuple(name for name in names if name), before, after)


def _first_difference(left: Wordings, right: Wordings) -> tuple[str, str]:
    if not left or not right:
        return (left or ("",))[0], (right or ("",))[0]
    return next((a, b) for a, b in zip(left, right) if a != b)


def _renamed_arguments(old: Facts, new: Facts) -> dict[str, str]:
    """Maps the old names of renamed arguments to the new ones: same position, same type, and no other such name."""
    before, after = dict(old.arguments), dict(new.arguments)
    return {
        a: b
        for (a, a_type), (b, b_type) in zip(old.arguments, new.arguments)
        if a != b and a_type == b_type and a not in after and b not in before
    }


def _op_change(
    old: Facts | None, new: Facts | None, changes: tuple[Change, ...], before: Autograd, after: Autograd
) -> OpChange:
    facts = new or old
    assert facts is not None
    note = ""
    if old is None:
        note = f"was {before.status[facts.op]}" if facts.op in before.status else "new operator"
    elif new is None:
        note = f"now {after.status[facts.op]}" if facts.op in after.status else "the operator was removed"
    return OpChange(
        facts.op,
        facts.dispatch_key,
        old.seen if old else None,
        new.seen if new else None,
        facts.follows,
        note,
        changes,
    )


def _counts(ops: list[OpChange]) -> tuple[Count, ...]:
    counts = []
    for kind in Kind:
        foreach = [bool(op.follows) for op in ops if kind in op.kinds]
        counts.append(Count(kind, foreach.count(False), foreach.count(True)))
    return tuple(counts)
