"""Renders an operator's headers of kernels: their declarations in `at::native`, the classes of meta functions, and the
functions that call the kernels of one dispatch key.

torchgen: `gen.compute_meta_function_declaration`.
"""

from __future__ import annotations

from msgspec.structs import asdict

from gradmill.cpp.structured import declared, goals, meta_arguments, precomputed_arguments
from gradmill.families.kernel_headers import AFTER_NAMESPACE, INCLUDE, META, NATIVE, header_piece, in_namespaces
from gradmill.families.kernel_headers.declared import Declaration, Kernels, functions_by_key, kernels_by_namespace
from gradmill.families.sections import Sections, Text
from gradmill.families.template import piece_of
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import OperatorKernels
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import Group, groups_of

_TEXT = Text("kernel_headers/kernel_headers.cpp", phrases=True)
_AFTER_SETTER = " " * 16


def render(subject: OperatorKernels, release: Release) -> dict[str, str]:
    """The pieces by name. SpecError for a type or a default without C++."""
    include, name = _TEXT.of(release)["include"], subject.operator.name
    groups = groups_of(subject.operator)
    kernels = kernels_by_namespace(groups, subject.keys, release)
    metas = piece_of(f"{meta_text(group, release)}\n" for group in groups if group.structured) or ""
    by_key: dict[str, str] = {}
    for key, declarations in functions_by_key(groups, subject.keys, release).items():
        by_key[key] = piece_of(f"{each}\n" for each in declarations) or ""
        by_key[header_piece(key)] = include.fill({"name": name, "suffix": f"_{key.lower()}_dispatch"})
    return {
        **by_key,
        META: metas,
        INCLUDE: include.fill({"name": name, "suffix": "_meta"}) if metas else "",
        NATIVE: _lines(kernels, release),
    }


def _lines(kernels: Kernels, release: Release) -> str:
    """The kernels by namespace, as upstream's list of lines: empty ones precede each namespace and follow a class."""
    lines = []
    for name, listed in kernels.items():
        declared_ = [
            kernel_text(macro, each, release) + ("\n" if each.meta else "") for (_, each), macro in listed.items()
        ]
        lines += ["", *in_namespaces([(name, declared_ or [""])]).split("\n"), AFTER_NAMESPACE]
    return piece_of(lines) or ""


def kernel_text(macro: str, declaration: Declaration, release: Release) -> str:
    """The declaration of a kernel. `macro`: "" for none."""
    section = _TEXT.of(release)["class" if declaration.meta else "function"]
    return section.fill({**asdict(declaration), "macro": f"{macro} " if macro else ""})


def meta_text(group: Group, release: Release) -> str:
    """The class of the meta function of a structured group. It returns an object with what it computes, each value set
    once. SpecError for a type without C++."""
    text, base = _TEXT.of(release), group.primary.structured_inherits
    parameters = declared(meta_arguments(group.functional), release)
    computed = [
        (_without_reference(type_), name) for name, type_ in goals(precomputed_arguments(group.primary), release)
    ]
    flags = [name.upper() for _, name in computed]
    return text["meta"].fill(
        {
            "name": unambiguous_name(group.functional.func.name),
            "base": "at::impl::MetaBase" if base is None else base,
            "parameters": parameters,
            "precomputed": _precomputed(computed, flags, text) if flags else "",
            "returned": text["returned"].fill({"flags": ", ".join("true" for _ in flags)}) if flags else "",
            "returns": "meta_return_ty" if flags else "void",
        }
    )


def _without_reference(type_: str) -> str:
    return type_.removeprefix("const ").removesuffix(" &") if type_.endswith("&") else type_


def _precomputed(computed: list[tuple[str, str]], flags: list[str], text: Sections) -> str:
    """The class of what is computed. `computed`: types and names."""
    setters = [_setter(computed, flags, i, text) for i in range(len(flags))]
    return text["precomputed"].fill(
        {
            "flags": ", ".join(f"bool {flag} = false" for flag in flags),
            "setters": "\n".join(f"{setter}\n{_AFTER_SETTER}" for setter in setters),
            "members": ";\n".join(f"{type_} {name}" for type_, name in computed),
        }
    )


def _setter(members: list[tuple[str, str]], flags: list[str], own: int, text: Sections) -> str:
    type_, name = members[own]
    copied = [f"ret.{other} = {'value' if i == own else f'this->{other}'};" for i, (_, other) in enumerate(members)]
    return text["setter"].fill(
        {
            "flags": ", ".join("true" if i == own else flag for i, flag in enumerate(flags)),
            "flag": flags[own],
            "name": name,
            "type": type_,
            "copied": "\n".join(copied),
        }
    )
