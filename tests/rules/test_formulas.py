"""What a formula is parsed into, and what is reported of calls, operators and Python in it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from steps import assert_linear

from gradmill.cpp.conversions import CONVERSIONS, accepts, of_cpp, of_schema
from gradmill.cpp.declared import ANY, DeclaredOverload
from gradmill.cpp.expression import Node, parse, tokens_of
from gradmill.cpp.header import read_header
from gradmill.lints.formula_text import FormulaText
from gradmill.lints.known import CALL, METHOD, Variables
from gradmill.lints.typecheck import check_types
from gradmill.lints.uses import UNCOUNTED, read_uses
from gradmill.problems.problem import SpecError

# ---- parsing


def written(node: Node) -> str:
    """A node with brackets around whatever is made of others."""
    parts = [written(part) for part in node.parts]
    if node.kind in ("call", "braces"):
        return f"{parts[0] if node.kind == 'call' else node.name}({', '.join(parts[node.kind == 'call' :])})"
    if node.kind == "member":
        return f"{parts[0]}.{node.name}"
    return f"[{f' {node.name} '.join(parts)}]" if parts else node.name or node.kind


@pytest.mark.parametrize(
    ("formula", "tree"),
    [
        ("a + b * c - d", "[[a + [b * c]] - d]"),
        ("-a.f(1)->g()", "[a.f(1).g()]"),
        ("a ? b : c ? d : e", "[a ? b ? [c ? d ? e]]"),
        ("a < b && c > d", "[[a < b] && [c > d]]"),
        ("static_cast<int64_t>(a) > at::f<A<B, C>>(x)", "[static_cast(a) > at::f(x)]"),
        ("std::vector<Tensor>{a, {b}}[0]", "[std::vector(a, (b))  0]"),
        ("fmap(a, [](int i) { return -i; })", "fmap(a, lambda)"),
        ("a if b else c ** -d", "[b if a if [c ** [d]]]"),
        ("a @ b * c", "[[a @ b] * c]"),
        ("a-- * b++", "[[a] * [b]]"),
        ('f("x" /* , */ "y") // )', 'f("x")'),
    ],
)
def test_a_formula_is_parsed_as_cpp_does_and_python_s_operators_as_python_does(formula: str, tree: str) -> None:
    parsed = parse(formula, tokens_of(formula), {"a", "b", "c", "d", "e"})
    assert parsed is not None and parsed.missing is None
    assert written(parsed.nodes[-1]) == tree


@pytest.mark.parametrize("formula", ["auto x = a; x", "(int64_t) a", "a b", "f(a", "if (a) b", "", "a,", "lambda x: x"])
def test_what_is_no_plain_expression_is_not_parsed(formula: str) -> None:
    parsed = parse(formula, tokens_of(formula), {"a", "b"})
    assert parsed is None or parsed.stray


def test_a_conditional_without_its_second_branch_is_found() -> None:
    formula = "f(a ? b, c)"
    parsed = parse(formula, tokens_of(formula), {"a", "b", "c"})
    assert parsed is not None and parsed.missing == (":", 2)


@pytest.mark.parametrize("part", ["(", "a(", "-", "a?", "a+", "a,", "[", "a<", "{", '"', "a=", "a if b else ", "**"])
def test_a_long_formula_takes_few_steps_and_no_recursion(part: str) -> None:
    def check(formula: str) -> None:
        parsed = parse(formula, tokens_of(formula), {"a"})
        if parsed is not None:
            list(check_types(FormulaText(formula), parsed, Variables({"a": "Tensor"}), Few()))

    assert_linear(check, part)
    check(part * 1_500 + "a")


def test_what_a_formula_uses_is_read_from_its_tokens() -> None:
    read = read_uses(tokens_of("at::f(a, /*b=*/b).c(d) + x . y->z() + ::w < g{v[0]}"))
    actual = [(use.name, use.scope, use.after, use.arguments) for use in read.uses if use.name not in "abdv"]
    assert (actual, read.open) == (
        [
            ("f", "at::", "(", 2),
            ("c", ".", "(", 1),
            ("x", "", ".", UNCOUNTED),
            ("y", ".", "->", UNCOUNTED),
            ("z", ".", "(", 0),
            ("w", "::", "<", UNCOUNTED),
            ("g", "", "{", UNCOUNTED),
        ],
        None,
    )


@pytest.mark.parametrize(("parsed", "count"), [(True, 2), (False, UNCOUNTED)])
def test_arguments_are_counted_where_no_template_can_stand_among_them(parsed: bool, count: int) -> None:
    read = read_uses(tokens_of("f(a < b, c)"), parsed=parsed)
    assert [use.arguments for use in read.uses if use.called] == [count]


# ---- types


def test_types_are_those_of_schemas() -> None:
    assert [of_schema(type_) for type_ in ("int[2]?", "SymInt[1]", "Tensor?[]", "Stream")] == [
        "int[]?",
        "SymInt[]",
        "Tensor?[]",
        "",
    ]
    assert of_schema("SymInt[]?", symint=False) == "int[]?"
    assert of_cpp("const ::std::optional<at::Tensor>& ") == "Tensor?"
    assert (
        of_cpp("c10::SymIntArrayRef") == "SymInt[]" and of_cpp("std::tuple<Tensor, TensorList>") == "(Tensor, Tensor[])"
    )
    assert of_cpp("::std::tuple<at::Tensor, std::array<bool, 2>>") == ""


def test_what_is_not_known_is_accepted() -> None:
    assert accepts("", "Tensor") and accepts("Tensor", "") and not accepts("Tensor", "int")
    assert all(values in taken for values, taken in CONVERSIONS.items())


def test_a_header_says_the_types_of_arguments() -> None:
    header = read_header(
        "TORCH_API at::Tensor f(const Tensor& a, c10::SymIntArrayRef b, int64_t c = 0);\n"
        "inline std::vector<Tensor> f(std::function<Tensor(int)> g);\ntemplate <typename... T> T g(T... all);"
    )
    assert header.overloads["f"] == [
        DeclaredOverload(2, ("Tensor", "SymInt[]", "int"), "Tensor"),
        DeclaredOverload(1, ("",), "Tensor[]"),
    ]
    assert [len(overload.types) for overload in header.overloads["g"]] == [ANY]


# ---- what is reported


class Few:
    """A vocabulary of few operators."""

    _FUNCTIONS = {
        "mul": [
            DeclaredOverload(2, ("Tensor", "Tensor"), "Tensor"),
            DeclaredOverload(2, ("Tensor", "Scalar"), "Tensor"),
        ],
        "view": [DeclaredOverload(2, ("Tensor", "int[]"), "Tensor", view=True)],
        "view_symint": [DeclaredOverload(2, ("Tensor", "SymInt[]"), "Tensor", view=True)],
        "only": [DeclaredOverload(1, ("Tensor", "bool"), "Tensor")],
        "helper": [DeclaredOverload(3, ("Tensor", "int", "SymInt[]"), "Tensor")],
    }
    _METHODS = {
        **{name: [DeclaredOverload(1, each[0].types[1:], "Tensor", each[0].view)] for name, each in _FUNCTIONS.items()},
        "mul": [DeclaredOverload(1, ("Tensor",), "Tensor"), DeclaredOverload(1, ("Scalar",), "Tensor")],
        "mul_": [DeclaredOverload(1, ("Tensor",), "Tensor"), DeclaredOverload(1, ("Scalar",), "Tensor")],
        "mH": [DeclaredOverload(0, (), "Tensor", view=True)],
        "sym_sizes": [DeclaredOverload(0, (), "SymInt[]")],
        "helper": [],
        "only": [],
    }

    def arity(self, kind: str, name: str) -> tuple[int, int] | None:
        return (0, ANY) if name in (self._METHODS if kind == METHOD else self._FUNCTIONS) else None

    def overloads(self, kind: str, name: str) -> Sequence[DeclaredOverload] | None:
        return (self._METHODS if kind == METHOD else self._FUNCTIONS).get(name)

    all_overloads = overloads

    def names(self, kind: str) -> list[str]:
        return list(self._FUNCTIONS if kind == CALL else self._METHODS)

    def most(self, kind: str, name: str) -> int:
        return 2 if (kind, name) == (CALL, "mul") else ANY

    def is_whole(self) -> bool:
        return True


TYPES = {
    "grad": "Tensor",
    "grads": "Tensor[]",
    "self": "Tensor",
    "opt": "Tensor?",
    "dim": "int",
    "sizes": "SymInt[]",
    "flag": "bool",
    "alpha": "Scalar",
    "any": "",
}


def errors_in(formula: str) -> list[SpecError]:
    parsed = parse(formula, tokens_of(formula), TYPES)
    return [] if parsed is None else list(check_types(FormulaText(formula), parsed, Variables(TYPES), Few()))


@pytest.mark.parametrize(
    "formula",
    [
        "flag and not flag ? grad : self",
        "grad * *opt + grad **opt",  # C++ reads both alike
        "grad * any ** 2 ** any",
        "self.numel() == 0 ? grad : self",
        "grad.mul(alpha) * alpha * 2",
        "grad.mul(any) + mul(any, dim) + other(dim, self)",
        "at::view(grad, {2, 3}).view_symint(self.sym_sizes())",
        "grad.clone().mul_(self) + grads[0].mul(self).mul_(2)",
        "(grad * self).mul_(2)",
        "grad * 4 / 2 + grad * (4 / 2) + 1. / 2 * grad + grad * (dim / 2)",
        "at::empty_like(self).copy_(grad) + f(at::empty_like(self))",
        "grad * ((self > 0) ^ (grad > 0)) * ((self == 0) & (grad <= 0)) * (self > 0 == grad > 0)",
        "f(any, /*dim=*/0) + any.mH",
        "at::elsewhere::mul(dim) + std::mul(dim) + any.mul(dim, dim)",
        "mul(dim, dim, any)",  # of no tensor: a function of C++
        "any[0] == 'x' ? grad : self",
        "any.find('x') == any.find('\\n')",
        "elsewhere(grad, 'x')",
        "f([&](Tensor True) { return True; })",
        "opt->mul(self) + any->mul(self)",
        "(Tensor) grad * (const Tensor&) self",
        "grad * decltype(self)::mul(self)",
        "f<int, bool>(grad self)",  # angle brackets may hold types, and what follows be anything
        "f<Tensor (2)>{grad}",
        'f(L"x", "x"_s, u8"x")',
        "flag ?: grad",  # g++ has it
        "auto x = grad; return x",
        "f(any...)",
    ],
)
def test_what_a_compiler_takes_is_not_suspicious(formula: str) -> None:
    assert [error.problem for error in errors_in(formula)] == []


@pytest.mark.parametrize(
    ("formula", "rule", "mended"),
    [
        ("grad if flag else self", "python-operator", "flag ? grad : self"),
        ("grad * self ** 2", "python-operator", "grad * self.pow(2)"),
        ("2 ** self", "python-operator", "at::pow(2, self)"),
        ("grad @ self.mH()", "python-operator", "at::matmul(grad, self.mH())"),
        ("only(grad, True)", "python-word", "only(grad, true)"),
        ("only(grad, None)", "python-word", ""),
        ("torch.mul(grad, self)", "python-module", "at::mul(grad, self)"),
        ("torch.add(grad, self)", "python-module", ""),
        ("grad.mul('none')", "character", 'grad.mul("none")'),
        ("grad.mul('n')", "character", ""),
        ("at::elsewhere(grad, 'n')", "character", ""),
        ("flag ? grad * 'n' : self", "character", ""),
        ("self == 'n'", "character", ""),
        ("grad * self.mH", "uncalled-method", "grad * self.mH()"),
        ("self.shape", "uncalled-method", "self.sym_sizes()"),
        ("only(grad, dim=0)", "python-keyword", ""),
        ("grad.view(self.sym_sizes())", "argument-type", "grad.view_symint(self.sym_sizes())"),
        ("helper(grad, sizes, dim)", "argument-type", "helper(grad, dim, sizes)"),
        ("at::mul(grad, sizes)", "argument-type", ""),
        ("grad.mul(opt)", "argument-type", ""),
        ("grad.mul(self, 2)", "argument-count", ""),
        ("grad.only()", "no-method", ""),
        ("grad.mul_(self)", "gradient-in-place", "grad.mul(self)"),
        ("(grads[0]).mH().mul_(2)", "gradient-in-place", "(grads[0]).mH().mul(2)"),
        ("grad *= 2", "gradient-in-place", "grad * 2"),
        ("self ? grad : grad", "no-condition", ""),
        ("grad.mul(!self)", "no-condition", ""),
        ("grad.mul(self or flag)", "no-condition", ""),
        ("grad * (alpha * 2)", "operand-type", ""),
        ("grad * sizes", "operand-type", ""),
        ("flag ? grad", "conditional", ""),
        ("self->mul(grad)", "no-pointer", "self.mul(grad)"),
        ("(grad * self) -> mul(grad)", "no-pointer", "(grad * self) . mul(grad)"),
        ("at:mul(grad, self)", "stray-token", "at::mul(grad, self)"),
        ("grad * at:mul(grad, self)", "stray-token", "grad * at::mul(grad, self)"),
        ("mul(grad self)", "stray-token", ""),
        ("grad self", "stray-token", ""),
        ("grad 2", "stray-token", ""),
        ("grad ! self", "stray-token", ""),
        ("grad, self", "stray-token", ""),
        ("/ grad", "stray-token", ""),
        ("grad * self[1:2]", "stray-token", ""),
        ("mul(grad, == self)", "stray-token", ""),
    ],
)
def test_what_no_compiler_takes_is_suspicious(formula: str, rule: str, mended: str) -> None:
    errors = errors_in(formula)
    assert [error.rule for error in errors] == [rule]
    assert formula.endswith(errors[0].needle)
    fix = errors[0].fix
    at = len(formula) - len(errors[0].needle)
    if fix is None:
        assert mended == ""
    else:
        assert formula.startswith(fix[0], at)
        assert formula[:at] + fix[1] + formula[at + len(fix[0]) :] == mended
        assert errors_in(mended) == [] or rule == "character"
