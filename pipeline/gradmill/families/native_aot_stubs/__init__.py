"""Family: the dispatch stubs of kernels that are compiled ahead of time, as modules of operators declare them: wrappers
of structured kernels call them. A unit is one stub.

torchgen: `gen.gen_headers`, `gen.gen_source_files`.
"""

from __future__ import annotations

from gradmill.families.aten import InAten
from gradmill.families.family import DECLARATION, DEFINITION
from gradmill.families.rows import FAMILY_ROWS
from gradmill.releases.model import Release

HEADER, SOURCE = FAMILY_ROWS["native_aot_stubs"].templates


class NativeAot(InAten):
    """A header and a source, without stubs if no module declares any."""

    name, label = "native_aot_stubs", "stubs of kernels compiled ahead of time"
    unit, subject = "stub", "native_aot.stub"
    rendered = (DECLARATION, DEFINITION)
    slots = {"native_aot_stub_declarations": DECLARATION, "native_aot_stub_definitions": DEFINITION}
    homes = {"native_aot_stub_declarations": HEADER, "native_aot_stub_definitions": SOURCE}

    def is_in(self, release: Release) -> bool:
        """Whether operators may have such kernels."""
        return release.has_native_aot


NATIVE_AOT_STUBS = NativeAot()
