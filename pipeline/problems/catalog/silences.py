"""The rules about silences."""

from __future__ import annotations

from pipeline.problems.catalog.rule import Rule

_EXP = "- name: exp(Tensor self) -> Tensor\n"

SILENCES = (
    Rule(
        "malformed-silence",
        "A silence has no effect: it names no rule, gives no reason, or is on no entry.",
        f"{_EXP}  # gradmill: ignore unknown-name\n  self: grad * reslt",
        f"{_EXP}  # gradmill: ignore unknown-name a macro of the template declares it\n  self: grad * reslt",
    ),
    Rule(
        "unused-silence",
        "A silence silences nothing: the warning no longer occurs.",
        f"{_EXP}  # gradmill: ignore unknown-name a macro of the template declares it\n  self: grad * result",
        f"{_EXP}  self: grad * result",
    ),
)
