"""Hidden outputs: values that a backend's kernel returns after the results of its operator, for the backward formulas.

A described set names them (`add.hidden_outputs`), because no schema does. PyTorch has nothing like it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from gradmill.cpp.bindings import return_names
from gradmill.cpp.types import Passing, argument_type
from gradmill.model.native import NativeFunction
from gradmill.model.regex import regex
from gradmill.model.schema import schema_kind
from gradmill.problems.problem import SpecError, nearest
from gradmill.releases.model import Release

# The schema types that a hidden output may have.
_TYPES = ("Tensor", "Tensor[]", "int", "int[]", "SymInt", "SymInt[]", "float", "bool", "Scalar")
_NAME = regex(r"[A-Za-z_]\w*")
_FUNCTION = regex(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
# Variables of a kernel or a Node, and names that formulas give a meaning.
_TAKEN = frozenset("grad grads grad_fn grad_input_mask retain_variables result ks guard self _tmp".split())


class Hidden(Struct, frozen=True):
    """A hidden output: its name in formulas, and its schema type."""

    name: str
    type: str

    def saved_type(self, release: Release) -> str:
        """Its C++ type as a saved attribute."""
        return argument_type(self.type, Passing(release.base_types, symint=True), mutable=False).value


def hidden_outputs(function: NativeFunction, release: Release) -> tuple[Hidden, ...]:
    """The hidden outputs of a function, in their order. Malformed ones are left out: `hidden_errors` reports them."""
    listed = release.hidden_outputs and _of(release.hidden_outputs, function)
    return tuple(each for each in map(_parsed, _parts(listed)) if isinstance(each, Hidden)) if listed else ()


def returned_outputs(function: NativeFunction, release: Release) -> tuple[Hidden, ...]:
    """The hidden outputs that the call of a kernel returns: none if the kernel stores them in the Node itself, which an
    empty name in `hidden_kernels` says."""
    hidden = hidden_outputs(function, release)
    return () if hidden and _of(release.hidden_kernels, function) == "" else hidden


def hidden_of(listed: Iterable[str]) -> list[Hidden]:
    """Hidden outputs, given as a description lists them for one function or several; each name once."""
    parsed = [each for value in listed for each in map(_parsed, _parts(value)) if isinstance(each, Hidden)]
    return list({each.name: each for each in reversed(parsed)}.values())[::-1]


def hidden_kernel(function: NativeFunction, release: Release) -> str:
    """The C++ function that returns the hidden outputs; "" if the usual call does, after a replacement of its text."""
    return _of(release.hidden_kernels, function) or "" if release.hidden_kernels else ""


def text_errors(field: str, value: str) -> Iterator[SpecError]:
    """The errors in one value of `hidden_outputs` or `hidden_kernels`, whatever the function."""
    if field == "hidden_kernels":
        if value and not _FUNCTION.fullmatch(value):
            yield SpecError(
                f"'{value}' is not a C++ function", "write its name, as in vendor::relu_with_mask", needle=value
            )
        return
    seen: set[str] = set()
    for part in _parts(value):
        parsed = _parsed(part)
        if isinstance(parsed, SpecError):
            yield parsed
        elif parsed.name in seen:
            yield SpecError(f"two hidden outputs are called '{parsed.name}'", "rename one", needle=part)
        else:
            seen.add(parsed.name)


def function_errors(function: NativeFunction, value: str) -> Iterator[SpecError]:
    """The errors in hidden outputs that only the function shows: its kind, and names that it already uses."""
    schema = function.func
    if schema_kind(schema) != "functional" or not schema.returns:
        yield SpecError(
            f"'{schema.name}' cannot have hidden outputs: it is not functional",
            "give them to the functional variant, and define this function's derivatives without them",
            needle=str(schema.name),
        )
    used = {a.name for a in schema.arguments} | set(return_names(schema))
    for part in _parts(value):
        parsed = _parsed(part)
        if isinstance(parsed, Hidden) and parsed.name in used:
            yield SpecError(f"'{schema.name}' has an argument or result '{parsed.name}'", "rename it", needle=part)


def _of(table: dict[str, str], function: NativeFunction) -> str | None:
    name = str(function.func.name)
    return table.get(f"{function.namespace}::{name}", table.get(name))


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",")]


def _parsed(part: str) -> Hidden | SpecError:
    type_, _, name = part.rpartition(" ")
    if not type_ or not _NAME.fullmatch(name):
        return SpecError(
            f"'{part}' is not a hidden output", "write types and names: Tensor mask, int[] sizes", needle=part
        )
    if type_ not in _TYPES:
        hint = nearest(type_, _TYPES) or f"types: {', '.join(_TYPES)}"
        return SpecError(f"a hidden output cannot be '{type_}'", hint, needle=part)
    if name in _TAKEN or name.startswith("grad_"):
        return SpecError(f"a hidden output cannot be called '{name}'", "generated code uses that name", needle=part)
    return Hidden(name, type_)
