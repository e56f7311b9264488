"""The calls of a function as they are found, each result under a name of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from pipeline.graphs.model import PYTHON, Call, Many, Place, Ref, Result, Value
from pipeline.graphs.ops import Op, Ops
from pipeline.graphs.resolve.conversion import converted
from pipeline.graphs.resolve.overloads import choose
from pipeline.graphs.resolve.things import WRONG, Known, Several, Thing, any_wrong, described, number_in, of_number
from pipeline.graphs.scalars import SCALARS, result_type
from pipeline.problems.problem import SpecError

_INT64 = 2**63
_LONGEST = 64  # bits of a power that is worth computing

_PLAIN = {"SymInt": "int", "SymInt[]": "int[]", "SymBool": "bool"}


class GraphBuilder:
    """What a function does, call by call."""

    def __init__(self, ops: Ops, names: Sequence[str]) -> None:
        self.ops = ops
        self.calls: list[Call] = []
        self.place = Place()  # of what is being read
        self.grad = True
        self._names = dict.fromkeys(names, 0)

    def call(
        self,
        name: str,
        given: Sequence[Thing],
        named: Mapping[str, Thing] | None = None,
        *,
        method: bool = False,
        hint: str = "",
        overload: str | None = None,
    ) -> Thing:
        """Calls the overload of `aten::name` that takes the arguments; gives its results. `hint`: how to call them."""
        found = self.ops.overloads(name)
        if overload is not None:
            found = [op for op in found if op.native.func.name.overload == overload]
        if any_wrong((*given, *(named or {}).values())):
            return WRONG
        shown = name.removeprefix("aten::")
        if not found:
            raise SpecError(f"the spec set has no operator '{shown}'", self.ops.near(name))
        match = choose(shown, found, given, named or {}, method=method)
        returns = match.op.native.func.returns
        hint = hint or shown.rpartition("::")[2]
        hints = [hint if len(returns) == 1 or r.name is None else f"{hint}_{r.name}" for r in returns]
        return self.called(match.op, match.arguments, hints)

    def called(self, op: Op, arguments: dict[str, Value], hints: Sequence[str]) -> Thing:
        """Calls an overload with all of its arguments. `hints`: how to call its results, one for each."""
        returns = op.native.func.returns
        single = len(returns) == 1
        results = tuple(Result(self.named(hint), _PLAIN.get(r.type, r.type)) for hint, r in zip(hints, returns))
        self.calls.append(Call(op.name, op.function, arguments, results, self.place, self.grad))
        things = tuple(Known(Ref(r.name), r.type) for r in results)
        return things[0] if single else Several(things, tuple(r.name or "" for r in returns))

    def note(self, facts: Sequence[tuple[tuple[int, ...], str] | None]) -> None:
        """Says what sizes and dtypes the results of the last call have."""
        last = self.calls[-1]
        pairs = zip(last.results, (*facts, *[None] * len(last.results)))
        found = (r if fact is None else replace(r, sizes=fact[0], dtype=fact[1]) for r, fact in pairs)
        self.calls[-1] = replace(last, results=tuple(found))

    def scalar(self, name: str, given: Sequence[Thing], hint: str = "") -> Thing:
        """Calls `python::name`, or computes it where it is of constants."""
        if any_wrong(given):
            return WRONG
        scalar = SCALARS[name]
        numbers = [number for thing in given if (number := number_in(thing)) is not None]
        if scalar.compute is not None and len(numbers) == len(given):
            return _computed(name, numbers)
        arguments = {key: _argument(thing, type_) for (key, type_), thing in zip(scalar.arguments, given)}
        types = tuple(thing.type for thing in given if isinstance(thing, Known))
        if name == "pow" and "float" not in types and not _is_natural(given[1]):
            raise SpecError("whether this power is a whole number is not known", "write float(…) around its base")
        result = Result(self.named(hint or name), result_type(name, types))
        self.calls.append(Call(f"{PYTHON}::{name}", "", arguments, (result,), self.place, self.grad))
        return Known(Ref(result.name), result.type)

    def named(self, hint: str) -> str:
        """A name that nothing else has."""
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

    def expect(self, name: str, count: int) -> None:
        """Says that a list must have so many items."""
        for at, call in enumerate(self.calls):
            if any(result.name == name for result in call.results):
                results = tuple(replace(r, length=count) if r.name == name else r for r in call.results)
                self.calls[at] = Call(call.op, call.function, call.arguments, results, call.place, call.grad)


def identifier(name: str) -> str:
    """A name as C++ can have it."""
    found = "".join(letter if letter.isascii() and (letter.isalnum() or letter == "_") else "_" for letter in name)
    return f"_{found}" if not found or found[0].isdigit() else found


def _is_natural(thing: Thing) -> bool:
    found = number_in(thing)
    return isinstance(found, int) and found >= 0


def _argument(thing: Thing, type_: str) -> Value:
    if type_ == "number" and isinstance(thing, Known) and thing.type in ("int", "float", "bool"):
        return thing.value
    if type_ == "list" and isinstance(thing, Known) and thing.type.endswith("[]"):
        return thing.value
    if type_ == "int[][]" and isinstance(thing, Several):
        return Many(tuple(_argument(item, "int[]") for item in thing.items))
    found = converted(thing, type_) if type_ not in ("number", "list") else None
    if found is None:
        hint = "annotate it int or float" if described(thing) == "Scalar" else ""
        raise SpecError(f"{described(thing)} where a {type_} is needed", hint)
    return found


def _computed(name: str, numbers: Sequence[int | float]) -> Thing:
    compute = SCALARS[name].compute
    assert compute is not None
    base, exponent = numbers[0], numbers[-1]
    if name == "pow" and isinstance(base, int) and isinstance(exponent, int):
        exponent = min(exponent, _LONGEST if abs(base) > 1 else exponent)
        numbers = [base, exponent]
    try:
        found = compute(*numbers)
    except (ArithmeticError, ValueError) as error:
        raise SpecError(f"this cannot be computed: {error}") from None
    if isinstance(found, complex):
        raise SpecError("this is a complex number", "complex numbers cannot be written in a graph")
    if isinstance(found, int) and not -_INT64 <= found < _INT64:
        raise SpecError("the number is too large: it has more than 64 bits")
    return of_number(found)
