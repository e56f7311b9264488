"""Which formulas graphs of the real specs contain, and for which gradients they use the library's Nodes."""

from __future__ import annotations

import inspect
import itertools
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from project import Project
from torch import Tensor

from gradmill.extensions.graphs.helpers import OWN_HELPERS, called_names, missing_helpers
from gradmill.extensions.graphs.print.files import FORMULAS, support_text
from gradmill.releases import resolve
from graphs import compare, library
from graphs.samples import samples, tensor

RELEASE = resolve("2.13")
SOURCE = """\
import torch
from torch import Tensor


def waves(x: Tensor, y: Tensor) -> Tensor:
    return x.sin() * y


def grown(x: Tensor) -> Tensor:
    return x.exp() + 1


def restrided(x: Tensor) -> Tensor:
    return torch.as_strided(x, (2, 2), (2, 1)) * 2
"""


def missing(formula: str) -> tuple[str, ...]:
    """The missing helpers of a formula, in a set with only the operators `where` and `sum`."""
    return missing_helpers([formula], {"where", "sum"}.__contains__, RELEASE.exported_helpers)


@pytest.mark.parametrize(
    "formula",
    [
        "grad * self.cos().conj()",
        "where(self > 0, grad, at::where(mask, grad, 0))",
        "grad.sum_symint(x) / sum_symint(grad, 1)",
        "not_implemented(\"f: 'helper(x)'\")",
        "std::tuple<Tensor, Tensor>{grad, Tensor()}",
        "a < b ? static_cast<int64_t>(1) : c10::SymInt(2)",
        "GradMode::is_enabled() ? grad : /* hidden(x) */ grad",
        "mul_tensor_backward(grad, other, self_scalar_type)",
        "node->helper(grad).other<int>(1)",
    ],
)
def test_a_formula_with_exported_helpers_can_be_compiled(formula: str) -> None:
    assert missing(formula) == ()


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("as_strided_backward(grad, TensorGeometry(self), size)", ("as_strided_backward",)),
        ("mask ? svd_backward(grad) : norm_backward(grad, p)", ("norm_backward", "svd_backward")),
        ("at::native::helper(grad)", ("at::native::helper",)),
        ("at::unknown(grad)", ("at::unknown",)),
        ("x?f(a):g<int>(b)", ("f", "g")),
        ("mine::helper(grad)", ("mine::helper",)),
    ],
)
def test_a_formula_with_other_helpers_cannot_be_compiled(formula: str, names: tuple[str, ...]) -> None:
    assert missing(formula) == names


def test_names_are_found_in_linear_time() -> None:
    assert called_names("f<" * 20_000 + "(") == set()
    assert called_names("a::" * 20_000 + "(") == set()


def test_the_header_defines_all_listed_helpers() -> None:
    text = support_text(FORMULAS, RELEASE)
    defined = set(re.findall(r"^(?:inline )?(?:Tensor|std::vector<Tensor>) (\w+)\(", text, re.MULTILINE))
    assert defined >= OWN_HELPERS
    assert {name for name in defined if name.endswith(("_backward", "_backwards", "_to", "_to_c"))} <= OWN_HELPERS
    assert not OWN_HELPERS & RELEASE.exported_helpers


# ---- a copy of the real specs


def rebuilt(project: Project) -> tuple[list[str], list[str]]:
    """The units and the sources that a run rebuilt."""
    (project.folder / "mine.py").write_text(SOURCE)
    run = project.run(graphs=project.folder / "mine.py", families="graphs").ok()
    return run.units, [name for name in run.shards if name.endswith(".cpp")]


def test_an_edited_formula_of_a_copy_of_the_real_specs_rebuilds_the_graphs_that_use_it(
    torch_project: Project,
) -> None:
    assert rebuilt(torch_project) == (["waves", "grown", "restrided"], ["graphs/mine.cpp"])
    torch_project.set_formula("exp", "self", "grad * result.conj() * 3")
    assert rebuilt(torch_project) == (["grown"], ["graphs/mine.cpp"])
    text = (torch_project.generated / "graphs" / "mine.cpp").read_text()
    assert "grad * result.conj() * 3" in text
    assert "// libtorch's AsStridedBackward0: it keeps as_strided_backward to itself" in text
    torch_project.set_formula("as_strided", "self", "grad.new_zeros(4)")
    assert rebuilt(torch_project)[0] == ["restrided"]
    assert "libtorch's" not in (torch_project.generated / "graphs" / "mine.cpp").read_text()


@pytest.mark.slow(6)
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
def test_an_edited_formula_of_a_copy_of_the_real_specs_is_the_gradient(torch_project: Project, tmp_path: Path) -> None:
    torch_project.set_formula("exp", "self", "grad * result.conj() * 3")
    (tmp_path / "mine.py").write_text(SOURCE)
    ops = library.build(tmp_path / "mine.py", tmp_path, "edited", str(torch_project.specs))
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(ops.grown(x).sum(), [x])
    assert torch.allclose(grad, 3 * x.exp())


SPECIAL: dict[str, list[compare.Make]] = {
    "real_and_complex": [lambda: [tensor(4, 6), torch.complex(tensor(4, 6), tensor(4, 6))]],
    "masked": [lambda: [tensor(4, 6), torch.rand((), dtype=torch.float64)]],
}


HERE = Path(__file__).parent


TORCHS = pytest.mark.slow(4)


@pytest.fixture(scope="module")
def torchs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    """The graphs of `formulas.py` and `pairs.py` with torch's specs, and their C++."""
    folder = tmp_path_factory.mktemp("helpers")
    (folder / "graphs").mkdir()
    for file in ("formulas", "pairs"):
        shutil.copyfile(HERE / f"{file}.py", folder / "graphs" / f"{file}.py")
    ops = library.build(folder / "graphs", folder, "helpers", "torch")
    return ops, (folder / "generated" / "graphs" / "formulas.cpp").read_text()


@TORCHS
@pytest.mark.slow
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
def test_the_gradients_of_the_helpers_match_eager(torchs: tuple[Any, str]) -> None:
    ops, text = torchs
    assert "libtorch's" not in text
    assert {name for name in OWN_HELPERS if f"{name}(" not in text} == set()
    wrong = []
    for name, function in library.functions(HERE / "formulas.py").items():
        for make in SPECIAL.get(name) or samples(function):
            for which in compare.choices(len(compare.tensors(make()))):
                differences = compare.differences(function, getattr(ops, name), make, which)
                wrong += [f"{name} {which}: {what}" for what in differences[:1]]
    assert wrong == []


DTYPES = "float16 bfloat16 float32 float64 complex64 complex128 int64 bool".split()
ROWS = 200  # whose sums overflow float16


def of_dtype(name: str, seed: int) -> Tensor:
    """Numbers of both signs, zeros and whole numbers among them; more in the real part than in the imaginary one."""
    numbers = torch.randn(ROWS, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    numbers[:, 0], numbers[0, 1:4] = numbers[:, 0].round(), torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64)
    dtype = getattr(torch, name)
    numbers = (
        torch.complex(numbers, numbers.flip(0) / 4)
        if dtype.is_complex
        else numbers * (1 if dtype.is_floating_point else 2)
    )
    return numbers.to(dtype)


Gradients = list[Tensor | None] | Exception


def gradients(function: Callable[..., Any], tensors: list[Tensor]) -> Gradients:
    """The results and gradients of a function, of incoming gradients of some 1000; or the error."""
    leaves = [tensor.clone().requires_grad_(tensor.is_floating_point() or tensor.is_complex()) for tensor in tensors]
    needed = [leaf for leaf in leaves if leaf.requires_grad]
    try:
        made = function(*leaves)
        made = [each for each in (made if isinstance(made, tuple) else (made,)) if each.requires_grad]
        generator = torch.Generator().manual_seed(3)
        incoming = [(torch.rand(each.shape, generator=generator) * 1000).to(each.dtype) for each in made]
        found = torch.autograd.grad(made, needed, incoming, allow_unused=True) if made and needed else ()
    except (RuntimeError, TypeError, IndexError) as error:
        return error
    return [*(each.detach() for each in made), *found]


# Failed checks of the engine: of a complex gradient for a real value, whose real part the graph has; for an integer.
CHECKS = ("Expected isFloatingType(grad.scalar_type())", "isDifferentiableType(grad.scalar_type()) INTERNAL ASSERT")


def _both(eager: Gradients, graph: Gradients) -> bool:
    """Whether both are errors, the graph's of eager's class, or eager's is one that a graph does not have."""
    return isinstance(eager, Exception) and (isinstance(graph, type(eager)) or str(eager).startswith(CHECKS))


def differ(one: Tensor | None, other: Tensor | None, dtypes: Sequence[str] = ()) -> bool:
    """Whether two gradients differ by more than the rounding of a sum, in their dtype or one of `dtypes`."""
    if one is None or other is None or one.dtype != other.dtype or one.shape != other.shape:
        return one is not other
    rounded = (one.dtype, *(getattr(torch, dtype) for dtype in dtypes if dtype not in ("int64", "bool")))
    eps, finite = 4 * max(torch.finfo(dtype).eps for dtype in rounded), one[one.isfinite()].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    return not torch.allclose(one, other, rtol=eps, atol=eps * largest, equal_nan=True)


@pytest.mark.slow
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
@pytest.mark.parametrize(
    ("file", "specs"),
    [
        pytest.param("formulas", "torch", marks=TORCHS),
        pytest.param("pairs", "torch", marks=TORCHS),
        pytest.param("pairs", "core", marks=pytest.mark.slow(8)),
    ],
)
def test_gradients_of_all_pairs_of_dtypes_match_eager(
    file: str, specs: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = HERE / f"{file}.py"
    if specs == "core":
        ops = library.build(path, tmp_path, "pairs_of_core", specs)
    else:
        ops, _ = request.getfixturevalue("torchs")
    wrong = []
    for name, function in library.functions(path).items():
        count = len(inspect.signature(function).parameters)
        for dtypes in itertools.product(DTYPES, repeat=count):
            tensors = [of_dtype(dtype, seed) for seed, dtype in enumerate(dtypes)]
            eager, graph = gradients(function, tensors), gradients(getattr(ops, name), tensors)
            if isinstance(eager, Exception) or isinstance(graph, Exception):
                wrong += [f"{name} {dtypes}: {eager!r}; {graph!r}"] if not _both(eager, graph) else []
                continue
            rounded = dtypes if specs == "core" else ()  # its own formulas may sum in another order
            if different := [i for i, pair in enumerate(zip(eager, graph, strict=True)) if differ(*pair, rounded)]:
                wrong.append(f"{name} {dtypes}: {different}")
    assert wrong == []
