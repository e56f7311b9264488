"""Overload resolution as in PyTorch's argument parser.

The overloads are tried in the parser's order, a tensor before a number and a number before a list; the first one that
takes the arguments is called. Rules: tools/autograd/gen_python_functions.py (the order), python_arg_parser.cpp (the
rest).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from gradmill.extensions.graphs.model import Value
from gradmill.extensions.graphs.operator import Op
from gradmill.extensions.graphs.read.resolve.operands import (
    NONE,
    Operand,
    Several,
    TypedValue,
    converted,
    default_of,
    described,
    is_tensor,
)
from gradmill.extensions.graphs.traits import TAKE_NUMBERS
from gradmill.families.bindings.order import in_precedence
from gradmill.model.schema import Argument, Schema
from gradmill.problems.problem import SpecError, nearest

# Alternative names of arguments in Python.
_ALIASES = {"dim": ("axis",), "keepdim": ("keepdims",), "self": ("input", "x", "a", "x1"), "other": ("x2",)}
_ONLY_NONE = ("Generator?", "Dimname[]?", "Storage?", "Stream?")  # types for which a graph can only pass None
_SHOWN = 3


class Match(Struct, frozen=True):
    """An overload and all of its arguments."""

    op: Op
    arguments: dict[str, Value]


def choose(
    name: str, overloads: Sequence[Op], args: Sequence[Operand], kwargs: Mapping[str, Operand], *, method: bool
) -> Match:
    """The first overload that takes the arguments; a SpecError if none does.

    For a method, `args` begins with its tensor. With `out=`, only overloads with out arguments are tried; their other
    arguments decide.
    """
    reasons = []
    inputs, out = {key: operand for key, operand in kwargs.items() if key != "out"}, kwargs.get("out", NONE)
    bound = [op for op in overloads if is_bound(op, out=out != NONE)]
    if not bound and out != NONE:
        raise SpecError(f"'{name}' has no out argument", "write out.copy_(…)")
    for op in ordered(bound):
        match = _match(op, args, inputs, method=method)
        if isinstance(match, Match) and out != NONE:
            match = with_out(match, out)
        if isinstance(match, Match):
            return match
        reasons.append(match)
    if len(reasons) == 1:
        raise SpecError(f"'{name}' {reasons[0]}", f"its schema is {bound[0].schema}")
    shown = [str(op.schema) for op in bound[:_SHOWN]]
    more = f", and {len(bound) - _SHOWN} more" if len(bound) > _SHOWN else ""
    written = ", ".join([*map(described, args), *(f"{key}: {described(operand)}" for key, operand in kwargs.items())])
    raise SpecError(f"no overload of '{name}' takes ({written})", f"the overloads are {'; '.join(shown)}{more}")


def with_out(match: Match, out: Operand) -> Match | str:
    """The match with its out arguments, one tensor or several in a tuple; or why `out` does not fit."""
    slots = match.op.schema.out
    operands = out.items if isinstance(out, Several) else (out,)
    if len(operands) != len(slots) or not all(map(is_tensor, operands)):
        wanted = "one tensor" if len(slots) == 1 else f"{len(slots)} tensors in a tuple"
        return f"has {wanted} for its out, not {described(out)}"
    values = {slot.name: operand.value for slot, operand in zip(slots, operands) if isinstance(operand, TypedValue)}
    return Match(match.op, {**match.arguments, **values})


def is_bound(op: Op, *, out: bool = False) -> bool:
    """Whether Python can call an overload, with or without `out=`: not one with named dimensions or a generated one."""
    schema = op.schema
    return (
        bool(schema.out) == out
        and not any(a.name.startswith("_scratch_") for a in schema.out)
        and not schema.name.functional
        and "generated" not in op.function.tags
        and not any(a.type in ("Dimname", "Dimname[]", "Dimname[1]") for a in schema.inputs)
    )


def _match(op: Op, args: Sequence[Operand], kwargs: Mapping[str, Operand], *, method: bool) -> Match | str:
    """The arguments of an overload, or why it does not take them."""
    schema = op.schema
    if method and schema.self_index:  # the tensor of a method is passed as `self`
        at = schema.self_index
        args = [*args[1 : at + 1], args[0], *args[at + 1 :]]
    slots = schema.positional
    rest: Several | None = None
    alone = int(method) if method else 0
    if len(slots) == alone + 1 and len(args) > alone and slots[alone].type in ("int[]", "SymInt[]"):
        rest = _run(args[alone:])
        args = [*args[:alone], rest] if rest is not None else args
    if len(args) > len(slots):
        return f"takes {len(slots)} positional arguments, not {len(args)}"
    bound: dict[str, Operand] = {slot.name: operand for slot, operand in zip(slots, args)}
    for key, operand in kwargs.items():
        slot = _named(schema, key, bound)
        if slot is None and any(key in _ALIASES.get(name, ()) for name in bound):
            return f"gets '{key}' twice"
        if slot is None:
            names = [a.name for a in schema.inputs]
            return f"has no argument '{key}'" + (f": {hint}" if (hint := nearest(key, names)) else "")
        if slot.name in bound:
            return f"gets '{slot.name}' twice"
        bound[slot.name] = operand
    return filled(op, bound, numbers=takes_numbers(op))


def _run(args: Sequence[Operand]) -> Several | None:
    """`view(2, 3)`: the integers as the one list; None if they are not all integers."""
    numbers = Several(tuple(args), is_list=True)
    return numbers if converted(numbers, "int[]") is not None else None


def _named(schema: Schema, key: str, bound: Mapping[str, Operand]) -> Argument | None:
    for argument in schema.inputs:
        if key == argument.name or (key in _ALIASES.get(argument.name, ()) and argument.name not in bound):
            return argument
    return None


def takes_numbers(op: Op) -> bool:
    """Whether an operator accepts numbers for its tensors."""
    return op.name.partition(".")[0] in TAKE_NUMBERS


def filled(op: Op, bound: Mapping[str, Operand], *, numbers: bool) -> Match | str:
    """The match of an overload with the `bound` arguments and its defaults; or why it cannot be called with them."""
    schema = op.schema
    arguments: dict[str, Value] = {}
    for argument in schema.inputs:
        operand = bound.get(argument.name)
        value = default_of(argument) if operand is None else converted(operand, argument.type, numbers=numbers)
        if value is None and operand is None and argument.type in _ONLY_NONE:
            return f"needs '{argument.name}', a {argument.type.rstrip('?')}, which a graph does not support"
        if value is None:
            what = f"is {described(operand)}, not {argument.type}" if operand is not None else "is missing"
            return f"cannot be called: its argument '{argument.name}' {what}"
        arguments[argument.name] = value
    tensors = [a.name for a in schema.inputs if a.type.startswith("Tensor")]
    if numbers and tensors and not any("Tensor" in described(bound[name]) for name in tensors if name in bound):
        return "is called without any tensor"
    return Match(op, arguments)


# ---- the order in which overloads are tried

_PARSED_AS = {"int": "int64_t", "float": "double", "str": "c10::string_view", "Tensor[]": "TensorList"}


def ordered(overloads: Sequence[Op]) -> list[Op]:
    """Overloads by their text in the parser's syntax, and each before those that it takes precedence over."""
    by_text = sorted(overloads, key=_parsed)
    order, rest = in_precedence([tuple(argument.type for argument in op.schema.inputs) for op in by_text])
    return [by_text[i] for i in (*order, *rest)]


def _parsed(op: Op) -> str:
    schema = op.schema
    written = [f"{_parsed_type(a.type)} {'input' if a.name == 'self' else a.name}{_default(a)}" for a in schema.inputs]
    positional = len(schema.positional)
    return ", ".join([*written[:positional], *(["*", *written[positional:]] if schema.kwarg_only else [])]) + ")"


def _parsed_type(type_: str) -> str:
    base, bracket, rest = type_.partition("[")
    if base in ("int", "SymInt") and bracket:
        return f"{'' if base == 'int' else 'Sym'}IntArrayRef{'' if rest.startswith(']') else '['}{rest.lstrip(']')}"
    return _PARSED_AS.get(type_, type_)


def _default(argument: Argument) -> str:
    return f"={argument.default}" if argument.default is not None else ""
