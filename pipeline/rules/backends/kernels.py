"""Whether a C++ file defines the kernels that a backend writes by hand.

torchgen: `gen_backend_stubs.error_on_missing_kernels`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pipeline.model.regex import regex
from pipeline.problems.problem import SpecError


def defined_kernels(text: str, class_name: str) -> Counter[str]:
    """How often the text seems to define each member of a class: upstream takes any `Class::name(` for a definition,
    unless the line has a colon before the class."""
    calls = regex(rf"(.*){class_name}::\s*([\w\d]*)\(").findall(text)
    return Counter(name for before, name in calls if not before.endswith(":"))


def missing_kernel(
    kernel: str, wanted: int, defined: Counter[str], class_name: str, file: str, declarations: Sequence[str]
) -> SpecError | None:
    """The error for a kernel that is not defined as often as operators need it; None if it is. `declarations`: those of
    the operators' kernels."""
    if defined[kernel] == wanted:
        return None
    name = f"{class_name}::{kernel}"
    problem = f"{file} defines {name} {_times(defined[kernel])}, not {_times(wanted)}"
    return SpecError(problem, f"define, in the class {class_name}: {' '.join(declarations)}")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
