"""Renders the kernels that call other functions, and the `#include`s of these functions' headers."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from gradmill.cpp.dispatcher import declared
from gradmill.families.composite_kernels.plan import CompositeKernel, CompositesPlan
from gradmill.families.sections import Text
from gradmill.releases.model import Release

_TEXT = Text("composite_kernels/kernels.cpp", phrases=True)


def include(plan: CompositesPlan, release: Release) -> str:
    """The `#include`s of the headers of a group's operators."""
    section = _TEXT.of(release)["include_of_view" if plan.is_view else "include_of_variant"]
    return "\n".join(section.fill({"base": base}) for base in plan.included)


def copy(plan: CompositesPlan, release: Release) -> str | None:
    """The kernel of a view's copy, if there is one."""
    text, kernel = _TEXT.of(release), plan.copy
    if kernel is None:
        return None
    if kernel.by_reshape:
        return text["by_reshape"].fill({})
    return text["copies" if kernel.is_list else "copy"].fill(_call(kernel))


def functional(plan: CompositesPlan, release: Release) -> str | None:
    """The kernel of a generated functional variant, if there is one."""
    text, kernel = _TEXT.of(release), plan.functional
    if kernel is None:
        return None
    clones = "\n".join(text["clone"].fill({"argument": each}) for each in kernel.clones)
    assigned = "auto output = " if kernel.assigned else ""
    return text["functional"].fill({**_call(kernel), "clones": clones, "assigned": assigned})


def out(plan: CompositesPlan, release: Release) -> str | None:
    """The kernel of a generated out variant, if there is one."""
    text, kernel = _TEXT.of(release), plan.out
    if kernel is None:
        return None
    copies = "\n".join(text["copy_of_result"].fill({"out": o, "result": result}) for o, result in kernel.copies)
    return text["out"].fill({**_call(kernel), "copies": copies})


def _call(kernel: CompositeKernel) -> dict[str, Any]:
    return {**asdict(kernel), "parameters": declared(kernel.parameters)}
