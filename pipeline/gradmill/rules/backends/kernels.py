"""Whether a C++ file defines the kernels that a backend writes by hand.

Structured kernels, which upstream has none of, are defined as `void Class::structured_add_out::impl(…)`, or by a macro
such as TORCH_IMPL_FUNC(add_out); their own meta functions as `…::meta(…)`, or by TORCH_META_FUNC(add_out).

torchgen: `gen_backend_stubs.error_on_missing_kernels`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError

_NAME = "write letters, digits and underscores"
META = "::meta"  # after the name of a structured kernel: its meta function
_MEMBER = regex(r"^(\w+) (impl|meta)(\(.*\));$", re.MULTILINE)


def defined_kernels(text: str, class_name: str) -> Counter[str]:
    """How often the text seems to define each member of a class: upstream takes any `Class::name(` for a definition,
    unless the line has a colon before the class. SpecError for a name of a class that is no regular expression, as
    which upstream reads it, or that has groups."""
    try:
        groups = re.compile(class_name).groups
    except re.error as error:
        raise SpecError(f"class_name '{class_name}' is not the name of a class: {error}", _NAME) from None
    if groups:
        raise SpecError(f"class_name '{class_name}' is not the name of a class: it has parentheses", _NAME)
    calls = regex(rf"(.*){class_name}::\s*([\w\d]*)\(").findall(text)
    members = regex(rf"(.*){class_name}::\s*(structured_\w+)::\s*(impl|meta)\s*\(").findall(text)
    macros = regex(r"^\s*\w*(IMPL|META)_FUNC\(\s*(\w+)\s*\)", re.MULTILINE).findall(text)
    suffixes = {"impl": "", "meta": META}
    named = [*calls, *((before, name + suffixes[member]) for before, name, member in members)]
    counted = Counter(name for before, name in named if not before.endswith(":"))
    return counted + Counter(f"structured_{name}{suffixes[member.lower()]}" for member, name in macros)


def missing_kernel(
    kernel: str, wanted: int, defined: Counter[str], class_name: str, file: str, declarations: Sequence[str]
) -> SpecError | None:
    """The error for a kernel that is not defined as often as operators need it; None if it is. `declarations`: those of
    the operators' kernels."""
    if defined[kernel] == wanted:
        return None
    name = f"{class_name}::{kernel}"
    problem = f"{file} defines {name} {_times(defined[kernel])}, not {_times(wanted)}"
    for returns, member, parameters in _MEMBER.findall("\n".join(declarations)):  # those in a structured one's class
        if (member == "meta") == kernel.endswith(META):
            owner = name.removesuffix(META)
            returned = returns if returns == "void" else f"{owner}::{returns}"
            return SpecError(problem, f"define {returned} {owner}::{member}{parameters}")
    return SpecError(problem, f"define, in the class {class_name}: {' '.join(declarations)}")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
