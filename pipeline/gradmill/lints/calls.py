"""Errors in formulas that upstream accepts and no C++ compiler does: undeclared names, calls with a wrong number of
arguments, unclosed brackets, typos.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from gradmill.cpp.expression import Token
from gradmill.cpp.identifiers import KEYWORDS
from gradmill.cpp.overloads import SYMINT
from gradmill.lints.formula_text import FormulaText
from gradmill.lints.known import CALL, CONSTANT, CONSTANTS, METHOD, METHODS, TYPES, KnownNames
from gradmill.lints.uses import UNCOUNTED, Use, Uses, declared
from gradmill.model.regex import regex
from gradmill.problems.names import Hint
from gradmill.problems.problem import SpecError, nearest

COMMENT = "comment"  # the rule of a comment that is none in YAML or in C++
COUNT = "argument-count"  # the rule of a call with too few or too many arguments
UNREADABLE = (COMMENT, "unclosed-bracket", "cut-off", "doubled-operator", "semicolon", "odd-character")
_EXPRESSION = "a formula is an expression: remove it"
_ONLY_COMPILER = "only the C++ compiler can check it"
_MANY = 20  # names that are reported in one formula
_NEAR = 0.75  # how close a suggested name must be: there are thousands

# Words that a bracket may follow: of C++, its types of integers, mathematical functions.
CPP_WORDS = KEYWORDS.union(
    """
    int8_t int16_t int32_t int64_t size_t uint8_t uint16_t uint32_t uint64_t abs ceil fabs floor fmod max min pow round
    """.split()
)
TYPE = regex(r"[A-Z]|k[A-Z]")  # how types and constants begin
_CUT = "+-*/%=<>&|^?:,.!~"  # what a formula cannot end with
# Two operators where the second begins no operand, or a comma next to which an argument is missing.
_DOUBLED = regex(r"[-+*/%]\s++[/%](?![/*])|[-+*/%]\s++\*(?=\s)|,\s*+[,)]|\(\s*+,")
# What replaces comments and texts in code that is searched.
_FILLED = {"comment": " ", "string": '"', "char": "'", "open": '"'}
_INDEXED = regex(r"(?<![\w.:>])grad\[(\d+)\]")


def check_calls_and_names(
    text: FormulaText,
    tokens: Sequence[Token],
    read: Uses,
    names: Collection[str],
    known: KnownNames,
    outputs: int,
    *,
    closed: bool = True,
) -> Iterator[SpecError]:
    """The suspicions about a formula: the first few of each kind. `read` has the names that it uses, `names` are its
    variables, `outputs` is the number of the operator's outputs. `closed`: whether it may only call known functions."""
    formula = text.whole
    code = _blanked(formula, tokens)
    if "#" in code:
        problem = "'#' in the formula does not begin a comment here"
        yield text.error(code.index("#"), problem, "write /* */, or the comment above the entry", COMMENT)
        return  # the rest of the line may be no code
    if tokens and tokens[-1].text.startswith("//") and tokens[-1].end == len(formula):
        problem = "the formula is cut off: '//' also comments out the generated code after it"
        yield text.error(tokens[-1].start, problem, "write /* */, or # before it", "cut-off")
    yield from _characters(text, code)
    yield from _brackets(text, code, read)
    typos = list(_typos(text, code, outputs))
    yield from typos
    countable = not any(typo.rule == "doubled-operator" for typo in typos)
    reported: set[str] = set()
    for use in read.uses:
        if len(reported) == _MANY:
            return
        if use.name not in reported:
            for suspicion in _use(text, use, names, known, countable=countable, closed=closed):
                reported.add(use.name)
                yield suspicion


def _blanked(formula: str, tokens: Sequence[Token]) -> str:
    """A formula with its comments replaced by blanks and its texts by quotes, at the same places."""
    pieces, at = [], 0
    for token in tokens:
        if token.kind in _FILLED:
            end = len(formula) if token.kind == "open" else token.end
            pieces += [formula[at : token.start], _FILLED[token.kind] * (end - token.start)]
            at = end
    return "".join((*pieces, formula[at:]))


def _characters(text: FormulaText, code: str) -> Iterator[SpecError]:
    """Characters outside of ASCII, which may look like others of C++."""
    at = next((at for at, character in enumerate(code) if ord(character) > 127), None)
    if at is not None:
        character = code[at]
        space = not character.isprintable() or character.isspace()
        name = "a no-break space" if character == "\xa0" else f"the character U+{ord(character):04X}"
        fix = (character, " ") if character.isspace() else None
        what = "letter or digit of PyTorch's names" if character.isalnum() else "C++ operator"
        hint = "write a plain space" if space else f"'{character}' is not a {what}: use an ASCII one"
        yield text.error(at, f"the formula contains {name}", hint, "odd-character", fix)


def _brackets(text: FormulaText, code: str, read: Uses) -> Iterator[SpecError]:
    if read.open is not None:
        sign, start = read.open
        what = "is not closed" if sign in "([{" else "closes nothing"
        hint = "close it" if sign in "([{" else "remove it, or open it"
        yield text.error(start, f"the bracket '{sign}' {what}", hint, "unclosed-bracket")
        return
    end = code.rstrip()
    if end and end[-1] in _CUT:
        # The operator alone may occur often; the word before it makes the needle unique.
        start = end.rfind(" ", 0, len(end[:-1].rstrip())) + 1
        yield text.error(start, f"the formula ends with '{end[-1]}'", "write what follows it", "cut-off")


def _typos(text: FormulaText, code: str, outputs: int) -> Iterator[SpecError]:
    end = code.rstrip()
    if end.endswith(";"):
        fix = (";", "") if end.count(";") == 1 else None
        yield text.error(len(end) - 1, "the formula ends with ';'", _EXPRESSION, "semicolon", fix)
    if code.lstrip().startswith("return "):
        start = code.index("return ")
        yield text.error(start, "the formula begins with 'return'", _EXPRESSION, "return")
    doubled = _DOUBLED.search(code)
    if doubled is not None:
        written = " ".join(doubled.group().split())
        problem = f"'{written}': something is missing between"
        yield text.error(doubled.start(), problem, "write it, or remove one of them", "doubled-operator")
    indexed = _INDEXED.search(code) if "grad[" in code else None
    if indexed is not None:
        meant = f"grads[{indexed.group(1)}]"
        whole = Hint(f"did you mean '{meant}'?", ("grad", "grads") if outputs > 1 else None)
        hint = whole if outputs > 1 else "write 'grad': the op has one output"
        yield text.error(indexed.start(), f"'{indexed.group()}' is a row of the gradient", hint, "grad-index")


def _use(
    text: FormulaText, use: Use, names: Collection[str], known: KnownNames, *, countable: bool, closed: bool
) -> Iterator[SpecError]:
    """The suspicions about one use of a name."""
    name = use.name
    if not use.called:
        if not use.scope and TYPE.match(name) and name not in names:
            yield from _constant(text, use, known)
    elif use.scope == ".":
        if name not in METHODS and _arity(known, METHOD, name) is None:
            yield from _unknown(text, use, known, METHOD, "method")
    elif use.scope.endswith("::") and use.scope != "at::":
        return
    elif TYPE.match(name):
        yield from _type(text, use, known)
    elif not (use.scope == "" and (name in CPP_WORDS or name in names)):
        arity = _arity(known, CALL, name)
        if arity is None:
            yield from _unknown(text, use, known, CALL, "function") if closed else ()
        elif countable and use.arguments != UNCOUNTED and not arity[0] <= use.arguments <= arity[1]:
            yield _count(text, use, arity)


def _arity(known: KnownNames, kind: str, name: str) -> tuple[int, int] | None:
    return known.arity(kind, name) or known.arity(kind, name.removesuffix(SYMINT))


def _count(text: FormulaText, use: Use, arity: tuple[int, int]) -> SpecError:
    problem = f"'{use.name}' takes {counted(*arity)}, but gets {use.arguments}"
    return text.error(use.start, problem, "see its declaration", COUNT)


def counted(least: int, most: int) -> str:
    """The number of arguments that a function takes, in words: `1 argument`, `2 to 4 arguments`."""
    takes = str(least) if least == most else f"{least} to {most}"
    return f"{takes} argument{'' if takes == '1' else 's'}"


def _unknown(text: FormulaText, use: Use, known: KnownNames, kind: str, what: str) -> Iterator[SpecError]:
    """A suspicion about an undeclared name, unless the formula or an unknown header may declare it."""
    if kind == CALL and use.name in declared(text.whole):
        return
    suffix = SYMINT if use.name.endswith(SYMINT) else ""
    names = [f"{name}{suffix}" for name in known.names(kind)]
    hint = nearest(use.name, names)
    hint = hint if hint.fix else nearest(use.name, names, near=_NEAR)
    if known.is_whole() or hint.fix:
        yield text.error(use.start, f"unknown {what} '{use.name}'", hint or _ONLY_COMPILER, f"unknown-{what}")


def _constant(text: FormulaText, use: Use, known: KnownNames) -> Iterator[SpecError]:
    """A suspicion about a constant: any unknown one of `math.h`, of others those close to a known one."""
    if use.name in CONSTANTS or use.name in TYPES or known.arity(CONSTANT, use.name) is not None:
        return
    hint = nearest(use.name, (*sorted(CONSTANTS), *TYPES))
    if use.name.startswith("M_") or hint.fix:
        yield text.error(use.start, f"unknown constant '{use.name}'", hint or _ONLY_COMPILER, "unknown-constant")


def _type(text: FormulaText, use: Use, known: KnownNames) -> Iterator[SpecError]:
    """A suspicion about a type with nearly the name of a usual one."""
    if use.name in TYPES or known.arity(CALL, use.name) is not None:
        return
    hint = nearest(use.name, TYPES)
    if hint.fix:
        yield text.error(use.start, f"unknown type '{use.name}'", hint, "unknown-type")
