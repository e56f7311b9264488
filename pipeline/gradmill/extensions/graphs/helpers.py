"""Which formulas a graph's source can contain: those that call only symbols that libtorch exports.

A formula calls operators, methods, the standard library, and helpers that PyTorch wrote for its formulas. libtorch
exports a few of these helpers (`Release.exported_helpers`), and `graph_formulas.h` defines gradmill's versions of some
more (`OWN_HELPERS`). If a formula calls any other helper, the library's Node computes the operator's gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from gradmill.cpp.expression import TYPES, tokens_of

# The functions that `print/graph_formulas.h` defines, under the names that PyTorch's formulas use.
OWN_HELPERS = frozenset(
    """
    cat_tensors_backward clamp_backward cumsum_backward div_tensor_other_backward div_tensor_self_backward
    evenly_distribute_backward handle_r_to_c index_backward log1p_backward masked_fill_backward maybe_multiply
    mean_backward mm_mat1_backward mm_mat2_backward mul_tensor_backward permute_backwards pow_backward
    pow_backward_exponent pow_backward_self repeat_backward slice_backward_wrapper split_backward
    split_with_sizes_backward stack_tensors_backward sum_backward unbind_backward unsqueeze_to
    """.split()
)

_WORDS = frozenset(
    """
    alignof auto bool const const_cast decltype double else float for if int int64_t noexcept operator return
    size_t sizeof static_cast switch template typename while
    ArrayRef IntArrayRef Scalar ScalarType SymInt Tensor TensorGeometry TensorList TensorOptions variable_list
    """.split()
)
# Names of at:: other than operators: those defined in headers, and those that its namespaces export.
_ATEN = frozenset(
    """
    ArrayRef IntArrayRef OptionalIntArrayRef Scalar ScalarType SymIntArrayRef Tensor TensorGeometry TensorList
    TensorOptions isComplexType isFloatingType isIntegralType sum_to symint
    """.split()
)
_OPEN = ("std::", "c10::")  # all names of these are exported, or defined in headers


def missing_helpers(
    formulas: Iterable[str], is_operator: Callable[[str], bool], exported: Collection[str]
) -> tuple[str, ...]:
    """The names that formulas call and a graph's source cannot call; sorted.

    `is_operator` returns whether `at::` has a function of that name. `exported` are the helpers that libtorch exports.
    An unknown name counts as missing: the library's Node is then correct, while a call would fail to link.
    """
    names = {name for formula in formulas for name in called_names(formula)}
    return tuple(sorted(name for name in names if not _is_available(name, is_operator, exported)))


def called_names(formula: str) -> set[str]:
    """The functions and types that a formula calls by name, qualified as written; without members."""
    tokens = [token for token in tokens_of(formula) if token.kind != "comment"]
    return {
        "".join(token.text.split()).removeprefix("::")
        for before, token, after in zip([None, *tokens], tokens, tokens[1:])
        if token.kind == "name" and (before is None or before.text not in (".", "->", "template"))
        if after.text in ("(", "{") or (after.text == "<" and TYPES.match(formula, token.end))
    }


def _is_available(name: str, is_operator: Callable[[str], bool], exported: Collection[str]) -> bool:
    if name in _WORDS or name in OWN_HELPERS or name in exported or name.startswith(_OPEN):
        return True
    inner = name.removeprefix("at::")
    if "::" in inner or (name != inner and inner in _ATEN):
        return inner in _ATEN
    return is_operator(inner) or (inner.endswith("_symint") and is_operator(inner.removesuffix("_symint")))
