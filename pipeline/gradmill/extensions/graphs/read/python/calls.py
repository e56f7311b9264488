"""Calls in a graph's source: functions of torch, methods of tensors, some Python builtins."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import reduce

from gradmill.extensions.graphs.model import Constant, Ref
from gradmill.extensions.graphs.read.python.expressions import Expressions
from gradmill.extensions.graphs.read.python.names import (
    CASTS,
    GRAD_MODES,
    MATH,
    MEASURES,
    MODULES,
    REFUSED,
    REFUSED_METHODS,
    functions,
)
from gradmill.extensions.graphs.read.resolve.operands import (
    NONE,
    Operand,
    Several,
    TypedValue,
    described,
    index_in,
    is_scalar,
    is_tensor,
    items_of,
    named,
    of_constant,
    of_dtype,
    of_number,
    text_in,
)
from gradmill.problems.problem import SpecError, nearest

_OWN = frozenset(  # only in `prelude.py`
    "loss_reduction batch_reduction batch_divisor"
    " is_a is_number is_variable size_of wrapped broadcast tensor_of repeated resized refused".split()
)
_OF_NUMBERS = ("abs", "int", "float", "bool", "round")  # builtins that take one number
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_OPS = "torch.ops."
_PRINT = "return the tensor"
_NOT_CALLED = {"print": _PRINT, "range": "a graph is straight-line code: write out each step", "open": "", "eval": ""}

Kwargs = dict[str, Operand]


def read(reader: Expressions, node: ast.Call, hint: str) -> Operand:
    """The result of a call. Raises a SpecError for a call that a graph does not support."""
    path = reader.path(node.func)
    if path and not reader.depth:
        _check_name(reader, path)
    called = node.func.id if isinstance(node.func, ast.Name) else ""
    if called in reader.scope:
        named(called, reader.scope)
    elif called in _NOT_CALLED:
        raise SpecError(f"'{called}' is not an operator", _NOT_CALLED[called])
    if isinstance(node.func, ast.Attribute) and not path:
        value = reader.read(node.func.value)  # before the arguments, as Python evaluates them
        args, kwargs = _arguments(reader, node)
        return method(reader, value, node.func.attr, args, kwargs, hint)
    args, kwargs = _arguments(reader, node)
    if path:
        _check_name(reader, path)
        return _of_torch(reader, path, args, kwargs, hint)
    if called and called not in reader.scope:
        if called in reader.functions and not reader.depth:
            raise SpecError(f"a graph cannot call '{called}' of the file", "write its body where it is called")
        return _builtin(reader, called, args, kwargs, hint)
    raise SpecError(f"'{ast.unparse(node.func)}' is not an operator", "call functions of torch and methods of tensors")


def _arguments(reader: Expressions, node: ast.Call) -> tuple[list[Operand], Kwargs]:
    operands, kwargs = reader.spread(node.args, is_list=False), dict[str, Operand]()
    for keyword in node.keywords:
        if keyword.arg is None:
            raise SpecError("'**' is not supported in a graph", "write out each argument")
        kwargs[keyword.arg] = reader.read(keyword.value)
    return (list(operands.items) if isinstance(operands, Several) else [operands]), kwargs


# ---- functions


def _check_name(reader: Expressions, path: str) -> None:
    """Raises a SpecError for a function that no graph can call, whatever its arguments are."""
    module, _, name = path.rpartition(".")
    if path in GRAD_MODES:
        raise SpecError(f"'{path}' is not an operator", f"write with {path}():")
    if path in REFUSED:
        raise SpecError(f"'{path}' is not supported in a graph", REFUSED[path])
    if path.startswith(_OPS) or path == "torch.device" or module in ("math", "torch.Tensor"):
        return
    if name in functions(module):
        return
    if module not in MODULES:
        raise SpecError(f"'{path}' is not an operator", "call functions of torch, torch.nn.functional and torch.linalg")
    operator = f"aten::{MODULES[module]}{name}"
    if not any("function" in op.function.variants for op in reader.builder.ops.overloads(operator)):
        raise SpecError(f"the spec set has no function '{path}'", reader.builder.ops.near(operator))


def _of_torch(reader: Expressions, path: str, args: Sequence[Operand], kwargs: Kwargs, hint: str) -> Operand:
    """A function of an imported module, by its full name."""
    module, _, name = path.rpartition(".")
    if module == "math":
        return _of_math(reader, name, args, kwargs, hint)
    if path.startswith(_OPS):
        return _explicit(reader, path.removeprefix(_OPS), args, kwargs, hint)
    if module == "torch.Tensor":
        if not args:
            raise SpecError(f"'{path}' is called without a tensor", f"write x.{name}(…)")
        return method(reader, args[0], name, args[1:], kwargs, hint)
    if path == "torch.device" and len(args) == 1 and text_in(args[0]) is not None:
        return of_constant(Constant("Device", text_in(args[0]) or ""))
    ours = functions(module).get(name)
    if ours is not None:
        return _expanded(reader, path, ours, args, kwargs, hint)
    return reader.builder.call(f"aten::{MODULES[module]}{name}", args, kwargs, hint=hint)


def _explicit(reader: Expressions, name: str, args: Sequence[Operand], kwargs: Kwargs, hint: str) -> Operand:
    """`torch.ops.aten.add.Tensor`: an operator, or one of its overloads, by name."""
    parts = name.split(".")
    if len(parts) not in (2, 3):
        raise SpecError(f"'torch.ops.{name}' is not an operator", "write torch.ops.namespace.name.overload")
    operator = f"{parts[0]}::{parts[1]}"
    overload = ("" if parts[2] == "default" else parts[2]) if len(parts) == 3 else None
    overloads = reader.builder.ops.overloads(operator)
    if not overloads:
        raise SpecError(f"the spec set has no operator '{operator}'", reader.builder.ops.near(operator))
    if overload is not None and all(op.schema.name.overload != overload for op in overloads):
        names = [op.schema.name.overload or "default" for op in overloads]
        raise SpecError(f"'{operator}' has no overload '{parts[2]}'", nearest(parts[2], names))
    return reader.builder.call(operator, args, kwargs, hint=hint, overload=overload)


def _of_math(reader: Expressions, name: str, args: Sequence[Operand], kwargs: Kwargs, hint: str) -> Operand:
    if name not in MATH or kwargs or len(args) != 1:
        advice = "it takes one number" if name in MATH else nearest(name, MATH)
        raise SpecError(f"this call of 'math.{name}' is not supported in a graph", advice)
    if is_tensor(args[0]):
        raise SpecError(f"'math.{name}' is not for tensors", f"write torch.{name}(x)")
    return reader.builder.scalar(name, args, hint)


def _builtin(reader: Expressions, name: str, args: Sequence[Operand], kwargs: Kwargs, hint: str) -> Operand:
    if reader.depth and name in _OWN:
        return _own(reader, name, args, hint)
    if reader.depth and name in functions(""):
        return _expanded(reader, name, functions("")[name], args, kwargs, hint)
    first = args[0] if args else None
    if name == "abs" and len(args) == 1 and is_tensor(args[0]):
        return reader.builder.call("aten::abs", args, hint=hint)
    if name == "len" and len(args) == 1:
        return _length(reader, args[0], hint)
    if name in _OF_NUMBERS and len(args) == 1 and is_scalar(args[0]):
        return reader.builder.scalar(name, args, hint)
    if name == "round" and len(args) == 2:
        return reader.builder.scalar("round_digits", args, hint)
    if name == "float" and len(args) == 1 and text_in(args[0]) in ("inf", "-inf", "nan", "+inf"):
        return of_number(float(text_in(args[0]) or "nan"))
    if name in ("min", "max") and not kwargs:
        listed = isinstance(first, Several) and len(args) == 1
        among = first.items if listed and isinstance(first, Several) else args
        if len(among) > (not listed) and all(map(is_scalar, among)):
            return reduce(lambda one, other: reader.builder.scalar(name, [one, other], hint), among)
    if name in ("int", "float", "bool") and first is not None and is_tensor(first):
        raise SpecError("a value of a tensor is known only when the graph runs", f"write x.{name}() for its dtype")
    advice = f"call functions of torch, as torch.{name}(…), and methods of tensors"
    raise SpecError(f"'{name}' is not an operator", advice)


def _length(reader: Expressions, operand: Operand, hint: str) -> Operand:
    if isinstance(operand, Several):
        return of_number(len(operand.items))
    if is_tensor(operand):
        return reader.builder.scalar("size", [operand, of_number(0)], hint)
    return reader.builder.scalar("length", [operand], hint)


# ---- methods


def method(
    reader: Expressions, value: Operand, name: str, args: Sequence[Operand], kwargs: Kwargs, hint: str
) -> Operand:
    """The result of a call of the method `name` of `value`. Raises a SpecError for any other value than a tensor."""
    if not is_tensor(value):
        maybe = isinstance(value, TypedValue) and value.type == "Tensor?"
        advice = "it may be None: pass it as an optional argument" if maybe else ""
        raise SpecError(f"{described(value)} has no method '{name}' that a graph supports", advice)
    if name in REFUSED_METHODS:
        raise SpecError(f"'.{name}()' is not supported in a graph", REFUSED_METHODS[name])
    if name in MEASURES and not args and not kwargs:
        return reader.builder.scalar(MEASURES[name], [value], hint)
    if name == "stride" and len(args) == 1 and not kwargs:
        return reader.builder.scalar("stride", [value, args[0]], hint)
    if name in CASTS and not args and not kwargs:
        return reader.builder.call("aten::to", [value, of_dtype(CASTS[name])], overload="dtype", hint=hint or name)
    if (own := functions("torch.Tensor").get(name)) is not None:
        return _expanded(reader, name, own, [value, *args], kwargs, hint or name.strip("_"))
    operator = f"aten::{name}"
    methods = [op for op in reader.builder.ops.overloads(operator) if "method" in op.function.variants]
    if not methods:
        function = reader.builder.ops.overloads(operator)
        advice = f"write torch.{name}(…)" if function else reader.builder.ops.near(operator)
        raise SpecError(f"the spec set has no method '{name}'", advice)
    return reader.builder.call(operator, [value, *args], kwargs, method=True, hint=hint)


# ---- functions that torch implements in Python


def _expanded(
    reader: Expressions, name: str, function: ast.FunctionDef, args: Sequence[Operand], kwargs: Kwargs, hint: str
) -> Operand:
    """The result of a Python function of torch, by its definition in `prelude.py`."""
    scope = _bound(reader, name, function.args, args, dict(kwargs))
    return reader.within(function.body, {**scope}, hint or name.rpartition(".")[2])


def _bound(
    reader: Expressions, name: str, parameters: ast.arguments, args: Sequence[Operand], kwargs: Kwargs
) -> Kwargs:
    names = [parameter.arg for parameter in parameters.args]
    scope: Kwargs = dict(zip(names, args))
    rest = args[len(names) :]
    if parameters.vararg is not None:
        listed = len(rest) == 1 and not is_tensor(rest[0])
        scope[parameters.vararg.arg] = rest[0] if listed else Several(tuple(rest), is_list=True)
    elif rest:
        raise SpecError(f"'{name}' takes {len(names)} positional arguments, not {len(args)}")
    every = [*names, *(parameter.arg for parameter in parameters.kwonlyargs)]
    for key, operand in kwargs.items():
        if key not in every or key in scope:
            what = "gets '{}' twice" if key in scope else "has no argument '{}' that a graph supports"
            raise SpecError(f"'{name}' {what.format(key)}", nearest(key, every))
        scope[key] = operand
    defaults = dict(zip(reversed(names), reversed(parameters.defaults)))
    for key, default in (*defaults.items(), *zip((p.arg for p in parameters.kwonlyargs), parameters.kw_defaults)):
        if key not in scope and default is not None:
            scope[key] = reader.within([ast.Return(default)], {}, "")
    missing = [key for key in every if key not in scope]
    if missing:
        raise SpecError(f"'{name}' cannot be called: its argument '{missing[0]}' is missing")
    return scope


def _own(reader: Expressions, name: str, args: Sequence[Operand], hint: str) -> Operand:
    """The functions other than operators that `prelude.py` calls."""
    if name in ("size_of", "wrapped", "batch_divisor"):
        return reader.builder.scalar({"size_of": "size"}.get(name, name), args, hint)
    if name == "broadcast":
        known = reader.builder.ops.overloads("aten::broadcast_tensors")
        if not known:
            return Several(tuple(args))
        return Several(tuple(items_of(reader.builder.call("aten::broadcast_tensors", [Several(tuple(args))]), 2) or ()))
    if name == "tensor_of":
        return _constant(reader, args[0], args[1], args[2], hint)
    if name == "is_a":
        return of_number(isinstance(args[0], TypedValue) and args[0].type == text_in(args[1]))
    if name == "is_number":
        return of_number(is_scalar(args[0]))
    if name == "is_variable":
        return of_number(isinstance(args[0], TypedValue) and isinstance(args[0].value, Ref))
    if name == "repeated":
        return Several((args[0],) * (index_in(args[1]) or 0), is_list=True) if is_scalar(args[0]) else args[0]
    if name == "resized":
        parts = args[0].items if isinstance(args[0], Several) else ()
        operator = "".join(text_in(part) or str(index_in(part)) for part in parts)
        return _explicit(reader, f"aten.{operator}.vec", args[1:], {}, hint)
    if name == "refused":
        raise SpecError(text_in(args[0]) or "", text_in(args[1]) or "")
    text = text_in(args[0])
    if text is None and isinstance(args[0], TypedValue) and args[0].type == "str":
        return reader.builder.scalar(name.removeprefix("loss_"), args, hint)
    text = "sum" if text == "batchmean" and name == "batch_reduction" else text
    if text not in _REDUCTIONS:
        raise SpecError(f"unknown reduction '{text or described(args[0])}'", "write 'none', 'mean' or 'sum'")
    return of_number(_REDUCTIONS[text])


def _constant(reader: Expressions, data: Operand, dtype: Operand, device: Operand, hint: str) -> Operand:
    """`torch.tensor`: a new tensor of numbers, or of nested lists of numbers."""
    if isinstance(data, Several) and data.items:
        items = [_constant(reader, item, dtype, device, "") for item in data.items]
        return reader.builder.call("aten::stack", [Several(tuple(items), is_list=True)], hint=hint)
    if not is_scalar(data) or not isinstance(data, TypedValue):
        raise SpecError(f"torch.tensor does not take {described(data)}", "write numbers, or lists of them")
    if dtype == NONE and data.type == "Scalar":
        raise SpecError("it is not known whether this number is an int or a float", "name a dtype, or write float(…)")
    if dtype == NONE and data.type in ("int", "bool"):
        dtype = of_dtype("int64" if data.type == "int" else "bool")
    return reader.builder.call("aten::scalar_tensor", [data], {"dtype": dtype, "device": device}, hint=hint)
