"""The oracle of calls between C++ interfaces: torchgen's expressions for goals of each type from values of each type.

Prints a JSON list of cases: the values in scope and the goal, each with its meaning and its type, whether the goal may
own a copy and whether the scope is a method's, and the expression, null if there is none.
"""

import itertools
import json

from torchgen.api import types as cpp
from torchgen.api.translate import UnsatError, translate

BASES = (
    "boolT intArrayRefT iOptTensorListRefT longT opmath_t optionalIntArrayRefT optionalScalarRefT"
    " optionalSymIntArrayRefT optionalTensorRefT scalar_t scalarT symIntArrayRefT SymIntT tensorT"
).split()
SPECIAL = cpp.SpecialArgName.possibly_redundant_memory_format
OPTIONS = {"dtype": "scalarTypeT", "layout": "layoutT", "device": "deviceT", "pin_memory": "boolT"}


def types() -> list:
    bases = [cpp.BaseCType(getattr(cpp, name)) for name in BASES]
    integers = [cpp.BaseCType(each) for each in (cpp.longT, cpp.SymIntT)]
    plain = [*bases, *map(cpp.OptionalCType, bases), *map(cpp.VectorCType, integers)]
    plain += [cpp.OptionalCType(cpp.VectorCType(each)) for each in integers]
    plain += [cpp.ListCType(cpp.OptionalCType(cpp.BaseCType(cpp.tensorT))), cpp.ArrayRefCType(integers[0])]
    return [*plain, *map(cpp.ConstRefCType, plain), cpp.MutRefCType(cpp.BaseCType(cpp.tensorT))]


def cases():
    for value, goal in itertools.product(types(), types()):
        yield [("x", value)], ("x", goal)
    named = {name: cpp.OptionalCType(cpp.BaseCType(getattr(cpp, base))) for name, base in OPTIONS.items()}
    memory_format = cpp.OptionalCType(cpp.BaseCType(cpp.memoryFormatT))
    options, tensor = cpp.BaseCType(cpp.tensorOptionsT), cpp.BaseCType(cpp.tensorT)
    scopes = [[("options", options)], [("out", cpp.MutRefCType(tensor))], list(named.items())]
    scopes += [[*scope, (SPECIAL, memory_format)] for scope in scopes]
    goals = [*named.items(), ("options", options), ("memory_format", memory_format), ("self", cpp.MutRefCType(tensor))]
    yield from itertools.product(scopes, goals)


def solved(scope, goal, method: bool) -> str | None:
    values = [cpp.Expr(f"v{i}", cpp.NamedCType(*each)) for i, each in enumerate(scope)]
    try:
        (found,) = translate(values, [cpp.NamedCType(*goal)], method=method)
    except UnsatError:
        return None
    return found.expr


def written(name, type_) -> tuple[str, str]:
    return "redundant" if name == SPECIAL else name, type_.cpp_type()


rows = []
for scope, goal in cases():
    for method in (False, True) if goal[0] != "x" else (False,):
        shown = [[written(*each) for each in scope], written(*goal), method]
        rows.append([*shown, solved(scope, goal, method)])
print(json.dumps(rows))
