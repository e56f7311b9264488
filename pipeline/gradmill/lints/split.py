"""Variants that do not form a group: upstream groups functions by their signature.

An in-place, out or mutable function that is named as the variant of a functional one, but has other arguments, is an
operator of its own: it inherits no derivative, and upstream may generate a second functional one for it, or refuses it.
Of several variants the one that differs from most is reported, whichever of them the group lacks.

torchgen: `native_function_generation.pre_group_native_functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import zip_longest

from gradmill.model.native import FunctionSummary
from gradmill.rules.native.groups import GroupError, LacksVariant

Compare = Callable[[FunctionSummary, FunctionSummary], tuple[str, str] | None]

_SAME = "variants have the same arguments: types, names, defaults and order"


def split_variants(heads: Sequence[FunctionSummary]) -> Iterator[GroupError]:
    """Errors for variants whose arguments or returns differ from those of the functional operator that their name
    refers to, or that delegates to them. Composites need no group, and one variant alone may have a default if upstream
    generates none."""
    families = _families(heads)
    grouped = {heads[at].plain_signature for at in families}
    generated = {(h.namespace, h.name) for h in heads if h.generated}
    for at, variants in families.items():
        if heads[at].implicit:
            continue
        second = (heads[at].namespace, heads[at].name) in generated
        others = grouped - {heads[at].plain_signature}
        members = [i for i in variants if not heads[i].implicit and (second or heads[i].plain_signature not in others)]
        if second:
            effect = f"a second '{heads[at].name}' is generated, and takes the derivative"
            yield from _odd_one(heads, at, members, effect)
        else:
            members = [i for i in members if not _is_defaulted(heads[at], heads[i])]
            yield from _odd_one(heads, at, members, "it inherits no derivative")


def underived(heads: Sequence[FunctionSummary], derived: Collection[int]) -> Iterator[GroupError]:
    """The same errors for composites that have kernels elsewhere: for those that are `derived`, by index, and variants
    that are not, also if these have more arguments, or fewer."""
    families = _families(heads)
    grouped = {heads[at].plain_signature for at in families}
    for at, variants in families.items():
        members = [i for i in variants if i not in derived and heads[i].plain_signature not in grouped]
        if heads[at].implicit and at in derived:
            yield from _odd_one(heads, at, members, "it inherits no derivative", _differing_text)


def instead_of_lacking(error: GroupError, heads: Sequence[FunctionSummary]) -> GroupError:
    """The error to report: if a function lacks a variant, and has it with other arguments, the odd one of the two."""
    for at, variants in _families(heads, copies=True).items() if isinstance(error, LacksVariant) else ():
        if error.function in (at, *variants):
            return next(_odd_one(heads, at, variants, ""), error)
    return error


def _odd_one(
    heads: Sequence[FunctionSummary], at: int, variants: Sequence[int], effect: str, find: Compare | None = None
) -> Iterator[GroupError]:
    """An error for a functional operator or one of its `variants`, whichever differs from more of the others; none if
    all have the same arguments. `effect`: what a difference leads to, unless it is one of defaults. `find` returns the
    first difference of two; without it, `_difference` does."""
    find = find or _difference
    differing = [i for i in variants if find(heads[at], heads[i])]
    if not differing:
        return
    odd, other = differing[0], at
    agreeing = [i for i in differing if not find(heads[odd], heads[i])]
    if len(agreeing) > 1 + len(variants) - len(differing):
        odd, other = at, odd
    difference = find(heads[other], heads[odd]) or ("", "")
    problem = f"'{heads[odd].name}' is not a variant of '{heads[other].name}': it"
    if odd == at:
        names = [f"'{heads[i].name}'" for i in agreeing]
        problem = f"{', '.join(names[:-1])} and {names[-1]} are not variants of '{heads[odd].name}', which"
    if heads[other].plain_signature == heads[odd].plain_signature and not effect.startswith("a second"):
        effect = ""  # derivatives are inherited whatever the defaults
    problem = f"{problem} {_told(*difference)}{effect and '; '}{effect}"
    yield GroupError(odd, problem, _SAME, needle=difference[1], rule="split-group", other=(other, difference[0]))


def _families(heads: Sequence[FunctionSummary], *, copies: bool = False) -> dict[int, list[int]]:
    """The functional operators, each with the other functions that delegate or name makes its variants. `copies`: with
    the copies of views."""
    declared = [(i, head) for i, head in enumerate(heads) if not head.generated]
    named = {(head.namespace, head.name): i for i, head in declared if head.kind == "functional"}
    delegating = {(head.namespace, head.delegate): i for i, head in declared if i in named.values()}
    families: dict[int, list[int]] = {i: [] for i in named.values()}
    for i, head in declared:
        name = _functional(head)
        if copies and head.kind == "functional" and head.base.endswith("_copy"):
            name = head.name.replace("_copy", "")
        at = delegating.get((head.namespace, head.name), named.get((head.namespace, name)))
        if at is not None and at != i:
            families[at].append(i)
    return families


def _functional(head: FunctionSummary) -> str:
    """The name of the functional variant that the name of a function refers to; "" if it refers to none."""
    base, overload = head.unqualified, head.name[len(head.unqualified) :]
    if head.kind == "inplace":
        dunder = base.endswith("__")
        base = base.replace(f"__i{head.base}__", f"__{head.base}__") if dunder else base.removesuffix("_")
    elif head.kind == "mutable":
        base += "_functional"
    elif head.kind == "out":
        if overload != ".out" and not overload.endswith("_out"):
            return ""
        overload = "" if overload == ".out" else overload.removesuffix("_out")
    return base + overload


def _difference(one: FunctionSummary, other: FunctionSummary) -> tuple[str, str] | None:
    """The first argument of each of two variants that the other has not at its place, or their returns; "" if one has
    no argument there. None if there is none, or they are of different operators."""
    lengths = {len(_inputs(head.signature)) for head in (one, other)}
    if "out" in (one.kind, other.kind) and len(lengths) > 1 and one.delegate != other.name:
        return None  # std.out is the out variant of std.dim
    return _differing_text(one, other)


def _differing_text(one: FunctionSummary, other: FunctionSummary) -> tuple[str, str] | None:
    """The same, whatever the numbers of arguments."""
    ours, theirs = _inputs(one.signature), _inputs(other.signature)
    own = [text for text in ours if text.endswith(" self")]
    if own and own[0] in theirs:  # a method begins with self, wherever the function has it
        ours.remove(own[0])
        theirs.remove(own[0])
    elif own and any(text.endswith(" self") for text in theirs):
        return None  # pow.Scalar(Scalar self, Tensor exponent) has no in-place variant
    for left, right in zip_longest(ours, theirs, fillvalue=""):
        if left != right:
            return left, right
    left, right = (head.signature.rpartition(" -> ")[2] for head in (one, other))
    return None if left == right else (f"-> {left}", f"-> {right}")


def _is_defaulted(one: FunctionSummary, other: FunctionSummary) -> bool:
    """Whether two variants first differ in a default that one has and the other has not."""
    left, right = _difference(one, other) or ("", "")
    return left.partition("=")[0] == right.partition("=")[0] and ("=" in left) != ("=" in right)


def _inputs(signature: str) -> list[str]:
    """The arguments of a signature, without the mark of those that are passed by name."""
    text = signature.partition("(")[2].rpartition(") -> ")[0]
    return [argument for argument in text.split(", ") if argument not in ("", "*")]


def _told(left: str, right: str) -> str:
    """How a variant with `right` differs from one with `left`."""
    if not left or not right:
        return f"has '{right}' besides" if right else f"lacks '{left}'"
    if right.startswith("-> "):
        return f"returns {right.removeprefix('-> ')} in place of {left.removeprefix('-> ')}"
    return f"has '{right}' in place of '{left}'"
