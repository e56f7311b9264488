"""The plumbing of an operator, by which vmap calls its batching rule.

It passes each tensor as a value and the dimension of its batch, and joins those of the results.

torchgen: `gen_vmap_plumbing.gen_vmap_plumbing`, `gen_vmap_plumbing.gen_vmap_inplace_plumbing`,
`gen_vmap_plumbing.gen_vmap_plumbing_no_returns`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from gradmill.cpp.dispatcher import Signature
from gradmill.families.sections import Text
from gradmill.grammar.names import unambiguous_name
from gradmill.grammar.types import element
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema, is_list, is_tensor_like, schema_kind
from gradmill.releases.model import Release

TEXT = Text("dispatcher_api/plumbing.cpp")
_SCRIPTS = {
    "functional": "gen_vmap_plumbing",
    "inplace": "gen_vmap_inplace_plumbing",
    "no_returns": "gen_vmap_plumbing_no_returns",
}

Form = Literal["functional", "inplace", "no_returns"]
Kind = Literal["tensor", "optional", "list", "other"]


def plumbing(function: NativeFunction, signature: Signature, release: Release) -> str | None:
    """The function that vmap calls; None if there is none."""
    text, schema = TEXT.of(release), function.func
    form = _form(schema, "inplace_view" in function.tags, release)
    batched = [a.name for a in schema.arguments if is_tensor_like(a.type)]  # and lists and optionals of tensors
    if form is None or not batched:
        return None
    kinds = [(a.name, _kind(a.type)) for a in schema.arguments]
    unwraps = [  # those of optional tensors come last
        text[f"unwrap_{kind}"].fill({"name": name})
        for kind in ("tensor", "optional")
        for name, own in kinds
        if own == kind
    ]
    return text["plumbing"].fill(
        {
            "returns": signature.returns,
            "struct": signature.struct,
            "parameters": [f"{p.type} {p.name}" for p in signature.parameters],
            "arguments": [p.name for p in signature.parameters],
            "rule": _SCRIPTS[form],
            "unbatched": " && ".join([f"!isBatchedAtLevel({name}, cur_level)" for name in batched]),
            "unwraps": unwraps,
            "call": _call(form, kinds, schema),
        }
    )


def _form(schema: Schema, inplace_view: bool, release: Release) -> Form | None:
    if not schema.returns:
        return "no_returns"
    tensors = all(is_tensor_like(r.type) for r in schema.returns)
    if inplace_view or not (tensors or unambiguous_name(schema.name) in release.vmap_other_returns):
        return None
    if schema_kind(schema) == "functional":
        return "functional"
    return "inplace" if schema_kind(schema) == "inplace" and _writes_first_only(schema) else None


def _writes_first_only(schema: Schema) -> bool:
    """Whether an in-place function writes to its first argument alone. What it returns is a tensor, then."""
    writes = [a.is_write for a in schema.arguments]
    return writes[0] and writes.count(True) == 1


def _kind(type_: str) -> Kind:
    if type_ == "Tensor":
        return "tensor"
    if element(type_) == "Tensor":
        return "list" if is_list(type_) else "optional"
    return "other"


def _call(form: Form, kinds: list[tuple[str, Kind]], schema: Schema) -> list[str]:
    """The call of the batching rule, and what the function returns."""
    own = [f"{name}_value, {name}_bdim" if kind in ("tensor", "optional") else name for name, kind in kinds]
    call = f"batch_rule({', '.join(own)});"
    if form == "functional":
        return [f"auto results = {call}", _returned(_kind(r.type) for r in schema.returns)]
    return [call, f"return {kinds[0][0]};"] if form == "inplace" else [call]


def _returned(returns: Iterable[Kind]) -> str:
    results, at = [], 0
    for kind in returns:
        if kind in ("tensor", "list"):
            make = "makeBatched" if kind == "tensor" else "makeBatchedVector"
            results.append(f"{make}(std::get<{at}>(results), std::get<{at + 1}>(results), cur_level)")
            at += 2
        else:
            results.append(f"std::get<{at}>(results)")
            at += 1
    return f"return {results[0]};" if len(results) == 1 else f"return std::make_tuple({', '.join(results)});"
