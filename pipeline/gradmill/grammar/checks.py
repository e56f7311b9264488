"""Checks of a well-formed schema: aliasing, out arguments, in-place form.

torchgen: `model.FunctionSchema`, `model.Arguments`.
"""

from __future__ import annotations

import re

from gradmill.model.regex import regex
from gradmill.model.schema import Argument, Return, Schema, any_written, schema_kind
from gradmill.problems.problem import SpecError

_IDENTIFIER = regex(r"[A-Za-z_]\w*", re.ASCII)
_QUOTED = regex(r"'[^']*'|\"[^\"]*\"")
_BEHIND = regex(r"\w+\([a-z]!?\)")
_LETTERS = "write letters, digits and underscores"


def check_schema(schema: Schema) -> None:
    """Raises a SpecError if the schema breaks one of the rules below. All of them are about arguments written to."""
    if not (schema.name.inplace or schema.out or any_written(schema.positional) or any_written(schema.returns)):
        return
    _check_before_self(schema)
    _check_out_annotations(schema)
    _check_mutable_positional(schema)
    _check_returns(schema)
    if schema.out:
        _check_out_returns(schema)
    if schema.name.inplace:
        _check_inplace(schema)
    _check_kind(schema)


def odd_names(schema: Schema) -> list[SpecError]:
    """Errors that upstream accepts, but no C++ compiler.

    They are names that are not identifiers, two arguments of the same name, a default of several words, an out variant
    that does not write to `out`, a view that only one side says, and a foreach op that returns one tensor.
    """
    errors: list[SpecError] = []

    def odd(problem: str, hint: str, needle: str, rule: str) -> None:
        errors.append(SpecError(problem, hint, field=("func",), needle=needle, rule=rule))

    base = schema.name.base
    if not _IDENTIFIER.fullmatch(base):
        odd(f"'{base}' is not a C++ identifier", _LETTERS, base, "cpp-name")
    seen: set[str] = set()
    for argument in schema.arguments:
        name = argument.name
        if not _IDENTIFIER.fullmatch(name):
            hint = f"write {_annotated(argument)}" if _BEHIND.fullmatch(name) else _LETTERS
            odd(f"the argument name '{name}' is not a C++ identifier", hint, str(argument), "cpp-name")
        elif name in seen:
            odd(f"two arguments are called '{name}'", "rename one", str(argument), "argument-twice")
        if argument.default is not None and " " in _QUOTED.sub("", argument.default):
            problem = f"the default of '{name}' is '{argument.default}'"
            odd(problem, "write ', ' between two arguments", str(argument), "odd-default")
        seen.add(name)
    errors += _lost_aliases(schema)
    if unwritten := unwritten_out(schema):
        problem = f"'{schema.name}' is called an out variant, and does not write to '{unwritten}'"
        hint = f"write Tensor(a!) {unwritten}, and return Tensor(a!)"
        odd(problem, hint, f"Tensor {unwritten}", "unwritten-out")
    if base.startswith("_foreach_") and any(r.type == "Tensor" for r in schema.returns):
        problem = f"'{schema.name}' takes lists of tensors, but returns a Tensor"
        odd(problem, "return Tensor[]", ") -> ", "foreach-returns")
    return errors


def _lost_aliases(schema: Schema) -> list[SpecError]:
    """Errors for annotations of views that only arguments or only returns have."""
    if any("->" in (a.annotation or "") for a in schema.arguments):
        return []  # an argument may alias others afterwards
    lost: list[SpecError] = []
    for own, others, where in (
        (schema.arguments, schema.returns, "return"),
        (schema.returns, schema.arguments, "argument"),
    ):
        known = {letter for each in others for letter in (each.annotation or "").strip("!").split("|")}
        for each in own:
            letters = each.annotation or ""
            if letters and not each.is_write and known.isdisjoint(letters.split("|")):
                problem = f"no {where} has the annotation ({letters}) of '{each}'"
                hint = f"a view is annotated in both: write Tensor({letters}) there, or drop it here"
                lost.append(SpecError(problem, hint, field=("func",), needle=str(each), rule="lost-alias"))
    return lost


def _check_before_self(schema: Schema) -> None:
    for argument in schema.positional[: schema.self_index or 0]:
        if argument.is_write:
            problem = f"argument '{argument.name}' precedes self and is mutable"
            raise SpecError(problem, "put it after self", needle=str(argument))


def _check_out_annotations(schema: Schema) -> None:
    for argument, returned in zip(schema.out, schema.returns):
        if argument.annotation != returned.annotation:
            problem = f"out argument '{argument.name}' and the return at its place have different alias annotations"
            hint = f"the i-th out argument is the i-th return: return Tensor({argument.annotation})"
            raise SpecError(problem, hint, needle=str(returned))


def _check_mutable_positional(schema: Schema) -> None:
    returned = {r.annotation for r in schema.returns}
    for argument in schema.after_self:
        if argument.annotation in returned and argument.is_write:
            problem = f"mutable positional argument '{argument.name}' is returned"
            raise SpecError(problem, "do not return it, or make it a keyword-only out argument", needle=str(argument))


def _check_returns(schema: Schema) -> None:
    written = [r for r in schema.returns if r.is_write]
    if written and len(written) != len(schema.returns):
        raise SpecError("the returns mix mutable and immutable ones", "return only mutable, or only immutable values")
    returnable = {a.annotation for a in (*schema.out, *(a for a in schema.positional if a.name == "self"))}
    for returned in written:
        if returned.annotation not in returnable:
            problem = f"return '{returned}' aliases neither self nor an out argument"
            raise SpecError(problem, _how_to_return(schema, returned), needle=str(returned))


def _how_to_return(schema: Schema, returned: Return) -> str:
    """A hint for a return that aliases nothing."""
    behind = next((a for a in schema.arguments if a.name.endswith(f"({returned.annotation})")), None)
    if behind is not None:
        return f"write {_annotated(behind)}"
    plain = [a for a in schema.kwarg_only if a.type == returned.type and a.annotation is None]
    if len(plain) == 1 and not schema.out:
        return f"write {returned.type}({returned.annotation}) {plain[0].name}: an out argument has an annotation"
    same = next((a for a in schema.positional if a.annotation == returned.annotation), None)
    if same is not None:
        return f"'{same.name}' is an out argument if it is keyword-only: put it after '*'"
    return "give it the annotation of self or of an out argument, which is behind '*'"


def _annotated(argument: Argument) -> str:
    """An argument whose annotation is behind its name, with it behind its type."""
    name, _, annotation = argument.name.partition("(")
    return f"{argument.type}({annotation} {name}"


def unwritten_out(schema: Schema) -> str:
    """The argument that an overload called `out` should write to; "" if it writes to one, or has none."""
    named = schema.name.overload == "out" or schema.name.overload.endswith("_out")
    plain = [a for a in schema.kwarg_only if a.type == "Tensor" and a.name.startswith("out")]
    return plain[0].name if named and plain and not schema.out else ""


def _check_out_returns(schema: Schema) -> None:
    if any(a.type != "Tensor" for a in schema.out):
        if schema.returns:
            raise SpecError("an op with tensor lists as out arguments must return nothing", "let it return ()")
        return
    expected = sum(not a.name.startswith("_scratch_") for a in schema.out)
    if expected != len(schema.returns):
        problem = f"{expected} out arguments but {len(schema.returns)} returns"
        raise SpecError(problem, "return every out argument, in their order")


def _check_inplace(schema: Schema) -> None:
    self_argument = schema.self_argument
    if self_argument is None or not self_argument.is_write:
        problem = f"in-place op '{schema.name}' has no mutable self argument"
        hint = "write Tensor(a!) self, or drop the trailing underscore of the name"
        raise SpecError(problem, hint, needle=str(self_argument or schema.name))
    if self_argument.type == "Tensor":
        if len(schema.returns) != 1 or schema.returns[0].annotation != self_argument.annotation:
            problem = f"in-place op '{schema.name}' does not return self"
            raise SpecError(problem, f"return Tensor({self_argument.annotation})")
    elif schema.returns:
        raise SpecError(f"in-place op '{schema.name}' on a non-Tensor self must return nothing", "let it return ()")


def _check_kind(schema: Schema) -> None:
    kind = schema_kind(schema)
    if schema.out and schema.name.inplace:
        raise SpecError("a schema cannot be in-place and have out arguments", needle=str(schema.out[0]))
    if kind == "functional":
        return
    if schema.options_index is not None:
        problem = "only functional ops may take dtype, layout, device and pin_memory"
        raise SpecError(problem, needle=str(schema.kwarg_only[schema.options_index]))
    if "functional" in schema.name.overload:
        problem = f"overload '{schema.name.overload}' is named functional, but the op is not"
        raise SpecError(problem, "use another overload name", needle=schema.name.overload)
