"""Errors in formulas that upstream accepts: unknown names.

A name is known if it is an argument, an output, a gradient, something saved, declared in the formula itself, or a
word of C++. `gradmill.lints.calls` checks names that are called, members, types (`SymInt`) and
constants (`M_PI`, `kJagged`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from gradmill.cpp import identifiers
from gradmill.cpp.bindings import return_names
from gradmill.cpp.conversions import of_schema
from gradmill.cpp.expression import Node, parse, tokens_of
from gradmill.lints.calls import COMMENT, COUNT, TYPE, UNREADABLE, check_calls_and_names
from gradmill.lints.formula_text import FormulaText
from gradmill.lints.gradients import (
    check_value,
    dropped_tangents,
    nonlinear,
    other_operators,
    out_of_bounds,
    tangents_of_factors,
)
from gradmill.lints.known import CALL, KnownNames, Variables
from gradmill.lints.typecheck import check_types
from gradmill.lints.uses import Uses, declared, read_uses
from gradmill.model.autograd import Definition, Formula, Info
from gradmill.model.native import NativeFunction
from gradmill.model.regex import regex
from gradmill.problems.names import Hint
from gradmill.problems.problem import SpecError, nearest
from gradmill.rules.derivatives.forward import AUTO_ELEMENT_WISE, AUTO_LINEAR, NON_DIFFERENTIABLE
from gradmill.rules.derivatives.saved import replaced_within

_WORDS = identifiers.KEYWORDS.union("int64_t nullopt size_t std at c10 torch".split())

_OF_NAMES = frozenset(
    ("unknown-name", "unknown-function", "unknown-constant", "unknown-type", "output-differentiability", *UNREADABLE)
)
_UNQUOTED = regex(r"\bnot_implemented(?:_list)?\(\s*\Z")
_RESULT = regex(r"result([0-9]{0,3})")
_SHOWN = 12  # names in a hint
_UNUSUAL = regex(r"options|grads|grad_input_mask|retain_variables|original_self_[pt]|result\d+|result\d*_t")

_CONDITION = "output_differentiability"

# The names that every backward formula may use, and no forward formula.
MASK = "grad_input_mask"  # only those for several inputs
GRADIENTS = {"grad": "Tensor", "grads": "Tensor[]", MASK: "", "retain_variables": "bool"}
# The input of an in-place function before it is overwritten, in forward formulas.
ORIGINALS = ("original_self_p", "original_self_t")


def suspicious(
    definition: Definition,
    dispatch_key: str,
    info: Info,
    function: NativeFunction,
    vocabulary: KnownNames,
) -> list[SpecError]:
    """The suspicions about the `info` of a definition under one dispatch key, each with its field."""
    field = ("dispatch", dispatch_key) if definition.by_key else ()
    rows = {row.names: row for key, rows in definition.dispatch if key == dispatch_key for row in rows}
    suspicions = _in_formulas(info, function, rows, vocabulary)
    for error in suspicions:
        error.field = (*field, *error.field)
    for condition in definition.output_differentiability_conditions or ():
        suspicions += _in_condition(condition, function, vocabulary)
    outputs = definition.output_differentiability
    if outputs is not None and len(outputs) != len(function.func.returns):
        problem, rule = f"{len(outputs)} values for {len(function.func.returns)} outputs", "output-differentiability"
        suspicions.append(SpecError(problem, "write one for each output", field=(_CONDITION,), rule=rule))
    return suspicions


def of_names(suspicions: Iterable[SpecError]) -> list[SpecError]:
    """The suspicions that no other row has a part in."""
    return [each for each in suspicions if each.rule in _OF_NAMES]


def _in_condition(condition: str, function: NativeFunction, vocabulary: KnownNames) -> list[SpecError]:
    """The suspicions about a condition of `output_differentiability`, which a kernel evaluates."""
    names = {**_arguments(function), **_outputs(function)}
    words = ("True", "False")
    hint = f"write [{condition}], without quotes" if condition in words else nearest(condition, words)
    if hint and condition not in names:
        problem = f"{condition!r} is a string, and so a condition in C++"
        return [SpecError(problem, hint, field=(_CONDITION,), needle=condition, rule="output-differentiability")]
    return _read(Formula(_CONDITION, (), condition), Variables(names), vocabulary, ())[0]


def _in_formulas(
    info: Info,
    function: NativeFunction,
    rows: Mapping[tuple[str, ...], Formula],
    vocabulary: KnownNames,
) -> list[SpecError]:
    """The suspicions about the formulas of `info`."""
    arguments, outputs = _arguments(function), _outputs(function)
    names = _output_names(function)
    suspicions = [*_twice(rows), *out_of_bounds(info, function, rows)]
    types = {**arguments, **outputs, **_gradients(function, info)}
    optional = {name for name, type_ in types.items() if type_ == "Tensor?"}
    types |= dict.fromkeys(optional, "Tensor")  # a Node unpacks it
    backward: dict[tuple[str, ...], Sequence[Node]] = {}
    differentiable = [argument.name for argument in info.args_with_derivatives]
    floats = {*differentiable, *_differentiable_outputs(info, outputs), *_gradients(function, info)}
    for derivative in info.derivatives:
        saved = [s.name for s in derivative.saved_inputs + derivative.saved_outputs]
        known = {**dict.fromkeys(saved, ""), **types, MASK: f"bool[{len(derivative.var_names)}]"}
        if len(derivative.var_names) == 1:
            del known[MASK]
        row = rows[derivative.var_names]
        wanted = [arguments.get(name, "") for name in row.names]
        variables = Variables(known, optional, floats)
        own, nodes = _read(row, variables, vocabulary, names, words=(NON_DIFFERENTIABLE,), wanted=wanted)
        inner = replaced_within(row.formula, [*(argument.name for argument in function.func.arguments), *outputs])
        others = other_operators(FormulaText(row.formula), nodes, info.name)
        suspicions += [*own, *_in_row([*inner, *others], row)]
        backward[row.names] = nodes
    results = {"result", *outputs, *(f"result{i}" for i in range(len(names)))}
    tangents: list[SpecError] = []
    formulas = [*backward.values()]
    for forward in info.forward_derivatives:
        row = rows[forward.var_names]
        suspicions += _no_outputs(forward.var_names, results, row)
        if row.formula in (AUTO_ELEMENT_WISE, AUTO_LINEAR):  # derived from the backward formula
            suspicions += nonlinear(info, row, backward, results) if row.formula == AUTO_LINEAR else []
            continue
        known = {**dict.fromkeys((*results, *(f"{name}_t" for name in results)), ""), **arguments, **outputs}
        known |= dict.fromkeys(ORIGINALS if function.func.name.inplace else (), "Tensor")
        for name in differentiable:
            type_ = "Tensor" if arguments.get(name) in ("Tensor", "Tensor?") else ""
            known |= {f"{name}_p": type_, f"{name}_t": type_}
        wanted = [outputs.get(name, type_) for name, type_ in zip(row.names, forward.var_types)]
        floats = {f"{name}{suffix}" for name in differentiable for suffix in ("_p", "_t")}
        variables = Variables(known, (), floats, ("self_t",) if function.func.name.inplace else ())
        own, nodes = _read(row, variables, vocabulary, names, words=(AUTO_ELEMENT_WISE, AUTO_LINEAR), wanted=wanted)
        tangents += own
        formulas.append(nodes)
    if info.forward_derivatives and not tangents:
        first = rows[info.forward_derivatives[0].var_names]
        tangents = [*dropped_tangents(info, rows), *tangents_of_factors(info, function, first, formulas)]
    return [*suspicions, *tangents]


def _twice(rows: Mapping[tuple[str, ...], Formula]) -> list[SpecError]:
    """A suspicion for each name with two formulas: upstream computes both and keeps the last."""
    suspicions = []
    first: dict[str, Formula] = {}
    for row in rows.values():
        for number, name in enumerate(row.names):
            other = first.setdefault(name, row)
            if other is row and name not in row.names[:number]:
                continue
            problem = f"'{name}' has two formulas: another one is at the key '{other.key}'"
            hint = f"take '{name}' out of one of the two keys"
            if other is row:
                problem, hint = f"the key '{row.key}' names '{name}' twice", "write it once, or the other name"
            error = SpecError(problem, hint, field=(row.key,), needle=name, at_key=True, rule="formula-twice")
            suspicions.append(error)
    return suspicions


def _arguments(function: NativeFunction) -> dict[str, str]:
    """The names of arguments in formulas, and their types, "" if unknown."""
    schema = function.func
    names = identifiers.words(" ".join(["options", *(a.name for a in schema.arguments)]))
    if schema.name.base.startswith("_foreach_"):
        return dict.fromkeys((*names, "i"), "")  # a formula computes the member `i` of each list
    types = dict.fromkeys(names, "") | {a.name: of_schema(a.type) for a in schema.arguments if a.name in names}
    if schema.options_index is not None:
        types["options"] = "TensorOptions"
    return types


def _output_names(function: NativeFunction) -> list[str]:
    """The names of outputs in formulas."""
    return ["result" if name == "self" else name for name in return_names(function.func)]


def _outputs(function: NativeFunction) -> dict[str, str]:
    """The names of outputs in formulas, and their types."""
    returns = function.func.returns
    names = _output_names(function)
    if function.func.name.base.startswith("_foreach_"):
        return dict.fromkeys(names, "")
    return {name: of_schema(returned.type) for name, returned in zip(names, returns)}


def _gradients(function: NativeFunction, info: Info) -> dict[str, str]:
    """The names of gradients in a backward formula, and their types."""
    named = {f"grad_{r.name}": of_schema(r.type) for r in function.func.returns if r.name is not None}
    return {name: GRADIENTS.get(name) or named.get(name, "") for name in (*GRADIENTS, *info.available_named_gradients)}


def _differentiable_outputs(info: Info, outputs: Mapping[str, str]) -> Iterator[str]:
    """The names of the outputs that have a gradient."""
    differ = info.output_differentiability or (True,) * len(outputs)
    return (name for name, is_one in zip(outputs, differ) if is_one)


def _no_outputs(names: tuple[str, ...], outputs: Collection[str], row: Formula) -> list[SpecError]:
    """A suspicion for each name of a row that is not an output: upstream only requires that one is."""
    return [
        SpecError(
            f"'{name}' is not an output: no tangent is computed for it",
            nearest(name, outputs) or f"outputs: {', '.join(sorted(outputs))}",
            field=(row.key,),
            needle=name,
            at_key=True,
            rule="no-output",
        )
        for name in names
        if name not in outputs
    ]


def unknown_names(formula: str, read: Uses, known: Collection[str]) -> list[tuple[str, int]]:
    """Names in a formula that are neither known nor declared in it nor words of C++, each with its first place."""
    unknown: dict[str, int] = {}
    for name, start, scope, after, _ in read.uses:
        if scope in (".", "::") or after in ("(", "<", "{") or name in known or name in _WORDS or TYPE.match(name):
            continue
        if not formula[start - 1 : start].isalnum():  # otherwise it is the end of a longer word
            unknown.setdefault(name, start)
    own = declared(formula) if unknown else ()
    return [(name, start) for name, start in unknown.items() if name not in own]


def _unknown_name(
    text: FormulaText,
    name: str,
    start: int,
    near: Collection[str],
    tensors: Collection[str],
    vocabulary: KnownNames,
    outputs: Sequence[str],
) -> SpecError:
    own = name[:-2] if name.endswith(("_t", "_p")) else ""
    if name in ORIGINALS and "grads" not in near:
        plain = name.removeprefix("original_")
        problem = f"'{name}' is for in-place functions, which overwrite 'self'"
        return text.error(start, problem, Hint(f"write '{plain}'", (name, plain)), "unknown-name")
    if own in tensors and "grads" not in near:
        problem = f"'{own}' has no formula, and so no '{name}'"
        hint = f"add {own}: formula" + (f", or write '{own}'" if name.endswith("_p") else "")
        return text.error(start, problem, hint, "unknown-name")
    if name == MASK and "grads" in near:
        hint = "name all inputs in one key: self, other: formula"
        return text.error(start, f"'{name}' is for formulas of several inputs", hint, "gradient-mask")
    if name in GRADIENTS:
        problem, hint = f"'{name}' is for backward formulas", "write the tangent of an input: its name with _t"
        return text.error(start, problem, hint, "gradient-in-forward")
    hint = _as_output(name, outputs) or nearest(name, near)
    if name == "not_implemented":
        hint = 'write not_implemented("NAME"), with the name of the operator'
    elif _UNQUOTED.search(text.whole[:start]):
        hint = f'write not_implemented("{name}")'
    elif not hint and vocabulary.arity(CALL, name) is not None:
        hint = f"'{name}' is a function: call it"
    if not hint:
        usual = sorted(each for each in near if not _UNUSUAL.fullmatch(each))
        hint = f"known here: {', '.join(usual[:_SHOWN])}{', …' if usual[_SHOWN:] else ''}"
        hint += "; only the C++ compiler can check others"
    return text.error(start, f"unknown name '{name}'", hint, "unknown-name")


def _as_output(name: str, outputs: Sequence[str]) -> str:
    """A hint for `result` or `resultN`, which are names of outputs without a name; "" for other names."""
    match = _RESULT.fullmatch(name)
    if match is None or not outputs:
        return ""
    if len(outputs) == 1 or (match[1] and int(match[1]) < len(outputs)):
        named = outputs[int(match[1] or 0) if len(outputs) > 1 else 0]
        return Hint(f"the output is called '{named}'", (name, named))
    return f"outputs: {', '.join(outputs)}"


def _read(
    row: Formula,
    variables: Variables,
    vocabulary: KnownNames,
    outputs: Sequence[str],
    *,
    words: Collection[str] = (),
    wanted: Sequence[str] = (),
) -> tuple[list[SpecError], Sequence[Node]]:
    """The suspicions about the formula of `row`, and its nodes with their types, none if it is not parsed. `outputs`
    are the names of the operator's outputs; `words` may replace a formula; `wanted` are the types of what it is for."""
    formula, known = row.formula, variables.types
    text = FormulaText(formula)
    tokens = tokens_of(formula)
    parsed = parse(formula, tokens, known)
    whole = parsed is not None and parsed.whole and not parsed.broken
    read = read_uses(tokens, parsed=whole)
    names = unknown_names(formula, read, known)
    near = [*known, *declared(formula)] if names else []
    if names and names[0][0] == formula.strip(" \n"):
        near += words
    tensors = [name for name, type_ in known.items() if type_ in ("Tensor", "Tensor?")]
    unknown = [_unknown_name(text, name, start, near, tensors, vocabulary, outputs) for name, start in names]
    closed = row.key != _CONDITION  # a kernel may call others
    suspicions = [*check_calls_and_names(text, tokens, read, known, vocabulary, len(outputs), closed=closed)]
    if parsed is not None and parsed.stray is not None:  # arguments are counted by their commas
        suspicions = [suspicion for suspicion in suspicions if suspicion.rule != COUNT]
    if not any(suspicion.rule == COMMENT for suspicion in suspicions):  # the names may be words of a comment
        suspicions = [*unknown, *suspicions]
    nodes: Sequence[Node] = ()
    if parsed is not None and all(suspicion.rule not in UNREADABLE for suspicion in suspicions):
        suspicions += check_types(text, parsed, variables, vocabulary)
        nodes = () if parsed.broken else parsed.nodes
    if nodes and wanted and not suspicions:
        suspicions += check_value(text, nodes[-1], wanted, "input" if "grads" in known else "output")
    return list(_in_row(suspicions, row)), nodes


def _in_row(suspicions: Iterable[SpecError], row: Formula) -> Iterator[SpecError]:
    for suspicion in suspicions:
        suspicion.field = (row.key,)
        yield suspicion
