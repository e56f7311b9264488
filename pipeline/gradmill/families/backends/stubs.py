"""The stub of a function of a backend: the declaration of its kernel, its wrapper and the registration of this.

A wrapper calls the backend's kernel, or, without one, the functional variant, and copies what that returns.

torchgen: `native_functions.compute_native_function_declaration`,
`register_dispatch_key.RegisterDispatchKey.gen_out_inplace_wrapper`.
"""

from __future__ import annotations

from gradmill.cpp.backend_kernels import declarator, to_functional, to_kernel
from gradmill.cpp.bindings import return_names
from gradmill.cpp.dispatcher import returns_type
from gradmill.families.backends import wrappers
from gradmill.families.family import AUTOGRAD_DECLARATION, DECLARATION, REGISTRATION, WRAPPER
from gradmill.families.sections import Text
from gradmill.model.backends import BackendFunction
from gradmill.model.native import Kernel, NativeFunction
from gradmill.model.schema import has_symint, is_list, schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_TEXT = Text("backends/registrations.cpp", phrases=True)
_COPIED_BY = {"inplace": "at::_copy_from", "out": "at::_copy_from_and_resize"}


def stub(of: BackendFunction, release: Release) -> dict[str, str]:
    """The pieces of a function: the declaration of its kernel, if it has one; its wrapper and the registration of this,
    if the key has a kernel, made by hand or as a wrapper. Raises a SpecError for a type without C++, and for a function
    that has no wrapper."""
    member, function, pieces = of.member, of.function, {}
    symint = Kernel(member.kernel).supports_symint
    if symint:
        check_symint(function)
    if member.kernel:
        piece = DECLARATION if member.key == of.backend.key else AUTOGRAD_DECLARATION
        pieces[piece] = f"static {declarator(function, member.kernel, release, symint=symint)};"
    if member.key and not function.manual_kernel_registration:
        wrapper = _calling(of, release) if member.kernel else _copying(of, release)
        pieces[WRAPPER] = wrappers.dense(wrapper, release)
        pieces[REGISTRATION] = wrappers.registration(function.func, member.key, release)
    return pieces


def check_symint(function: NativeFunction) -> None:
    """Raises a SpecError for a function whose kernel is to take SymInt, and whose schema has none."""
    if not has_symint(function.func):
        problem = f"the kernel of '{function.func.name}' cannot take SymInt: its schema has none"
        raise SpecError(problem, "remove it from symint", field=("func",))


def _calling(of: BackendFunction, release: Release) -> str:
    function, member = of.function, of.member
    return wrappers.wrapper(
        function=function,
        key=member.key,
        kernel=f"{of.backend.namespace}::{of.backend.class_name}::{member.kernel}",
        arguments=to_kernel(function, release, symint=Kernel(member.kernel).supports_symint),
        release=release,
        guards=of.backend.device_guard and member.guarded,
    )


def _copying(of: BackendFunction, release: Release) -> str:
    function, functional = of.function, of.functional
    assert functional is not None
    name = wrappers.wrapper_name(function.func, of.member.key)
    values = {
        "declarator": declarator(function, name, release, symint=True),
        "result": f"{name}_tmp",
        "functional": wrappers.wrapper_name(functional.func, of.member.key),
        "arguments": ", ".join(to_functional(function, functional.func, release)),
        "copies": _copies(function, f"{name}_tmp", release),
        "returned": _returned(function, release),
    }
    return _TEXT.of(release)["copying"].fill(values)


def _copies(function: NativeFunction, result: str, release: Release) -> str:
    """The copies of a functional variant's results to the arguments that this variant writes to."""
    text, schema = _TEXT.of(release), function.func
    copy = _COPIED_BY.get(schema_kind(schema))
    if copy is None:
        problem = f"'{schema.name}' cannot be made of its functional variant: it writes to an argument after self"
        raise SpecError(problem, "give it a kernel of its own, or none to its functional variant", field=("func",))
    names = return_names(schema)
    if names:
        results = [f"std::get<{i}>({result})" for i in range(len(names))] if len(names) > 1 else [result]
        return "\n  ".join(f"{copy}({each}, {name});" for each, name in zip(results, names))
    if len(schema.out) != 1:
        problem = f"'{schema.name}' cannot be made of its functional variant: it returns nothing"
        raise SpecError(problem, "give it a kernel of its own, or none to its functional variant", field=("func",))
    out = schema.out[0]
    if not is_list(out.type.removesuffix("?")):
        return f"{copy}({result}, {out.name});"
    return text["copy_of_list"].fill({"copy": copy, "result": result, "out": out.name})


def _returned(function: NativeFunction, release: Release) -> str:
    names = return_names(function.func)
    if len(names) > 1:
        return f"{returns_type(function, release)}({', '.join(names)})"
    return names[0] if names else ""
