"""Renders an operator's headers of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import asdict

from gradmill.families.kernel_headers.files import INCLUDE, META, NATIVE, header_piece
from gradmill.families.kernel_headers.plan import Declaration, KernelHeaders, Meta
from gradmill.families.sections import Sections, Text
from gradmill.families.template import piece_of
from gradmill.releases.model import Release

_TEXT = Text("kernel_headers/kernel_headers.cpp", phrases=True)
_AFTER_NAMESPACE = " " * 8  # the indentation of upstream's source, which only the end of the file does without
_AFTER_SETTER = " " * 16


def render(plan: KernelHeaders, release: Release) -> dict[str, str]:
    """The pieces by name."""
    text = _TEXT.of(release)
    metas = piece_of(f"{meta_text(each, release)}\n" for each in plan.metas) or ""
    by_key: dict[str, str] = {}
    for key, declarations in plan.functions:
        by_key[key] = piece_of(f"{each}\n" for each in declarations) or ""
        by_key[header_piece(key)] = text["include"].fill({"name": plan.operator, "suffix": f"_{key.lower()}_dispatch"})
    return {
        **by_key,
        META: metas,
        INCLUDE: text["include"].fill({"name": plan.operator, "suffix": "_meta"}) if metas else "",
        NATIVE: _lines(plan, release),
    }


def namespaces(blocks: Iterable[tuple[str, Sequence[str]]], release: Release) -> str:
    """The text of namespaces, each with its own lines."""
    text, listed = _TEXT.of(release), []
    for name, lines in blocks:
        names = name.split("::")
        opening = [text["opening"].fill({"name": each}) for each in names]
        closing = [text["closing"].fill({"name": each}) for each in reversed(names)]
        listed.append("\n".join([*opening, *lines, *closing]))
    return f"\n{_AFTER_NAMESPACE}\n".join(listed)


def _lines(plan: KernelHeaders, release: Release) -> str:
    """The kernels by namespace, as upstream's list of lines: empty ones precede each namespace and follow a class."""
    lines = []
    for name, listed in plan.kernels:
        kernels = [kernel_text(*each, release) + ("\n" if each[1].meta else "") for each in listed]
        lines += ["", *namespaces([(name, kernels or [""])], release).split("\n"), _AFTER_NAMESPACE]
    return piece_of(lines) or ""


def kernel_text(macro: str, declaration: Declaration, release: Release) -> str:
    """The declaration of a kernel. `macro`: "" for none."""
    section = _TEXT.of(release)["class" if declaration.meta else "function"]
    return section.fill({**asdict(declaration), "macro": f"{macro} " if macro else ""})


def meta_text(meta: Meta, release: Release) -> str:
    """The class of a meta function. It returns an object with what it computes, each value set once."""
    text = _TEXT.of(release)
    flags = [name.upper() for _, name in meta.precomputed]
    computes = {"flags": ", ".join("true" for _ in flags)}
    return text["meta"].fill(
        {
            **asdict(meta),
            "precomputed": _precomputed(meta, flags, text) if flags else "",
            "returned": text["returned"].fill(computes) if flags else "",
            "returns": "meta_return_ty" if flags else "void",
        }
    )


def _precomputed(meta: Meta, flags: list[str], text: Sections) -> str:
    setters = [_setter(meta.precomputed, flags, i, text) for i in range(len(flags))]
    return text["precomputed"].fill(
        {
            "flags": ", ".join(f"bool {flag} = false" for flag in flags),
            "setters": "\n".join(f"{setter}\n{_AFTER_SETTER}" for setter in setters),
            "members": ";\n".join(f"{type_} {name}" for type_, name in meta.precomputed),
        }
    )


def _setter(members: tuple[tuple[str, str], ...], flags: list[str], own: int, text: Sections) -> str:
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
