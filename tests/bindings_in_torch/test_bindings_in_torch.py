"""The generated bindings next to torch's own; see the docstring of the package. The comparison shows what differs."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cpp import toolchain
from project import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'gradmill[test]'")

from torch import Tensor  # noqa: E402

from bindings_in_torch import __main__ as command  # noqa: E402
from bindings_in_torch import build, faults  # noqa: E402
from bindings_in_torch.arguments import tensor  # noqa: E402
from bindings_in_torch.rows import Row  # noqa: E402
from bindings_in_torch.tables import Pair  # noqa: E402


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the next run reuses."""
    if reason := toolchain.missing("ninja"):
        pytest.skip(reason)
    cache = getattr(request.config, "cache", None)
    return Path(cache.mkdir("bindings")) if cache is not None else tmp_path_factory.mktemp("bindings")


@pytest.mark.alternates(8, 90)
@pytest.mark.slow
def test_some_bindings_give_what_torchs_give(folder: Path) -> None:
    words = [sys.executable, "-m", "tests.bindings_in_torch", "--folder", str(folder)]
    done = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    assert_faults_are_noticed(folder)


def assert_faults_are_noticed(folder: Path) -> None:
    """In a module of which one source is another one."""
    generated = build.generate(folder)
    faulty = faults.plant(generated, folder)
    build.build(folder, build.FAULTY_MODULE, build.units(generated, faulty))
    record = command.calls(folder, build.FAULTY_MODULE, only="linalg.")
    assert {row["binding"] for row in record["different"]} == {fault.binding for fault in faults.FAULTS}


def differ(ours: Callable[..., Any], torchs: Callable[..., Any]) -> bool:
    """Whether two functions of a matrix answer differently."""
    mine, theirs = Row("", "", (tensor(2, 3),)).ask(Pair("", ours, torchs))
    return mine != theirs


def warning(message: str) -> Callable[[Tensor], None]:
    return lambda x: warnings.warn(message, stacklevel=1)


def failing(error: Exception) -> Callable[[Tensor], None]:
    def function(x: Tensor) -> None:
        raise error

    return function


DIFFERENT: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "a value": (lambda x: x + 1e-7, lambda x: x),
    "a type of numbers": (lambda x: x.new_zeros(3), lambda x: x.new_zeros(3, dtype=torch.int64)),
    "strides": (lambda x: x.t().contiguous(), lambda x: x.t().contiguous().t().contiguous().t()),
    "a gradient": (lambda x: x.clone().requires_grad_(), lambda x: x.clone()),
    "a view": (lambda x: x[:1], lambda x: x[:1].clone()),
    "the object itself": (lambda x: x.view(2, 3), lambda x: x),
    "an argument written to": (lambda x: x.zero_().sum(), lambda x: torch.zeros(())),
    "a version": (lambda x: x.add_(0), lambda x: x),
    "the class of a named result": (lambda x: x.max(0), lambda x: x.min(0).__class__(x.max(0))),
    "a list": (lambda x: [1], lambda x: (1,)),
    "a number": (lambda x: 1, lambda x: True),
    "a warning": (warning("one"), warning("another")),
    "an error's type": (failing(TypeError("x")), failing(ValueError("x"))),
    "an error's message": (failing(TypeError("x")), failing(TypeError("y"))),
    "a random number": (lambda x: torch.rand(1).sum() * 0, lambda x: torch.zeros(())),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_the_comparison_shows(what: str) -> None:
    ours, torchs = DIFFERENT[what]
    assert differ(ours, torchs)
    assert not differ(ours, ours)


def test_the_comparison_leaves_out_addresses() -> None:
    assert not differ(failing(TypeError("at 0x12ab")), failing(TypeError("at 0x34cd")))
