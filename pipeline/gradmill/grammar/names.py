"""The operator-name grammar: base name, in-place and dunder forms, functional suffix, overload.

torchgen: `model.OperatorName.parse`, `model.BaseOperatorName.parse`.
"""

from __future__ import annotations

from gradmill.model.regex import regex
from gradmill.model.schema import OperatorName
from gradmill.problems.problem import SpecError

# The augmented assignments of PEP 203: only these make `__iX__` the in-place form of `__X__`.
AUGMENTED = ("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or")

_DUNDER = regex(r"__([^_]+)__")
_FUNCTIONAL = "_functional"


def parse_operator_name(text: str) -> OperatorName:
    """Parses an operator name: `add_.Tensor`, `__iand__.Scalar`, `native_batch_norm_functional`.

    Raises a SpecError if it is malformed.
    """
    name, dot, overload = text.partition(".")
    if dot and not overload:
        raise SpecError(f"empty overload name in '{text}'", "drop the dot", needle=text)
    if "\n" in text:
        raise SpecError("a line break in an operator name", "write it on one line", needle=text.strip())
    if not name:
        raise SpecError("the operator has no name", "write name.overload(arguments) -> returns")
    if name.endswith("_out"):
        problem = f"operator name '{name}' ends with _out, which is reserved"
        raise SpecError(problem, f"write the out variant as an overload: {name.removesuffix('_out')}.out", needle=name)
    namespace, colons, plain = name.rpartition("::")
    if not plain:
        raise SpecError(f"no operator name after '{name}'", needle=name)
    if colons and not namespace:
        raise SpecError(f"malformed operator name '{text}'", f"did you mean '{text.removeprefix('::')}'?", needle=text)
    dunder = _DUNDER.fullmatch(plain)
    base, inplace = _dunder_base(plain, dunder.group(1)) if dunder else _plain_base(plain)
    functional = base.endswith(_FUNCTIONAL)
    if functional and (dunder or inplace):
        raise SpecError(f"'{name}': a functional overload cannot be in-place or a dunder method", needle=name)
    if functional:
        base = base.removesuffix(_FUNCTIONAL)
    return OperatorName(base, overload, inplace, dunder is not None, functional, namespace)


def _dunder_base(name: str, inner: str) -> tuple[str, bool]:
    if inner[0] == "i" and inner[1:] in AUGMENTED:
        return inner[1:], True
    if inner[0] == "i":
        raise SpecError(f"unexpected dunder method starting with 'i': '{name}'", needle=name)
    return inner, False


def _plain_base(name: str) -> tuple[str, bool]:
    return (name[:-1], True) if name.endswith("_") else (name, False)


def with_overload(name: OperatorName, overload: str) -> OperatorName:
    """The functional form of `name`, under another overload."""
    return OperatorName(name.base, overload, dunder=name.dunder)


def unambiguous_name(name: OperatorName) -> str:
    """The name and the overload joined by an underscore: `add_out` for `add.out`."""
    return f"{name.unqualified}_{name.overload}" if name.overload else name.unqualified


def out_overload(overload: str) -> str:
    """The overload of a generated out variant."""
    return f"{overload}_out" if overload else "out"
