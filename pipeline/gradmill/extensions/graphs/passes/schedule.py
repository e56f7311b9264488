"""Frees values early: each one after the last step of the forward, or block of the backward, that uses it, as in eager.

Values of the forward, gradients and recomputed views are variables. A saved value is freed only in the last backward:
with `retain_graph=True` there may be another one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from gradmill.extensions.graphs.ir import Free, Stmt, uses


def with_frees(blocks: Iterable[Sequence[Stmt]], variables: Collection[str], saved: Collection[str] = ()) -> list[Stmt]:
    """The statements of all blocks; each block is followed by those that free what no later block uses."""
    blocks = list(blocks)
    statements: list[Stmt] = []
    for block, names in zip(blocks, _last_uses(blocks)):
        own = tuple(name for name in names if name in variables)
        of_forward = tuple(name for name in names if name in saved)
        statements += [*block, *([Free(own)] if own else []), *([Free(of_forward, last=True)] if of_forward else [])]
    return statements


def _last_uses(blocks: Sequence[Sequence[Stmt]]) -> list[list[str]]:
    """The variables that no block after each one uses, in the order of the text."""
    seen: set[str] = set()
    last: list[list[str]] = []
    for block in reversed(blocks):
        used = uses(block)
        last.append([name for name in used if name not in seen])
        seen.update(used)
    return last[::-1]


def with_first_uses(blocks: Iterable[Sequence[Stmt]], statements: Mapping[str, Stmt]) -> list[Sequence[Stmt]]:
    """The blocks, with each statement as one of its own before the first that uses its value. A statement may use the
    values of earlier ones."""
    blocks = list(blocks)
    first = {name: i for i, block in reversed([*enumerate(blocks)]) for name in uses(block)}
    before: list[list[Stmt]] = [[] for _ in blocks]
    for value, statement in reversed([*statements.items()]):
        at = first.get(value)
        if at is not None:
            before[at].insert(0, statement)
            first |= {name: min(at, first.get(name, at)) for name in uses([statement])}
    return [each for own, block in zip(before, blocks) for each in (*([one] for one in own), block)]
