"""The rules of what `gradmill verify` finds when it runs formulas. No other command reports them."""

from __future__ import annotations

from pipeline.problems.catalog.rule import Rule

_SINCE = "0.2.0"
_EXP = "- name: exp(Tensor self) -> Tensor\n  self: "
_RELU = "- name: relu(Tensor self) -> Tensor\n  self: "
_SIN = "- name: sin(Tensor self) -> Tensor\n  self: "
_COS = "- name: cos(Tensor self) -> Tensor\n  self: "

WRONG = Rule(
    "wrong-derivative",
    "A gradient, a tangent or a second derivative is not what finite differences of the operator give, or has another"
    " shape or type than the engine demands; or its formula raises an error, or writes into what it is given, such as"
    " `grad`. It is an error, and cannot be silenced.",
    f"{_EXP}-grad * result.conj()",
    f"{_EXP}grad * result.conj()",
    since=_SINCE,
)
DIFFERENT = Rule(
    "not-as-torch",
    "A gradient differs from that of the installed torch's own formula at a point where finite differences decide"
    " nothing: a tie, a kink. Models that were trained with torch's choice may train otherwise.",
    f"{_RELU}grad * (self >= 0)",
    f"{_RELU}threshold_backward(grad, result, 0)",
    since=_SINCE,
)
INFINITE = Rule(
    "not-finite",
    "A gradient is nan or infinite at a special point, such as 0, where the operator and its derivative are finite."
    " One nan spreads to all parameters of a model.",
    f"{_SIN}grad * (result / self.tan()).conj()",
    f"{_SIN}grad * self.cos().conj()",
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
