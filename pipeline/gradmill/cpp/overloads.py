"""The C++ overloads of operators, as formulas call them: functions in `at` and methods of tensors."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gradmill.cpp.bindings import cpp_name
from gradmill.cpp.conversions import members, of_returns, of_schema
from gradmill.cpp.declared import DeclaredOverload
from gradmill.model.native import NativeFunction
from gradmill.model.schema import has_symint

SYMINT = "_symint"  # suffix of an operator's overload for symbolic sizes

# For these names some release from 2.4 to 2.15 has more methods or functions in ATen than in the schemas.
OTHER_METHODS = frozenset(
    """
    conj contiguous copy_ data detach dim div_ empty fill_ get_device index index_put_ is_complex is_conj is_contiguous
    is_floating_point is_inference is_leaf is_neg is_signed item max neg numel output_nr rand requires_grad_
    retain_grad retains_grad select set_data size std storage_offset stride sym_is_contiguous sym_numel sym_size
    sym_storage_offset sym_stride to var zero_
    """.split()
)
OTHER_FUNCTIONS = frozenset(
    """
    abs acos acosh asin asinh atan atanh bernoulli conj copysign cos cosh exp expm1 get_device imag is_complex is_conj
    is_floating_point is_inference is_neg is_signed isnan log log10 log1p log2 norm normal numel polar pow real sin
    sinh size split sqrt std std_mean stride tan tanh var var_mean
    """.split()
)

_MANY = 32  # more arguments than any function has


class Called(Struct, frozen=True, array_like=True):
    """The overloads of one C++ name, as functions and as methods; None if not all of them are known."""

    functions: list[DeclaredOverload] | None
    methods: list[DeclaredOverload] | None


def calls_of(functions: Iterable[NativeFunction], others: Iterable[str]) -> dict[str, Called]:
    """The overloads of operators by C++ name, sorted. `others` are further names without known overloads."""
    overloads: dict[str, tuple[list[DeclaredOverload], list[DeclaredOverload]]] = {}
    odd = set(others)  # names with unknown overloads
    for native in functions:
        name = native.func.name
        if native.func.out or native.manual_cpp_binding or native.namespace != "aten" or name.base[:9] == "_foreach_":
            odd.add(cpp_name(native.func))
        else:
            _add(overloads, native)
    return {
        name: Called(
            None if name in odd else _unlisted(overloads[name][0], name in OTHER_FUNCTIONS),
            None if name in odd else _unlisted(overloads[name][1], name in OTHER_METHODS),
        )
        for name in sorted({*overloads, *odd})
    }


def _unlisted(overloads: list[DeclaredOverload], has_more: bool) -> list[DeclaredOverload] | None:
    """The overloads of a name. If it has more in ATen than known: one that takes any arguments, if all that are known
    return the same tuple, else None."""
    if not has_more:
        return overloads
    returned = {overload.returns for overload in overloads}
    same = returned.pop() if len(returned) == 1 else ""
    return [DeclaredOverload(0, ("",) * _MANY, same)] if members(same) is not None else None


def _add(overloads: dict[str, tuple[list[DeclaredOverload], list[DeclaredOverload]]], native: NativeFunction) -> None:
    """Adds the overloads of an operator under its C++ name, and under its SymInt name if it takes SymInt."""
    schema = native.func
    arguments = schema.positional + schema.kwarg_only
    returns = of_returns([each.type for each in schema.returns])
    view = bool(schema.returns) and schema.returns[0].annotation is not None and not schema.returns[0].is_write
    least = 0  # number of arguments up to the last required one
    for i, argument in enumerate(arguments, 1):
        if argument.default is None or argument.name in native.cpp_no_default_args:
            least = i
    symbolic = [of_schema(argument.type) for argument in arguments]
    name = cpp_name(schema)
    names = [(name, symbolic)]
    if has_symint(schema):
        names = [(f"{name}{SYMINT}", symbolic), (name, [of_schema(a.type, symint=False) for a in arguments])]
    for called, types in names:
        ways = [(least, types)]
        if schema.options_index is not None:
            # ATen has one overload with TensorOptions, and one with each option as an argument without a default.
            at = len(schema.positional) + schema.options_index
            one = [*types[:at], "TensorOptions", *types[at + 4 :]]
            ways = [(least if least <= at else max(least - 3, at), one), (len(types), types)]
        functions, methods = overloads.setdefault(called, ([], []))
        if "function" in native.variants:
            functions.extend(DeclaredOverload(count, tuple(each), returns, view) for count, each in ways)
        if "method" in native.variants and schema.self_index is not None:
            own = schema.self_index
            for count, each in ways:
                methods.append(DeclaredOverload(max(count - 1, 0), (*each[:own], *each[own + 1 :]), returns, view))
