"""`gradmill rule NAME`: what a warning means, since when, with a bad and a good example; without a name, all rules."""

from __future__ import annotations

import sys
from typing import Any

from doit import get_var
from doit.cmd_base import Command
from doit.exceptions import InvalidCommand

from pipeline.front.commands.bases import Options
from pipeline.front.commands.report import json_text
from pipeline.front.settings.hints import two_lines
from pipeline.problems.catalog.rule import Rule
from pipeline.problems.catalog.table import RULES
from pipeline.problems.plain import lines
from pipeline.problems.problem import nearest


class RuleCommand(Options, Command):  # type: ignore[misc]
    """Prints rules of the catalog."""

    name = "rule"
    doc_purpose = "print what a warning means, with a bad and a good example"
    doc_usage = "[NAME …] [format=json]"
    doc_description = (
        "NAME is the name of a rule, as reports print it in brackets: unknown-name. Without NAME: all rules, one on a"
        " line. format=json prints one array."
    )

    def execute(self, opt_values: Any, pos_args: list[str]) -> int:
        named = [_rule(name.strip("[]")) for name in pos_args]
        if get_var("format", "text") == "json":
            sys.stdout.write(json_text(named or list(RULES.values())).decode())
        elif named:
            sys.stdout.write("\n".join(map(text_of, named)))
        else:
            sys.stdout.write(lines(map(_row, RULES.values())))
        return 0


def _rule(name: str) -> Rule:
    if name not in RULES:
        hint = nearest(name, RULES) or "gradmill rule lists all"
        raise InvalidCommand(two_lines(f"rule: no rule is called '{name}'", hint))
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
