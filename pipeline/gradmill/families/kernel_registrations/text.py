"""Renders what is registered for a key and a group of functions: the holes of RegisterDispatchDefinitions.ini. These
are wrappers of kernels, their registrations, and functions that call the wrappers, such as `at::cpu::add`.

torchgen: `register_dispatch_key.RegisterDispatchKey.__call__`, `gen.get_kernel_namespace`.
"""

from __future__ import annotations

from typing import NamedTuple

from gradmill.cpp.dispatcher import Parameter, declared, goals, returns_type, signature_of, values
from gradmill.cpp.native import native_name, native_parameters
from gradmill.cpp.signatures import cpp_signatures, passed
from gradmill.cpp.translate import translate
from gradmill.families.backends import closing, opening, wrappers
from gradmill.families.family import ATEN, REGISTRATION
from gradmill.families.kernel_headers.declared import check_namespace, class_declaration
from gradmill.families.kernel_headers.text import kernel_text, meta_text
from gradmill.families.kernel_registrations.classes import Guards, guards_of, structured_kernel
from gradmill.families.kernel_registrations.pieces import DEFINING, NATIVE, space_piece, ufunc_piece
from gradmill.families.kernel_registrations.ufunc import ufunc
from gradmill.families.sections import Text
from gradmill.families.template import items_of, piece_of
from gradmill.model.native import NativeFunction, RegisteredKernels
from gradmill.model.native_aot import AotDeclaration
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import Group, callable_for_key, is_class

_TEXT = Text("kernel_registrations/wrappers.cpp")


class Wrapper(NamedTuple):
    """The wrapper of a kernel."""

    name: str
    parameters: tuple[Parameter, ...]
    definition: str  # after the class of a structured kernel
    registration: str


def render(subject: RegisteredKernels, release: Release) -> dict[str, str]:
    """The pieces by name; none if nothing is registered. SpecError for a type without C++, or an argument that a kernel
    cannot take."""
    group, key = Group(subject.functions), subject.key
    kernel, library_name = group.kernel(key), group.functional.namespace
    if not release.kernel_shards and library_name != ATEN:
        problem = "kernels of operators of other libraries are for PyTorch 2.7 and newer"
        hint = "older torchgen drops other registrations for the key; leave out the family kernel_registrations"
        raise SpecError(problem, hint, field=("func",))
    loops, functions = ufunc(group, key, release), list(callable_for_key(group, key))
    if not functions:
        return {}
    check_namespace(group, key)
    definitions, registrations, direct = [], [], []
    for function in functions:
        if is_class(group, key):
            guards, ahead = guards_of(key, release), subject.compiled_ahead
            own = class_wrapper(function=function, group=group, key=key, guards=guards, release=release, ahead=ahead)
        else:
            own = _wrapper(function, key, release)
        definitions.append(f"{own.definition}\n")
        registrations += [own.registration] if str(function.func.name) not in subject.omitted else []
        direct.append("\n".join(_direct(function, own, release)))
    namespace, registered = NATIVE if kernel is None else kernel.namespace, "\n".join(registrations)
    outer = namespace.replace("::native", "")
    block = library(library_name, key, registered, release).rstrip() if registered else ""
    pieces = {
        "ns_prologue": opening(outer),
        "ns_epilogue": closing(outer),
        "dispatch_anonymous_definitions": piece_of(definitions),
        "static_init_dispatch_registrations": f"\n{block}" if block else "",
        "deferred_dispatch_registrations": "",
        "dispatch_namespace": key.lower(),
        "dispatch_namespaced_definitions": piece_of(f"\n{each}\n" for each in direct if each),
        REGISTRATION: registered,
    }
    every = {name: piece for name, piece in pieces.items() if piece is not None}
    if loops:
        named = {"class": kernel_text(*class_declaration(group, key, release), release)}
        named["meta"] = meta_text(group, release)
        loops |= {ufunc_piece(key, name): f"{text}\n" for name, text in named.items()}
    return (every if release.kernel_shards else _in_space(every, namespace, release)) | loops


def _in_space(pieces: dict[str, str], namespace: str, release: Release) -> dict[str, str]:
    """The pieces of a file where groups have no text of their own, before 2.7: by namespace, without empty lines."""
    named = {name: "\n".join(items_of(pieces.get(name, ""))) for name in (*DEFINING, REGISTRATION)}
    return {space_piece(name, namespace): wrappers.dense(piece, release) for name, piece in named.items()}


def _wrapper(function: NativeFunction, key: str, release: Release) -> Wrapper:
    """The wrapper of a function. Without a kernel, it returns its argument, which must be a meta tensor."""
    schema, signature, kernel = function.func, signature_of(function, release), function.dispatch.get(key)
    name = wrappers.wrapper_name(schema, key)
    if kernel is None:
        own = "" if schema.self_argument is None else schema.self_argument.name
        filled = {"returns": signature.returns, "name": name, "parameters": declared(signature.parameters), "own": own}
        definition = _TEXT.of(release)["in_place"].fill(filled)
    else:
        taken = native_parameters(function, release, symint=kernel.supports_symint)
        definition = wrappers.wrapper(
            function=function,
            key=key,
            kernel=f"{kernel.namespace}::{kernel.name}",
            arguments=translate(values(signature.parameters), goals(taken)),
            release=release,
            guards=key in release.guarded_keys,
        )
    return Wrapper(name, signature.parameters, definition, wrappers.registration(schema, key, release))


def class_wrapper(
    function: NativeFunction,
    group: Group,
    key: str,
    guards: Guards,
    release: Release,
    ahead: AotDeclaration | None = None,
) -> Wrapper:
    """The wrapper of a structured kernel, after its class. SpecError as in `structured_kernel`."""
    text, kernel, name = _TEXT.of(release), function.dispatch.get(key), f"wrapper_{key}_{native_name(function.func)}"
    parameters = native_parameters(function, release, symint=kernel is not None and kernel.supports_symint)
    class_, statements = structured_kernel(
        function=function, group=group, key=key, scope=values(parameters), ahead=ahead, guards=guards, release=release
    )
    check = wrappers.device_check(wrappers.checked_arguments(function), name, release) if guards.checks else ""
    filled = {"returns": returns_type(function, release), "name": name, "parameters": declared(parameters)}
    definition = text["class"].fill({**filled, "class": class_, "body": [check, *statements]})
    registered = text["registered_class"].fill({"operator": str(function.func.name), "name": name})
    return Wrapper(name, parameters, definition, registered)


def _direct(function: NativeFunction, wrapper: Wrapper, release: Release) -> list[str]:
    """The functions that call a wrapper."""
    section, wanted = _TEXT.of(release)["direct"], goals(wrapper.parameters)
    return [
        section.fill(
            {
                "returns": each.returns,
                "name": each.name,
                "parameters": ", ".join(each.declared(defaults=False)),
                "wrapper": wrapper.name,
                "arguments": passed(each, wanted),
            }
        )
        for each in cpp_signatures(function, release)
    ]


def library(namespace: str, key: str, registered: str, release: Release) -> str:
    """The block of registrations. Only its first line is indented."""
    first, *others = registered.split("\n")
    filled = {"library": namespace, "key": key, "first": first, "others": others}
    return _TEXT.of(release)["library"].fill(filled)
