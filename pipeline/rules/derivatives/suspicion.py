"""What upstream accepts in a formula but is surely a mistake: names that mean nothing there.

A name is known when it is an argument, an output, a gradient, something saved, declared in the formula itself, or a
word of C++. Names that are called, members, types (`SymInt`) and constants (`M_PI`, `kJagged`) are another matter:
`pipeline.rules.derivatives.calls`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from pipeline.cpp import identifiers
from pipeline.cpp.bindings import return_names
from pipeline.model.autograd import Definition, Formula, Info
from pipeline.model.native import NativeFunction
from pipeline.model.regex import regex
from pipeline.problems.problem import SpecError, nearest
from pipeline.rules.derivatives.calls import COMMENT, mistakes
from pipeline.rules.derivatives.forward import AUTO_ELEMENT_WISE, AUTO_LINEAR, NON_DIFFERENTIABLE
from pipeline.rules.derivatives.known import Known
from pipeline.rules.derivatives.uses import Read, declared, read_uses

# Whatever is repeated here is taken at once and never given back, so that time grows with the formula's length and no
# faster. What is not closed goes on to the end.
_TOKEN = regex(
    r"""
    (?P<string>"(?:\\.|[^"\\])*+(?:"|\Z)|'(?:\\.|[^'\\])*+(?:'|\Z))
  | (?P<skip>(?:\.|->|::)\s*+~?[A-Za-z_]\w*+|/\*.*?(?:\*/|\Z)|//[^\n]*+)  # members, qualified names, comments
  | (?P<number>\.?\d[\w.]*+)
  | (?P<name>[A-Za-z_]\w*+)(?P<after>\s*+(?:\(|::|<|\{))?
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = frozenset(
    """
    true false nullptr auto bool break case char class const constexpr continue default delete do double else enum
    float for if int int64_t long new nullopt operator or and not return short signed sizeof size_t static struct
    switch template this throw typename union unsigned using void volatile while std at c10 torch
    """.split()
)

_NEEDLE = 200  # characters from a name on: enough to tell it from others

_CONSTANT = regex(r"[A-Z]|k[A-Z]")

_GRADIENTS = ("grad", "grads", "grad_input_mask", "retain_variables")


def suspicious(
    definition: Definition, dispatch_key: str, info: Info, function: NativeFunction, vocabulary: Known
) -> list[SpecError]:
    """What is suspicious about the `info` that a definition makes under one dispatch key."""
    field = ("dispatch", dispatch_key) if definition.by_key else ()
    rows = {row.names: row for key, rows in definition.dispatch if key == dispatch_key for row in rows}
    found = _unknown_names(info, function, rows, vocabulary)
    for error in found:
        error.field = (*field, *error.field)
    outputs = definition.output_differentiability
    if outputs is not None and len(outputs) != len(function.func.returns):
        found.append(
            SpecError(
                f"{len(outputs)} values for {len(function.func.returns)} outputs",
                "write one for each output",
                field=("output_differentiability",),
            )
        )
    return found


def _unknown_names(
    info: Info, function: NativeFunction, rows: Mapping[tuple[str, ...], Formula], vocabulary: Known
) -> list[SpecError]:
    """What is suspicious in the formulas of `info`."""
    count = len(function.func.returns)
    arguments = identifiers.words(" ".join(["options", *(a.name for a in function.func.arguments)]))
    outputs = ["result" if name == "self" else name for name in return_names(function.func)]
    each = {"i"} if function.func.name.base.startswith("_foreach_") else set()  # the member of the list
    always = {*arguments, *outputs, *_GRADIENTS, *each}
    found = []
    for derivative in info.derivatives:
        saved = [s.name for s in derivative.saved_inputs + derivative.saved_outputs]
        known = {*always, *saved, *info.available_named_gradients}
        row = rows[derivative.var_names]
        found += _unknown(derivative.original_formula, known, row, vocabulary, count, (NON_DIFFERENTIABLE,))
    results = {"result", *outputs, *(f"result{i}" for i in range(len(function.func.returns)))}
    for forward in info.forward_derivatives:
        found += _no_outputs(forward.var_names, results, rows[forward.var_names])
        if rows[forward.var_names].formula in (AUTO_ELEMENT_WISE, AUTO_LINEAR):
            continue  # made from the backward formula
        given = {argument.name + suffix for argument in info.args_with_derivatives for suffix in ("_p", "_t")}
        tangents = (f"{name}_t" for name in results)
        known = {*always, *given, *results, *tangents, "original_self_p", "original_self_t"}
        row = rows[forward.var_names]
        found += _unknown(forward.formula, known, row, vocabulary, count, (AUTO_ELEMENT_WISE, AUTO_LINEAR))
    return found


def _no_outputs(names: tuple[str, ...], outputs: Collection[str], row: Formula) -> list[SpecError]:
    """A suspicion for each name of a row that is none of the outputs: upstream looks for one that is."""
    return [
        SpecError(
            f"'{name}' is no output: no tangent is computed for it",
            nearest(name, outputs) or f"outputs: {', '.join(sorted(outputs))}",
            field=(row.key,),
            needle=name,
            at_key=True,
            rule="no-output",
        )
        for name in names
        if name not in outputs
    ]


def unknown_names(formula: str, known: Collection[str]) -> list[tuple[str, int]]:
    """Names in a formula that are neither known nor declared in it nor words of C++, and where each stands first."""
    found: dict[str, int] = {}
    for match in _TOKEN.finditer(formula):
        if match.lastgroup == "name":  # and nothing after it
            name = match.group()
            if name not in known and name not in _WORDS and not _CONSTANT.match(name):
                found.setdefault(name, match.start())
    own = declared(formula) if found else ()
    return [(name, start) for name, start in found.items() if name not in own]


def may_be_unknown(formula: str, read: Read, known: Collection[str]) -> bool:
    """Whether a formula may have a name that `unknown_names` tells of: all of these are among its uses, where there is
    no comment that only one of the two passes over."""
    names = {use.name for use in read.uses if not use.called and use.before in ("", "::")}
    return "//" in formula or any(not _CONSTANT.match(name) for name in names.difference(known, _WORDS))


def _unknown(
    formula: str,
    known: Collection[str],
    row: Formula,
    vocabulary: Known,
    outputs: int,
    words: Collection[str],
) -> list[SpecError]:
    """A suspicion for each unknown name, and for all else, in a formula that `row` defines. `words` may stand in its
    place."""
    read = read_uses(formula)
    found = unknown_names(formula, known) if may_be_unknown(formula, read, known) else []
    near = [*known, *declared(formula)] if found else []
    if found and found[0][0] == formula.strip(" \n"):
        near += words
    unknown = [
        SpecError(
            f"unknown name '{name}'",
            nearest(name, near) or "only the C++ compiler will tell",
            needle=formula[start : start + _NEEDLE],
            rule="unknown-name",
        )
        for name, start in found
    ]
    suspicions = list(mistakes(formula, read, known, vocabulary, outputs))
    if not any(suspicion.rule == COMMENT for suspicion in suspicions):  # the names may be words of it
        suspicions = [*unknown, *suspicions]
    for suspicion in suspicions:
        suspicion.field = (row.key,)
    return suspicions
