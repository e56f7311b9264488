"""Renders the wrapper of a function that is registered for a backend, and its registration.

A wrapper calls the backend's kernel, or, without one, the functional variant, and copies what that returns.

torchgen: `register_dispatch_key.RegisterDispatchKey.gen_out_inplace_wrapper`.
"""

from __future__ import annotations

from gradmill.cpp.backend_kernels import declarator, to_functional, to_kernel
from gradmill.cpp.bindings import cpp_name, return_names
from gradmill.cpp.dispatcher import returns_type
from gradmill.families.backends import wrappers
from gradmill.families.sections import Text
from gradmill.model.backends import BackendFunction
from gradmill.model.native import Kernel, NativeFunction
from gradmill.model.schema import Schema, is_list, schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_TEXT = Text("backends/registrations.cpp", phrases=True)
_COPIED_BY = {"inplace": "at::_copy_from", "out": "at::_copy_from_and_resize"}


def registration(of: BackendFunction, release: Release) -> str:
    """The registration of a function."""
    schema = of.function.func
    return wrappers.registration(str(schema.name), _wrapper(of, schema), release)


def definition(of: BackendFunction, release: Release) -> str:
    """The wrapper of a function. Raises a SpecError for a variant that none can be made of."""
    text = _calling(of, release) if of.member.kernel else _copying(of, release)
    return wrappers.dense(text, release)


def _wrapper(of: BackendFunction, schema: Schema) -> str:
    """The name of the wrapper of a function with a schema."""
    return f"wrapper_{of.member.key}_{schema.name.overload}_{cpp_name(schema)}"


def _calling(of: BackendFunction, release: Release) -> str:
    function, kernel = of.function, of.member.kernel
    name = _wrapper(of, function.func)
    arguments = ", ".join(to_kernel(function, release, symint=Kernel(kernel).supports_symint))
    qualified = f"{of.backend.namespace}::{of.backend.class_name}::{kernel}"
    guards = of.backend.device_guard and of.member.guarded
    call = wrappers.Call(of.member.key, qualified, arguments, guards)
    return wrappers.wrapper(function, name, declarator(function, name, release, symint=True), call, release)


def _copying(of: BackendFunction, release: Release) -> str:
    function, functional = of.function, of.functional
    assert functional is not None
    name = _wrapper(of, function.func)
    values = {
        "declarator": declarator(function, name, release, symint=True),
        "result": f"{name}_tmp",
        "functional": _wrapper(of, functional.func),
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
    if len(names) > 1:
        results = [f"std::get<{i}>({result})" for i in range(len(names))]
        return "\n  ".join(f"{copy}({each}, {name});" for each, name in zip(results, names))
    if names:
        return f"{copy}({result}, {names[0]});"
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
