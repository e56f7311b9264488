"""Some generated bindings, compiled into an extension module, next to torch's own. Their text is torchgen's byte for
byte, which `families/test_odd.py` checks: here they must compile and link with what docs/consumers.md names."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from cpp.toolchain import compile_flags, hasty_flags, link_flags, missing
from project import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'gradmill[test]'")

HERE = Path(__file__).parent
# Where the sources include the header of return types from: ahead of torch's folder, so that it is ours.
PLACE = Path("torch/csrc/autograd/generated")
# Most of the time of an object goes into torch's headers.
OBJECTS = {"linalg": ["linalg_functions"], "rest": ["fft_functions", "special_functions", "return_types"]}


@pytest.fixture(scope="module")
def module(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The extension module, in a folder that the next run reuses."""
    if reason := missing("ninja"):
        pytest.skip(reason)
    cache = getattr(request.config, "cache", None)
    folder = Path(cache.mkdir("bindings")) if cache is not None else tmp_path_factory.mktemp("bindings")
    generated = folder / PLACE
    words = ["specs=torch", "families=bindings,return_types", f"generated={generated}", f"cache={folder / 'cache'}"]
    subprocess.run([sys.executable, "-m", "doit", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for name, kinds in OBJECTS.items():
        paths = [generated / f"python_{kind}.cpp" for kind in kinds]
        paths += [HERE / "module.cpp", HERE / "hidden.cpp"] if name == "rest" else []
        (folder / f"{name}.cc").write_text("".join(f'#include "{path}"\n' for path in paths))
    (folder / "build.ninja").write_text("\n".join(ninja_lines(folder)))
    subprocess.run(["ninja", "-C", str(folder), "-j2"], check=True)
    return loaded(folder / "bindings.so")


def ninja_lines(folder: Path) -> list[str]:
    flags = [*compile_flags(folder), *hasty_flags(), "-DNDEBUG", "-DFMT_HEADER_ONLY=1", "-DAT_PER_OPERATOR_HEADERS"]
    return [
        f"# torch {metadata.version('torch')}",
        "rule object",
        f"  command = c++ {shlex.join(flags)} -fvisibility=hidden -c $in -o $out -MMD -MF $out.d",
        "  depfile = $out.d",
        "  deps = gcc",
        "rule link",
        # What is in a module is never taken from elsewhere, even where torch exports it.
        f"  command = c++ $in -o $out -Wl,-Bsymbolic {shlex.join(link_flags())}",
        *(f"build {name}.o: object {name}.cc" for name in OBJECTS),
        f"build bindings.so: link {' '.join(f'{name}.o' for name in OBJECTS)}",
        "",
    ]


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("gradmill_bindings", path)
    assert spec is not None and spec.loader is not None
    result = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(result)
    return result


class Overriding:
    """An object that is no tensor, and answers for itself."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func.__name__, [kind.__name__ for kind in types], len(args), sorted(kwargs or {})


class Declining(Overriding):
    """An object that answers nothing."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


def matrix() -> Any:
    return torch.linspace(0.1, 0.9, 9).reshape(3, 3)


def vector() -> Any:
    return torch.linspace(0.1, 0.9, 3, requires_grad=True)


CALLS: dict[str, Callable[[Any], Any]] = {  # of our module, or of torch._C
    "a named result": lambda m: m._linalg.linalg_svd(matrix(), full_matrices=False, driver=None),
    "its class": lambda m: m._return_types.linalg_eigh([1, 2]),
    "too few fields": lambda m: m._return_types.linalg_eigh([1]),
    "a named result for out": lambda m: m._linalg.linalg_qr(matrix(), out=(torch.empty(0), torch.empty(0))),
    "a result for out of another size": lambda m: m._special.special_zeta(matrix(), 2.0, out=torch.empty(2)),
    "a gradient": lambda m: m._fft.fft_fft(vector(), 4, norm="ortho").grad_fn.name(),
    "a number first": lambda m: m._special.special_zeta(2.0, matrix()),
    "an object that overrides": lambda m: m._fft.fft_fft(Overriding(), n=3),
    "an object that declines": lambda m: m._special.special_zeta(2.0, Declining()),
    "a default": lambda m: m._linalg.linalg_vecdot(matrix(), matrix().t()),
    "keywords only": lambda m: m._linalg.linalg_solve_triangular(matrix(), matrix(), upper=True, left=False),
    "a wrong word": lambda m: m._linalg.linalg_qr(A=matrix(), mode="nothing"),
    "nothing": lambda m: m._linalg.linalg_norm(),
    "an unknown keyword": lambda m: m._fft.fft_rfft(vector(), gradmill=1),
    "a wrong type": lambda m: m._linalg.linalg_norm(matrix(), object),
    "too many": lambda m: m._special.special_logit(*[matrix()] * 9),
}


def answer(call: Callable[[Any], Any], of: Any) -> tuple[str, list[str]]:
    """What a call gives, or raises, and what it warns of: without addresses and C++ frames."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(of)
            text = f"{type(result).__module__}.{type(result).__qualname__}: {result!r}"
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
    varying = re.compile(r"0x[0-9a-f]+|Exception raised from .*|(?<=Triggered internally at )\S*/", re.DOTALL)
    return varying.sub("", text), [varying.sub("", str(each.message)) for each in caught]


@pytest.mark.slow(60)
def test_some_bindings_give_what_torchs_give(module: Any) -> None:
    torch.set_warn_always(True)
    assert Path(module.library_of(module._linalg.linalg_qr)).name == "bindings.so"
    answers = {what: (answer(call, module), answer(call, torch._C)) for what, call in CALLS.items()}
    assert {what: both for what, both in answers.items() if both[0] != both[1]} == {}
