"""Renders what is registered for a key and a group of functions: the holes of RegisterDispatchDefinitions.ini."""

from __future__ import annotations

from pipeline.families.backends.registration import dense
from pipeline.families.family import REGISTRATION
from pipeline.families.kernel_registrations.class_text import body_of, class_of
from pipeline.families.kernel_registrations.plan import Call, Direct, Registration, Wrapper
from pipeline.families.sections import Sections, Text
from pipeline.releases.model import Release

_TEXT = Text("kernel_registrations/wrappers.cpp")


def render(plan: Registration, release: Release) -> dict[str, str]:
    """The pieces by name; none if nothing is registered."""
    if not plan.wrappers:
        return {}
    text, names = _TEXT.of(release), plan.namespace.split("::")
    registered = "\n".join(_registration(each, text) for each in plan.wrappers)
    direct = [_direct(each, wrapper.name, text) for wrapper in plan.wrappers for each in wrapper.direct]
    pieces = {
        "ns_prologue": "\n".join(f"namespace {name} {{" for name in names),
        "ns_epilogue": "\n".join(f"}} // namespace {name}" for name in reversed(names)),
        "dispatch_anonymous_definitions": "\n".join(_definition(each, text, release) for each in plan.wrappers),
        "static_init_dispatch_registrations": library(plan.library, plan.key, registered, release),
        "deferred_dispatch_registrations": "",
        "dispatch_namespace": plan.key.lower(),
        "dispatch_namespaced_definitions": "\n".join(direct),
        REGISTRATION: registered,
    }
    return {name: dense(piece, release) for name, piece in pieces.items()}


def _definition(wrapper: Wrapper, text: Sections, release: Release) -> str:
    values: dict[str, str | int | list[str]] = {
        "returns": wrapper.returns,
        "name": wrapper.name,
        "parameters": wrapper.parameters,
    }
    if wrapper.call is not None:
        return text["call"].fill({**values, **_call(wrapper.call, wrapper.name, text)})
    if wrapper.of_class is None:
        return text["in_place"].fill({**values, "own": wrapper.own})
    own = wrapper.of_class
    # It begins where the text of upstream's class does, not with its indentation.
    check = _check(own.checked, wrapper.name, text).removeprefix("  ") if own.checks else ""
    body = [check, *body_of(own, release)]
    return text["class"].fill({**values, "class": class_of(own, release), "body": body})


def _call(call: Call, name: str, text: Sections) -> dict[str, str]:
    return {
        "check": _check(call.checked, name, text),
        "guard": text[call.guard].fill({"argument": call.guarded}),
        "kernel": call.kernel,
        "arguments": call.arguments,
    }


def _check(checked: tuple[str, ...] | None, name: str, text: Sections) -> str:
    """The check that arguments are on one device."""
    if checked is None:
        return text["unchecked"].fill({})
    arguments = [text["checked_argument"].fill({"name": name, "argument": argument}) for argument in checked]
    return text["checked"].fill({"arguments": arguments})


def _registration(wrapper: Wrapper, text: Sections) -> str:
    section = "registered" if wrapper.of_class is None else "registered_class"
    return text[section].fill({"operator": wrapper.operator, "name": wrapper.name})


def library(namespace: str, key: str, registered: str, release: Release) -> str:
    """The block of registrations. Only its first line is indented."""
    first, *others = registered.split("\n")
    values = {"library": namespace, "key": key, "first": first, "others": others}
    return _TEXT.of(release)["library"].fill(values)


def _direct(direct: Direct, wrapper: str, text: Sections) -> str:
    return text["direct"].fill(
        {
            "returns": direct.returns,
            "name": direct.name,
            "parameters": direct.parameters,
            "wrapper": wrapper,
            "arguments": direct.arguments,
        }
    )
