"""How a kernel calls the one below: unpacked arguments, the guard, what is called, where results go; and the checks,
of debug builds only, that the call exchanges no tensor or storage of its arguments and returns new ones."""

from msgspec import Struct

from pipeline.cpp.bindings import passing_of
from pipeline.cpp.dispatcher import return_type
from pipeline.cpp.types import ITENSOR_LIST, TENSOR, TENSOR_LIST, argument_type, optional, return_value_type
from pipeline.families.variable_type.plan.subject import Subject
from pipeline.model.schema import Argument, has_symint, is_list, is_tensor_like
from pipeline.problems.problem import SpecError

# C++ types of arguments to the kind of their checks.
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
    as_it_is: bool = False  # a null is not refused


class Decomposition(Struct, frozen=True, gc=False, array_like=True):
    """What is run in place of the call when an input has a tangent and there is no forward formula."""

    condition: str
    operator: str
    overload: str
    returns: str
    arguments: tuple[str, ...]


class Result(Struct, frozen=True, gc=False, array_like=True):
    """A returned tensor, as it is checked."""

    name: str
    aliased: str  # the argument whose storage it shares, "" for none
    own_storage: bool
    own_tensor: bool


class Call(Struct, frozen=True, gc=False, array_like=True):
    """The call below."""

    function: str
    arguments: tuple[str, ...]
    below_autograd: bool  # else below ADInplaceOrView: what it has to do is still to be done
    results: tuple[str, ...]  # names; none where arguments are written to, or nothing is returned
    moves: bool  # whether results are moved
    decomposition: Decomposition | None
    checked: tuple[tuple[str, str], ...]  # arguments, and the kind of their checks
    returned: tuple[Result, ...]
    kernel: str  # its name, for messages


def unpacked(subject: Subject) -> tuple[Unpacked, ...]:
    """The arguments that are unpacked."""
    found = enumerate(subject.function.func.arguments)
    as_it_is = str(subject.function.func.name) in subject.release.not_unpacked
    return tuple(Unpacked(a.name, i, is_list(a.type), as_it_is) for i, a in found if _is_unpacked(a))


def _is_unpacked(argument: Argument) -> bool:
    return is_tensor_like(argument.type) and "?" not in argument.type


def call(subject: Subject, decomposed_if: str) -> Call:
    """The plan of the call. `decomposed_if` says that inputs have tangents, "" where they are seen to otherwise."""
    schema = subject.function.func
    assigned = not subject.modifies and bool(schema.returns)
    symint, faithful = "_symint" if has_symint(schema) else "", "_outf" if schema.out else ""
    exempt = subject.name in subject.release.replacing_tensors
    checked, returned = ((), ()) if exempt else (_checked(subject), _returned(subject))
    return Call(
        f"{schema.name.unqualified}{symint}{faithful}",
        tuple(_passed(a) for a in schema.arguments),
        subject.is_view or subject.modifies,
        _tied(subject) if assigned else (),
        any(is_tensor_like(r.type) for r in schema.returns),
        _decomposition(subject, decomposed_if) if decomposed_if else None,
        checked,
        returned if checked else (),
        subject.wrapper,
    )


def _passed(argument: Argument) -> str:
    return f"{argument.name}_" if _is_unpacked(argument) else argument.name


def _tied(subject: Subject) -> tuple[str, ...]:
    """The names of results. That of a single one may be an argument's: upstream does not look."""
    returns = subject.function.func.returns
    return (returns[0].name or "result",) if len(returns) == 1 else subject.returns


def _decomposition(subject: Subject, condition: str) -> Decomposition:
    schema = subject.function.func
    types = [return_type(r, subject.function, subject.release) for r in schema.returns]
    joined = ", ".join(types)
    return Decomposition(
        condition,
        subject.name,
        schema.name.overload,
        joined if len(types) == 1 else f"std::tuple<{joined}>",
        tuple(a.name for a in schema.arguments),
    )


def _checked(subject: Subject) -> tuple[tuple[str, str], ...]:
    how = passing_of(subject.function, subject.release, symint=True)
    found = []
    for argument in subject.function.func.arguments:
        if is_tensor_like(argument.type):
            kind = _CHECKED.get(argument_type(argument.type, how, mutable=argument.is_write).value)
            if kind is not None:
                found.append((_passed(argument), kind))
    return tuple(found)


def _returned(subject: Subject) -> tuple[Result, ...]:
    if subject.modifies:
        return ()
    release, wrapper = subject.release, subject.wrapper
    aliased = release.aliased(subject.base)
    found = []
    for i, (name, returned) in enumerate(zip(subject.returns, subject.function.func.returns)):
        if return_value_type(returned.type, release.base_types, mutable=returned.is_write) != TENSOR:
            continue
        if aliased is not None and i:
            raise SpecError(
                f"view op '{subject.name}' returns several values", "a view op returns one tensor or a list"
            )
        found.append(
            Result(
                name,
                f"{aliased}_" if aliased is not None else "",
                aliased is None and wrapper not in release.sharing_storage,
                wrapper not in release.sharing_tensors,
            )
        )
    return tuple(found)
