"""`gradmill rule NAME`: what a warning means, since when, with a bad and a good example; without a name, all rules."""

from __future__ import annotations

import sys

from gradmill.cli.commands.report import json_text
from gradmill.cli.commands.request import Request
from gradmill.problems.catalog.rule import Rule
from gradmill.problems.catalog.table import RULES
from gradmill.problems.plain import lines
from gradmill.problems.problem import SpecError, nearest


def main(request: Request) -> int:
    """Prints rules of the catalog."""
    named = [_rule(name.strip("[]")) for name in request.names]
    if request.variables.get("format", "text") == "json":
        sys.stdout.write(json_text(named or list(RULES.values())).decode())
    elif named:
        sys.stdout.write("\n".join(map(text_of, named)))
    else:
        sys.stdout.write(lines(map(_row, RULES.values())))
    return 0


def _rule(name: str) -> Rule:
    if name not in RULES:
        raise SpecError(f"rule: no rule is called '{name}'", nearest(name, RULES) or "gradmill rule lists all")
    return RULES[name]


def text_of(rule: Rule) -> str:
    """The text of a rule for a terminal."""
    from textwrap import fill, indent

    examples = ((f"bad, in {rule.file}", rule.bad), ("good", rule.good))
    shown = [line for title, text in examples for line in ("", f"{title}:", *indent(text, "  ").splitlines())]
    meaning = indent(fill(rule.meaning, 98), "  ").splitlines()
    return lines([rule.name, *meaning, f"  Since gradmill {rule.since}.", *shown])


def _row(rule: Rule) -> str:
    """The line of a rule in the list: its name, and the first sentence of its meaning."""
    from textwrap import shorten

    first = shorten(rule.meaning.partition(". ")[0].rstrip("."), 90, placeholder=" …")
    return f"{rule.name:{max(map(len, RULES))}}  {first}"
