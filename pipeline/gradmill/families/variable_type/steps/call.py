"""Renders how a kernel calls the kernel below: unpacked arguments, guard, function, results.

Debug builds also check that the call replaces no tensor or storage of its arguments and returns new ones.

torchgen: `gen_variable_type.emit_call`, `gen_variable_type.wrap_output`, `gen_variable_type.emit_dispatch_call`,
`gen_variable_type.check_tensorimpl_and_storage`.
"""

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import return_type
from gradmill.cpp.types import ITENSOR_LIST, TENSOR, TENSOR_LIST, argument_type, optional, return_value_type
from gradmill.families.sections import Sections, Text
from gradmill.families.template import GAP
from gradmill.families.variable_type.steps.subject import Subject
from gradmill.model.schema import Argument, has_symint, is_list, is_tensor_like
from gradmill.problems.problem import SpecError
from gradmill.releases.model import JIT_DECOMPOSITION, STORAGE_USE_COUNT

_TEXT = Text("variable_type/call.cpp")
# C++ type of an argument -> the kind of its checks.
_CHECKED = {
    TENSOR: "tensor",
    TENSOR_LIST: "list",
    ITENSOR_LIST: "list",
    f"c10::List<{optional(TENSOR)}>": "optional_list",
}


def unpacked(subject: Subject) -> list[str]:
    """The lines that unpack arguments which are tensors, or lists of them."""
    arguments = [(i, a) for i, a in enumerate(subject.function.func.arguments) if _is_unpacked(a)]
    return [
        f'auto{"" if is_list(a.type) else "&"} {a.name}_ = unpack({a.name}, "{a.name}", {i});' for i, a in arguments
    ]


def _is_unpacked(argument: Argument) -> bool:
    return is_tensor_like(argument.type) and "?" not in argument.type


def call(subject: Subject, decomposed_if: str) -> list[str]:
    """The call, between its checks. `decomposed_if`: the condition under which a decomposition runs instead; "":
    never."""
    text, exempt = _TEXT.of(subject.release), subject.release.dont_enforce_same_tensor_impl_or_storage
    called = _call(subject, decomposed_if, text)
    checked = () if subject.name in exempt else _checked(subject)
    returned = [] if subject.name in exempt else _returned(subject, text)
    if not checked:
        return [called]
    before = [text[f"before_{kind}"].fill({"name": name}) for name, kind in checked]
    after = [text[f"after_{kind}"].fill({"name": name}) for name, kind in checked]
    debug_only = text["debug_only"]
    return [debug_only.fill({"statements": before}), called, debug_only.fill({"statements": [*after, *returned]})]


def _call(subject: Subject, decomposed_if: str, text: Sections) -> str:
    schema, rewritten = subject.function.func, subject.is_view or subject.modifies
    symint, faithful = "_symint" if has_symint(schema) else "", "_outf" if schema.out else ""
    below = "AutoDispatchBelowAutograd" if rewritten else "AutoDispatchBelowADInplaceOrView"
    arguments = ", ".join(("ks & c10::after_autograd_keyset", *map(_passed, schema.arguments)))
    call = f"at::redispatch::{schema.name.unqualified}{symint}{faithful}({arguments})"
    values = {"guard": f"at::{below} guard;", "call": call}
    if subject.modifies or not schema.returns:  # arguments are written to, or nothing is returned
        return text["call"].fill(values)
    results = _tied(subject)
    values["results"] = f"[{', '.join(results)}]" if len(results) > 1 else results[0]
    values["value"] = "std::move(_tmp)" if any(is_tensor_like(r.type) for r in schema.returns) else "_tmp"
    if not decomposed_if:
        return text["call_for_results"].fill(values)
    if JIT_DECOMPOSITION in subject.release.left_out:
        return text["call_not_decomposed"].fill(values)
    return text["call_or_decompose"].fill({**values, **_decomposition(subject, decomposed_if)})


def _passed(argument: Argument) -> str:
    return f"{argument.name}_" if _is_unpacked(argument) else argument.name


def _tied(subject: Subject) -> tuple[str, ...]:
    """The names of results. A single result may have the name of an argument: upstream does not check this."""
    returns = subject.function.func.returns
    return (returns[0].name or "result",) if len(returns) == 1 else subject.returns


def _decomposition(subject: Subject, condition: str) -> dict[str, str]:
    """The decomposition that runs in place of the call if an input has a tangent and no forward formula exists."""
    schema = subject.function.func
    types = [return_type(r, subject.function, subject.release) for r in schema.returns]
    joined = ", ".join(types)
    return {
        "condition": condition,
        "operator": subject.name,
        "overload": schema.name.overload,
        "returns": joined if len(types) == 1 else f"std::tuple<{joined}>",
        "arguments": ", ".join(a.name for a in schema.arguments),
    }


def _checked(subject: Subject) -> tuple[tuple[str, str], ...]:
    how = passing_of(subject.function, subject.release, symint=True)
    checks = []
    for argument in subject.function.func.arguments:
        if is_tensor_like(argument.type):
            kind = _CHECKED.get(argument_type(argument.type, how, mutable=argument.is_write).value)
            if kind is not None:
                checks.append((_passed(argument), kind))
    return tuple(checks)


def _returned(subject: Subject, text: Sections) -> list[str]:
    """The checks of returned tensors: that each has the storage of the argument that it is a view of, or its own."""
    if subject.modifies:
        return []
    release, wrapper = subject.release, subject.wrapper
    aliased, checks = release.aliased(subject.base), []
    for i, (name, returned) in enumerate(zip(subject.returns, subject.function.func.returns)):
        if return_value_type(returned.type, release.base_types, mutable=returned.is_write) != TENSOR:
            continue
        if aliased is not None and i:
            raise SpecError(
                f"view op '{subject.name}' returns several values", "a view op returns one tensor or a list"
            )
        values = {"name": name, "kernel": wrapper}
        if aliased is not None:
            checks.append(text["same_storage"].fill({"name": f"{aliased}_", "other": name}))
        elif wrapper not in release.dont_enforce_storage_impl_use_count:
            check = text["own_storage"].fill(values)
            checks.append(GAP if STORAGE_USE_COUNT in release.left_out else check)
        if wrapper not in release.dont_enforce_tensor_impl_use_count:
            checks.append(text["own_tensor"].fill(values))
    return checks
