"""Renders the stub of a function. One that a structured kernel implements has the class of the kernel,
derived from that of the meta function in ATen, and the wrapper of the function, with a class for its results.

Upstream has structured kernels for keys of ATen alone, and rejects those of a backend; their own meta functions are as
in pytorch #172539, which is open.

torchgen: `native_functions.gen_structured`, `register_dispatch_key.RegisterDispatchKey.gen_structured`.
"""

from __future__ import annotations

from msgspec.structs import asdict, replace

from gradmill.cpp.structured import declared, meta_arguments
from gradmill.families.backends import META_HEADER, wrappers
from gradmill.families.backends.stubs import check_symint, stub
from gradmill.families.family import DECLARATION, REGISTRATION, WRAPPER
from gradmill.families.kernel_headers.declared import class_declaration
from gradmill.families.kernel_headers.text import kernel_text
from gradmill.families.kernel_registrations.classes import Guards
from gradmill.families.kernel_registrations.text import class_wrapper
from gradmill.families.sections import Text
from gradmill.model.backends import BackendFunction
from gradmill.model.native import Kernel, NativeFunction
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import Group

_TEXT = Text("kernel_headers/kernel_headers.cpp", phrases=True)
_GUARDED, _UNGUARDED = Guards("c10::OptionalDeviceGuard", True, True), Guards("", False, False)


def render(of: BackendFunction, release: Release) -> dict[str, str]:
    """The pieces of a function, by name. Raises a SpecError for a type without C++, an argument that a kernel cannot
    take, or a function that has no wrapper."""
    return stub(of, release) if of.out is None else _structured(of, of.out, release)


def _structured(of: BackendFunction, out: NativeFunction, release: Release) -> dict[str, str]:
    """The pieces of a function that a structured kernel implements. The class of the kernel is declared with the
    function that has it."""
    backend, member, functional = of.backend, of.member, of.functional
    assert functional is not None
    key = member.key
    if member.symint:
        check_symint(out)
    name = str(out.func.name).replace(".", "_") + ("_symint" if member.symint else "")
    kernel = Kernel(name, f"{backend.namespace}::{backend.class_name}", structured=True)
    group = Group((functional, replace(out, dispatch={**out.dispatch, key: kernel})))
    guards = _GUARDED if backend.device_guard and member.guarded else _UNGUARDED
    primary = group.primary if member.kernel else of.function
    wrapper = class_wrapper(function=primary, group=group, key=key, guards=guards, release=release)
    pieces = {WRAPPER: wrappers.dense(wrapper.definition, release), REGISTRATION: wrapper.registration}
    if member.kernel:
        pieces[DECLARATION] = _declaration(group, key, release, defines_meta=member.defines_meta)
        pieces[META_HEADER] = _TEXT.of(release)["include"].fill({"name": functional.func.name.base, "suffix": "_meta"})
    return pieces


def _declaration(group: Group, key: str, release: Release, *, defines_meta: bool) -> str:
    """The class of a kernel. Its own meta function returns what that of ATen does."""
    kernel = class_declaration(group, key, release)[1]
    if not defines_meta:
        return kernel_text("", kernel, release)
    returned = "meta_return_ty" if group.primary.precomputed else "void"
    parameters = declared(meta_arguments(group.functional), release)
    values = {**asdict(kernel), "meta_parameters": parameters, "returned": returned}
    return _TEXT.of(release)["class_with_meta"].fill(values)
