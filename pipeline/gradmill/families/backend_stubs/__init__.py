"""Family: the stubs of a backend outside of PyTorch, which its own YAML file describes: the class that declares its
kernels, and their registrations. A unit is a function that has a kernel, or that wraps one.

torchgen: `gen_backend_stubs.run`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.families.backends import Registering, header, registrations
from gradmill.families.family import BackendFamily, Layout
from gradmill.families.file import File
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release


class BackendStubs(BackendFamily):
    """The files of the backend that `backend_yaml=` describes."""

    name, label = "backend_stubs", "stubs of a backend"
    subject = "backend.stub"
    role = "external_backend"
    homes = {"DispatchKey": ""}  # only the templates of some releases print it
    known = regex(r"[A-Z]\w*NativeFunctions\.h|Register[A-Z]\w*\.cpp")  # of any backend
    kernel = "Stub"

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The header of the kernels and their registrations; none if the backend has no kernel for its key."""
        own = layout.given.get(self.name)
        if own is None or not own.backend.kernels:
            return []
        how = Registering("stubs_header", "static_init_dispatch_registrations", release.stubs_generator)
        return [header(own.backend, own.backend.class_name, units), *registrations(own, units, how, release)]


BACKEND_STUBS = BackendStubs()
