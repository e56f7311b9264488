"""Calls in a graph's source: functions of torch, methods of tensors, the few of Python's own."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pipeline.graphs.model import Constant
from pipeline.graphs.python.expressions import Expressions
from pipeline.graphs.python.names import GRAD_MODES, MATH, MODULES, REFUSED_METHODS
from pipeline.graphs.python.torch_functions import FUNCTIONAL, MEASURES, METHODS, REFUSED, TORCH
from pipeline.graphs.resolve.things import (
    NONE,
    WRONG,
    Known,
    Several,
    Thing,
    Wrong,
    any_wrong,
    described,
    is_number,
    is_tensor,
    items_of,
    of_number,
    text_in,
)
from pipeline.problems.problem import SpecError, nearest

_OWN = ("loss_reduction", "is_a", "size_of", "wrapped", "broadcast", "tensor_of")  # beside operators
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_OPS = "torch.ops."
_PRINT = "return the tensor"
_NOT_CALLED = {"print": _PRINT, "range": "a graph is straight-line code: write out each step", "open": "", "eval": ""}

Named = dict[str, Thing]


def read(reader: Expressions, node: ast.Call, hint: str) -> Thing:
    """What a call gives."""
    given, named = _arguments(reader, node)
    reader.at(node)
    path = reader.path(node.func)
    if path:
        return _of_torch(reader, path, given, named, hint)
    if isinstance(node.func, ast.Name) and isinstance(reader.scope.get(node.func.id), Wrong):
        return WRONG
    if isinstance(node.func, ast.Name) and node.func.id not in reader.scope:
        if node.func.id in reader.functions and not reader.depth:
            raise SpecError(f"'{node.func.id}' is a graph of its own", "write its body where it is called")
        return _builtin(reader, node.func.id, given, named, hint)
    if isinstance(node.func, ast.Attribute):
        value = reader.read(node.func.value)
        reader.at(node)
        return method(reader, value, node.func.attr, given, named, hint)
    raise SpecError(f"'{ast.unparse(node.func)}' is no operator", "call functions of torch and methods of tensors")


def _arguments(reader: Expressions, node: ast.Call) -> tuple[list[Thing], Named]:
    named: Named = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise SpecError("'**' is nothing that a graph can have", "write out each argument")
        named[keyword.arg] = reader.read(keyword.value)
    if not any(isinstance(argument, ast.Starred) for argument in node.args):
        return [reader.read(argument) for argument in node.args], named
    found = reader.spread(node.args, is_list=False)
    return (list(found.items) if isinstance(found, Several) else [found]), named


# ---- functions


def _of_torch(reader: Expressions, path: str, given: Sequence[Thing], named: Named, hint: str) -> Thing:
    """A function of an imported module, by its full name."""
    module, _, name = path.rpartition(".")
    if module == "math":
        return _of_math(reader, name, given, named, hint)
    if path.startswith(_OPS):
        return _explicit(reader, path.removeprefix(_OPS), given, named, hint)
    if module == "torch.Tensor" and given:
        return method(reader, given[0], name, given[1:], named, hint)
    if path == "torch.device" and len(given) == 1 and text_in(given[0]) is not None:
        return Known(Constant("Device", text_in(given[0]) or ""), "Device")
    if path in GRAD_MODES:
        raise SpecError(f"'{path}' is no operator", f"write with {path}():")
    ours = {"torch": TORCH, "torch.nn.functional": FUNCTIONAL}.get(module, {}).get(name)
    if ours is not None:
        return _expanded(reader, f"{path}", ours, given, named, hint)
    if path in REFUSED:
        raise SpecError(f"'{path}' is nothing that a graph can have", REFUSED[path])
    if module not in MODULES:
        raise SpecError(f"'{path}' is no operator", "call functions of torch, torch.nn.functional and torch.linalg")
    operator = f"aten::{MODULES[module]}{name}"
    found = [op for op in reader.builder.ops.overloads(operator) if "function" in op.native.variants]
    if not found:
        raise SpecError(f"the spec set has no function '{path}'", reader.builder.ops.near(operator))
    return reader.builder.call(operator, given, named, hint=hint)


def _explicit(reader: Expressions, name: str, given: Sequence[Thing], named: Named, hint: str) -> Thing:
    """`torch.ops.aten.add.Tensor`: by its own name."""
    parts = name.split(".")
    if len(parts) not in (2, 3):
        raise SpecError(f"'torch.ops.{name}' is no operator", "write torch.ops.namespace.name.overload")
    operator = f"{parts[0]}::{parts[1]}"
    overload = ("" if parts[2] == "default" else parts[2]) if len(parts) == 3 else None
    found = reader.builder.ops.overloads(operator)
    if not found:
        raise SpecError(f"the spec set has no operator '{operator}'", reader.builder.ops.near(operator))
    if overload is not None and all(op.native.func.name.overload != overload for op in found):
        names = [op.native.func.name.overload or "default" for op in found]
        raise SpecError(f"'{operator}' has no overload '{parts[2]}'", nearest(parts[2], names))
    return reader.builder.call(operator, given, named, hint=hint, overload=overload)


def _of_math(reader: Expressions, name: str, given: Sequence[Thing], named: Named, hint: str) -> Thing:
    if name not in MATH or named or len(given) != 1:
        raise SpecError(f"'math.{name}' is nothing that a graph can have so", nearest(name, MATH))
    if is_tensor(given[0]):
        raise SpecError(f"'math.{name}' is not for tensors", f"write torch.{name}(x)")
    return reader.builder.scalar(MATH[name], given, hint)


def _builtin(reader: Expressions, name: str, given: Sequence[Thing], named: Named, hint: str) -> Thing:
    if reader.depth and name in _OWN:
        return _own(reader, name, given, hint)
    if any_wrong(given) and name in ("abs", "len", "int", "float", "min", "max"):
        return WRONG
    first = given[0] if given else None
    if name == "abs" and is_tensor(given[0] if len(given) == 1 else WRONG):
        return reader.builder.call("aten::abs", given, hint=hint)
    if name == "len" and len(given) == 1:
        return _length(reader, given[0], hint)
    if name in ("abs", "int", "float") and len(given) == 1 and first is not None and is_number(first):
        return reader.builder.scalar(name, given, hint)
    if name == "float" and len(given) == 1 and text_in(given[0]) in ("inf", "-inf", "nan", "+inf"):
        return of_number(float(text_in(given[0]) or "nan"))
    if name in ("min", "max") and len(given) == 2 and all(map(is_number, given)):
        return reader.builder.scalar(name, given, hint)
    if name in ("int", "float", "bool") and first is not None and is_tensor(first):
        raise SpecError("a value of a tensor is known only when the graph runs", f"write x.{name}() for its dtype")
    advice = _NOT_CALLED.get(name, f"call functions of torch, as torch.{name}(…), and methods of tensors")
    raise SpecError(f"'{name}' is no operator", advice)


def _length(reader: Expressions, thing: Thing, hint: str) -> Thing:
    if isinstance(thing, Several):
        return of_number(len(thing.items))
    if is_tensor(thing):
        return reader.builder.scalar("size", [thing, of_number(0)], hint)
    return reader.builder.scalar("length", [thing], hint)


# ---- methods


def method(reader: Expressions, value: Thing, name: str, given: Sequence[Thing], named: Named, hint: str) -> Thing:
    """A method of a tensor."""
    if isinstance(value, Wrong):
        return WRONG
    if not is_tensor(value):
        maybe = isinstance(value, Known) and value.type == "Tensor?"
        advice = "it may be None: hand it in as an argument that is optional" if maybe else ""
        raise SpecError(f"{described(value)} has no method '{name}' that a graph can have", advice)
    if name in REFUSED_METHODS:
        raise SpecError(f"'.{name}()' is nothing that a graph can have", REFUSED_METHODS[name])
    if name in MEASURES and not given and not named:
        return reader.builder.scalar(MEASURES[name], [value], hint)
    if name == "stride" and len(given) == 1 and not named:
        return reader.builder.scalar("stride", [value, given[0]], hint)
    if name in METHODS:
        return _expanded(reader, name, METHODS[name], [value, *given], named, hint or name.strip("_"))
    operator = f"aten::{name}"
    found = [op for op in reader.builder.ops.overloads(operator) if "method" in op.native.variants]
    if not found:
        function = reader.builder.ops.overloads(operator)
        advice = f"write torch.{name}(…)" if function else reader.builder.ops.near(operator)
        raise SpecError(f"the spec set has no method '{name}'", advice)
    return reader.builder.call(operator, [value, *given], named, method=True, hint=hint)


# ---- what torch has in Python


def _expanded(reader: Expressions, name: str, text: str, given: Sequence[Thing], named: Named, hint: str) -> Thing:
    """A function of torch's by what it is made of."""
    if any_wrong((*given, *named.values())):
        return WRONG
    function = ast.parse(text, mode="eval").body
    assert isinstance(function, ast.Lambda)
    scope = _bound(reader, name, function.args, given, dict(named))
    return reader.within(ast.unparse(function.body), scope, hint or name.rpartition(".")[2])


def _bound(reader: Expressions, name: str, parameters: ast.arguments, given: Sequence[Thing], named: Named) -> Named:
    names = [parameter.arg for parameter in parameters.args]
    scope: Named = dict(zip(names, given))
    rest = given[len(names) :]
    if parameters.vararg is not None:
        listed = len(rest) == 1 and not is_tensor(rest[0])
        scope[parameters.vararg.arg] = rest[0] if listed else Several(tuple(rest), is_list=True)
    elif rest:
        raise SpecError(f"'{name}' takes {len(names)} positional arguments, not {len(given)}")
    every = [*names, *(parameter.arg for parameter in parameters.kwonlyargs)]
    for key, thing in named.items():
        if key not in every or key in scope:
            what = "gets '{}' twice" if key in scope else "has no argument '{}' that a graph can have"
            raise SpecError(f"'{name}' {what.format(key)}", nearest(key, every))
        scope[key] = thing
    defaults = dict(zip(reversed(names), reversed(parameters.defaults)))
    for key, default in (*defaults.items(), *zip((p.arg for p in parameters.kwonlyargs), parameters.kw_defaults)):
        if key not in scope and default is not None:
            scope[key] = reader.within(ast.unparse(default), {}, "")
    missing = [key for key in every if key not in scope]
    if missing:
        raise SpecError(f"'{name}' cannot be called: its argument '{missing[0]}' is missing")
    return scope


def _own(reader: Expressions, name: str, given: Sequence[Thing], hint: str) -> Thing:
    """What the expressions of ours call beside operators."""
    if name in ("size_of", "wrapped"):
        return reader.builder.scalar({"size_of": "size"}.get(name, name), given, hint)
    if name == "broadcast":
        known = reader.builder.ops.overloads("aten::broadcast_tensors")
        if not known:
            return Several(tuple(given))
        return Several(
            tuple(items_of(reader.builder.call("aten::broadcast_tensors", [Several(tuple(given))]), 2) or ())
        )
    if name == "tensor_of":
        return _constant(reader, given[0], given[1], given[2], hint)
    if name == "is_a":
        return of_number(isinstance(given[0], Known) and given[0].type == text_in(given[1]))
    text = text_in(given[0])
    if text not in _REDUCTIONS:
        raise SpecError(f"there is no reduction '{text or described(given[0])}'", "write 'none', 'mean' or 'sum'")
    return of_number(_REDUCTIONS[text])


def _constant(reader: Expressions, data: Thing, dtype: Thing, device: Thing, hint: str) -> Thing:
    """A new tensor of numbers, or of lists of them."""
    if isinstance(data, Several) and data.items:
        items = [_constant(reader, item, dtype, device, "") for item in data.items]
        return reader.builder.call("aten::stack", [Several(tuple(items), is_list=True)], hint=hint)
    if not is_number(data) or not isinstance(data, Known):
        raise SpecError(f"a tensor of {described(data)} cannot be made", "write numbers, or lists of them")
    if dtype == NONE and data.type in ("int", "bool"):
        dtype = Known(Constant("ScalarType", "int64" if data.type == "int" else "bool"), "ScalarType")
    return reader.builder.call("aten::scalar_tensor", [data], {"dtype": dtype, "device": device}, hint=hint)
