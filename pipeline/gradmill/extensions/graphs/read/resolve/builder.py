"""Builds a function call by call; each result gets a unique name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from gradmill.extensions.graphs.model import PYTHON, Call, Callee, Many, Place, Ref, Result, Value
from gradmill.extensions.graphs.operator import Op, Ops
from gradmill.extensions.graphs.passes.functionalize.names import in_ascii
from gradmill.extensions.graphs.read.resolve.operands import (
    Operand,
    Several,
    TypedValue,
    converted,
    described,
    number_in,
    of_number,
)
from gradmill.extensions.graphs.read.resolve.overloads import choose
from gradmill.extensions.graphs.scalars import SCALARS, result_type
from gradmill.problems.problem import SpecError

_LONGEST = 64  # a larger exponent or shift always overflows

_PLAIN = {"SymInt": "int", "SymInt[]": "int[]", "SymBool": "bool"}


class GraphBuilder:
    """Collects the calls of a function. `names` are reserved: those of its inputs."""

    def __init__(self, ops: Ops, names: Sequence[str]) -> None:
        self.ops = ops
        self.calls: list[Call] = []
        self.callees: dict[str, Callee] = {}  # by identity: see Function
        self.place = Place()  # the place of the next call
        self.grad = True  # the grad mode of the next call
        self.enables_grad = False  # whether a mode enables gradients: see Function
        self._names = dict.fromkeys(names, 0)

    def call(
        self,
        name: str,
        args: Sequence[Operand],
        kwargs: Mapping[str, Operand] | None = None,
        *,
        method: bool = False,
        hint: str = "",
        overload: str | None = None,
    ) -> Operand:
        """Adds a call of the overload of `name` (`aten::add`) that takes the arguments; its result or results.

        `hint` is the preferred name of the result. `overload` restricts the overloads to the one of that name. Raises a
        SpecError if no overload takes the arguments.
        """
        overloads = self.ops.overloads(name)
        if overload is not None:
            overloads = [op for op in overloads if op.schema.name.overload == overload]
        shown = name.removeprefix("aten::")
        if not overloads:
            raise SpecError(f"the spec set has no operator '{shown}'", self.ops.near(name))
        match = choose(shown, overloads, args, kwargs or {}, method=method)
        returns = match.op.schema.returns
        hint = hint or shown.rpartition("::")[2]
        hints = [hint if len(returns) == 1 or r.name is None else f"{hint}_{r.name}" for r in returns]
        return self.add_call(match.op, match.arguments, hints)

    def add_call(self, op: Op, arguments: dict[str, Value], hints: Sequence[str]) -> Operand:
        """Adds a call of an overload with all of its arguments. `hints` are the preferred names of its results."""
        returns = op.schema.returns
        single = len(returns) == 1
        results = tuple(Result(self.new_name(hint), _PLAIN.get(r.type, r.type)) for hint, r in zip(hints, returns))
        self.calls.append(Call(op.name, op.identity, arguments, results, self.place, self.grad))
        operands = tuple(TypedValue(Ref(r.name), r.type) for r in results)
        return operands[0] if single else Several(operands, tuple(r.name or "" for r in returns))

    def add_callee(
        self, op: str, callee: Callee, arguments: dict[str, Value], results: Sequence[tuple[str, str]]
    ) -> Operand:
        """Adds a call of something other than an operator of the set. `results`: their preferred names and types."""
        named = tuple(Result(self.new_name(hint), type_) for hint, type_ in results)
        identity = f"{op}#{named[0].name}"
        self.callees[identity] = callee
        self.calls.append(Call(op, identity, arguments, named, self.place, self.grad))
        return Several(tuple(TypedValue(Ref(each.name), each.type) for each in named))

    def set_facts(self, facts: Sequence[tuple[tuple[int, ...], str] | None]) -> None:
        """Sets the sizes and dtypes of the results of the last call; None leaves a result unchanged."""
        last = self.calls[-1]
        pairs = zip(last.results, (*facts, *[None] * len(last.results)))
        results = (r if fact is None else replace(r, sizes=fact[0], dtype=fact[1]) for r, fact in pairs)
        self.annotate(results=tuple(results))

    def annotate(self, **fields: Any) -> None:
        """Sets fields of the last call."""
        self.calls[-1] = replace(self.calls[-1], **fields)

    def set_item_facts(self, facts: Sequence[tuple[tuple[int, ...], str] | None]) -> None:
        """Sets the sizes and dtypes of the items of the list that the last call returns; None for an unknown one."""
        last = self.calls[-1]
        self.annotate(results=(replace(last.results[0], items=tuple(facts)), *last.results[1:]))

    def scalar(self, name: str, args: Sequence[Operand], hint: str = "") -> Operand:
        """Adds a call of `python::name`, or folds it if all arguments are constants. Raises a SpecError for others."""
        scalar = SCALARS[name]
        arguments = {key: _argument(operand, type_) for (key, type_), operand in zip(scalar.arguments.items(), args)}
        numbers = [number for operand in args if (number := number_in(operand)) is not None]
        if scalar.compute is not None and len(numbers) == len(args):
            return _computed(name, numbers)
        types = tuple(operand.type for operand in args if isinstance(operand, TypedValue))
        to_natural = name == "pow" and isinstance(number := number_in(args[1]), int) and number >= 0
        result = Result(self.new_name(hint or name), result_type("mul" if to_natural else name, types))
        self.calls.append(Call(f"{PYTHON}::{name}", "", arguments, (result,), self.place, self.grad))
        return TypedValue(Ref(result.name), result.type)

    def new_name(self, hint: str) -> str:
        """A new unique name, as close to `hint` as possible."""
        hint = identifier(hint)
        if hint not in self._names:
            self._names[hint] = 0
            return hint
        while True:
            self._names[hint] += 1
            name = f"{hint}_{self._names[hint]}"
            if name not in self._names:
                self._names[name] = 0
                return name

    def expect_length(self, listed: TypedValue, count: int) -> None:
        """Requires that a list has `count` items: at the call that returns it, or here. Raises a SpecError if another
        number is required already."""
        name = listed.value.name if isinstance(listed.value, Ref) else ""
        for at, call in enumerate(self.calls):
            known = next((r for r in call.results if r.name == name), None)
            if known is None or call.is_python:
                continue
            if known.length not in (None, count):
                raise SpecError(f"cannot unpack a list of {known.length} into {count} names")
            results = tuple(replace(r, length=count) if r.name == name else r for r in call.results)
            self.calls[at] = replace(call, results=results)
            return
        self.scalar("unpacked", [listed, of_number(count)])


def identifier(name: str) -> str:
    """The name as a C++ identifier."""
    text = in_ascii(name)
    return f"_{text}" if not text or text[0].isdigit() else text


def _argument(operand: Operand, type_: str) -> Value:
    if type_ == "list" and isinstance(operand, TypedValue) and operand.type.endswith("[]"):
        return operand.value
    if type_ == "int[][]" and isinstance(operand, Several):
        return Many(tuple(_argument(item, "int[]") for item in operand.items))
    value = converted(operand, type_)
    if value is None:
        hint = f"write {type_}(…) of it" if isinstance(operand, TypedValue) and operand.type == "Scalar" else ""
        raise SpecError(f"this must be of type {'int' if type_ == 'whole' else type_}, not {described(operand)}", hint)
    return value


def _computed(name: str, numbers: Sequence[int | float]) -> Operand:
    compute = SCALARS[name].compute
    assert compute is not None
    base, exponent = numbers[0], numbers[-1]
    if name in ("pow", "lshift") and isinstance(base, int) and isinstance(exponent, int):
        exponent = min(exponent, exponent if name == "pow" and abs(base) < 2 else _LONGEST)
        numbers = [base, exponent]
    try:
        number = compute(*numbers)
    except (ArithmeticError, ValueError) as error:
        raise SpecError(f"this cannot be computed: {error}") from None
    if isinstance(number, complex):
        raise SpecError("this is a complex number", "complex numbers cannot be written in a graph")
    return of_number(number)
