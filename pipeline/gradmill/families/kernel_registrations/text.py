"""Renders what is registered for a key and a group of functions: the holes of RegisterDispatchDefinitions.ini."""

from __future__ import annotations

from msgspec.structs import asdict

from gradmill.families.backends import wrappers
from gradmill.families.backends.files import closing, opening
from gradmill.families.family import REGISTRATION
from gradmill.families.kernel_headers.text import kernel_text, meta_text
from gradmill.families.kernel_registrations.class_text import body_of, class_of
from gradmill.families.kernel_registrations.pieces import DEFINING, space_piece, ufunc_piece
from gradmill.families.kernel_registrations.plan import Registration, Wrapper
from gradmill.families.sections import Text
from gradmill.families.template import items_of, piece_of
from gradmill.releases.model import Release

_TEXT = Text("kernel_registrations/wrappers.cpp")


def render(plan: Registration, release: Release) -> dict[str, str]:
    """The pieces by name; none if nothing is registered."""
    if not plan.wrappers:
        return {}
    text, names = _TEXT.of(release), plan.namespace.replace("::native", "").split("::")
    registered = "\n".join(registration(each, release) for each in plan.wrappers if each.operator not in plan.omitted)
    direct = (
        "\n".join(text["direct"].fill({**asdict(each), "wrapper": wrapper.name}) for each in wrapper.direct)
        for wrapper in plan.wrappers
    )
    block = library(plan.library, plan.key, registered, release).rstrip() if registered else ""
    pieces = {
        "ns_prologue": opening(names),
        "ns_epilogue": closing(names),
        "dispatch_anonymous_definitions": piece_of(f"{definition(each, release)}\n" for each in plan.wrappers) or "",
        "static_init_dispatch_registrations": f"\n{block}" if block else "",
        "deferred_dispatch_registrations": "",
        "dispatch_namespace": plan.key.lower(),
        "dispatch_namespaced_definitions": piece_of(f"\n{each}\n" for each in direct if each),
        REGISTRATION: registered,
    }
    own = {name: piece for name, piece in pieces.items() if piece is not None}
    return (own if release.kernel_shards else _in_space(own, plan, release)) | _ufunc(plan, release)


def _in_space(pieces: dict[str, str], plan: Registration, release: Release) -> dict[str, str]:
    """The pieces of a file where groups have no text of their own, before 2.7: by namespace, without empty lines."""
    named = {name: "\n".join(items_of(pieces.get(name, ""))) for name in (*DEFINING, REGISTRATION)}
    return {space_piece(name, plan.namespace): wrappers.dense(piece, release) for name, piece in named.items()}


def _ufunc(plan: Registration, release: Release) -> dict[str, str]:
    """The pieces of a ufunc's kernels."""
    if plan.ufunc is None or plan.class_of is None or plan.meta is None:
        return {}
    from gradmill.families.kernel_registrations.ufunc_text import definitions

    named = {"class": kernel_text(*plan.class_of, release), "meta": meta_text(plan.meta, release)}
    pieces = {ufunc_piece(plan.key, name): f"{text}\n" for name, text in named.items()}
    return {**pieces, **definitions(plan.ufunc, release)}


def definition(plan: Wrapper, release: Release) -> str:
    """The definition of a wrapper, after the class of its structured kernel."""
    text = _TEXT.of(release)
    if plan.call is not None:
        return wrappers.wrapper(plan.name, f"{plan.returns} {plan.name}({plan.parameters})", plan.call, release)
    own, values = plan.of_class, asdict(plan)
    if own is None:
        return text["in_place"].fill(values)
    check = wrappers.device_check(own.checked, plan.name, release) if own.checks else ""
    return text["class"].fill({**values, "class": class_of(own, release), "body": [check, *body_of(own, release)]})


def registration(plan: Wrapper, release: Release) -> str:
    """The registration of a wrapper."""
    if plan.of_class is None:
        return wrappers.registration(plan.operator, plan.name, release)
    return _TEXT.of(release)["registered_class"].fill({"operator": plan.operator, "name": plan.name})


def library(namespace: str, key: str, registered: str, release: Release) -> str:
    """The block of registrations. Only its first line is indented."""
    first, *others = registered.split("\n")
    values = {"library": namespace, "key": key, "first": first, "others": others}
    return _TEXT.of(release)["library"].fill(values)
