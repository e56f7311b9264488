"""Samples made from a schema alone: values that types, names and defaults suggest, and that the operator accepts."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import torch

from gradmill.extensions.verify.child.calls import Calls, is_float, tensors
from gradmill.extensions.verify.child.calls import Values as Call
from gradmill.extensions.verify.child.recording import signature
from gradmill.extensions.verify.child.shapes import Theme, themes
from gradmill.extensions.verify.child.values import Values

TRIES = 300

_Accepted = list[tuple[Call, Theme]]


def made(calls: Calls, schema: torch._C.FunctionSchema, limit: int) -> Iterator[Call]:
    """Up to `limit` calls that differ in shapes, types or values that are not tensors, with finite outputs. The order
    is pseudo-random and fixed by the schema's text."""
    rng = Random(str(schema))  # noqa: S311 - samples, not secrets
    values = Values(rng, schema.name)
    accepted: _Accepted = []
    seen = set()
    for number in range(TRIES):
        if len(accepted) >= limit:
            return
        call, theme = _candidate(schema, values, accepted, first=number < TRIES // 6)
        key = tuple(map(signature, call))
        if key not in seen and any(map(is_float, tensors(list(call)))) and calls.accepts(call, finite=True):
            accepted.append((call, theme))
            yield call
        seen.add(key)


def _candidate(
    schema: torch._C.FunctionSchema, values: Values, accepted: _Accepted, *, first: bool
) -> tuple[Call, Theme]:
    """Values for all arguments; or, every other time, those of an accepted call with some of them changed."""
    values.restyle()
    if accepted and values.rng.random() < 0.5:
        call, theme = values.rng.choice(accepted)
        return tuple(
            values.draw(each, theme) if values.rng.random() < 0.3 else old for each, old in zip(schema.arguments, call)
        ), theme
    theme = themes(schema, values.rng)
    return tuple(values.draw(each, theme, first=first) for each in schema.arguments), theme
