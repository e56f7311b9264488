"""Family: `Register<key>.cpp`, the sources that register kernels of ATen for a dispatch key. A unit is what is
registered for a key and a group of variants.

torchgen: `gen.gen_source_files`, `gen.get_native_function_definitions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from gradmill.families.aten import InAten
from gradmill.families.backends import closing, opening
from gradmill.families.family import ATEN, REGISTRATION, Layout
from gradmill.families.file import ANY, Content, File, NestedTemplate, Pieces, UnitTemplate
from gradmill.families.kernel_headers import spaces_by_key
from gradmill.families.kernel_registrations.pieces import DEFINING, space_piece, ufunc_piece
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.sharded import distributed
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import EXPLICIT_NON_FUNCTIONAL, IMPLICIT_NESTED

TEMPLATE, DEFINITIONS, UFUNC, UFUNC_KERNEL, UFUNC_CUDA = FAMILY_ROWS["kernel_registrations"].templates
_KEYS, _SPACES, _AHEAD = "kernel_keys", "kernel_spaces", "compiled_ahead"
_OWN = regex(r"Register([A-Z]\w*?)(_\d+|Everything)?\.cpp|UfuncCPU(Kernel)?_\w+\.cpp|UfuncCUDA_\w+\.cu")
_OTHERS = ("BackendSelect", "Schema", "Functionalization")  # files of other families that are called so


class KernelRegistrations(InAten):
    """Groups of variants in the order of their first functions, for each dispatch key."""

    name, label = "kernel_registrations", "registrations of kernels"
    unit, subject = "registration", "registrations.registered_kernels"
    rendered = (
        "ns_prologue",
        "ns_epilogue",
        "dispatch_anonymous_definitions",
        "static_init_dispatch_registrations",
        "deferred_dispatch_registrations",
        "dispatch_namespace",
        "dispatch_namespaced_definitions",
        REGISTRATION,
    )
    words = ("dispatch_namespace",)
    shards_by = "base"
    given, lists = "name_lists.lists", (_KEYS, _SPACES, _AHEAD)

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The files of all keys. Since 2.7 they are shards, each with the text of a template for each unit."""
        by_key: dict[str, list[Unit]] = {key: [] for key in sorted(release.file_keys)}
        for unit in units:
            by_key[unit.dispatch_key].append(unit)
        listed = [file for key, own in by_key.items() for file in _files(key, own, layout, release)]
        return [*listed, *_ufuncs(tuple(unit.name for unit in units), release)]

    def owns(self, name: str) -> bool:
        match = _OWN.fullmatch(name)
        return match is not None and match[1] not in _OTHERS


def _files(key: str, units: list[Unit], layout: Layout, release: Release) -> list[File]:
    """The files of a key. Upstream takes one that no function has kernels for to be no device's."""
    from gradmill.families.backends.helpers import extra_headers, registration_headers, registration_helpers

    lists, of_operators = layout.given[KERNEL_REGISTRATIONS.name], layout.operator_headers
    own = key if key in lists[_KEYS] else ""
    helpers = registration_helpers(own, release) if key != IMPLICIT_NESTED else []
    holes: dict[str, Content] = {
        "extra_cuda_headers": extra_headers(key, release),
        "external_backend_headers": "",
        "dispatch_headers": registration_headers(
            own, release, of_operators=of_operators, compiled_ahead=key in lists[_AHEAD]
        ),
        "ops_headers": _headers(key, units, release, of_operators=of_operators),
    }
    if not release.kernel_shards:
        return [
            _whole(
                key=key,
                units=units,
                holes=holes,
                helpers="\n".join(helpers),
                spaces=spaces_by_key(lists[_SPACES]).get(key, {}),
                release=release,
            )
        ]
    count = release.kernel_shards.get(key, release.kernel_shards[""])
    return [
        File(
            name=f"Register{key}{shard}.cpp",
            template=TEMPLATE,
            holes={**holes, "dispatch_helpers": helpers, "dispatch_definitions": UnitTemplate(DEFINITIONS)},
            units=names,
            shard=shard,
        )
        for shard, names in distributed(units, count).items()
    ]


def _whole(
    key: str, units: list[Unit], holes: dict[str, Content], helpers: str, spaces: dict[str, bool], release: Release
) -> File:
    """The file of a key before 2.7: the template within it is filled once for each namespace of kernels, with the text
    of all units. `spaces`: these namespaces, each with whether some are registered."""
    from gradmill.families.kernel_registrations.text import library

    copies, holes = [], {**holes, "dispatch_definitions": []}
    for at, (namespace, registers) in enumerate(spaces.items()):
        outer = namespace.replace("::native", "")
        block = library(ATEN, key, f"${{{REGISTRATION}_{at}}}", release) if registers else ""
        copies.append(
            {
                **{name: f"${{{name}_{at}}}" for name in DEFINING},
                "dispatch_helpers": helpers,
                "dispatch_namespace": key.lower(),
                "ns_prologue": opening(outer),
                "ns_epilogue": closing(outer),
                "static_init_dispatch_registrations": block,
                "deferred_dispatch_registrations": "",
            }
        )
        for name in (*DEFINING, *([REGISTRATION] if registers else ())):
            holes[f"{name}_{at}"] = Pieces(space_piece(name, namespace), hanging=name == REGISTRATION)
    if copies:
        holes["dispatch_definitions"] = NestedTemplate(DEFINITIONS, tuple(copies), on_line=True)
    return File(name=f"Register{key}.cpp", template=TEMPLATE, holes=holes, units=tuple(unit.name for unit in units))


def _ufuncs(names: tuple[str, ...], release: Release) -> list[File]:
    """The sources that each ufunc has. Those for loops include its own header."""
    loops = f"#include <ATen/native/{'hip' if release.for_hip else 'cuda'}/Loops.cuh>"
    by_key: dict[str, dict[str, Content]] = {
        key: {
            "meta_declaration": Pieces(ufunc_piece(key, "meta")),
            "native_declaration": Pieces(ufunc_piece(key, "class")),
            "native_definitions": Pieces(key.lower(), needed=True),
        }
        for key in ("CPU", "CUDA")
    }
    kernel: dict[str, Content] = {"name": ANY, "native_definitions": Pieces("cpu_kernel", needed=True)}
    cuda: dict[str, Content] = {"name": ANY, "cuda_headers": loops, **by_key["CUDA"]}
    return [
        File(name=f"UfuncCPU_{ANY}.cpp", template=UFUNC, holes=by_key["CPU"], units=names),
        File(name=f"UfuncCPUKernel_{ANY}.cpp", template=UFUNC_KERNEL, holes=kernel, units=names),
        File(name=f"UfuncCUDA_{ANY}.cu", template=UFUNC_CUDA, holes=cuda, units=names),
    ]


def _headers(key: str, units: list[Unit], release: Release, *, of_operators: bool) -> list[str]:
    """The includes of all operators that have kernels for a key; where these have no headers of their own, of those of
    all."""
    included = (True, key == EXPLICIT_NON_FUNCTIONAL, key in release.header_keys)
    if not of_operators:
        names = compress(("NativeFunctions", "Functions", f"{key}Functions"), included)
        return [f"#include <ATen/{name}.h>" for name in names]
    suffixes = list(compress(("_native", "", f"_{key.lower()}_dispatch"), included))
    operators = {unit.shard_key for unit in units if not unit.synthesized}
    return sorted(f"#include <ATen/ops/{name}{suffix}.h>" for name in operators for suffix in suffixes)


KERNEL_REGISTRATIONS = KernelRegistrations()
