"""Signatures: the one schema that the in-place, out, mutable and functional variants of an operator share.

A signature is text. Compared with the schema it drops the overload, the in-place mark, alias annotations, out
arguments, TensorOptions and return names, and turns arguments that are written to, but not returned, into returns.

torchgen: `model.FunctionSchema.signature`.
"""

from __future__ import annotations

from gradmill.model.schema import Argument, OperatorName, Return, Schema, returns_text

# Its in-place variant has a default, the functional one has none (upstream's Note [bernoulli.p schema]).
_BERNOULLI_P = OperatorName("bernoulli", "p")


def signatures(schema: Schema) -> tuple[str, str]:
    """The signature with defaults and the signature without them."""
    positional, kwarg_only = signature_inputs(schema)
    inputs = positional + kwarg_only
    plain = [f"{a.type} {a.name}" for a in inputs]
    full = [f"{text}={a.default}" if a.default else text for text, a in zip(plain, inputs)]
    if kwarg_only:
        plain.insert(len(positional), "*")
        full.insert(len(positional), "*")
    name = f"__{schema.name.base}__" if schema.name.dunder else schema.name.base
    returns = returns_text([r.type for r in schema.returns] + [a.type for a in _unreturned(schema)])
    texts = f"{name}({', '.join(full)}) -> {returns}", f"{name}({', '.join(plain)}) -> {returns}"
    if schema.name == _BERNOULLI_P:
        return texts[0].replace("float p", "float p=0.5"), texts[1].replace("float p", "float p=0.5")
    return texts


def signature_inputs(schema: Schema) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """The positional and keyword-only arguments that a signature keeps."""
    at = schema.options_index
    if at is None:
        return schema.positional, schema.kwarg_only
    return schema.positional, schema.kwarg_only[:at] + schema.kwarg_only[at + 4 :]


def signature_returns(schema: Schema) -> tuple[Return, ...]:
    """The returns of the schema, then a return for every argument that it writes to and does not return."""
    kept = tuple(Return(r.type, r.name) for r in schema.returns)
    return kept + tuple(Return(a.type, f"{a.name}_out") for a in _unreturned(schema))


def _unreturned(schema: Schema) -> list[Argument]:
    """The arguments that are written to and not returned: self, the out arguments, the others."""
    own = (schema.self_argument,) if schema.self_argument is not None else ()
    returned = {None, *(r.annotation for r in schema.returns)}
    return [a for a in own + schema.out + schema.after_self if a.annotation not in returned and a.is_write]


def view_signature(base: str, signature: str) -> str:
    """The signature that a view, its in-place variant and its `_copy` or `_scatter` share.

    `base` is the base name of the operator; `signature` may have it after a namespace, and within double underscores.
    """
    if base.endswith("_copy"):
        shared = base.replace("_copy", "")
    elif base.endswith("_scatter"):
        shared = base.replace("scatter", "inverse")
    else:
        return signature
    at = signature.index(base, signature.find("::", 0, signature.index("(")) + 1)
    return signature[:at] + shared + signature[at + len(base) :]
