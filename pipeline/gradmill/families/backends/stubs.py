"""The stub of a function of a backend: the declaration of its kernel, its wrapper and the registration of this.

torchgen: `native_functions.compute_native_function_declaration`.
"""

from __future__ import annotations

from gradmill.cpp.backend_kernels import declarator
from gradmill.families.backends.registration import definition, registration
from gradmill.families.family import AUTOGRAD_DECLARATION, DECLARATION, REGISTRATION, WRAPPER
from gradmill.model.backends import BackendFunction
from gradmill.model.native import Kernel, NativeFunction
from gradmill.model.schema import has_symint
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release


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
        pieces[WRAPPER] = definition(of, release)
        pieces[REGISTRATION] = registration(of, release)
    return pieces


def check_symint(function: NativeFunction) -> None:
    """Raises a SpecError for a function whose kernel is to take SymInt, and whose schema has none."""
    if not has_symint(function.func):
        problem = f"the kernel of '{function.func.name}' cannot take SymInt: its schema has none"
        raise SpecError(problem, "remove it from symint", field=("func",))
