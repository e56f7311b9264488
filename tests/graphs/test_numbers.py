"""Computations on numbers, compiled: for every operation and pair of types, results and errors are Python's."""

from __future__ import annotations

import ctypes
import itertools
import math
import random
import struct
from collections.abc import Callable, Sequence
from ctypes import c_char, c_double, c_int64, c_void_p
from pathlib import Path

import pytest
from cpp import toolchain

from gradmill.extensions.graphs.model import Place, Ref, Result, Value
from gradmill.extensions.graphs.passes.functionalize.program import Number
from gradmill.extensions.graphs.print.expressions import NUMBER_TYPES, computed
from gradmill.extensions.graphs.print.files import RUNTIME, support_text
from gradmill.extensions.graphs.scalars import SCALARS, result_type
from gradmill.releases import resolve
from graphs import library

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())

OPERATIONS = [name for name, scalar in SCALARS.items() if scalar.compute is not None]
LIMIT = 2**63
WHOLE = [0, 1, 2, 3, 7, 10, 31, 62, 63, 64, 2**31, 2**32, 3_000_000, 2**53, 2**53 + 1, 2**53 + 3, 2**62, LIMIT - 1]
INTS = [*WHOLE, *(-each for each in WHOLE if each), -LIMIT]
REAL = [0.0, 0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.5, 6.0, 1e16, 2.0**53, 2.0**63, 1e300, 5e-324, math.inf]
FLOATS = [*REAL, *(-each for each in REAL), 709.0, 710.0, math.pi, math.nextafter(2.0**63, 0), math.nan]
VALUES: dict[str, list[int | float]] = {"int": list(INTS), "float": list(FLOATS), "bool": [False, True]}
VALUES["Scalar"] = [*INTS, *FLOATS, False, True]
ERRORS = (ArithmeticError, ValueError, TypeError)

HERE = Path(__file__).parent  # `numbers.h` computes for many numbers at once


class Row(ctypes.Structure):
    """A number of any type, as the library takes and returns it."""

    _fields_ = (("kind", c_char), ("integer", c_int64), ("real", c_double))


def row(value: float | None) -> Row:
    """The row of a number; None is an error."""
    if isinstance(value, bool):
        return Row(b"b", value, 0.0)
    if isinstance(value, int):
        return Row(b"i", value, 0.0)
    return Row(b"e", 0, 0.0) if value is None else Row(b"f", 0, value)


def shown(result: Row) -> str:
    """A number and its type; all that are no number are alike, and zero has a sign."""
    kind = result.kind.decode()
    if kind == "e":
        return "an error"
    return repr(result.real) if kind == "f" else repr(bool(result.integer) if kind == "b" else result.integer)


def arity(name: str) -> int:
    """The number of arguments."""
    return len(SCALARS[name].arguments)


def typed(name: str) -> list[tuple[str, ...]]:
    """The types of arguments that an operation is tested with; "Scalar" is any number."""
    types = {"whole": ["int", "bool", "Scalar"], "number": ["int", "float", "bool", "Scalar"]}
    return list(itertools.product(*(types[each] for each in SCALARS[name].arguments.values())))


def function(name: str, types: Sequence[str]) -> str:
    """The C++ that computes an operation as a graph does, for many numbers."""
    result = Result("found", result_type(name, types))
    arguments: dict[str, Value] = {each: Ref(each) for each in SCALARS[name].arguments}
    expression = computed(Number(f"python::{name}", arguments, result, Place())).text
    a, b = (NUMBER_TYPES[type_] for type_ in (*types, *types)[:2])
    symbol = f"{name}_{'_'.join(types)}"
    return f"COMPUTED({symbol}, {a}, {b}, {NUMBER_TYPES[result.type]}, {expression})\n"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All operations on all types, as a library."""
    folder = tmp_path_factory.mktemp("numbers")
    (folder / "graph.h").write_text(support_text(RUNTIME, resolve("2.13")))
    source = folder / "numbers.cpp"
    functions = (function(name, types) for name in OPERATIONS for types in typed(name))
    source.write_text("".join([f'#include "{HERE / "numbers.h"}"\n', *functions]))
    included = folder / "graph.h", HERE / "numbers.h"
    target = library.linked([library.compiled(source, folder, *included)], folder / "numbers.so")
    return ctypes.CDLL(str(target))


def expected(compute: Callable[..., float], values: Sequence[float]) -> Row:
    """Python's result; an error if it has none that a graph can have."""
    try:
        found = compute(*values)
    except ERRORS:
        return row(None)
    if isinstance(found, complex) or (isinstance(found, int) and not -LIMIT <= found < LIMIT):
        return row(None)
    return row(found)


def bounded(name: str, values: Sequence[float]) -> bool:
    """Whether Python computes it in no time and little memory."""
    if name == "round_digits" and isinstance(values[1], int):
        return values[1] > -1000  # a power of ten with as many digits
    if name not in ("pow", "lshift") or not all(isinstance(value, int) for value in values):
        return True
    return abs(values[1]) <= 64 or (name == "pow" and abs(values[0]) < 2)


def differences(library_: ctypes.CDLL, name: str, types: Sequence[str], cases: Sequence[Sequence[float]]) -> list[str]:
    """The cases that a graph computes otherwise than Python."""
    rows = Row * len(cases)
    results = rows()
    given = [rows(*(row(case[at]) for case in cases)) for at in (0, len(types) - 1)]
    call = getattr(library_, f"{name}_{'_'.join(types)}")
    call.argtypes = (c_int64, c_void_p, c_void_p, c_void_p)
    call.restype = None
    call(len(cases), *given, results)
    compute = SCALARS[name].compute
    assert compute is not None
    pairs = ((case, shown(expected(compute, case)), shown(found)) for case, found in zip(cases, results, strict=True))
    return [f"{name}{case}: Python {one}; graph {other}" for case, one, other in pairs if one != other]


@pytest.mark.parametrize("name", OPERATIONS)
def test_results_at_the_limits_of_every_type_are_pythons(name: str, compiled: ctypes.CDLL) -> None:
    wrong = []
    for types in typed(name):
        values = [VALUES[type_] for type_ in types]
        cases = [case for case in itertools.product(*values) if bounded(name, case)]
        wrong += differences(compiled, name, types, cases)
    assert wrong == []


def anything(source: random.Random) -> float:
    """A number: small, of any 64 bits, or a sum of a whole number and a simple fraction."""
    kind = source.randrange(8)
    if kind < 2:
        return source.randrange(-20, 20)
    if kind < 4:
        return source.randrange(-LIMIT, LIMIT) >> source.randrange(64)
    if kind < 5:
        return source.random() < 0.5
    if kind < 6:
        return float(struct.unpack("<d", source.randbytes(8))[0])
    return source.choice([source.uniform(-100, 100), source.randrange(-100, 100) / source.choice([1, 2, 8, 10])])


CAMPAIGN = "add sub mul truediv floordiv mod pow min max eq lt and or lshift rshift round_digits".split()


@pytest.mark.parametrize("name", CAMPAIGN)
def test_results_of_5000_random_pairs_are_pythons(name: str, compiled: ctypes.CDLL) -> None:
    source = random.Random(name)
    pairs = [(anything(source), anything(source)) for _ in range(5_000)]
    assert differences(compiled, name, ("Scalar", "Scalar"), [pair for pair in pairs if bounded(name, pair)]) == []
