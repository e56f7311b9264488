"""Variants that do not form a group: upstream groups functions by their signature.

An in-place, out or mutable function that is named as the variant of a functional one, but has other arguments, is an
operator of its own: it inherits no derivative, and upstream may generate a second functional one for it.

torchgen: `native_function_generation.pre_group_native_functions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from pipeline.model.native import FunctionHead
from pipeline.rules.native.groups import GroupError


def split_variants(heads: Sequence[FunctionHead]) -> Iterator[GroupError]:
    """Errors for variants whose arguments or returns differ from those of the functional operator that their name
    refers to; one error for a functional operator that differs from several. Composites need no group, and defaults
    only decide what is generated."""
    named = {(h.namespace, h.name): i for i, h in enumerate(heads) if h.kind == "functional" and not h.generated}
    grouped = {heads[i].plain_signature for i in named.values()}
    generated = {(h.namespace, h.name) for h in heads if h.generated}
    apart: dict[int, list[tuple[int, str]]] = {}
    for i, head in enumerate(heads):
        at = named.get((head.namespace, _functional(head)))
        if at is None or head.generated or head.implicit or heads[at].implicit:
            continue
        second = (heads[at].namespace, heads[at].name) in generated
        if second or head.plain_signature not in grouped:
            difference = _difference(heads[at], head, defaults=second)
            effect = f"a second '{heads[at].name}' is generated for it, and takes the derivative"
            if difference:
                effect = effect if second else "it inherits no derivative"
                apart.setdefault(at, []).append((i, f"{difference}; {effect}"))
    for at, variants in apart.items():
        i, difference = variants[0]
        problem = f"'{heads[i].name}' is not a variant of '{heads[at].name}': {difference}"
        hint = "variants have the same arguments: types, names, defaults and order"
        yield GroupError(at if len(variants) > 1 else i, problem, hint, rule="split-group")


def _functional(head: FunctionHead) -> str:
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


def _difference(functional: FunctionHead, variant: FunctionHead, *, defaults: bool) -> str:
    """How the arguments or returns of a variant differ; "" if they do not, or are those of another operator."""
    both = [head.signature if defaults else head.plain_signature for head in (functional, variant)]
    ours, theirs = map(_inputs, both)
    own = [text for text in ours if text.endswith(" self")]
    if own and own[0] in theirs:  # a method begins with self, wherever the function has it
        ours.remove(own[0])
        theirs.remove(own[0])
    elif own and any(text.endswith(" self") for text in theirs):
        return ""  # pow.Scalar(Scalar self, Tensor exponent) has no in-place variant
    if variant.kind == "out" and len(ours) != len(theirs):
        return ""  # std.out is the out variant of std.dim
    for left, right in zip_longest(ours, theirs, fillvalue=""):
        if left != right:
            if not left or not right:
                return f"it has '{right}' besides" if right else f"it lacks '{left}'"
            return f"it has '{right}' in place of '{left}'"
    returns = [signature.rpartition(" -> ")[2] for signature in both]
    return "" if returns[0] == returns[1] else f"it returns {returns[1]} in place of {returns[0]}"


def _inputs(signature: str) -> list[str]:
    """The arguments of a signature, without the mark of those that are passed by name."""
    text = signature.partition("(")[2].rpartition(") -> ")[0]
    return [argument for argument in text.split(", ") if argument not in ("", "*")]
