"""The functions that upstream generates: functional and out variants missing from native_functions.yaml.

torchgen: `native_function_generation.generate_function`, `native_function_generation.self_to_out_signature`,
`native_function_generation.functional_to_out_signature`, `native_function_generation.mutable_to_out_signature`,
`native_function_generation.get_expected_out_variant_overload_name`.
"""

from __future__ import annotations

from msgspec.structs import replace

from gradmill.cpp.bindings import cpp_name
from gradmill.grammar.names import out_overload, unambiguous_name, with_overload
from gradmill.grammar.signature import signature_inputs, signature_returns
from gradmill.model.native import Kernel, NativeFunction
from gradmill.model.schema import Argument, OperatorName, Return, Schema, has_symint, is_tensor_like, schema_kind
from gradmill.problems.problem import SpecError, nearest
from gradmill.rules.native.dispatch import EXPLICIT

_ANNOTATED = ("Tensor", "Tensor?", "Tensor[]")  # the types that upstream prints with an annotation
_LETTERS = "abcdefghijklmnopqrstuvwxyz"  # of annotations

# The tags that a generated function inherits from its base.
INHERITED_TAGS = frozenset(("nondeterministic_seeded", "view_copy", "pt2_compliant_tag"))


def generate_out(function: NativeFunction, automatic_tags: tuple[str, ...]) -> NativeFunction:
    """The out variant of an in-place, mutable or functional op. Raises a SpecError if upstream cannot generate it."""
    schema = function.func
    name, own = with_overload(schema.name, out_overload(schema.name.overload)), schema.self_argument
    if schema.name.inplace and own is not None:
        positional = tuple(_bare(a) if i == schema.self_index else a for i, a in enumerate(schema.positional))
        out = replace(schema, name=name, positional=positional, out=(replace(own, name="out", default=None),))
        return _generated(function, out, automatic_tags)
    returns, written = _out_arguments(schema)
    out = replace(schema, name=name, out=written, returns=returns)
    if schema_kind(schema) == "functional":
        bare, bare_by_name = (tuple(map(_bare, arguments)) for arguments in signature_inputs(schema))
        out = replace(out, positional=bare, kwarg_only=bare_by_name, options_index=None)
    return _generated(function, out, automatic_tags)


def generate_functional(function: NativeFunction, automatic_tags: tuple[str, ...]) -> NativeFunction:
    """The functional variant of an op: it returns the values that the op writes to its arguments."""
    schema = function.func
    positional, kwarg_only = signature_inputs(schema)
    mutable = schema_kind(schema) == "mutable"
    functional = Schema(
        OperatorName(schema.name.base, schema.name.overload, dunder=schema.name.dunder, functional=mutable),
        tuple(map(_bare, positional)),
        tuple(map(_bare, kwarg_only)),
        returns=signature_returns(schema),
        self_index=schema.self_index,
    )
    return _generated(function, functional, automatic_tags)


def odd_autogen(function: NativeFunction) -> list[SpecError]:
    """Errors for names in `autogen` that do not name a variant: upstream only checks whether one contains "out"."""
    if not function.autogen:
        return []
    name, kind = function.func.name, schema_kind(function.func)
    functional = OperatorName(name.base, name.overload, dunder=name.dunder, functional=kind == "mutable")
    variants = [str(with_overload(name, out_overload(name.overload)))] if kind != "out" else []
    variants += [str(functional)] if kind != "functional" else []
    errors = []
    for requested in function.autogen:
        if requested not in variants:
            hint = nearest(requested, variants) or f"its variants are {' and '.join(variants)}"
            if " " in requested:
                hint = "write a comma and a space between two names"
            problem = f"no variant of '{name}' is called '{requested}'"
            errors.append(SpecError(problem, hint, field=("autogen",), needle=requested, rule="unknown-variant"))
    return errors


def _out_arguments(schema: Schema) -> tuple[tuple[Return, ...], tuple[Argument, ...]]:
    """The returns of the out variant, and its out arguments, one for each tensor among the returns."""
    # Upstream's search for a letter goes on where the one before ended: it may take a letter that an argument has.
    used = iter("".join(a.annotation.partition(" ")[0] for a in schema.arguments if a.annotation is not None))
    free = [letter for letter in _LETTERS if letter not in used]
    only_tensors = all(r.type == "Tensor" for r in schema.returns)
    returns: list[Return] = []
    out: list[Argument] = []
    for i, returned in enumerate(schema.returns):
        if not is_tensor_like(returned.type):
            returns.append(returned)
            continue
        if returned.type not in _ANNOTATED:
            problem = f"the out variant would have an out argument of type '{returned.type}', which cannot be annotated"
            raise SpecError(problem, f"return {' or '.join(_ANNOTATED)}, or drop the autogen")
        if i >= len(free):
            raise SpecError("more tensors are returned than there are letters for alias annotations")
        annotation = f"{free[i]}!"
        out.append(Argument("out" if len(schema.returns) == 1 else f"out{i}", returned.type, None, annotation))
        if only_tensors:
            returns.append(Return(returned.type, None, annotation))
    return tuple(returns), tuple(out)


def _bare(argument: Argument) -> Argument:
    return argument if argument.annotation is None else replace(argument, annotation=None)


def _generated(function: NativeFunction, schema: Schema, automatic_tags: tuple[str, ...]) -> NativeFunction:
    tags = {"generated"} | INHERITED_TAGS.intersection(function.tags)
    if schema.out and "out" in automatic_tags:
        tags.add("out")
    kernel = unambiguous_name(schema.name) if schema.out else cpp_name(schema)
    if has_symint(function.func):
        kernel += "_symint"
    return NativeFunction(
        schema,
        function.namespace,
        dispatch={EXPLICIT: Kernel(kernel)},
        tags=tuple(sorted(tags)),
        use_const_ref_for_mutable_tensors=function.use_const_ref_for_mutable_tensors,
        device_guard=False,
        device_check="NoCheck",
        is_abstract=function.is_abstract,
        generated_from=str(function.func),
    )
