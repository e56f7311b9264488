"""Typical edits of specs. Each takes a number; a new number makes an edit that no cache has seen."""

from __future__ import annotations

import re

from bench.specs import DERIVATIVES, NATIVE, entries

Texts = dict[str, str]

_FORMULA = re.compile(r"(?m)^(  self: )(.+)$")
_NOT_A_FORMULA = ("non_differentiable", "not_implemented", "auto_", '"', "'", "|", ">")

_EMBEDDING_SCHEMA = "- func: embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1,"
_EMBEDDING_DERIVATIVE = """\
- name: embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, \
bool scale_grad_by_freq=False, bool sparse=False) -> Tensor
  indices: non_differentiable
  weight: embedding_backward_symint(grad, indices, weight.sym_size(0), padding_idx, scale_grad_by_freq, sparse)
"""


def formula(texts: Texts, number: int) -> Texts:
    """Another backward formula for `mv`: only its Node changes, as with six of seven formulas."""
    old = "- name: mv(Tensor self, Tensor vec) -> Tensor\n  self: grad.ger(vec.conj())\n"
    return _replace(texts, DERIVATIVES, old, old.replace("grad.ger", f"{number} * grad.ger"))


def elementwise(texts: Texts, number: int) -> Texts:
    """Another backward formula for `exp`, which is also its forward formula: two Nodes and four kernels change."""
    old = "- name: exp(Tensor self) -> Tensor\n  self: grad * result.conj()\n"
    return _replace(texts, DERIVATIVES, old, old.replace("grad *", f"grad * {number} *"))


def schema(texts: Texts, number: int) -> Texts:
    """An argument of `embedding` renamed, in its schema and its derivative: one Node changes."""
    for name, old in ((NATIVE, _EMBEDDING_SCHEMA), (DERIVATIVES, _EMBEDDING_DERIVATIVE)):
        texts = _replace(texts, name, old, old.replace("padding_idx", f"padding_idx_{number}"))
    return texts


def default(texts: Texts, number: int) -> Texts:
    """Another default of an argument of `embedding`, in its schema and its derivative."""
    for name, old in ((NATIVE, _EMBEDDING_SCHEMA), (DERIVATIVES, _EMBEDDING_DERIVATIVE)):
        texts = _replace(texts, name, old, old.replace("padding_idx=-1", f"padding_idx={number}"))
    return texts


def operator(texts: Texts, number: int) -> Texts:
    """A new operator with a derivative, a function and a method."""
    schema = f"bench_{number}(Tensor self, Scalar by=1) -> Tensor"
    keys = "variants: function, method\n  dispatch:\n    CompositeExplicitAutograd: bench"
    native = f"{texts[NATIVE]}\n- func: {schema}\n  {keys}\n"
    derivatives = f"{texts[DERIVATIVES]}\n- name: {schema}\n  self: grad * by\n  result: auto_linear\n"
    return {**texts, NATIVE: native, DERIVATIVES: derivatives}


def comment(texts: Texts, number: int) -> Texts:
    """A new comment in the larger file; it moves all entries below it."""
    old = "- func: abs(Tensor self) -> Tensor\n"
    return _replace(texts, NATIVE, old, f"# Note {number}: see the discussion of complex numbers\n{old}")


def other_set(texts: Texts, number: int) -> Texts:
    """A set like that of another branch: one of ten derivative entries differs, one of fifty is missing."""
    head, definitions = entries(texts[DERIVATIVES])
    changed = [_changed(e) if i % 10 == 3 else e for i, e in enumerate(definitions) if i % 50 != 7]
    return {**texts, DERIVATIVES: head + "".join(changed)}


def _changed(entry: str) -> str:
    match = _FORMULA.search(entry)
    if match is None or any(word in match[2] for word in _NOT_A_FORMULA):
        return entry
    return f"{entry[: match.start()]}{match[1]}2 * ({match[2]}){entry[match.end() :]}"


def _replace(texts: Texts, name: str, old: str, new: str) -> Texts:
    if texts[name].count(old) != 1:
        raise SystemExit(
            f"{name} of this torch has {texts[name].count(old)} occurrences of the text that the benchmark edits: {old}"
        )
    return {**texts, name: texts[name].replace(old, new)}
