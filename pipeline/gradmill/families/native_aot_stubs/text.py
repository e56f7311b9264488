"""The text of a dispatch stub: its parameters are those of the structured kernel's implementation.

torchgen since 2.15: `native_aot.gen_stub_declaration`, `native_aot.gen_stub_definition`.
"""

from __future__ import annotations

from gradmill.cpp.structured import declared, impl_arguments
from gradmill.families.family import DECLARATION, DEFINITION
from gradmill.families.sections import Text
from gradmill.model.native import AotStub
from gradmill.releases.model import Release

_TEXT = Text("native_aot_stubs/native_aot.cpp")


def render(stub: AotStub, release: Release) -> dict[str, str]:
    """The declaration and the definition. Raises SpecError for a type without C++."""
    text = _TEXT.of(release)
    values = {"name": stub.declaration.name, "parameters": declared(impl_arguments(stub.out), release)}
    return {piece: text[piece].fill(values) for piece in (DECLARATION, DEFINITION)}
