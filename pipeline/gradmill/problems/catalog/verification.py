"""The rules of what `gradmill verify` finds when it runs formulas. No other command reports them."""

from __future__ import annotations

from gradmill.problems.catalog.rule import Rule

_SINCE = "0.2.0"
_EXP = "- name: exp(Tensor self) -> Tensor\n  self: "
_RELU = "- name: relu(Tensor self) -> Tensor\n  self: "
_ABS = "- name: abs(Tensor self) -> Tensor\n  self: "
_COS = "- name: cos(Tensor self) -> Tensor\n  self: "

WRONG = Rule(
    "wrong-derivative",
    "A gradient, a tangent or a second derivative is not what finite differences of the operator give, or has another"
    " shape or type than the engine demands; or its formula raises an error or ends the process where torch's own does"
    " not, reads memory that nothing has written to, or writes into what it is given, such as `grad`; or its tangent is"
    " in the memory of an input's. It is an error, and cannot be silenced.",
    f"{_EXP}-grad * result.conj()",
    f"{_EXP}grad * result.conj()",
    since=_SINCE,
)
DIFFERENT = Rule(
    "not-as-torch",
    "A gradient differs from that of the installed torch's own formula at a point where finite differences decide"
    " nothing: a tie, a kink. Models that were trained with torch's choice may train otherwise.",
    f"{_RELU}grad.masked_fill(self < 0, 0)",
    f"{_RELU}threshold_backward(grad, result, 0)",
    since=_SINCE,
)
INFINITE = Rule(
    "not-finite",
    "A gradient is nan or infinite at a kink, where the slopes on both sides are finite; or, of an operator that torch"
    " lacks, at a special point, such as 0, where the derivative is finite. One nan spreads to all parameters of a"
    " model.",
    f"{_ABS}grad * self / result",
    f"{_ABS}grad * self.sgn()",
    since=_SINCE,
)
UNCHECKED = Rule(
    "not-verified",
    "The formulas of a Node were not run, or no check could be made. The message has the reason: they do not compile,"
    " the installed torch has no such operator, there is no sample of it.",
    f"{_COS}-grad * std::complex<float>(0, 1) * self.sin()",
    f"{_COS}-grad * self.sin().conj()",
    since=_SINCE,
)
VERIFICATION = (WRONG, DIFFERENT, INFINITE, UNCHECKED)
