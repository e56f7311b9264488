"""Family: the lazy TorchScript backend, which PyTorch's build writes to `torch/csrc/lazy/generated`.

A unit is a function of the backend: one that `ts_native_functions.yaml` lists, or a variant of it that wraps it.

torchgen: `gen_lazy_tensor.run_gen_lazy_tensor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gradmill.families.backends import Registering, header, namespaces, registrations
from gradmill.families.family import BackendFamily, Layout, comment_of_script
from gradmill.families.file import Content, File, pieces_in
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release

if TYPE_CHECKING:
    from gradmill.model.backends import OwnNode
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
    role = "backend"
    homes = {"DispatchKey": ""}  # only the templates of some releases print it
    # Of any backend.
    known = regex(r"Lazy(NonNative)?Ir\.h|[A-Z]\w*NativeFunctions\.(h|cpp)|Register[A-Z]\w*\.cpp")
    kernel = "Lazy"
    declares = SHAPE_FUNCTION

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The files of the backend: nodes, kernels, registrations for its key and, if it has any, for autograd's."""
        own = layout.given.get(self.name)
        if own is None:
            return []
        from gradmill.families.lazy.node_text import FILES, own_nodes  # only a requested backend needs it

        backend, names = own.backend, tuple(unit.name for unit in units)
        how = Registering(
            "lazy_header", "deferred_dispatch_registrations", release.generator, of_operators=own.operator_headers
        )
        included = {"folder": own.folder, "class": backend.class_name}
        text = {name: section.fill(included) for name, section in FILES.of(release).items()}
        nodes: dict[str, Content] = {
            "lazy_ir_sysinc": text["node_headers"],
            "lazy_ir_inc": '#include "torch/csrc/lazy/ts_backend/ts_node.h"',
            **pieces_in({"ir_declarations": NODE}),
        }
        others: dict[str, Content] = {
            "lazy_non_native_ir_inc": text["own_node_headers"],
            "non_native_ir_nodes": [each for _, each in own_nodes(own.nodes, release)[0]],
        }
        kernels: dict[str, Content] = {
            "includes": text["headers_of_kernels"],
            "helper_fns": text["to_meta"],
            "native_functions_include": "",
            **pieces_in({"native_function_definitions": KERNEL}),
        }
        around = namespaces(backend)
        return [
            File(name=NODES, template=_ATEN + NODES, holes=around | nodes, units=names),
            File(name=OWN_NODES, template=_ATEN + OWN_NODES, holes=around | others),
            header(backend, backend.class_name, units),
            File(
                name=f"{backend.class_name}.cpp",
                template=_ATEN + _KERNELS,
                holes=around | kernels,
                units=tuple(unit.name for unit in units if unit.dispatch_key == backend.key),
                comment=comment_of_script(release.generator, _KERNELS),
            ),
            *registrations(own, units, how, release),
        ]

    def check_nodes(self, nodes: Sequence[OwnNode], release: Release) -> Iterator[tuple[int, SpecError]]:
        """The errors of the backend's own nodes, each with the number of its node."""
        from gradmill.families.lazy.node_text import own_nodes

        yield from own_nodes(nodes, release)[1]


LAZY = Lazy()
