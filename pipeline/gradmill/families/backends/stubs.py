"""The stub of a function of a backend: the declaration of its kernel, its wrapper and the registration of this.

torchgen: `native_functions.compute_native_function_declaration`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.backend_kernels import declarator
from gradmill.families.backends.registration import definition, registration
from gradmill.families.family import AUTOGRAD_DECLARATION, DECLARATION, REGISTRATION, WRAPPER
from gradmill.model.backends import BackendFunction
from gradmill.model.native import Kernel, NativeFunction
from gradmill.model.schema import has_symint
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release


class Stub(Struct, frozen=True, gc=False, array_like=True):
    """A function of a backend."""

    of: BackendFunction
    declaration: str  # of its kernel; "" if it has none
    registered: bool  # whether it is registered: the key has a kernel, made by hand or as a wrapper


def stub(of: BackendFunction, release: Release) -> Stub:
    """The stub of a function. Raises a SpecError for a type without C++."""
    member, function = of.member, of.function
    symint = Kernel(member.kernel).supports_symint
    if symint:
        check_symint(function)
    declared = f"static {declarator(function, member.kernel, release, symint=symint)};" if member.kernel else ""
    return Stub(of, declared, bool(member.key) and not function.manual_kernel_registration)


def check_symint(function: NativeFunction) -> None:
    """Raises a SpecError for a function whose kernel is to take SymInt, and whose schema has none."""
    if not has_symint(function.func):
        problem = f"the kernel of '{function.func.name}' cannot take SymInt: its schema has none"
        raise SpecError(problem, "remove it from symint", field=("func",))


def pieces(stub: Stub, release: Release) -> dict[str, str]:
    """The pieces of its text, by name. Raises a SpecError for a function that has no wrapper."""
    found = {}
    if stub.declaration:
        ours = stub.of.member.key == stub.of.backend.key
        found[DECLARATION if ours else AUTOGRAD_DECLARATION] = stub.declaration
    if stub.registered:
        found[WRAPPER] = definition(stub.of, release)
        found[REGISTRATION] = registration(stub.of, release)
    return found
