"""Family: the lazy TorchScript backend, which PyTorch's build writes to `torch/csrc/lazy/generated`.

A unit is a function of the backend: one that `ts_native_functions.yaml` lists, or a variant of it that wraps it.

torchgen: `gen_lazy_tensor.run_gen_lazy_tensor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gradmill.families.backends.files import TEMPLATES, Registering, header, namespaces, registrations
from gradmill.families.family import BackendFamily, BackendLayout, Layout, comment_of_script, in_csrc
from gradmill.families.file import Content, File, pieces_in
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release

if TYPE_CHECKING:
    from gradmill.families.sections import Sections
    from gradmill.model.backends import Backend, OwnNode
    from gradmill.problems.problem import SpecError

# The pieces of a function.
NODE, KERNEL = "node", "kernel"
SHAPE_FUNCTION = "shape_function"  # printed nowhere: a header must have this declaration

_ATEN = "ATen/"  # the folder of these templates
NODES, OWN_NODES = "LazyIr.h", "LazyNonNativeIr.h"
_KERNELS = "DispatchKeyNativeFunctions.cpp"


class Lazy(BackendFamily):
    """The files of the backend that `ts_native_functions.yaml` describes."""

    name, label = "lazy", "lazy kernels"
    subject = "backend.lazy_function"
    templates = (*(_ATEN + name for name in (NODES, OWN_NODES, _KERNELS)), *TEMPLATES)
    needs, needs_file = _ATEN + NODES, "backend"
    role = needs_file
    reads = ("backend", "shape_inference", "backend_kernels")
    homes = {"DispatchKey": ""}  # only the templates of some releases print it
    # Of any backend.
    known = regex(r"Lazy(NonNative)?Ir\.h|[A-Z]\w*NativeFunctions\.(h|cpp)|Register[A-Z]\w*\.cpp")
    kernel = "Lazy"
    declares = SHAPE_FUNCTION
    subsets = {"lazy_ts_backend": ""}
    in_trees = in_csrc("lazy/generated")

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The files of the backend: nodes, kernels, registrations for its key and, if it has any, for autograd's."""
        own = layout.given.get(self.name)
        if own is None:
            return []
        backend, names = own.backend, tuple(unit.name for unit in units)
        ours = tuple(unit.name for unit in units if unit.dispatch_key == backend.key)
        how = Registering(
            "lazy_header", "deferred_dispatch_registrations", release.generator, of_operators=own.operator_headers
        )
        return [
            _nodes(backend, names, release),
            _own_nodes(own, release),
            header(backend, backend.class_name, units),
            _kernels(own, ours, release),
            *registrations(own, units, how, release),
        ]

    def check_nodes(self, nodes: Sequence[OwnNode], release: Release) -> Iterator[tuple[int, SpecError]]:
        """The errors of the backend's own nodes, each with the number of its node."""
        from gradmill.families.lazy.node_text import own_nodes

        yield from own_nodes(nodes, release)[1]


def _nodes(backend: Backend, names: tuple[str, ...], release: Release) -> File:
    holes = {
        **namespaces(backend),
        "lazy_ir_sysinc": _lines("node_headers", release),
        "lazy_ir_inc": '#include "torch/csrc/lazy/ts_backend/ts_node.h"',
        **pieces_in({"ir_declarations": NODE}),
    }
    return File(name=NODES, template=_ATEN + NODES, holes=holes, units=names)


def _own_nodes(layout: BackendLayout, release: Release) -> File:
    from gradmill.families.lazy.node_text import own_nodes

    holes: dict[str, Content] = {
        **namespaces(layout.backend),
        "lazy_non_native_ir_inc": _lines("own_node_headers", release),
        "non_native_ir_nodes": [text for _, text in own_nodes(layout.nodes, release)[0]],
    }
    return File(name=OWN_NODES, template=_ATEN + OWN_NODES, holes=holes)


def _kernels(layout: BackendLayout, names: tuple[str, ...], release: Release) -> File:
    backend = layout.backend
    values = {"folder": layout.folder, "class": backend.class_name}
    holes = {
        **namespaces(backend),
        "includes": _text(release)["headers_of_kernels"].fill(values),
        "helper_fns": _lines("to_meta", release),
        "native_functions_include": "",
        **pieces_in({"native_function_definitions": KERNEL}),
    }
    comment = comment_of_script(release.generator, _KERNELS)
    name = f"{backend.class_name}.cpp"
    return File(name=name, template=_ATEN + _KERNELS, holes=holes, units=names, comment=comment)


def _text(release: Release) -> Sections:
    from gradmill.families.lazy.node_text import FILES  # only a requested backend needs it

    return FILES.of(release)


def _lines(section: str, release: Release) -> str:
    return _text(release)[section].fill({})


LAZY = Lazy()
