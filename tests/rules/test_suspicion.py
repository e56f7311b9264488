"""What is suspicious in a formula is found, in time that grows with the formula's length and no faster."""

from __future__ import annotations

import pytest
from project import Project, assert_clean
from steps import assert_linear

from gradmill.cpp.expression import tokens_of
from gradmill.lints.lost import near_misses
from gradmill.lints.suspicion import unknown_names
from gradmill.lints.uses import read_uses


def names(formula: str) -> list[str]:
    return [name for name, _ in unknown_names(formula, read_uses(tokens_of(formula)), ["grad", "self"])]


@pytest.mark.parametrize(
    ("formula", "unknown"),
    [
        ("grad * slef", ["slef"]),
        ("grad * other + other", ["other"]),
        ("-(grad * other).conj()", ["other"]),
        ("grad.mul(self *other, grad)", ["other"]),
        ("[](Tensor* x, const Tensor& y) { return *x * y; }(grad, self)", []),
        ("at::other(self.other(), self->other)", []),
        ("grad * 1e-3f + 0x1F", []),
        ("self == \"none\" ? grad : 'a'", []),
        ("/* other */ grad", []),
        ("/* other", []),
        ("self // other\n + x", ["x"]),
        ('"other', []),
        ("auto x = self; return x", []),
        ("const Tensor & x = self; x", []),
        ("Tensor &x = self; x", []),
        ("std::vector<Tensor>   x = {}; x", []),
        ("auto [a, b] = f(self); auto&& [c, d] = g(self); a + b + c + d", []),
        ("self < x", ["x"]),
        ("self ? a : b", ["a", "b"]),
        ("for (const auto& i : self) { grad = i; }", []),
        ("[](Tensor x, int64_t y) { return x * y; }(grad, self)", []),
    ],
)
def test_a_name_that_means_nothing_is_found(formula: str, unknown: list[str]) -> None:
    assert names(formula) == unknown


@pytest.mark.parametrize(
    "part",
    [
        " ",
        "a ",
        "auto ",
        "auto [",
        "auto &",
        "& ",
        "a& ",
        "a:",
        "a<",
        "<",
        ":",
        '\\"',
        '"',
        "'\"",
        "/*",
        ". ",
        "1e",
        "x",
        "\n",
    ],
)
def test_a_long_formula_takes_few_steps(part: str) -> None:
    for formula in ("{}", "auto{}", "a{}b"):
        assert_linear(lambda text, formula=formula: names(formula.format(text)), part)


@pytest.mark.parametrize(
    ("called", "derived", "close"),
    [
        ("epx_", ["exp", "sin"], ["exp"]),
        ("epx_", ["exp", "exp_"], []),  # that has its in-place function
        ("_foreach_epx", ["exp", "exp_"], ["exp"]),
        ("_foreach_epx", ["exp", "_foreach_exp"], []),
        ("epx_", ["exp_"], []),  # takes over nothing from one that is in place itself
        ("frexp_", ["exp", "sin"], []),
    ],
)
def test_a_name_is_an_error_where_it_is_nearly_that_of_an_operator_without_this_variant(
    called: str, derived: list[str], close: list[str]
) -> None:
    assert list(near_misses([("f", called)], derived)) == [("f", called, name) for name in close]


@pytest.mark.parametrize("around", ["grad *|result", "grad|", "f(grad,|self)", "|grad"])
def test_twenty_thousand_spaces_in_a_formula_are_nothing_special(built: Project, around: str) -> None:
    built.set_formula("exp", "self", around.replace("|", " " * 20_000))
    built.build()
    assert_clean(built)
