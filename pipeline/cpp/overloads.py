"""The ways to call an operator in C++, as formulas do: as a function of `at`, as a method of a tensor."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pipeline.cpp.bindings import cpp_name
from pipeline.cpp.conversions import of_schema
from pipeline.cpp.declared import Overload
from pipeline.model.native import NativeFunction
from pipeline.model.schema import has_symint

SYMINT = "_symint"  # behind the name of an operator: its overload for symbolic sizes

# ATen has more functions and methods of these names than the schemas say, in some release from 2.4 to 2.15.
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


class Called(Struct, frozen=True, array_like=True):
    """All operators of one C++ name. None where there are other ways to call it than schemas say."""

    functions: list[Overload] | None
    methods: list[Overload] | None


def calls_of(functions: Iterable[NativeFunction], others: Iterable[str]) -> dict[str, Called]:
    """The operators by what they are called in C++, sorted. `others` are names that nothing more is asked of."""
    found: dict[str, tuple[list[Overload], list[Overload]]] = {}
    odd = set(others)  # of these not all overloads are known
    for native in functions:
        name = native.func.name
        if native.func.out or native.manual_cpp_binding or native.namespace != "aten" or name.base[:9] == "_foreach_":
            odd.add(cpp_name(native.func))
        else:
            _add(found, native)
    return {
        name: Called(
            None if name in odd or name in OTHER_FUNCTIONS else found[name][0],
            None if name in odd or name in OTHER_METHODS else found[name][1],
        )
        for name in sorted({*found, *odd})
    }


def _add(found: dict[str, tuple[list[Overload], list[Overload]]], native: NativeFunction) -> None:
    """Adds the overloads of an operator, under the one or two names that it has."""
    schema = native.func
    arguments = schema.positional + schema.kwarg_only
    returns = of_schema(schema.returns[0].type) if len(schema.returns) == 1 else ""
    view = bool(schema.returns) and schema.returns[0].annotation is not None and not schema.returns[0].is_write
    least = 0  # all up to the last one that is needed
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
            # Next to the options as one there is an overload without defaults that takes each.
            at = len(schema.positional) + schema.options_index
            one = [*types[:at], "TensorOptions", *types[at + 4 :]]
            ways = [(least if least <= at else max(least - 3, at), one), (len(types), types)]
        functions, methods = found.setdefault(called, ([], []))
        if "function" in native.variants:
            functions.extend(Overload(count, tuple(each), returns, view) for count, each in ways)
        if "method" in native.variants and schema.self_index is not None:
            own = schema.self_index
            for count, each in ways:
                methods.append(Overload(max(count - 1, 0), (*each[:own], *each[own + 1 :]), returns, view))
