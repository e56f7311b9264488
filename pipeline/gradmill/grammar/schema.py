"""The schema grammar: parses `name.overload(arguments) -> returns`.

An accepted schema prints back as the same text. The order of the parts, the meaning of `*`, of a mutable keyword-only
argument (an out argument) and of the four TensorOptions arguments are upstream's (torchgen.model).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from gradmill.grammar.checks import check_schema
from gradmill.grammar.names import parse_operator_name
from gradmill.grammar.types import check_type, split_annotation
from gradmill.model.regex import regex
from gradmill.model.schema import Argument, Return, Schema
from gradmill.problems.problem import Errors, SpecError

# A run of keyword-only arguments of these names and types (or optionals of them) is one TensorOptions.
TENSOR_OPTIONS = (("dtype", "ScalarType"), ("layout", "Layout"), ("device", "Device"), ("pin_memory", "bool"))
# A type, a name with a default, what separates them from another type and name.
_TYPE = r"([A-Za-z]\w*)(?:\([^)]*\))?[?\[\]\d]*"
_TWO = regex(rf"{_TYPE} \w+(=\S+?)?([;,.]? *){_TYPE} \w+(=.*)?")
# A type, a name, a value.
_NO_EQUALS = regex(rf"({_TYPE} \w+) ([-\d.e]+|True|False|None|'\w*'|\[[^\]]*\])")


@lru_cache(maxsize=4)
def parser(base_types: frozenset[str]) -> SchemaParser:
    """The shared parser for the type names of a release."""
    return SchemaParser(base_types)


class SchemaParser:
    """Parses schemas; arguments and returns with the same text are parsed once.

    `base_types` are the type names of the release.
    """

    def __init__(self, base_types: frozenset[str]) -> None:
        self._base_types = base_types
        # One argument: type, alias annotation, name and default; raises a SpecError if it is malformed.
        self.argument: Callable[[str], Argument] = cache(self._argument)
        self._returned: Callable[[str], Return] = cache(self._return)

    def parse(self, text: str) -> Schema:
        """The schema in `text`; raises one SpecError for all its malformed parts, or for a rule that it breaks."""
        name, _, rest = text.partition("(")
        arguments, arrow, returns = rest.rpartition(") -> ")
        if not name or not arrow or "\n" in rest:
            missing = next((part for part in ("(", ")", " -> ") if part not in text), "")
            hint = f"'{missing.strip()}' is missing: " if missing else ""
            raise SpecError(f"not an operator schema: '{text}'", f"{hint}write name.overload(arguments) -> returns")
        schema = self._assemble(name, arguments, returns)
        if not _is_canonical(arguments, returns):
            raise SpecError("the schema is not in canonical form", f"write: {schema}", needle=text)
        check_schema(schema)
        return schema

    def _assemble(self, name: str, arguments: str, returns: str) -> Schema:
        errors = Errors()
        with errors:
            operator = parse_operator_name(name)
        with errors:
            positional, kwarg_only, out = self._split_arguments(arguments)
        with errors:
            returned = self._parse_returns(returns)
        errors.check()
        names = [a.name for a in positional]
        return Schema(
            operator,
            tuple(positional),
            tuple(kwarg_only),
            tuple(out),
            returned,
            names.index("self") if "self" in names else None,
            _find_tensor_options(kwarg_only),
        )

    def _split_arguments(self, text: str) -> tuple[list[Argument], list[Argument], list[Argument]]:
        pieces = [piece for piece in text.split(", ") if piece]
        at = pieces.index("*") if "*" in pieces else len(pieces)
        if "*" in pieces[at + 1 :]:
            raise SpecError("'*' may appear only once among the arguments", needle="*")
        arguments = self._arguments_of([*pieces[:at], *pieces[at + 1 :]])
        positional, kwarg_only = arguments[:at], arguments[at:]
        written = [i for i, argument in enumerate(kwarg_only) if argument.is_write]
        if not written:
            return positional, kwarg_only, []
        out = kwarg_only[written[0] :]
        for argument in out:
            if not argument.is_write:
                problem = f"argument '{argument.name}' is not mutable but follows the out arguments"
                raise SpecError(problem, "put it before them", needle=str(argument))
        return positional, kwarg_only[: written[0]], out

    def _arguments_of(self, pieces: list[str]) -> list[Argument]:
        """The arguments; raises one SpecError for all that are malformed. What follows an open bracket or quote is not
        read: its commas may separate something else."""
        arguments, errors = [], Errors()
        for piece in pieces:
            with errors:
                arguments.append(self.argument(piece))
            if errors.found and _is_open(piece):
                break
        errors.check()
        return arguments

    def _argument(self, text: str) -> Argument:
        if " " not in text:
            raise SpecError(f"illegal argument '{text}'", "write: type name", needle=text)
        self._check_comma(text, "arguments")
        if text.startswith("* "):
            raise SpecError(f"illegal argument '{text}'", f"write: *, {text.removeprefix('* ')}", needle=text)
        unequal = _NO_EQUALS.fullmatch(text)
        if unequal is not None and unequal[2] in self._base_types:
            raise SpecError(f"illegal argument '{text}'", f"write: {unequal[1]}={unequal[3]}", needle=text)
        head, equals, default = text.partition("=")
        if "=" in default:
            raise SpecError(f"illegal default value in '{text}'", "a default has no '='", needle=text)
        if " " not in head:
            raise SpecError(f"illegal argument '{text}'", "write: type name=default", needle=text)
        type_text, name = head.rsplit(" ", 1)
        if "," in type_text:
            raise SpecError(f"illegal argument '{text}'", "separate arguments by ', '", needle=text)
        if not name and " " in type_text:
            raise SpecError(f"illegal argument '{text}'", "no spaces around '='", needle=text)
        if type_text != " ".join(type_text.split()):
            raise SpecError(f"illegal argument '{text.strip()}'", "one space, not several", needle=text.strip())
        type_, annotation = split_annotation(type_text)
        check_type(type_, self._base_types)
        argument = Argument(name, type_, default if equals else None, annotation)
        if str(argument) != text:
            raise SpecError(f"illegal argument '{text}'", f"write: {argument}", needle=text)
        return argument

    def _check_comma(self, text: str, what: str) -> None:
        """Refuses two arguments or returns with something else than a comma and a space between them."""
        match = _TWO.fullmatch(text)
        if match is None or (match[2] and not match[5]):  # upstream takes all behind `=` for the default
            return
        if {match[1], match[4]} <= self._base_types:
            one, two = text[: match.start(3)], text[match.end(3) :]
            problem = f"two {what} without ', ' between them: '{one}' and '{two}'"
            raise SpecError(problem, f"write: {one}, {two}", needle=text)

    def _parse_returns(self, text: str) -> tuple[Return, ...]:
        if text == "()":
            return ()
        if not text:
            raise SpecError("the schema has no returns", "write () for none")
        if text[0] == "(" and text[-1] == ")":
            text = text[1:-1]
        returns, errors = [], Errors()
        for piece in text.split(", "):
            with errors:
                returns.append(self._returned(piece))
        errors.check()
        return tuple(returns)

    def _return(self, text: str) -> Return:
        self._check_comma(text, "returns")
        type_text, _, name = text.rpartition(" ")
        type_, annotation = split_annotation(type_text if type_text else text)
        check_type(type_, self._base_types)
        returned = Return(type_, name if type_text else None, annotation)
        if str(returned) != text:
            raise SpecError(f"illegal return '{text}'", f"write: {returned}", needle=text)
        return returned


def _is_open(text: str) -> bool:
    """Whether a bracket or a quote in `text` has no partner there."""
    return any(text.count(a) != text.count(b) for a, b in ("[]", "()")) or text.count("'") % 2 == 1


def _is_canonical(arguments: str, returns: str) -> bool:
    """Whether valid arguments and returns are also in the form in which they are printed.

    No part between commas is empty, `*` is not the last part, and one return has no parentheses.
    """
    pieces = arguments.split(", ")
    if arguments and ("" in pieces or pieces[-1] == "*"):
        return False
    return returns == "()" or returns.startswith("(") == (", " in returns)


def _find_tensor_options(kwarg_only: list[Argument]) -> int | None:
    starts = [
        i
        for i in range(len(kwarg_only) - len(TENSOR_OPTIONS) + 1)
        if all(a.name == n and a.type.removesuffix("?") == t for a, (n, t) in zip(kwarg_only[i:], TENSOR_OPTIONS))
    ]
    if len(starts) > 1:
        raise SpecError("the tensor options arguments appear twice", needle=str(kwarg_only[starts[1]]))
    return starts[0] if starts else None
