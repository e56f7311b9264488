"""Type errors in a formula: Python syntax, calls that no overload accepts, members that a tensor does not have.

Each node of the parsed formula gets a schema type if that is known; "" stands for any type. Nothing is reported about
unknown types. `gradmill.cpp.conversions` lists the conversions of C++.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from gradmill.cpp.conversions import accepts, array_size, members, of_cpp, tuple_of
from gradmill.cpp.declared import ANY, DeclaredOverload
from gradmill.cpp.expression import TYPES, Node, Parsed, Token
from gradmill.cpp.overloads import SYMINT
from gradmill.lints.formula_text import FormulaText
from gradmill.lints.known import (
    ATEN,
    CALL,
    METHOD,
    METHODS,
    NO_TENSOR_METHODS,
    KnownNames,
    Variables,
    methods_of,
)
from gradmill.lints.pitfalls import check_pitfalls
from gradmill.model.regex import regex
from gradmill.problems.names import Hint
from gradmill.problems.problem import SpecError

_SHOWN = 3  # overloads in a hint

# Words of Python: what to write, and their equivalents in C++ if they have one.
_WORDS = {
    "None": ("write Tensor() for an undefined tensor, ::std::nullopt for another empty value", ""),
    "True": ("write 'true'", "true"),
    "False": ("write 'false'", "false"),
}
_PROPERTIES = {"shape": "sym_sizes", "T": "numpy_T", "H": "matrix_H", "ndim": "dim", "dtype": "scalar_type"}
# Types of methods that no schema declares: of tensors, and conversions of numbers.
_METHOD_TYPES = {
    **dict.fromkeys(("sym_sizes", "sym_strides"), "SymInt[]"),
    **dict.fromkeys(("sym_size", "sym_numel"), "SymInt"),
    **dict.fromkeys(("dim", "numel"), "int"),
    **dict.fromkeys(("defined", "is_complex", "is_conj", "is_sparse", "requires_grad", "toBool"), "bool"),
    "scalar_type": "ScalarType",
    "options": "TensorOptions",
    "layout": "Layout",
    "device": "Device",
    "toDouble": "float",
}
_NO_NUMBER = ("Tensor[]", "SymInt[]", "int[]", "ScalarType", "str", "TensorOptions")
_ARITHMETIC = ("+", "-", "*", "/")
_COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
_LOGICAL = {"&&": "logical_and", "and": "logical_and", "||": "logical_or", "or": "logical_or"}
_NO_POINTER = ("Tensor", "Tensor[]", "Scalar", "SymInt", "SymInt[]", "int", "float", "bool", "int[]")
_NO_CONDITION = ("Tensor", "Scalar", "SymInt", "Tensor[]", "SymInt[]", "int[]")
_NAMESPACES = ("at", "std", "c10")
_TEMPLATE_INDEX = regex(r"\s*<\s*(\d{1,3})\s*>")
_TUPLES = ("std::tuple", "std::make_tuple", "std::pair", "std::make_pair")
_GRADIENT = "the gradient"  # what a call in place changes
_IN_PLACE = {"fill": "at::full_like", "zero": "at::zeros_like"}


def check_types(text: FormulaText, parsed: Parsed, variables: Variables, known: KnownNames) -> Iterator[SpecError]:
    """The suspicions about a parsed formula."""
    if parsed.missing is not None:
        sign, start = parsed.missing
        yield text.error(start, f"'?' without '{sign}'", "write condition ? one : other, in quotes", "conditional")
        return
    if parsed.stray is not None:
        yield _stray(text, *parsed.stray)
        return
    yield from _Checker(text, variables, known).suspicions(parsed.nodes)
    yield from check_pitfalls(text, parsed.nodes, variables.floats)


def _stray(text: FormulaText, token: Token, before: Token) -> SpecError:
    """The suspicion about a token that cannot follow the one before it."""
    formula, sign, start = text.whole, token.text, token.start
    problem, fix = f"'{sign}' cannot follow '{before.text}'", None
    hint = "write what is missing between them, or remove one of them"
    if token is before:
        problem, hint = f"a formula cannot begin with '{sign}'", "write what comes before it, or remove it"
    elif sign == ":" and formula.rfind("[", 0, start) > formula.rfind("]", 0, start):
        problem, hint = "':' makes no slice in C++", "write .slice(dimension, start, end) after the tensor"
    elif sign == ":" and before.kind == "name":
        start, wrong = before.start, formula[before.start : token.end]
        problem, hint = "':' is not an operator: '::' qualifies a name", f"write '{before.text}::'"
        fix = (wrong, f"{before.text}::") if before.end == token.start else None
    elif sign == ",":
        problem = "',' outside of brackets: the value before it is discarded"
        hint = "write one value for one formula"
    elif token.kind in ("name", "number", "string", "char") and before.kind != "punctuator":
        problem = f"there is no operator between '{before.text}' and '{sign}'"
        hint = "write an operator or a comma between them"
    return text.error(start, problem, hint, "stray-token", fix)


class _Checker:
    """Visits the nodes of one formula and sets the type of each: `check_call` is for nodes of the kind `call`."""

    def __init__(self, text: FormulaText, variables: Variables, known: KnownNames) -> None:
        self._formula, self._text, self._error = text.whole, text.of, text.error
        self._variables, self._types = variables, variables.types
        self._known = known
        self._called: set[int] = set()  # nodes that are called
        self._shared: dict[int, str] = {}  # nodes that are gradients, inputs or outputs, or views of them: of which
        self._characters: set[int] = set()  # nodes that are one character in quotes
        self._python: set[int] = set()  # nodes that name a module of Python

    def suspicions(self, nodes: Sequence[Node]) -> Iterator[SpecError]:
        self._called = {id(node.parts[0]) for node in nodes if node.kind == "call"}
        for node in nodes:
            if node.kind == "name":
                self._name(node)
                if node.name in _WORDS and node.name not in self._types:
                    yield self._word(node)
                continue
            check: Callable[[Node], Iterator[SpecError]] | None = getattr(self, f"check_{node.kind}", None)
            if check is not None:
                yield from check(node)
            else:
                node.type = self._plain(node)

    def _plain(self, node: Node) -> str:
        """The type of a node that has no separate check."""
        if node.kind == "number":
            decimal = not node.name.startswith(("0x", "0X")) and any(each in node.name for each in ".eE")
            return "float" if decimal else "int"
        if node.kind == "string":
            return "str"
        if node.kind == "group":
            if id(node.parts[0]) in self._shared:
                self._shared[id(node)] = self._shared[id(node.parts[0])]
            return node.parts[0].type
        return ""

    # ---- names and characters

    def _name(self, node: Node) -> None:
        name = node.name
        node.type = self._types.get(name, "")
        if name.startswith("grad") and (name == "grad" or name[4] == "_") and "grads" in self._types:
            self._shared[id(node)] = _GRADIENT
        elif name in ("true", "false", "True", "False"):
            node.type = node.type or "bool"
        elif node.type == "Tensor" and name not in self._variables.written:
            self._shared[id(node)] = f"'{name}'"

    def _word(self, node: Node) -> SpecError:
        name, (hint, right) = node.name, _WORDS[node.name]
        return self._error(node.start, f"'{name}' is Python's", hint, "python-word", (name, right) if right else None)

    def check_char(self, node: Node) -> Iterator[SpecError]:
        text = node.name[1:-1]
        if len(text) > 1 and not text.startswith("\\"):
            wrong, right = node.name, f'"{text}"'
            fix = (wrong, right) if '"' not in text else None
            problem = f"{wrong} is a number in C++: a multicharacter literal"
            yield self._error(node.start, problem, f"write {right}", "character", fix)
        else:
            node.type = "int"
            self._characters.add(id(node))

    def _number(self, node: Node, other: str) -> Iterator[SpecError]:
        """Reports a character literal, a number in C++: in place of, or next to, a value of the type `other`."""
        if id(node) in self._characters and other:
            wrong, right = node.name, f'"{node.name[1:-1]}"'
            text = other.startswith("str")
            fix = (wrong, right) if text and right != '"""' else None
            hint = f"write {right}" if text else "write text in double quotes, or the number"
            yield self._error(node.start, f"{wrong} is a number in C++: a character literal", hint, "character", fix)

    # ---- members and calls

    def check_member(self, node: Node) -> Iterator[SpecError]:
        of, name = node.parts[0], node.name
        arrow = self._formula.find("->", of.end, node.end - len(name)) >= 0
        if arrow and of.type in _NO_POINTER and not (of.kind == "name" and of.name in self._variables.optional):
            between = self._formula[of.end : node.end]
            dotted = between, between.replace("->", ".", 1)
            problem = f"'->' follows a {of.type}, which is not a pointer"
            yield self._error(of.end, problem, f"write '.{name}'", "no-pointer", dotted)
        if of.kind == "name" and of.name in _NAMESPACES and of.name not in self._types:
            right = f"{of.name}::{name}"
            written = self._formula[of.start : node.end], right
            yield self._error(of.start, f"'{of.name}' is a namespace", f"write {right}", "namespace-member", written)
        elif of.kind == "name" and of.name == "torch" and "torch" not in self._types:
            self._python.add(id(node))
            callable_ = id(node) in self._called and self._known.arity(CALL, name) is not None
            fix = (self._formula[of.start : node.end], f"at::{name}") if callable_ else None
            problem = f"'torch.{name}' is Python's"
            yield self._error(of.start, problem, f"write at::{name}", "python-module", fix)
        elif of.type == "Tensor" and id(node) not in self._called:
            start = node.end - len(name)
            method = _PROPERTIES.get(name, name)
            if self._known.arity(METHOD, method) is not None or method in METHODS:
                hint, fix = f"write '{method}()'", (name, f"{method}()")
                yield self._error(start, f"the method '{name}' is not called", hint, "uncalled-method", fix)
            else:
                yield self._error(start, f"a tensor has no member '{name}'", "", "uncalled-method")

    def check_call(self, node: Node) -> Iterator[SpecError]:
        callee, arguments = node.parts[0], node.parts[1:]
        name = callee.name
        for argument in arguments:
            if argument.kind == "assign" and argument.name == "=" and argument.parts[0].kind == "name":
                yield self._keyword(argument)
        if callee.kind == "member":
            of = callee.parts[0]
            if id(callee) in self._python:
                yield from self._resolved(node, name, ATEN, arguments)
            elif of.type == "Tensor":
                yield from self._resolved(node, name, METHOD, arguments)
                node.type = node.type or _METHOD_TYPES.get(name, "")
                if id(of) in self._shared:
                    yield from self._in_place(node, name, of)
                if name in NO_TENSOR_METHODS and not self._known.overloads(METHOD, name):
                    yield self._of_no_tensor(node, of, name)
            else:
                node.type = _METHOD_TYPES.get(name, "")
                yield from self._of_value(callee)
        elif callee.kind == "name" and name not in self._types:
            scope, _, last = name.rpartition("::")
            if scope in ("at", "::at"):
                yield from self._resolved(node, last.strip(), ATEN, arguments)
            elif not scope:
                # A function without tensor arguments may be one of the C library.
                kind = CALL if any(argument.type in ("Tensor", "Tensor[]") for argument in arguments) else ""
                yield from self._resolved(node, name, kind, arguments)
            elif name == "std::move" and len(arguments) == 1:
                node.type = arguments[0].type
            elif name == "std::get" and len(arguments) == 1:
                yield from self._get(node, arguments[0])
            elif name in _TUPLES:
                node.type = self._tuple(callee, arguments)
            elif scope in ("std", "::std"):
                yield from self._of_std(callee, last, arguments)
            if last.endswith("_") and arguments and id(arguments[0]) in self._shared:
                yield from self._in_place(node, last, arguments[0])

    def check_braces(self, node: Node) -> Iterator[SpecError]:
        """Sets the type of a tuple or an array in braces; reports an array with another number of values."""
        if node.name in _TUPLES:
            node.type = self._tuple(node, node.parts)
        elif node.name == "std::array":
            node.type = self._written_type(node, node.start + len(node.name))
            yield from self._sized(node, node.type)

    def _written_type(self, node: Node, end: int) -> str:
        """The type that a node begins with: a name that ends at `end`, and the types in angle brackets after it."""
        types = TYPES.match(self._formula, end)
        return of_cpp(self._formula[node.start : types.end()]) if types is not None else ""

    def _tuple(self, node: Node, values: Sequence[Node]) -> str:
        """The type of a tuple of `values`, or of the types that are written in it."""
        written = self._written_type(node, node.start + len(node.name))
        if written or not values or any(members(value.type) is not None for value in values):
            return written
        return tuple_of([value.type for value in values])

    def _sized(self, node: Node, type_: str) -> Iterator[SpecError]:
        """Reports values in braces for an array of another size: C++ makes those that are missing false."""
        inside = node.parts[0] if len(node.parts) == 1 else node
        values = inside.parts if inside.kind == "braces" and not inside.name else node.parts  # {{true, true}}
        size, count = array_size(type_), len(values)
        if size is None or count in (0, size):
            return
        problem = f"{type_} gets {count} value{'' if count == 1 else 's'}"
        if count < size:
            problem += ": the last is false" if size == count + 1 else f": the last {size - count} are false"
        yield self._error(node.start, problem, f"write {size} values", "array-size")

    def _of_std(self, callee: Node, name: str, arguments: Sequence[Node]) -> Iterator[SpecError]:
        """Reports a function of numbers from the standard library that gets a tensor or a Scalar, where ATen has a
        function of the same name."""
        wrong = next((argument for argument in arguments if argument.type in ("Tensor", "Scalar")), None)
        if wrong is None or name in METHODS or self._known.arity(CALL, name) is None:
            return
        text = self._text(wrong)
        right = f"at::{name}"
        fix = (self._text(callee), right) if wrong.type == "Tensor" else None
        hint = f"write {right}" if fix else f"write {text}.toDouble()"
        problem = f"'std::{name}' takes numbers, but gets {wrong.type}"
        yield self._error(callee.start, problem, hint, "argument-type", fix)

    def _of_no_tensor(self, node: Node, of: Node, name: str) -> SpecError:
        """The suspicion about a method of other types that is called on a tensor."""
        text = self._text(of)
        hint = "a tensor has no such method"
        if name in ("has_value", "value"):
            right = f"{text}.defined()" if name == "has_value" else text
            fix = (self._text(node), right)
            hint = f"write {right}: here it is a Tensor, undefined if it has no value"
            return self._error(of.start, f"Tensor has no method '{name}'", hint, "no-method", fix)
        if name == "value_or":
            hint = f"write {text}.defined() ? {text} : …"
        elif name.startswith("to"):
            hint = f"write {text}.item().{name}()"
        return self._error(of.start, f"Tensor has no method '{name}'", hint, "no-method")

    def _of_value(self, callee: Node) -> Iterator[SpecError]:
        """Reports a method of tensors that is called on a number, a list, a tuple or an optional value."""
        of, name = callee.parts[0], callee.name
        own, hint = methods_of(of.type), "only tensors have this one"
        if of.type.endswith("?"):
            hint = f"write {self._text(of)}.value_or(…), or test {self._text(of)}.has_value()"
        elif of.type.startswith("("):
            hint = f"take one of its values: std::get<0>({self._text(of)})"
        elif of.type.endswith("[]") and name == "numel":
            hint = "write 'size()'"
        if own is None or name in own or self._formula.startswith("->", of.end):
            return
        if name not in METHODS and self._known.arity(METHOD, name) is None:
            return  # no type has it, which is reported
        text, called, fix = self._text(of), f"{self._text(callee)}()", None
        if name == "conj" and of.type in ("int", "float", "bool", "SymInt"):
            hint = f"write '{text}': it is real"
            fix = (called, text) if self._formula.startswith(called, of.start) else None
        yield self._error(of.start, f"{of.type} has no method '{name}'", hint, "no-method", fix)

    def _get(self, node: Node, of: Node) -> Iterator[SpecError]:
        """Sets the type of a `std::get`; reports one of a value that is not a tuple or array, or has fewer values."""
        index, size = _TEMPLATE_INDEX.match(self._formula, node.parts[0].end), array_size(of.type)
        types = members(of.type) if size is None else ["bool"] * size
        if index is None or not of.type:
            return
        if types is not None and int(index[1]) < len(types):
            node.type = types[int(index[1])]
            return
        written = f"std::get<{index[1]}>"
        problem = f"'{written}' of a tuple of {len(types or ())}: its indices begin at 0"
        hint = f"the last one is std::get<{len(types or ()) - 1}>"
        if types is None:
            problem, hint = f"'{written}' of {of.type}, which is not a tuple", f"write {self._text(of)}"
        yield self._error(node.start, problem, hint, "tuple-index")

    def check_index(self, node: Node) -> Iterator[SpecError]:
        """Sets the type of an element; reports one past the end of an array."""
        of, at = node.parts
        if of.kind == "name" and of.name == "grads" and "grads" in self._types:
            self._shared[id(node)] = _GRADIENT
        elif id(of) in self._shared or (of.kind == "name" and of.name in self._types and of.type == "Tensor[]"):
            self._shared[id(node)] = self._shared.get(id(of), f"'{of.name}'")
        node.type = "Tensor" if of.type == "Tensor" else of.type.removesuffix("[]") if of.type.endswith("[]") else ""
        size = array_size(of.type)
        if size is not None:
            node.type = "bool"
            if at.kind == "number" and at.name.isdecimal() and int(at.name) >= size:
                problem = f"'{self._text(node)}' is out of bounds: the array has {size} elements"
                hint = f"the last one is {self._text(of)}[{size - 1}]"
                yield self._error(node.start, problem, hint, "array-size")

    def _keyword(self, argument: Node) -> SpecError:
        name, value = argument.parts
        problem = f"'{name.name}=' names an argument in Python; here it changes a variable"
        hint = f"write /*{name.name}=*/{self._text(value)}, at its place among the arguments"
        return self._error(argument.start, problem, hint, "python-keyword")

    def _in_place(self, node: Node, name: str, of: Node) -> Iterator[SpecError]:
        """Reports a call that changes an incoming gradient, an input or an output in place; marks one that makes a
        view of it."""
        method, what = node.parts[0].kind == "member", self._shared[id(of)]
        kind = METHOD if method else CALL
        if not name.endswith("_") or name.endswith("__") or self._known.arity(kind, name) is None:
            overloads = self._known.overloads(METHOD if method else ATEN, name) or ()
            if any(overload.view for overload in overloads):
                self._shared[id(node)] = what
            return
        self._shared[id(node)] = what
        plain = name.removesuffix("_")
        changes = plain not in _IN_PLACE and self._known.arity(kind, plain) is not None
        hint = f"write '{plain}'" if changes else f"write {_IN_PLACE.get(plain, 'it without an in-place function')}"
        start = node.parts[0].end - len(name)
        yield self._changed(start, name, what, hint, (name, plain) if changes else None)

    def _changed(self, start: int, name: str, what: str, hint: str, fix: tuple[str, str] | None) -> SpecError:
        """The suspicion about a function or an operator that changes a gradient, an input or an output in place."""
        problem = f"'{name}' changes {what} in place, which other code reads"
        return self._error(start, problem, hint, "gradient-in-place" if what == _GRADIENT else "value-in-place", fix)

    def _resolved(self, node: Node, name: str, kind: str, arguments: Sequence[Node]) -> Iterator[SpecError]:
        """Sets the type of a call; yields a suspicion if no overload accepts the arguments."""
        if any(id(argument) in self._characters for argument in arguments):
            known = self._known.overloads(kind or CALL, name) or ()
            for i, argument in enumerate(arguments):  # no operator of ATen takes a character
                yield from self._number(argument, _typed(known, i) or ("int" if kind in (ATEN, METHOD) else ""))
            return
        most = self._known.most(METHOD if kind == METHOD else CALL, name) if kind and arguments else ANY
        if len(arguments) > most:
            problem = f"no overload of '{name}' takes {len(arguments)} arguments"
            yield self._error(node.parts[0].end - len(name), problem, f"it takes {most} at most", "argument-count")
            return
        overloads = self._known.overloads(kind or CALL, name)
        if overloads is None:
            return
        types = [argument.type for argument in arguments]
        viable = [overload for overload in overloads if _takes(overload, types)]
        returned = {overload.returns for overload in viable or overloads}
        node.type = returned.pop() if len(returned) == 1 else ""
        if viable and kind and any(argument.kind == "braces" for argument in arguments):
            yield from self._arrays(name, kind, arguments)
        if viable or not kind:
            return
        every = self._known.all_overloads(kind, name)
        if every is None and "SymInt[]" in types and kind != CALL and not name.endswith(SYMINT):
            # No other overload takes them: operators do under their names with _symint alone.
            every = [overload for overload in overloads if overload.least <= len(types) <= len(overload.types)] or None
        if every is not None and not any(_takes(overload, types) for overload in every):
            yield from self._refused(node, name, kind, arguments, every)

    def _arrays(self, name: str, kind: str, arguments: Sequence[Node]) -> Iterator[SpecError]:
        """Reports arguments in braces for arrays of another size, if all overloads that take so many have that size."""
        every = self._known.all_overloads(kind, name) or ()
        fitting = [overload.types for overload in every if overload.least <= len(arguments) <= len(overload.types)]
        for i, argument in enumerate(arguments):
            types = {types[i] for types in fitting}
            if argument.kind == "braces" and not argument.name and len(types) == 1:
                yield from self._sized(argument, types.pop())

    def _refused(
        self, node: Node, name: str, kind: str, arguments: Sequence[Node], overloads: Sequence[DeclaredOverload]
    ) -> Iterator[SpecError]:
        """The suspicion about a call that none of the overloads accepts."""
        types = [argument.type for argument in arguments]
        start = node.parts[0].end - len(name)
        if not overloads:
            yield from self._not_of_this_kind(name, kind, start)
            return
        fitting = [overload for overload in overloads if overload.least <= len(types) <= len(overload.types)]
        if not fitting:
            if kind == CALL and (self._known.arity(CALL, name) or (0, ANY))[1] != ANY:
                return  # the check of its arity reports that
            counts = sorted({count for each in overloads for count in range(each.least, len(each.types) + 1)})
            problem = f"no overload of '{name}' takes {len(types)} argument{'' if len(types) == 1 else 's'}"
            hint = f"it takes {' or '.join(map(str, counts))}"
            yield self._error(start, problem, hint, "argument-count")
            return
        problem = f"no overload of '{name}' takes ({', '.join(type_ or '…' for type_ in types)})"
        if len(fitting) == 1:
            wrong = next(i for i, type_ in enumerate(types) if not accepts(type_, fitting[0].types[i]))
            wanted = fitting[0].types[wrong]
            problem = f"'{name}' takes {wanted} as argument {wrong + 1}, but gets {types[wrong]}"
        other = name.removesuffix(SYMINT) if name.endswith(SYMINT) else name + SYMINT
        if any(_takes(overload, types) for overload in self._known.overloads(kind, other) or ()):
            yield self._error(start, problem, Hint(f"did you mean '{other}'?", (name, other)), "argument-type")
            return
        swapped = _swapped(fitting, types)
        if swapped is None:
            shown = "; ".join(f"({', '.join(type_ or '…' for type_ in each.types)})" for each in fitting[:_SHOWN])
            yield self._error(start, problem, f"it takes {shown}", "argument-type")
            return
        first, second = (arguments[i] for i in swapped)
        between = self._formula[first.end : second.start]
        wrong_text = self._formula[first.start : second.end]
        fix = (wrong_text, self._text(second) + between + self._text(first))
        hint = f"swap arguments {swapped[0] + 1} and {swapped[1] + 1}"
        yield self._error(first.start, problem, hint, "argument-type", fix)

    def _not_of_this_kind(self, name: str, kind: str, start: int) -> Iterator[SpecError]:
        """A suspicion about a function called as a method, or vice versa."""
        method = kind == METHOD
        if not self._known.all_overloads(ATEN if method else METHOD, name):
            return
        what = "a function, not a method" if method else "a method, not a function"
        hint = f"write at::{name}(…)" if method else f"write it after its tensor: .{name}(…)"
        yield self._error(start, f"'{name}' is {what}", hint, "no-method" if method else "no-function")

    # ---- operators

    def check_unary(self, node: Node) -> Iterator[SpecError]:
        operand = node.parts[0]
        if node.name in ("!", "not"):
            node.type = "bool"
            if operand.type in _NO_CONDITION:
                node.type = ""
                call = f"at::logical_not({self._text(operand)})"
                yield self._no_condition(node, f"operand to '{node.name}'", operand.type, call)
        elif node.name == "*":
            node.type = operand.type.removesuffix("?") if operand.type.endswith("?") else ""
        elif node.name in ("-", "+", "~"):
            node.type = operand.type
            if operand.type.endswith("?"):
                yield self._no_value(node, operand)

    def check_binary(self, node: Node) -> Iterator[SpecError]:
        left, right = node.parts
        name = node.name
        if id(left) not in self._characters or id(right) not in self._characters:
            yield from self._number(left, right.type)
            yield from self._number(right, left.type)
        if name == "@":
            node.type = "Tensor"
            yield self._matmul(node, left, right)
        elif name in _LOGICAL:
            node.type = "bool"
            wrong = next((part.type for part in node.parts if part.type in _NO_CONDITION), "")
            if wrong:
                node.type = wrong
                call = f"at::{_LOGICAL[name]}({self._text(left)}, {self._text(right)})"
                yield self._no_condition(node, f"operand to '{name}'", wrong, call)
        elif name in _COMPARISONS:
            node.type = "Tensor" if "Tensor" in (left.type, right.type) else ""
        elif "Tensor" in (left.type, right.type):
            node.type = "Tensor"
            other = right if left.type == "Tensor" else left
            if name in _ARITHMETIC and other.type.endswith("?"):
                yield self._no_value(node, other)
            elif name in _ARITHMETIC and (other.type in _NO_NUMBER or members(other.type) is not None):
                problem = f"invalid operands to '{name}': {left.type} and {right.type}"
                yield self._error(node.start, problem, "convert it to a tensor or a number", "operand-type")
        elif name in _ARITHMETIC and (optional := [part for part in node.parts if part.type.endswith("?")]):
            yield self._no_value(node, optional[0])
        elif name in _ARITHMETIC:
            node.type = left.type if left.type == right.type else ""
            if "SymInt" in (left.type, right.type) and {left.type, right.type} <= {"SymInt", "int"}:
                node.type = "SymInt"
            numbers = ("Scalar", "int", "float", "SymInt")
            if "Scalar" in (left.type, right.type) and left.type in numbers and right.type in numbers:
                problem = f"invalid operands to '{name}': {left.type} and {right.type}"
                yield self._error(
                    node.start, problem, "multiply a tensor by one, and the product by the other", "operand-type"
                )

    def _no_condition(self, node: Node, what: str, type_: str, call: str) -> SpecError:
        """The suspicion about a value that is neither true nor false. `call`: what it may be replaced by if it is a
        tensor."""
        hint = f"write {call}" if type_ == "Tensor" else "compare it"
        return self._error(node.start, f"invalid {what}: {type_}", hint, "no-condition")

    def _no_value(self, node: Node, operand: Node) -> SpecError:
        text = self._text(operand)
        problem = f"invalid operand to '{node.name}': {operand.type}, which may have no value"
        hint = f"write {text}.value_or(…), or test {text}.has_value()"
        return self._error(operand.start, problem, hint, "operand-type")

    def _matmul(self, node: Node, left: Node, right: Node) -> SpecError:
        call = f"at::matmul({self._text(left)}, {self._text(right)})"
        problem = "'@' is Python's"
        return self._error(node.start, problem, f"write {call}", "python-operator", (self._text(node), call))

    def check_power(self, node: Node) -> Iterator[SpecError]:
        base, exponent = node.parts
        if not exponent.type or exponent.type.endswith("?"):
            return  # it may be the value of a pointer
        node.type = base.type
        base_text, exponent_text = self._text(base), self._text(exponent)
        call = f"{base_text}.pow({exponent_text})"
        if base.type != "Tensor":
            call = f"at::pow({base_text}, {exponent_text})"
        certain = "Tensor" in (base.type, exponent.type)
        fix = (self._text(node), call) if certain else None
        yield self._error(node.start, "'**' is Python's", f"write {call}", "python-operator", fix)

    def check_assign(self, node: Node) -> Iterator[SpecError]:
        target = node.parts[0]
        node.type = target.type
        if id(target) in self._shared and target.type == "Tensor" and node.name != "=":
            operator = node.name.removesuffix("=")
            start = self._formula.index(node.name, target.end)
            what, fix = self._shared[id(target)], (node.name, operator)
            yield self._changed(start, node.name, what, f"write '{operator}'", fix)

    def check_conditional(self, node: Node) -> Iterator[SpecError]:
        condition, yes, no = node.parts
        node.type = yes.type if yes.type == no.type else ""
        if condition.type in _NO_CONDITION:
            call = f"at::where({', '.join(map(self._text, node.parts))})"
            yield self._no_condition(node, "condition before '?'", condition.type, call)

    def check_python(self, node: Node) -> Iterator[SpecError]:
        condition, yes, no = node.parts
        node.type = yes.type if yes.type == no.type else ""
        written = f"{self._text(condition)} ? {self._text(yes)} : {self._text(no)}"
        hint = f"write {written}, in quotes"
        fix = (self._text(node), written)
        yield self._error(node.start, "'if' and 'else' within an expression are Python's", hint, "python-operator", fix)


def _typed(overloads: Sequence[DeclaredOverload], place: int) -> str:
    """A type that all overloads know at a place of their arguments, that of a text if there is one; "" if there is none
    or one is unknown."""
    types = [overload.types[place] for overload in overloads if place < len(overload.types)]
    return max(types, key=lambda type_: type_.startswith("str")) if all(types) and types else ""


def _takes(overload: DeclaredOverload, arguments: Sequence[str]) -> bool:
    """Whether an overload may accept arguments of these types."""
    accepted = overload.types
    return overload.least <= len(arguments) <= len(accepted) and all(map(accepts, arguments, accepted))


def _swapped(overloads: Sequence[DeclaredOverload], arguments: Sequence[str]) -> tuple[int, int] | None:
    """The two arguments that only need to be swapped; None unless exactly one pair fits."""
    pairs = []
    for first, second in combinations(range(len(arguments)), 2):
        types = list(arguments)
        types[first], types[second] = types[second], types[first]
        differ = arguments[first] != arguments[second] and arguments[first] and arguments[second]
        if differ and any(_takes(overload, types) for overload in overloads):
            pairs.append((first, second))
    return pairs[0] if len(pairs) == 1 else None
