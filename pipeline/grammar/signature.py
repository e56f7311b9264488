"""Signatures: the one schema that the in-place, out, mutable and functional variants of an operator share.

A signature is text. Compared with the schema it drops the overload, the in-place mark, alias annotations, out
arguments, TensorOptions and return names, and turns arguments that are written to, but not returned, into returns.
Rules: torchgen.model, FunctionSchema.signature.
"""

from __future__ import annotations

from pipeline.model.schema import Argument, OperatorName, Return, Schema, returns_text

# Its in-place variant has the default and the functional one has not (upstream's Note [bernoulli.p schema]).
_BERNOULLI_P = "bernoulli.p"


def signatures(schema: Schema) -> tuple[str, str]:
    """The signature with defaults and the signature without them."""
    positional, kwarg_only = signature_inputs(schema)
    name = OperatorName(schema.name.base, dunder=schema.name.dunder).unqualified
    returns = returns_text([r.type for r in signature_returns(schema)])
    full = [_stripped(a, default=True) for a in positional], [_stripped(a, default=True) for a in kwarg_only]
    plain = [_stripped(a, default=False) for a in positional], [_stripped(a, default=False) for a in kwarg_only]
    bernoulli = str(schema.name) == _BERNOULLI_P
    return _text(name, *full, returns, bernoulli), _text(name, *plain, returns, bernoulli)


def signature_inputs(schema: Schema) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """The positional and keyword-only arguments that a signature keeps."""
    at = schema.options_index
    if at is None:
        return schema.positional, schema.kwarg_only
    return schema.positional, schema.kwarg_only[:at] + schema.kwarg_only[at + 4 :]


def signature_returns(schema: Schema, *, keep_names: bool = False) -> tuple[Return, ...]:
    """The returns of the schema, then a return for every written argument that it does not return."""
    kept = tuple(Return(r.type, r.name if keep_names else None) for r in schema.returns)
    own = (schema.self_argument,) if schema.self_argument is not None else ()
    added = tuple(
        Return(a.type, f"{a.name}_out" if keep_names else None)
        for a in own + schema.out + schema.after_self
        if a.is_write and not any(a.annotation == r.annotation for r in schema.returns)
    )
    return kept + added


def view_signature(schema_name: str, signature: str) -> str:
    """The signature under which a view, its in-place variant and its `_copy` or `_scatter` meet.

    `schema_name` is the base name that `signature` starts with.
    """
    if schema_name.endswith("_copy"):
        return schema_name.replace("_copy", "") + signature[len(schema_name) :]
    if schema_name.endswith("_scatter"):
        return schema_name.replace("scatter", "inverse") + signature[len(schema_name) :]
    return signature


def _stripped(argument: Argument, *, default: bool) -> str:
    if default and argument.default:
        return f"{argument.type} {argument.name}={argument.default}"
    return f"{argument.type} {argument.name}"


def _text(name: str, positional: list[str], kwarg_only: list[str], returns: str, bernoulli: bool) -> str:
    arguments = ", ".join(positional + (["*", *kwarg_only] if kwarg_only else []))
    if bernoulli:
        arguments = arguments.replace("float p", "float p=0.5")
    return f"{name}({arguments}) -> {returns}"
