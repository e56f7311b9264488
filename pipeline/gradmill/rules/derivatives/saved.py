"""What a formula saves: expressions over arguments and results that are evaluated in the forward pass.

A formula that uses only the sizes of an argument does not need the tensor later: the sizes are saved in its place.
`REWRITES` lists those expressions.

torchgen: `load_derivatives.saved_variables`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import force_setattr

from gradmill.cpp import identifiers
from gradmill.cpp.bindings import REDUNDANT_MEMORY_FORMAT
from gradmill.cpp.types import STRING_VIEW, optional
from gradmill.model.autograd import SavedAttribute
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

SYM_SIZES = "c10::SymIntArrayRef"
SYM_INT = "c10::SymInt"


class Rewrite(Struct, frozen=True):
    """An expression over an argument that is saved in place of the argument.

    `{}` is the argument's name; in `expr` and `result` it is `{name}`. Every match contains `literal`.
    """

    pattern: str
    suffix: str  # of the saved attribute; {0} is the pattern's group
    type: str
    expr: str = ""  # evaluated in the forward pass; the matched text if empty
    result: str = ""  # its replacement in the formula; the saved attribute if empty
    literal: str = ""  # the text of the pattern around the name, up to a group

    def __post_init__(self) -> None:
        text = self.pattern.removeprefix("{}").removeprefix(".")
        force_setattr(self, "literal", re.split(r"\{\}|\(-", text)[0].replace("\\", ""))


_OPTIONAL_SIZES = "{optional_tensor_sizes}"  # a fact of the release
_STRIDES = 'strides_or_error({name}, "{name}")'
_BLOCKSIZE = "at::sparse_csr::getSymIntBlockSize({name})"
_INFO = "torch::autograd::generated::TypeAndSize"

REWRITES = (
    Rewrite(r"{}.sym_sizes\(\)", "_sym_sizes", SYM_SIZES),
    Rewrite(r"{}->sym_sizes\(\)", "_sym_sizes_opt", optional(SYM_SIZES), _OPTIONAL_SIZES),
    Rewrite(r"{}.sym_blocksize\(\)", "_self_sym_blocksize_opt", optional(SYM_SIZES), _BLOCKSIZE),
    Rewrite(r"{}.options\(\)", "_options", "at::TensorOptions"),
    Rewrite(r"zeros_like\({}\)", "_info", _INFO, "{name}", "{name}_info.zeros()"),
    Rewrite(r"{}.sym_size\((-?\w+)\)", "_sym_argsize_{0}", SYM_INT),
    Rewrite(r"{}.numel\(\)", "_numel", "int64_t"),
    Rewrite(r"{}.sym_numel\(\)", "_sym_numel", SYM_INT),
    Rewrite(r"to_args_sizes\({}\)", "_args_sizes", "::std::vector<::std::vector<int64_t>>"),
    Rewrite(r"to_args_sizes_symint\({}\)", "_args_sizes_symint", "::std::vector<::std::vector<c10::SymInt>>"),
    Rewrite(r"to_args_scalartypes\({}\)", "_args_scalartypes", "::std::vector<at::ScalarType>"),
    Rewrite(r"TensorGeometry\({}\)", "_geometry", "at::TensorGeometry"),
    Rewrite(r"{}.scalar_type\(\)", "_scalar_type", "at::ScalarType"),
    Rewrite(r"{}.dim\(\)", "_dim", "int64_t"),
    Rewrite(r"{}.sym_strides\(\)", "_sym_strides", SYM_SIZES, _STRIDES),
    Rewrite(r"{}.layout\(\)", "_layout", "at::Layout"),
    Rewrite(r"{}.is_conj\(\)", "_conjugate", "bool"),
)

_NEEDLE = 200  # characters from a place on: enough to identify it

# Calls that lose symbolic shapes, and what to write instead.
_REFUSED = (
    (regex(r"(?:\.|->)sizes\(\)"), ".sizes()", ".sym_sizes()"),
    (regex(r"(?:\.|->)size\([-]?\d+\)"), ".size(int)", ".sym_size(int)"),
    (regex(r"(?:\.|->)strides\(\)"), ".strides()", ".sym_strides()"),
)


def replaced_within(formula: str, names: Sequence[str]) -> Iterator[SpecError]:
    """Suspicions about expressions of `REWRITES` behind `at::`, or at the end of a longer name: upstream replaces them
    there, too, and keeps what is in front. `names` are those of arguments and outputs, in their order."""
    likely = [rewrite for rewrite in REWRITES if rewrite.literal in formula]
    replaced: set[int] = set()  # the ends of expressions
    for name in names if likely else ():
        for match in (found for each in likely for found in identifiers.pattern(each.pattern, name).finditer(formula)):
            before, call = _before(formula, match.start()), match.group()
            if before and match.end() not in replaced:
                problem = f"'{call}' is replaced by what is saved of '{name}', and '{before}' stays in front"
                fix = (before + call, call) if before.endswith("::") else None
                hint = f"write '{call}'" if fix else "rename the argument or the function"
                start = match.start() - len(before)
                needle = formula[start : start + _NEEDLE]
                yield SpecError(problem, hint, needle=needle, rule="replaced-call", fix=fix)
            replaced.add(match.end())


def _before(formula: str, end: int) -> str:
    """The name, or the scope, that a text at `end` continues; "" if there is none."""
    start = end
    while start:
        if formula[start - 1].isalnum() or formula[start - 1] == "_":
            start -= 1
        elif formula.startswith("::", max(start - 2, 0), start):
            start -= 2
        else:
            break
    return formula[start:end]


Candidate = tuple[str, str]  # an argument or result that a formula may save: its name and its C++ type


def check_calls(formula: str) -> None:
    """Refuses calls that lose symbolic shapes."""
    if "size" not in formula and "strides" not in formula:
        return
    for pattern, call, instead in _REFUSED:
        match = pattern.search(formula)
        if match is not None:
            problem = f"{call} is not supported in derivative formulas"
            raise SpecError(problem, f"use {instead}", needle=match.group().lstrip("->."))


def save(
    formula: str, candidates: Sequence[Candidate], var_names: tuple[str, ...], release: Release
) -> tuple[str, tuple[SavedAttribute, ...]]:
    """The formula over saved attributes, and those attributes in the order of their discovery.

    `var_names` are the inputs that the formula computes gradients of.
    """
    saved: list[SavedAttribute] = []
    likely = [rewrite for rewrite in REWRITES if rewrite.literal in formula]  # a rewritten expression has no literal
    for bound, type_ in candidates:
        name = bound.rpartition(".")[2] if bound == REDUNDANT_MEMORY_FORMAT else bound
        is_word = identifiers.is_word(name)
        if is_word and name not in formula:
            continue
        for rewrite in likely if is_word else REWRITES:
            formula = _apply(
                rewrite=rewrite, formula=formula, name=name, var_names=var_names, saved=saved, release=release
            )
        if type_ == optional(STRING_VIEW):
            formula = _with_string_view(formula, name, release)
        if identifiers.uses(formula, name):
            saved.append(SavedAttribute(bound, type_, name))
    return formula, tuple(saved)


def _with_string_view(formula: str, name: str, release: Release) -> str:
    """The formula with an optional string in the type that the op takes: a Node stores it as another type."""
    pattern = identifiers.pattern(r"\b{}\b", name)
    try:
        return pattern.sub(release.optional_string.format(name=name), formula)
    except re.error as error:
        raise SpecError(f"'{name}' cannot be replaced: {error}", "rename the argument") from error


def _apply(
    rewrite: Rewrite,
    formula: str,
    name: str,
    var_names: tuple[str, ...],
    saved: list[SavedAttribute],
    release: Release,
) -> str:
    def substitute(match: re.Match[str]) -> str:
        attribute = name + rewrite.suffix.format(*((g or "").replace("-", "minus_") for g in match.groups()))
        if rewrite.expr == _STRIDES and var_names != (name,):
            problem = f"strides of '{name}' in a formula for {', '.join(var_names)}"
            hint = "a formula can use the strides only of the one input that it is for"
            raise SpecError(problem, hint, needle=match.group())
        template = release.optional_tensor_sizes if rewrite.expr == _OPTIONAL_SIZES else rewrite.expr
        saved.append(SavedAttribute(attribute, rewrite.type, template.format(name=name) or match.group()))
        return rewrite.result.format(name=name) or attribute

    return identifiers.pattern(rewrite.pattern, name).sub(substitute, formula)
