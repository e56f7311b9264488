"""How a kernel calls the kernel below: unpacked arguments, guard, function, results.

Debug builds also check that the call replaces no tensor or storage of its arguments and returns new ones.

torchgen: `gen_variable_type.emit_call`, `gen_variable_type.wrap_output`, `gen_variable_type.emit_dispatch_call`,
`gen_variable_type.check_tensorimpl_and_storage`.
"""

from msgspec import Struct

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import return_type
from gradmill.cpp.types import ITENSOR_LIST, TENSOR, TENSOR_LIST, argument_type, optional, return_value_type
from gradmill.families.variable_type.plan.subject import Subject
from gradmill.model.schema import Argument, has_symint, is_list, is_tensor_like
from gradmill.problems.problem import SpecError

# C++ type of an argument -> the kind of its checks.
_CHECKED = {
    TENSOR: "tensor",
    TENSOR_LIST: "list",
    ITENSOR_LIST: "list",
    f"c10::List<{optional(TENSOR)}>": "optional_list",
}


class Unpacked(Struct, frozen=True, gc=False, array_like=True):
    """An argument that is a tensor, or a list of them."""

    name: str
    position: int
    is_list: bool


class Decomposition(Struct, frozen=True, gc=False, array_like=True):
    """The decomposition that runs in place of the call if an input has a tangent and no forward formula exists."""

    condition: str
    operator: str
    overload: str
    returns: str
    arguments: tuple[str, ...]


class Result(Struct, frozen=True, gc=False, array_like=True):
    """The checks of a returned tensor."""

    name: str
    aliased: str  # the argument whose storage it shares, "" for none
    own_storage: bool
    own_tensor: bool


class KernelCall(Struct, frozen=True, gc=False, array_like=True):
    """The call of the kernel below."""

    function: str
    arguments: tuple[str, ...]
    below_autograd: bool  # else below ADInplaceOrView, too
    results: tuple[str, ...]  # names; none if arguments are written to, or nothing is returned
    moves: bool  # whether results are moved
    decomposition: Decomposition | None
    checked: tuple[tuple[str, str], ...]  # arguments, and the kind of their checks
    returned: tuple[Result, ...]
    kernel: str  # the name of the calling kernel, for messages


def unpacked(subject: Subject) -> tuple[Unpacked, ...]:
    """The arguments that the kernel unpacks."""
    arguments = enumerate(subject.function.func.arguments)
    return tuple(Unpacked(a.name, i, is_list(a.type)) for i, a in arguments if _is_unpacked(a))


def _is_unpacked(argument: Argument) -> bool:
    return is_tensor_like(argument.type) and "?" not in argument.type


def call(subject: Subject, decomposed_if: str) -> KernelCall:
    """The plan of the call. `decomposed_if`: the condition under which a decomposition runs instead; "": never."""
    schema = subject.function.func
    assigned = not subject.modifies and bool(schema.returns)
    symint, faithful = "_symint" if has_symint(schema) else "", "_outf" if schema.out else ""
    exempt = subject.name in subject.release.dont_enforce_same_tensor_impl_or_storage
    checked, returned = ((), ()) if exempt else (_checked(subject), _returned(subject))
    return KernelCall(
        function=f"at::redispatch::{schema.name.unqualified}{symint}{faithful}",
        arguments=tuple(_passed(a) for a in schema.arguments),
        below_autograd=subject.is_view or subject.modifies,
        results=_tied(subject) if assigned else (),
        moves=any(is_tensor_like(r.type) for r in schema.returns),
        decomposition=_decomposition(subject, decomposed_if) if decomposed_if else None,
        checked=checked,
        returned=returned if checked else (),
        kernel=subject.wrapper,
    )


def _passed(argument: Argument) -> str:
    return f"{argument.name}_" if _is_unpacked(argument) else argument.name


def _tied(subject: Subject) -> tuple[str, ...]:
    """The names of results. A single result may have the name of an argument: upstream does not check this."""
    returns = subject.function.func.returns
    return (returns[0].name or "result",) if len(returns) == 1 else subject.returns


def _decomposition(subject: Subject, condition: str) -> Decomposition:
    schema = subject.function.func
    types = [return_type(r, subject.function, subject.release) for r in schema.returns]
    joined = ", ".join(types)
    return Decomposition(
        condition=condition,
        operator=subject.name,
        overload=schema.name.overload,
        returns=joined if len(types) == 1 else f"std::tuple<{joined}>",
        arguments=tuple(a.name for a in schema.arguments),
    )


def _checked(subject: Subject) -> tuple[tuple[str, str], ...]:
    how = passing_of(subject.function, subject.release, symint=True)
    checks = []
    for argument in subject.function.func.arguments:
        if is_tensor_like(argument.type):
            kind = _CHECKED.get(argument_type(argument.type, how, mutable=argument.is_write).value)
            if kind is not None:
                checks.append((_passed(argument), kind))
    return tuple(checks)


def _returned(subject: Subject) -> tuple[Result, ...]:
    if subject.modifies:
        return ()
    release, wrapper = subject.release, subject.wrapper
    aliased = release.aliased(subject.base)
    results = []
    for i, (name, returned) in enumerate(zip(subject.returns, subject.function.func.returns)):
        if return_value_type(returned.type, release.base_types, mutable=returned.is_write) != TENSOR:
            continue
        if aliased is not None and i:
            raise SpecError(
                f"view op '{subject.name}' returns several values", "a view op returns one tensor or a list"
            )
        results.append(
            Result(
                name,
                f"{aliased}_" if aliased is not None else "",
                aliased is None and wrapper not in release.dont_enforce_storage_impl_use_count,
                wrapper not in release.dont_enforce_tensor_impl_use_count,
            )
        )
    return tuple(results)
