"""The C++ compiler refuses what is reported of formulas, and accepts the suggested replacements."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from cpp import toolchain

from gradmill.cpp.conversions import CONVERSIONS
from gradmill.cpp.expression import parse, tokens_of
from gradmill.lints.formula_text import FormulaText
from gradmill.lints.gradients import check_value
from gradmill.lints.known import Variables
from gradmill.lints.typecheck import check_types
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config
from gradmill.stages.formulas.vocabulary import Vocabulary

pytestmark = [pytest.mark.slow(10)]

HEAD = "#include <torch/csrc/autograd/FunctionsManual.h>\nusing namespace torch::autograd::generated::details;\n"

VARIABLES = {
    "grad": ("Tensor", "const at::Tensor&"),
    "grads": ("Tensor[]", "const std::vector<at::Tensor>&"),
    "self": ("Tensor", "at::Tensor"),
    "opt": ("Tensor?", "const std::optional<at::Tensor>&"),
    "dim": ("int", "int64_t"),
    "sizes": ("SymInt[]", "c10::SymIntArrayRef"),
    "dims": ("int[]", "std::vector<int64_t>"),
    "size": ("SymInt", "c10::SymInt"),
    "flag": ("bool", "bool"),
    "alpha": ("Scalar", "at::Scalar"),
    "mode": ("str?", "const std::optional<c10::string_view>&"),
    "limit": ("float?", "std::optional<double>"),
    "mask": ("bool[2]", "std::array<bool, 2>"),
}

MASKED = "std::get<0>(at::linear_backward(self, grad, self, {}))"
# What no compiler takes, and what is written in its place.
REFUSED = [
    ("grad if flag else self", "flag ? grad : self"),
    ("grad * self ** 2", "grad * self.pow(2)"),
    ("grad @ self.mH()", "at::matmul(grad, self.mH())"),
    ("grad.sum(0, True)", "grad.sum(0, true)"),
    ("grad.clamp(None, 1)", "grad.clamp(::std::nullopt, 1)"),
    ("torch.mul(grad, self)", "at::mul(grad, self)"),
    ("grad * self.mH", "grad * self.mH()"),
    ("grad * self.shape", ""),
    ("grad.view(self.sym_sizes())", "grad.view_symint(self.sym_sizes())"),
    ("grad.narrow(dim, 0, self.sym_size(0))", "grad.narrow_symint(dim, 0, self.sym_size(0))"),
    ("grad.expand_symint(dims)", "grad.expand(dims)"),
    ("unsqueeze_to(grad, self.sym_sizes(), dim)", "unsqueeze_to(grad, dim, self.sym_sizes())"),
    ("cumsum_backward(dim, grad)", "cumsum_backward(grad, dim)"),
    ("at::mul(grad, sizes)", ""),
    ("grad.mul(opt)", "grad.mul(*opt)"),
    ("grad.sum(0, flag, flag)", ""),
    ("grad.special_erf()", "at::special_erf(grad)"),
    ("at::mul_(grad, 2)", "at::mul(grad, 2)"),
    ("self > 0 ? grad : self", "at::where(self > 0, grad, self)"),
    ("size ? grad : self", "size == 0 ? grad : self"),
    ("grad.masked_fill(!self, 0)", "grad.masked_fill(at::logical_not(self), 0)"),
    ("grad.masked_fill(self and grad, 0)", "grad.masked_fill(at::logical_and(self, grad), 0)"),
    ("grad * (alpha * 2)", "grad * alpha * 2"),
    ("grad * sizes", ""),
    ("flag ? grad", "flag ? grad : self"),
    ("grad * limit", "grad * limit.value_or(1.)"),
    ("grad.mul(-limit)", "grad.mul(-*limit)"),
    ("grad * (limit + 1)", "grad * (*limit + 1)"),
    ("grad * limit.neg()", ""),
    ("grad * dim.conj()", "grad * dim"),
    ("grad * flag.sum()", "grad * flag"),
    ("grad * size.neg()", "grad * size"),
    ("grad * alpha.neg()", "grad * -alpha.conj()"),
    ("grad * dims.numel()", "grad * static_cast<int64_t>(dims.size())"),
    ("grad * sizes.sum()", ""),
    ("std::get<2>(at::slogdet(grad))", "std::get<1>(at::slogdet(grad))"),
    ("std::get<0>(grad)", "grad"),
    ("grad * at::slogdet(self)", "grad * std::get<1>(at::slogdet(self))"),
    ("at::slogdet(self).conj()", "std::get<0>(at::slogdet(self)).conj()"),
    ("std::get<2>(at::var_mean(grad, 0))", "std::get<1>(at::var_mean(grad, 0))"),
    (MASKED.format("mask"), MASKED.format("{mask[0], mask[1], true}")),
    (MASKED.format("std::array<bool, 2>{true, true}"), MASKED.format("std::array<bool, 3>{true, true, true}")),
    (MASKED.format("{true, true, true, true}"), MASKED.format("{true, true, true}")),
    (
        MASKED.format("std::array<bool, 3>{{true, true, true, true}}"),
        MASKED.format("std::array<bool, 3>{{true, true, true}}"),
    ),
    ("grad * std::exp(self)", "grad * at::exp(self)"),
    ("grad * std::exp(alpha)", "grad * std::exp(alpha.toDouble())"),
    ("grad * (alpha ^ 2)", "grad * std::pow(alpha.toDouble(), 2)"),
    ("self.has_value() ? grad : self", "self.defined() ? grad : self"),
    ("grad * self.value()", "grad * self"),
    ("grad * self.toDouble()", "grad * self.item().toDouble()"),
]
# What they accept although it is wrong, and is reported.
WRONG = [
    "grad.mul(self == 'none')",
    "grad.mul_(self)",
    "grads[0].neg_()",
    "grad.sum(dim=0)",
    "1 / 2 * grad",
    "grad * self.pow(-3 / 2)",
    "1 / self.sym_numel() * grad",
    "grad * self ^ 2",
    "grad * (2 ^ dim)",
    "grad & self",
    "grad * (0 <= self <= 1)",
    "0 < dim < 3 ? grad : self",
    "at::empty_like(self)",
    "grad * self.new_empty({2})",
    "self.mul_(grad)",
    "self *= grad",
    "mask[2] ? grad : self",
    MASKED.format("{true, true}"),
    MASKED.format("std::array<bool, 3>{{true, true}}"),
]


def errors(source: str, folder: Path) -> str:
    """What the compiler says of a source."""
    path = folder / "source.cpp"
    path.write_text(source)
    command = toolchain.syntax_command(path, "-w", "-fmax-errors=0")
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.fixture(autouse=True)
def compiler() -> None:
    if reason := toolchain.missing():
        pytest.skip(reason)


def test_what_is_reported_is_refused(tmp_path: Path, torch_specs: Path) -> None:
    right = [mended for _, mended in REFUSED if mended]
    formulas = [*right, *WRONG, *(formula for formula, _ in REFUSED)]
    parameters = ", ".join(f"{type_} {name}" for name, (_, type_) in VARIABLES.items())
    lines = [f"auto f{i}({parameters}) {{ return {formula}; }}" for i, formula in enumerate(formulas)]
    reported = errors(HEAD + "\n".join(lines) + "\n", tmp_path)
    wrong = {int(line) - HEAD.count("\n") - 1 for line in re.findall(r"source\.cpp:(\d+):\d+: error", reported)}
    refused = [formula for i, formula in enumerate(formulas) if i in wrong]
    assert refused == [formula for formula, _ in REFUSED]
    values = {"specs": str(torch_specs), "cache": str(tmp_path / "cache"), "generated": str(tmp_path / "generated")}
    build = Session.open(read_config(values))
    build.problems()
    types, vocabulary = {name: type_ for name, (type_, _) in VARIABLES.items()}, Vocabulary(build.db)
    parsed = {formula: parse(formula, tokens_of(formula), types) for formula in formulas}
    variables = Variables(types, floats=("grad", "self"))
    printed = [
        formula
        for formula, reported in parsed.items()
        if reported and list(check_types(FormulaText(formula), reported, variables, vocabulary))
    ]
    build.close()
    assert printed == [*WRONG, *refused]


# ---- which values a formula may have for which inputs, in the code that a Node runs

ONE = "auto grad_result = flag ? ({}) : at::Tensor(); copy_range(inputs, {{0, 1}}, grad_result);"
SEVERAL = "auto grad_result = {}; copy_range(inputs, {{0, 1}}, std::get<{}>(grad_result));"
VALUES = [  # types of inputs, a formula with a value that cannot be their gradient, and one with a value that can
    ("Tensor", "at::slogdet(grad)", "std::get<0>(at::slogdet(grad))"),
    ("Tensor", "at::chunk(grad, 2)", "at::chunk(grad, 2)[0]"),
    ("Tensor", "dim", "grad * dim"),
    ("Tensor", "alpha", "grad * alpha"),
    ("Tensor, Tensor", "grad", "at::slogdet(grad)"),
    ("Tensor, Tensor", "grads", "at::slogdet(grad)"),
    ("Tensor, Tensor", "std::make_tuple(grad)", "std::make_tuple(grad, self)"),
    ("Tensor, Tensor", "{grad, self}", "std::tuple<at::Tensor, at::Tensor>{grad, self}"),
    ("Tensor, Tensor, Tensor", "at::slogdet(grad)", "at::linalg_svd(grad)"),
]


def test_a_value_of_another_type_than_its_inputs_is_refused(tmp_path: Path, torch_specs: Path) -> None:
    parameters = ", ".join(f"{type_} {name}" for name, (_, type_) in VARIABLES.items())
    lines, formulas = [], []
    for inputs, *both in VALUES:
        wanted = inputs.split(", ")
        for formula in both:
            code = ONE.format(formula) if len(wanted) == 1 else SEVERAL.format(formula, len(wanted) - 1)
            lines.append(f"void f{len(lines)}(std::vector<at::Tensor>& inputs, {parameters}) {{ {code} }}")
            formulas.append((wanted, formula))
    reported = errors(HEAD + "\n".join(lines) + "\n", tmp_path)
    refused = {int(line) - HEAD.count("\n") - 1 for line in re.findall(r"source\.cpp:(\d+):\d+: error", reported)}
    assert refused == {*range(0, len(lines), 2)}, reported
    values = {"specs": str(torch_specs), "cache": str(tmp_path / "cache"), "generated": str(tmp_path / "generated")}
    build = Session.open(read_config(values))
    build.problems()
    types, vocabulary = {name: type_ for name, (type_, _) in VARIABLES.items()}, Vocabulary(build.db)
    for i, (wanted, formula) in enumerate(formulas):
        parsed, text = parse(formula, tokens_of(formula), types), FormulaText(formula)
        assert parsed is not None and not list(check_types(text, parsed, Variables(types), vocabulary))
        assert bool(list(check_value(text, parsed.nodes[-1], wanted, "input"))) == (i in refused), formula
    build.close()


# ---- which types convert to which: each as a formula may have it, and as a function may take it

TENSOR, OPTIONAL, LIST = "at::Tensor", "std::optional", "at::ArrayRef"
GIVEN = {
    "Tensor": [TENSOR],
    "Tensor?": [f"{OPTIONAL}<{TENSOR}>"],
    "Tensor[]": ["at::TensorList", f"std::vector<{TENSOR}>", "at::ITensorListRef"],
    "Tensor?[]": [f"c10::List<{OPTIONAL}<{TENSOR}>>"],
    "int": ["int64_t", "int", "size_t", "= 0", "= 1"],
    "float": ["double", "float", "= 0.", "= 0.5"],
    "bool": ["bool", "= true", "= false"],
    "SymInt": ["c10::SymInt"],
    "SymInt[]": ["c10::SymIntArrayRef", "std::vector<c10::SymInt>"],
    "int[]": ["at::IntArrayRef", "std::vector<int64_t>"],
    "SymInt[]?": ["at::OptionalSymIntArrayRef", "c10::OptionalArray<c10::SymInt>"],
    "int[]?": ["at::OptionalIntArrayRef", "c10::OptionalArray<int64_t>"],
    "Scalar": ["at::Scalar"],
    "Scalar?": [f"{OPTIONAL}<at::Scalar>"],
    "Scalar[]": [f"{LIST}<at::Scalar>", "std::vector<at::Scalar>"],
    "int?": [f"{OPTIONAL}<int64_t>"],
    "SymInt?": [f"{OPTIONAL}<c10::SymInt>"],
    "float?": [f"{OPTIONAL}<double>"],
    "bool?": [f"{OPTIONAL}<bool>"],
    "float[]": [f"{LIST}<double>", "std::vector<double>"],
    "float[]?": ["c10::OptionalArray<double>", f"{OPTIONAL}<{LIST}<double>>"],
    "str": ["c10::string_view", "std::string", '= "text"'],
    "str?": [f"{OPTIONAL}<c10::string_view>", f"{OPTIONAL}<std::string>"],
    "ScalarType": ["at::ScalarType"],
    "ScalarType?": [f"{OPTIONAL}<at::ScalarType>"],
    "TensorOptions": ["at::TensorOptions"],
    "Layout": ["at::Layout"],
    "Layout?": [f"{OPTIONAL}<at::Layout>"],
    "Device": ["at::Device"],
    "Device?": [f"{OPTIONAL}<at::Device>"],
    "MemoryFormat": ["at::MemoryFormat"],
    "MemoryFormat?": [f"{OPTIONAL}<at::MemoryFormat>"],
    "Generator": ["at::Generator"],
    "Generator?": [f"{OPTIONAL}<at::Generator>"],
    "Storage": ["at::Storage"],
    "bool[2]": ["std::array<bool, 2>"],
    "bool[3]": ["std::array<bool, 3>"],
    "bool[4]": ["std::array<bool, 4>"],
}
TAKEN = {type_: [name for name in names if not name.startswith("=")] for type_, names in GIVEN.items()}
TAKEN |= {
    "Tensor[]": ["at::TensorList", f"const std::vector<{TENSOR}>&", "const at::ITensorListRef&"],
    "int": ["int64_t", "int"],
    "str": ["c10::string_view", "const std::string&", "const char*"],
}


def test_the_compiler_converts_no_other_types(tmp_path: Path) -> None:
    assert GIVEN.keys() == CONVERSIONS.keys()
    lines, pairs = [], []
    for values, names in GIVEN.items():
        for name in names:
            written = name[2:] if name.startswith("=") else f"std::declval<{name}&>()"
            for taken in sorted(TAKEN.keys() - CONVERSIONS[values]):
                checks = " || ".join(f"requires {{ sink<{type_}, T>({written}); }}" for type_ in TAKEN[taken])
                lines.append(
                    f"template <class T> constexpr bool t{len(pairs)} = {checks};\nstatic_assert(!t{len(pairs)}<int>);"
                )
                pairs.append((name, taken))
    reported = errors(HEAD + "template <class P, class T> void sink(P);\n" + "\n".join(lines) + "\n", tmp_path)
    first = HEAD.count("\n") + 2
    numbers = re.findall(r"source\.cpp:(\d+):\d+: error", reported)
    assert sorted({pairs[(int(line) - first) // 2] for line in numbers}) == []
    assert len(pairs) > 1_500
