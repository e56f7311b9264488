"""Which overload of an operator a call means, as PyTorch's argument parser finds it.

The overloads are tried in the parser's order, a tensor before a number and a number before a list; the first one that
takes the arguments is it. Rules: tools/autograd/gen_python_functions.py (the order), python_arg_parser.cpp (the rest).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from pipeline.graphs.model import Value
from pipeline.graphs.ops import Op
from pipeline.graphs.resolve.conversion import converted, default_of
from pipeline.graphs.resolve.things import NONE, Known, Several, Thing, described, is_tensor
from pipeline.model.schema import Argument, Schema
from pipeline.problems.problem import SpecError, nearest

# Operators whose tensors may be given as numbers (should_allow_numbers_as_tensors).
_TAKE_NUMBERS = frozenset(
    f"{name}{suffix}"
    for name in "add sub mul div divide multiply subtract true_divide floor_divide copy".split()
    for suffix in ("", "_")
) | {"to", "_to_copy"}
# Other names that an argument has in Python.
_ALIASES = {"dim": ("axis",), "keepdim": ("keepdims",), "self": ("input", "x", "a", "x1"), "other": ("x2",)}
_UNGIVEN = ("Generator?", "Dimname[]?", "Storage?", "Stream?")  # types of which only None can be written
_SHOWN = 3


class Match(Struct, frozen=True):
    """An overload and all of its arguments."""

    op: Op
    arguments: dict[str, Value]


def choose(
    name: str, overloads: Sequence[Op], given: Sequence[Thing], named: Mapping[str, Thing], *, method: bool
) -> Match:
    """The overload that takes the arguments; a SpecError where none does. `given` begins with a method's tensor.

    With `out=` it is the one that writes there, found as the one that does not.
    """
    reasons = []
    inputs, out = {key: thing for key, thing in named.items() if key != "out"}, named.get("out", NONE)
    bound = [op for op in overloads if is_bound(op, out=out != NONE)]
    if not bound and out != NONE:
        raise SpecError(f"'{name}' has no out argument", "write out.copy_(…)")
    for op in ordered(bound):
        found = _match(op, given, inputs, method=method)
        if isinstance(found, Match) and out != NONE:
            found = _with_out(found, out)
        if isinstance(found, Match):
            return found
        reasons.append(found)
    if len(reasons) == 1:
        raise SpecError(f"'{name}' {reasons[0]}", f"its schema is {bound[0].native.func}")
    shown = [str(op.native.func) for op in bound[:_SHOWN]]
    more = f", and {len(bound) - _SHOWN} more" if len(bound) > _SHOWN else ""
    written = ", ".join([*map(described, given), *(f"{key}: {described(thing)}" for key, thing in named.items())])
    raise SpecError(f"no overload of '{name}' takes ({written})", f"there are {'; '.join(shown)}{more}")


def _with_out(match: Match, out: Thing) -> Match | str:
    """The arguments with those that are written to: one tensor, or several in a tuple."""
    slots = match.op.native.func.out
    things = out.items if isinstance(out, Several) else (out,)
    if len(things) != len(slots) or not all(map(is_tensor, things)):
        wanted = "one tensor" if len(slots) == 1 else f"{len(slots)} tensors in a tuple"
        return f"has {wanted} for its out, not {described(out)}"
    values = {slot.name: thing.value for slot, thing in zip(slots, things) if isinstance(thing, Known)}
    return Match(match.op, {**match.arguments, **values})


def is_bound(op: Op, *, out: bool = False) -> bool:
    """Whether Python can call an overload, with or without `out=`: none with names of dimensions, none generated."""
    schema = op.native.func
    return (
        bool(schema.out) == out
        and not any(a.name.startswith("_scratch_") for a in schema.out)
        and not schema.name.functional
        and "generated" not in op.native.tags
        and not any(a.type in ("Dimname", "Dimname[]", "Dimname[1]") for a in schema.inputs)
    )


def _match(op: Op, given: Sequence[Thing], named: Mapping[str, Thing], *, method: bool) -> Match | str:
    """The arguments of an overload, or why it does not take them."""
    schema = op.native.func
    if method and schema.self_index:  # the tensor of a method stands where `self` does
        at = schema.self_index
        given = [*given[1 : at + 1], given[0], *given[at + 1 :]]
    slots = schema.positional
    rest: Several | None = None
    alone = int(method) if method else 0
    if len(slots) == alone + 1 and len(given) > alone and slots[alone].type in ("int[]", "SymInt[]"):
        rest = _run(given[alone:])
        given = [*given[:alone], rest] if rest is not None else given
    if len(given) > len(slots):
        return f"takes {len(slots)} positional arguments, not {len(given)}"
    taken: dict[str, Thing] = {slot.name: thing for slot, thing in zip(slots, given)}
    for key, thing in named.items():
        slot = _named(schema, key, taken)
        if slot is None and any(key in _ALIASES.get(name, ()) for name in taken):
            return f"gets '{key}' twice"
        if slot is None:
            names = [a.name for a in schema.inputs]
            return f"has no argument '{key}'" + (f": {hint}" if (hint := nearest(key, names)) else "")
        if slot.name in taken:
            return f"gets '{slot.name}' twice"
        taken[slot.name] = thing
    return filled(op, taken, numbers=takes_numbers(op))


def _run(given: Sequence[Thing]) -> Several | None:
    """`view(2, 3)`: several whole numbers for the one list; None where they are no such."""
    found = Several(tuple(given), is_list=True)
    return found if converted(found, "int[]") is not None else None


def _named(schema: Schema, key: str, taken: Mapping[str, Thing]) -> Argument | None:
    for argument in schema.inputs:
        if key == argument.name or (key in _ALIASES.get(argument.name, ()) and argument.name not in taken):
            return argument
    return None


def takes_numbers(op: Op) -> bool:
    """Whether an operator's tensors may be given as numbers."""
    return op.native.func.name.unqualified in _TAKE_NUMBERS


def filled(op: Op, taken: Mapping[str, Thing], *, numbers: bool) -> Match | str:
    """The arguments of an overload by name, its defaults among them; or why it cannot be called so."""
    schema = op.native.func
    arguments: dict[str, Value] = {}
    for argument in schema.inputs:
        thing = taken.get(argument.name)
        value = default_of(argument) if thing is None else converted(thing, argument.type, numbers=numbers)
        if value is None and thing is None and argument.type in _UNGIVEN:
            return f"needs '{argument.name}', a {argument.type.rstrip('?')}, which a graph has none of"
        if value is None:
            what = f"is {described(thing)}, not {argument.type}" if thing is not None else "is missing"
            return f"cannot be called: its argument '{argument.name}' {what}"
        arguments[argument.name] = value
    tensors = [a.name for a in schema.inputs if a.type.startswith("Tensor")]
    if numbers and tensors and not any(_has_tensor(taken.get(name)) for name in tensors):
        return "is called without any tensor"
    return Match(op, arguments)


def _has_tensor(thing: Thing | None) -> bool:
    return thing is not None and "Tensor" in described(thing)


# ---- the order in which overloads are tried

_PARSED_AS = {"int": "int64_t", "float": "double", "str": "c10::string_view", "Tensor[]": "TensorList"}


def ordered(overloads: Sequence[Op]) -> list[Op]:
    """Overloads by their text in the parser's own words, and so that what takes precedence comes first."""
    left = sorted(overloads, key=_parsed)
    found: list[Op] = []
    while left:
        first = next((a for a in left if not any(_yields(a, b) for b in left if b is not a)), left[0])
        found.append(first)
        left.remove(first)
    return found


def _parsed(op: Op) -> str:
    schema = op.native.func
    written = [f"{_parsed_type(a.type)} {'input' if a.name == 'self' else a.name}{_default(a)}" for a in schema.inputs]
    named = len(schema.positional)
    return ", ".join([*written[:named], *(["*", *written[named:]] if schema.kwarg_only else [])]) + ")"


def _parsed_type(type_: str) -> str:
    base, bracket, rest = type_.partition("[")
    if base in ("int", "SymInt") and bracket:
        return f"{'' if base == 'int' else 'Sym'}IntArrayRef{'' if rest.startswith(']') else '['}{rest.lstrip(']')}"
    return _PARSED_AS.get(type_, type_)


def _default(argument: Argument) -> str:
    return f"={argument.default}" if argument.default is not None else ""


def _yields(one: Op, other: Op) -> bool:
    """Whether an overload takes as many arguments as another and each is one that comes second."""
    mine = [a.type for a in one.native.func.inputs]
    theirs = [a.type for a in other.native.func.inputs]
    if len(mine) != len(theirs):
        return False
    pairs = [(a, b) for a, b in zip(mine, theirs) if a != b]
    return bool(pairs) and all(_comes_second(a, b) for a, b in pairs)


def _comes_second(one: str, other: str) -> bool:
    return (
        (one, other) in _SECOND
        or (one == "Tensor[]" and "[]" in other)
        or (one in ("int", "SymInt") and other == "Tensor")
    )


_SECOND = {
    ("Scalar", "Tensor"),
    ("Scalar?", "Tensor?"),
    ("int[]", "int"),
    ("int[]", "int?"),
    ("SymInt[]", "int[]"),
}
