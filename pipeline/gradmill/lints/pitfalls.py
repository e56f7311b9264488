"""Expressions that compile and do not compute what they seem to: division of integers, `^` and other operators of bits,
chained comparisons, uninitialized memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from gradmill.cpp.expression import Node
from gradmill.lints.formula_text import FormulaText
from gradmill.problems.problem import SpecError

_INTEGERS = ("int", "SymInt")
_NUMBERS = ("int", "float", "Scalar", "SymInt")
_ORDERS = ("<", ">", "<=", ">=")
_EQUALITIES = ("==", "!=")
_ARITHMETIC = ("+", "-", "*", "/")
_BITS = {"^": "at::logical_xor", "&": "at::logical_and", "|": "at::logical_or"}
_UNINITIALIZED = frozenset("empty empty_like empty_permuted empty_strided new_empty new_empty_strided".split())
_ZEROS = {"empty_like": "zeros_like", "new_empty": "new_zeros", "empty": "at::zeros"}
_TUPLES = ("std::make_tuple", "std::make_pair", "std::tuple", "std::pair")


def check_pitfalls(text: FormulaText, nodes: Sequence[Node], floats: Collection[str]) -> Iterator[SpecError]:
    """The suspicions about the typed nodes of a formula. `floats` are the names of tensors that have a derivative."""
    constants: dict[int, int] = {}  # the values of nodes, of those that are integers known here
    floating: set[int] = set()  # nodes whose values are tensors of floating-point numbers
    for node in nodes:
        value = _constant(node, constants)
        if value is not None:
            constants[id(node)] = value
        if _is_floating(node, floats, floating):
            floating.add(id(node))
        if node.kind == "binary" and node.name == "/":
            yield from _division(text, node, constants)
        elif node.kind == "binary" and node.name in _BITS:
            yield from _bits(text, node, floating)
        elif node.kind == "binary" and node.name in (*_ORDERS, *_EQUALITIES):
            yield from _chain(text, node)
    yield from _uninitialized(text, nodes)


def _constant(node: Node, constants: Mapping[int, int]) -> int | None:
    """The value of a node that is an integer whatever the arguments are; None for any other node."""
    if node.kind == "number":
        digits = node.name.rstrip("uUlL")
        return int(digits) if digits.isdecimal() and node.type == "int" else None
    parts = [constants.get(id(part)) for part in node.parts]
    if node.kind not in ("group", "unary", "binary") or None in parts:
        return None
    values = [part for part in parts if part is not None]
    if node.kind == "group" or (node.kind, node.name) == ("unary", "+"):
        return values[0]
    if node.kind == "unary":
        return -values[0] if node.name == "-" else None
    left, right = values
    return {"+": left + right, "-": left - right, "*": left * right}.get(node.name)


def _division(text: FormulaText, node: Node, constants: Mapping[int, int]) -> Iterator[SpecError]:
    """Reports a division of integers that drops a remainder."""
    left, right = node.parts
    above, below = constants.get(id(left)), constants.get(id(right))
    division = text.of(node)
    if above is None or below == 0:
        return
    if below is not None and above % below:
        quotient = abs(above) // abs(below)
        problem = f"'{division}' is {-quotient if above * below < 0 else quotient}: both are integers"
    elif below is None and abs(above) == 1 and right.type in _INTEGERS:
        problem = f"'{division}' is 0 unless '{text.of(right)}' is 1 or -1: both are integers"
    else:
        return
    last = left.parts[0] if left.kind == "unary" else left
    written = f"{text.of(left)}."
    if last.kind != "number":
        yield text.error(node.start, problem, "write a decimal number: 2. for 2", "integer-division")
        return
    between = text.whole[left.end : right.start]
    fix = (division, f"{written}{between}{text.of(right)}")
    yield text.error(node.start, problem, f"write {fix[1]}", "integer-division", fix)


def _is_floating(node: Node, floats: Collection[str], floating: Collection[int]) -> bool:
    """Whether a node is a tensor with a derivative, or is computed from one by arithmetic."""
    if node.kind == "name":
        return node.name in floats and node.type == "Tensor"
    arithmetic = node.kind in ("unary", "binary") and node.name in _ARITHMETIC
    return (arithmetic or node.kind == "group") and any(id(part) in floating for part in node.parts)


def _bits(text: FormulaText, node: Node, floating: Collection[int]) -> Iterator[SpecError]:
    """Reports `^` where a power is meant, and an operator of bits on a tensor of floating-point numbers."""
    left, right = node.parts
    base = left
    while base.kind == "binary":  # `a * b ^ 2` is `(a * b) ^ 2`
        base = base.parts[1]
    numbers = left.type in _NUMBERS, right.type in _NUMBERS
    raised = numbers[1] and (numbers[0] or left.kind == "call" or id(left) in floating)
    if node.name == "^" and (raised or (numbers[0] and id(right) in floating)):
        function = "std::pow" if base.type in ("int", "float") and numbers[1] else "at::pow"
        written = f"{function}({text.of(base)}, {text.of(right)})"
        if base.type == "Tensor":
            written = f"{text.of(base)}.pow({text.of(right)})"
        problem = "'^' is no power in C++: it is the exclusive or of bits"
        fix = (text.whole[base.start : node.end], written) if "Tensor" in (base.type, right.type) else None
        yield text.error(base.start, problem, f"write {written}", "bitwise-operator", fix)
    elif id(left) in floating or id(right) in floating:
        operand = left if id(left) in floating else right
        problem = f"'{node.name}' is an operator of bits, and '{text.of(operand)}' has floating-point numbers"
        hint = f"write {_BITS[node.name]}({text.of(left)}, {text.of(right)}), or another operator"
        yield text.error(node.start, problem, hint, "bitwise-operator")


def _chain(text: FormulaText, node: Node) -> Iterator[SpecError]:
    """Reports a comparison whose first operand is a comparison without brackets around it."""
    left, right = node.parts
    kind = _ORDERS if node.name in _ORDERS else ("==",)
    if left.kind != "binary" or left.name not in kind or node.name not in kind or right.type == "bool":
        return
    first, middle = left.parts
    if any(part.kind == "name" and not part.type for part in (first, middle)):
        return  # it may be a template, and its type
    both = f"{text.of(left)}", f"{text.of(middle)} {node.name} {text.of(right)}"
    tensors = "Tensor" in (first.type, middle.type, right.type)
    written = f"at::logical_and({both[0]}, {both[1]})" if tensors else f"{both[0]} && {both[1]}"
    problem = f"'{text.of(node)}' compares the result of '{both[0]}', which is true or false"
    fix = (text.of(node), written)
    yield text.error(node.start, problem, f"write {written}", "chained-comparison", fix)


def _uninitialized(text: FormulaText, nodes: Sequence[Node]) -> Iterator[SpecError]:
    """Reports tensors of uninitialized memory, where their elements are the formula's value or an operand.
    A function that gets one may write to it."""
    parents = {id(part): node for node in nodes for part in node.parts}
    for node in nodes:
        called = node.name.rpartition("::")[2].removesuffix("_symint") if node.kind == "call" else ""
        if called not in _UNINITIALIZED:
            continue
        child, parent = node, parents.get(id(node))
        while parent is not None and _hands_on(parent, child):
            child, parent = parent, parents.get(id(parent))
        if parent is None or (parent.kind in ("unary", "binary") and parent.name != "="):
            start = node.parts[0].start if node.parts[0].kind == "name" else node.parts[0].end - len(node.name)
            zeros = _ZEROS.get(called)
            hint = f"write '{zeros}' if it is zero" if zeros else "write the values that the formula should have"
            yield text.error(start, f"the memory of '{node.name}' is uninitialized", hint, "uninitialized")


def _hands_on(parent: Node, child: Node) -> bool:
    """Whether the value of a node has the elements of its operand `child`."""
    if parent.kind == "call":
        return parent.name in _TUPLES and parent.parts[0] is not child
    branches = parent.parts[1:] if parent.kind == "conditional" else parent.parts
    return parent.kind in ("group", "braces", "conditional", "python") and any(part is child for part in branches)
