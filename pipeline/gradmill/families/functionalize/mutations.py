"""Renders a kernel that functionalizes a function that writes to its arguments.

torchgen: `gen_functionalization_type.emit_inplace_functionalization_body`,
`gen_functionalization_type.wrap_propagate_mutations_and_return`,
`gen_functionalization_type.maybe_replace_cumulative_out_dtype_exprs`.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import Parameter, goals, parameters
from gradmill.cpp.results import aliased_arguments, fresh_results, result_type, return_statement
from gradmill.cpp.translate import translate
from gradmill.families.functionalize.wrapping import META, TEXT, UNWRAPPED, in_kernel, scope
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, is_tensor_like, schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_OUTPUT = "tmp_output"


def mutation(function: NativeFunction, functional: NativeFunction, release: Release) -> str:
    """The kernel of an out, in-place or mutable variant. Raises SpecError for one that does not fit the functional
    variant."""
    schema, how, text = function.func, passing_of(function, release, symint=True), TEXT.of(release)
    own_kernel = in_kernel(function, release, syncs=True)
    tensors = [a for a in schema.arguments if is_tensor_like(a.type)]
    unwrapped = scope(function, release, UNWRAPPED)
    wanted = parameters(functional.func, how)
    written = [a.name for a in schema.arguments if a.is_write]
    aliased = [name for name in aliased_arguments(schema) if name is not None]
    own, made = fresh_results(schema, _OUTPUT), fresh_results(functional.func, _OUTPUT)
    if len(written) + len(own) != len(made):
        problem = f"'{functional.func.name}' returns {len(made)} values; {len(written) + len(own)} are needed"
        raise SpecError(problem, f"'{schema.name}' returns some, and others are written to", field=("func",))
    updates = [text["fresh"].fill({"number": i, "result": result}) for i, result in enumerate(made[: len(own)])]
    updates += [
        text["written"].fill({"argument": argument, "result": result})
        for argument, result in zip(written, made[len(own) :])
    ]
    runs_on_meta = schema_kind(schema) == "inplace" and all(a.type != "Storage" for a in schema.arguments)
    others = [a for a in tensors if a.annotation is None]
    on_xla = [f"{a.name}.device().type() == c10::DeviceType::XLA" for a in others if a.type == "Tensor"]
    return text["mutation"].fill(
        {
            **own_kernel,
            "runs_on_meta": str(runs_on_meta).lower(),
            "meta_arguments": ", ".join(value.text for value in scope(function, release, META)),
            "all_functional": " && ".join(("true", *_are_functional(a for a in tensors if a.annotation is not None))),
            "any_functional": " || ".join(("false", *_are_functional(others))),
            "any_xla": " || ".join(("false", *on_xla)),
            "struct": unambiguous_name(schema.name),
            "arguments": ", ".join(translate(unwrapped, goals(parameters(schema, how)))),
            "assigned": f"{result_type(schema, release)} {_OUTPUT} = " if schema.returns else "",
            "returned": return_statement(function, [*aliased, *own], release),
            "functional": unambiguous_name(functional.func.name),
            "functional_arguments": ", ".join(
                _with_dtype(function, wanted, translate(unwrapped, goals(wanted)), release)
            ),
            "functional_result": result_type(functional.func, release),
            "functional_returned": return_statement(
                function, [*aliased, *(f"output_{i}" for i in range(len(own)))], release
            ),
            "updates": "\n".join(updates),
        }
    )


def _are_functional(tensors: Iterable[Argument]) -> list[str]:
    return [f"at::functionalization::impl::isFunctionalTensor({a.name})" for a in tensors]


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
