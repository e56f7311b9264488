"""The names that formulas may use: read from headers, known by release, looked up one by one."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copyfile

import pytest
from checkouts import lay_out
from copies import copy_of
from project import CORE, ROOT, Project
from releases.test_all_releases import source_of
from steps import assert_linear

from gradmill.cpp.expression import tokens_of
from gradmill.cpp.header import ANY, declared_at, overload_of, read_header
from gradmill.families.rows import TEMPLATES
from gradmill.lints.calls import check_calls_and_names
from gradmill.lints.formula_text import FormulaText
from gradmill.lints.known import CALL, METHOD
from gradmill.lints.uses import read_uses
from gradmill.problems.problem import SpecError
from gradmill.releases import KNOWN, minor
from gradmill.releases.names import names_of
from gradmill.specs.find import find_spec_set
from gradmill.specs.headers import IN_CHECKOUT, IN_PACKAGE, MANUAL

RELEASE = (CORE / "RELEASE").read_text().strip()

HEADER = """\
// int commented(int a);
#define MACRO(x) int defined(int x);
namespace a::b {
extern const char* kMessage;
using at::elsewhere;
TORCH_API Tensor one(
    const Tensor& grad,
    std::tuple<Tensor, Tensor> both = std::make_tuple(a, b), // a comment, with a comma
    int64_t dim = 0);
Tensor one(const Tensor& grad, int64_t a, int64_t b, int64_t c);
inline int two() { return inside(1, 2); }
template <typename T, typename... Args>
T several(T first, Args... rest) { return first; }
struct Class { int method(int a); };
std::function<int(int)> field = make(1);
static_assert(sizeof(int) == 4);
} // namespace a::b
int last(void);
"""


def test_a_header_says_how_many_arguments_its_functions_take() -> None:
    header = read_header(HEADER)
    assert header.arities == {"one": (1, 4), "two": (0, 0), "several": (2, ANY), "last": (0, 0)}
    assert (header.constants, header.others) == (["kMessage"], ["elsewhere"])


def test_a_declaration_is_found_on_its_line() -> None:
    places = {name: [line for line, _ in actual] for name, actual in declared_at(HEADER).items()}
    assert places == {"one": [6, 10], "two": [11], "several": [13], "last": [18]}
    assert declared_at(HEADER)["two"][0][1] == "inline int two()"


@pytest.mark.parametrize(
    ("parameters", "arity"),
    [("", (0, 0)), ("int a", (1, 1)), ("A<B, C> a, D d = f(1, 2)", (1, 2)), ("std::array<bool, 3> mask", (1, 1))],
)
def test_parameters_are_counted(parameters: str, arity: tuple[int, int]) -> None:
    overload = overload_of(parameters)
    assert (overload.least, len(overload.types)) == arity


def test_every_release_has_names() -> None:
    for version in KNOWN:
        names = names_of(minor(version))
        assert len(names.functions) > 1400 and len(names.methods) > 900 and len(names.helpers) > 180
        assert names.helpers["cumsum_backward"] == (2, 2)
        assert {"add", "matmul", "expand_copy"} <= set(names.functions)
        assert {"conj", "sym_sizes", "toDouble"} & set(names.methods)
        assert (names.functions["add"], names.methods["mul"], names.methods["sym_sizes"]) == (4, 1, None)
    assert "bessel_j1_backward" in names_of("2.15").helpers
    assert "bessel_j1_backward" not in names_of("2.13").helpers


# ---- what is suspicious in a formula


class Words:
    """A vocabulary of a few words."""

    def __init__(self, *, whole: bool = True) -> None:
        self._known = {CALL + "f": (1, 2), CALL + "exp": (0, ANY), METHOD + "exp": (0, ANY), METHOD + "sum": (0, ANY)}
        self._whole = whole

    def arity(self, kind: str, name: str) -> tuple[int, int] | None:
        return self._known.get(kind + name)

    def names(self, kind: str) -> list[str]:
        return [name.removeprefix(kind) for name in self._known if name.startswith(kind)]

    def most(self, kind: str, name: str) -> int:
        return ANY

    def is_whole(self) -> bool:
        return self._whole


def suspicions_of(formula: str, outputs: int = 1, *, whole: bool = True) -> list[str]:
    tokens = tokens_of(formula)
    reported: list[SpecError] = list(
        check_calls_and_names(
            FormulaText(formula), tokens, read_uses(tokens), ["grad", "self"], Words(whole=whole), outputs
        )
    )
    return [f"{error.rule} {error.needle[:6]}" for error in reported]


@pytest.mark.parametrize(
    "formula",
    [
        "f(grad)",
        "f(grad, self.sum())",
        "f(std::array<bool, 2>{true, false}, a < b, c > d)",  # only a compiler knows what `<` is
        "at::exp(self) + exp_symint(grad).exp_symint()",
        "std::anything(1, 2, 3) + a::b::at::other(grad) + at::native::other()",
        "auto g = [&](Tensor x) { return x; }; g(grad)",
        "grad * *self",  # what a pointer points at
        "-(-grad) + grad / -2 - - 1",
        "grad /* f( */ + \"f(\" + 'f('",
        "Tensor() + SymInt(3) + Something(3) + kJagged + M_PI + TORCH_CHECK(x)",
        "if (x) return int64_t(3) * sizeof(x)",
        "grads[0] + x.grad[0]",
        'f("semicolon; * * , )")',
    ],
)
def test_what_is_right_is_not_suspicious(formula: str) -> None:
    assert suspicions_of(formula) == []


def test_where_not_all_is_known_only_errors_are_reported() -> None:
    assert suspicions_of("other(grad) + self.any_method()", whole=False) == []
    assert suspicions_of("self.smu()", whole=False) == ["unknown-method smu()"]


def test_calls_are_counted_whatever_stands_in_them() -> None:
    read = read_uses(tokens_of("f(g(1, 2), [&](int a, int b) { return h(a, b); }, {1, 2}, 'x')"))
    assert {use.name: use.arguments for use in read.uses if use.called} == {"f": 4, "g": 2, "h": 2}


@pytest.mark.parametrize(
    "part", ["(", ")", "f(", "a ", "a::b(", "at::f(", ". ", "* ", "/*", '"', "<", ",", "\u00a0", "K", "f(a<"]
)
def test_a_long_formula_takes_few_steps(part: str) -> None:
    assert_linear(suspicions_of, part)
    assert_linear(read_header, part)


# ---- what depends on what


@pytest.fixture
def built(tmp_path: Path, tiny_built: Project) -> Project:
    return copy_of(tiny_built, tmp_path)


def test_a_header_next_to_the_yaml_files_is_an_input(built: Project) -> None:
    built.set_formula("exp", "self", "exp_gradient(grad, result)")
    assert "unknown function 'exp_gradient'" in built.run().stderr
    header = built.specs / "FunctionsManual.h"
    header.write_text("Tensor exp_gradient(Tensor grad, Tensor result);\n")
    assert "unknown function 'exp_gradient'" not in built.run().stderr
    header.write_text("Tensor exp_gradient(Tensor grad);\n")
    assert "'exp_gradient' takes 1 argument, but gets 2" in built.run().stderr
    header.unlink()
    assert "unknown function 'exp_gradient'" in built.run().stderr


def put(path: Path, text: str = "Tensor other(Tensor grad);\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("layout", ["flat", "packaged", "checkout"])
def test_a_header_near_a_set_is_not_its_own(layout: str, tmp_path: Path) -> None:
    """Core has a part of the release's functions, so that a header of a whole set makes all others unknown."""
    part = Project(tmp_path / "all" / "clone" / "specs", CORE, RELEASE, packaged=layout == "packaged", name="core")
    specs = part.specs
    if layout == "checkout":
        specs = lay_out(tmp_path / "all" / "clone" / "pytorch", part.path, f"{RELEASE}a0")
    for place in (".", "..", "../..", "../venv/lib/python3.12/site-packages"):
        put(specs / ".." / place / IN_PACKAGE)
    put(specs / "build" / IN_PACKAGE)
    put(specs / IN_PACKAGE)
    if layout != "checkout":
        put(specs / IN_CHECKOUT)
    actual = find_spec_set(str(specs), TEMPLATES).headers
    assert "core_helpers.h" in actual and MANUAL not in actual
    if layout == "flat":
        run = part.run("check")
        assert run.status == 0 and run.stdout.endswith(": no problems\n")


@pytest.mark.parametrize(
    ("specs", "header"),
    [
        ("site-packages/torchgen/packaged", f"site-packages/{IN_PACKAGE}"),
        ("site-packages/torchgen", f"site-packages/{IN_PACKAGE}"),
        ("site-packages", f"site-packages/{IN_PACKAGE}"),
        ("pytorch", f"pytorch/{IN_CHECKOUT}"),
        ("mine", f"mine/{MANUAL}"),
        ("mine", f"mine/templates/{MANUAL}"),
        ("vendor", f"pytorch/{IN_CHECKOUT}"),
    ],
)
def test_a_set_has_the_header_where_its_layout_has_it(
    built: Project, tmp_path: Path, specs: str, header: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Project(tmp_path / "site-packages" / "torchgen", built.specs, RELEASE, packaged=True, name="packaged")
    lay_out(tmp_path / "pytorch", built.path, f"{RELEASE}a0")
    Project(tmp_path, built.specs, RELEASE, name="mine")
    put(tmp_path / "vendor" / "specset.toml", 'name = "own"\n[base]\nspecs = "../pytorch"\n')
    assert MANUAL not in find_spec_set(specs, TEMPLATES).headers
    looked_for = [os.path.relpath(path) for path in find_spec_set(specs, TEMPLATES).looked_for]
    assert {header, os.path.dirname(header)} & {*looked_for}
    put(tmp_path / header)
    assert os.path.relpath(find_spec_set(specs, TEMPLATES).headers[MANUAL].path) == header


def test_a_part_of_a_release_with_the_header_next_to_it_has_no_warning(torch_specs: Path, tmp_path: Path) -> None:
    part = Project(tmp_path, CORE, RELEASE)
    manual = torch_specs.parent.parent / IN_PACKAGE
    put(part.specs / MANUAL, manual.read_text())
    run = part.run("check")
    assert run.status == 0 and run.stdout.endswith(": no problems\n")


def test_a_whole_set_has_no_function_but_its_own(built: Project, torch_specs: Path, tmp_path: Path) -> None:
    built.set_formula("exp", "self", "at::sinh(grad)")
    checkout = lay_out(tmp_path / "pytorch", built.path, f"{RELEASE}a0")
    assert "sinh" not in built.run("check", specs=checkout).stdout
    put(checkout / IN_CHECKOUT, (torch_specs.parent.parent / IN_PACKAGE).read_text())
    assert "unknown function 'sinh'" in built.run("check", specs=checkout).stdout


def test_a_new_name_makes_nothing_again(built: Project) -> None:
    (built.specs / "templates" / "mine.h").write_text("Tensor mine(Tensor grad);\n")
    assert built.run().ran == ["manifest"]  # whose depfile names the header
    built.append("native_functions.yaml", "- func: mine(Tensor self) -> Tensor")
    run = built.run()
    assert run.units == []


def test_a_formula_is_checked_alone(built: Project) -> None:
    """What an edited formula calls is looked up; no other formula is looked at."""
    from gradmill.session.session import Session
    from gradmill.session.settings.config import read_config
    from gradmill.stages.formulas.vocabulary import called, known
    from gradmill.stages.infos import infos_of

    values = built.values
    built.set_formula("exp", "self", "grad * result.conj() * 2")
    build = Session.open(read_config(values))
    build.problems()
    ran = [name for name in build.db.ran if name[0] in (infos_of.name, known.name, called.name)]
    build.close()
    assert [name[1].partition("(")[0] for name in ran] == ["exp"]


# ---- no false warning


@pytest.mark.parametrize(
    "version",
    [
        *(pytest.param(each, marks=pytest.mark.campaign) for each in KNOWN[:-1]),
        pytest.param(KNOWN[-1], marks=pytest.mark.slow(6)),
    ],
)
def test_there_is_no_warning_in_any_release(version: str, project: Project, tmp_path: Path) -> None:
    specs = source_of(version, tmp_path / "unpacked").specs
    run = project.run("check", specs=specs)
    assert run.clean().stdout.endswith(": no problems\n")


@pytest.mark.parametrize("specs", ["core", str(ROOT / "examples" / "vendor")])
def test_there_is_no_warning_in_specs_that_compile(specs: str, project: Project, torch_specs: Path) -> None:
    run = project.run("check", specs=specs)
    assert run.status == 0 and run.stdout.endswith(": no problems\n")


def test_a_copy_of_the_release_s_specs_without_its_header_has_no_warning(torch_specs: Path, tmp_path: Path) -> None:
    flat = Project(tmp_path, torch_specs, "2.13.0", name="flat")
    assert not list(flat.specs.rglob("FunctionsManual.h"))
    run = flat.run("check")
    assert run.status == 0 and run.stdout.endswith(": no problems\n")


def test_a_part_of_a_release_counts_the_arguments_of_what_it_does_not_declare(built: Project) -> None:
    built.set_formula("exp", "self", "grad.masked_fill(result, 2, 3) + at::flip(grad, {1}, 2)")
    message = built.run("check").stdout
    assert (
        "no overload of 'masked_fill' takes 3 arguments [argument-count]\n" in message
        and "hint: it takes 2 at most" in message
    )
    assert "no overload of 'flip' takes 3 arguments [argument-count]\n" in message
    built.set_formula("exp", "self", "grad.masked_fill(result, 2) + at::flip(grad, {1}) + grad.conj(1, 2)")
    assert built.run("check").stdout.endswith(": no problems\n")


def test_a_part_of_core_knows_the_rest_of_its_release(tmp_path: Path) -> None:
    part = Project(tmp_path, CORE, RELEASE, name="part")
    copyfile(CORE / "templates" / "core_helpers.h", part.path("templates/core_helpers.h"))
    for op in ("exp", "sin"):
        part.remove_entry(op)
    run = part.run("check")
    assert run.status == 0 and run.stdout.endswith(": no problems\n")
