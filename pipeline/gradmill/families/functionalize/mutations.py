"""The plan of a kernel that functionalizes a function that writes to its arguments.

torchgen: `gen_functionalization_type.emit_inplace_functionalization_body`,
`gen_functionalization_type.wrap_propagate_mutations_and_return`,
`gen_functionalization_type.maybe_replace_cumulative_out_dtype_exprs`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import Parameter, goals, parameters
from gradmill.cpp.results import aliased_arguments, fresh_results, result_type, return_statement
from gradmill.cpp.translate import translate
from gradmill.families.functionalize.wrapping import META, UNWRAPPED, KernelSignature, kernel_of, scope
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.model.schema import is_tensor_like, schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_OUTPUT = "tmp_output"


class Mutation(Struct, frozen=True, gc=False, array_like=True):
    """The kernel of a function that writes to its arguments."""

    kernel: KernelSignature
    runs_on_meta: bool  # whether it runs the function on meta tensors first, which checks shapes
    meta_arguments: str
    mutated: tuple[str, ...]  # arguments with tensors that may be written to,
    others: tuple[str, ...]  # those that are not,
    tensors: tuple[str, ...]  # and of these the single tensors
    struct: str
    arguments: str
    result: str  # the type of its results; "" if it returns nothing
    returned: str  # the statement that returns if no argument is functionalized
    functional: str  # the struct of the functional variant
    functional_arguments: str
    functional_result: str
    fresh: tuple[str, ...]  # results of the functional variant that are returned
    written: tuple[tuple[str, str], ...]  # arguments, and the results that are written to them
    functional_returned: str


def mutation(function: NativeFunction, functional: NativeFunction, release: Release) -> Mutation:
    """The kernel of an out, in-place or mutable variant. Raises SpecError for one that does not fit the functional
    variant."""
    schema, how = function.func, passing_of(function, release, symint=True)
    kernel, tensors = kernel_of(function, release), [a for a in schema.arguments if is_tensor_like(a.type)]
    unwrapped = scope(kernel, UNWRAPPED)
    wanted = parameters(functional.func, how)
    written = tuple(a.name for a in schema.arguments if a.is_write)
    aliased = [name for name in aliased_arguments(schema) if name is not None]
    own, made = fresh_results(schema, _OUTPUT), fresh_results(functional.func, _OUTPUT)
    if len(written) + len(own) != len(made):
        problem = f"'{functional.func.name}' returns {len(made)} values; {len(written) + len(own)} are needed"
        raise SpecError(problem, f"'{schema.name}' returns some, and others are written to", field=("func",))
    return Mutation(
        kernel=kernel,
        runs_on_meta=schema_kind(schema) == "inplace" and all(a.type != "Storage" for a in schema.arguments),
        meta_arguments=", ".join(value.text for value in scope(kernel, META)),
        mutated=tuple(a.name for a in tensors if a.annotation is not None),
        others=tuple(a.name for a in tensors if a.annotation is None),
        tensors=tuple(a.name for a in tensors if a.annotation is None and a.type == "Tensor"),
        struct=unambiguous_name(schema.name),
        arguments=", ".join(translate(unwrapped, goals(kernel.parameters))),
        result=result_type(schema, release) if schema.returns else "",
        returned=return_statement(function, [*aliased, *own], release),
        functional=unambiguous_name(functional.func.name),
        functional_arguments=", ".join(_with_dtype(function, wanted, translate(unwrapped, goals(wanted)), release)),
        functional_result=result_type(functional.func, release),
        fresh=tuple(made[: len(own)]),
        written=tuple(zip(written, made[len(own) :])),
        functional_returned=return_statement(function, [*aliased, *(f"output_{i}" for i in range(len(own)))], release),
    )


def _with_dtype(
    function: NativeFunction, wanted: tuple[Parameter, ...], arguments: list[str], release: Release
) -> list[str]:
    """The arguments of the functional variant. Some functions compute in the dtype of `out` if none is given."""
    if str(function.func.name) not in release.keeping_out_dtype:
        return arguments
    names = [p.name for p in wanted]
    if "dtype" not in names or len(function.func.out) != 1:
        raise SpecError(f"'{function.func.name}' needs an argument 'dtype' and one out argument", field=("func",))
    at, out = names.index("dtype"), f"{function.func.out[0].name}{UNWRAPPED}"
    own = f"{arguments[at]}.has_value() ? {arguments[at]} : std::optional<at::ScalarType>({out}.scalar_type())"
    return [*arguments[:at], own, *arguments[at + 1 :]]
