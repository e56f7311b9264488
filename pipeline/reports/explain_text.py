"""Explanations as text for a terminal."""

from __future__ import annotations

from pipeline.reports.explain import Edit, Explanation, listed


def render(explanation: Explanation) -> str:
    """One thing: what it is, what it is made from and into, and whether it is up to date."""
    lines = [f"{explanation.name}: {explanation.what}"]
    for title, items in (("made from", explanation.made_from), ("made into", explanation.made_into)):
        lines += [f"  {title if i == 0 else ' ' * len(title)}  {item}" for i, item in enumerate(items)]
    if explanation.reasons:
        lines += [f"  to be made again: {'; '.join(explanation.reasons)}"]
    else:
        lines += ["  up to date"]
    return "\n".join(lines) + "\n"


def render_edit(edit: Edit) -> str:
    """A change and what follows from it, as one chain."""
    units = listed(edit.units, "units")
    if not units and not edit.files:
        return f"{edit.what} → nothing\n"
    return " → ".join(filter(None, (edit.what, units, ", ".join(edit.files) or "no file"))) + "\n"
