"""`device=`: what an exported model creates on its device is created on another one."""

from __future__ import annotations

from msgspec.structs import replace

from pipeline.graphs.model import Cond, Constant, Function, Many, Nothing, Value

_ASSERTION = "aten::_assert_tensor_metadata"  # compares a device with its index, which `device=` need not have


def moved(function: Function, device: str) -> Function:
    """A function whose inputs and calls name this device in place of any other, in its branches, too."""
    inputs = tuple(
        replace(each, facts=None if each.facts is None else replace(each.facts, device=device))
        for each in function.inputs
    )
    calls = []
    for call in function.calls:
        to = Nothing() if call.op == _ASSERTION else Constant("Device", device)
        arguments = {name: _moved(value, to) for name, value in call.arguments.items()}
        calls.append(replace(call, arguments=arguments))
    callees = {
        name: Cond(moved(each.then, device), moved(each.otherwise, device)) if isinstance(each, Cond) else each
        for name, each in function.callees.items()
    }
    return replace(function, inputs=inputs, calls=tuple(calls), callees=callees)


def _moved(value: Value, to: Value) -> Value:
    if isinstance(value, Many):
        return Many(tuple(_moved(each, to) for each in value.values))
    return to if isinstance(value, Constant) and value.kind == "Device" else value
