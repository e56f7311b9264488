"""Every option of torchgen.gen on a release, against the release's own: the campaign `releases --only aten --flags`.
Both programs get the same words.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import forked
from aten.test_native_aot import MODULE
from torchgen_gen import INSTALL, SHIMS, Generated, Refused, run_gen

from gradmill.releases import is_at_least
from releases import Broken, Source

_SELECTED = """
operators:
  aten::add.Tensor: {is_used_for_training: false}
  aten::empty: {include_all_overloads: true}
  aten::_foreach_add_.Scalar: {}
"""
_MODULES = {"topk": "", "gt.Tensor": "UNCONDITIONAL = True\n"}


class Case(NamedTuple):
    """Words of one run, and the first release that has their options."""

    words: str
    since: str = "2.4"


CASES = (
    Case("--per-operator-headers --static-dispatch-backend CPU CUDA -o lists.cmake"),
    # As Buck builds for mobile.
    Case(
        "--force_schema_registration --op_selection_yaml_path {selected} --backend_whitelist CPU QuantizedCPU SparseCPU"
        " --static_dispatch_backend CPU"
    ),
    Case(
        "--mps --rocm --backend-whitelist CUDA Meta MPS --static-dispatch-backend SparseCUDA MPS Meta"
        " --per-operator-headers -o lists.cmake"
    ),
    Case("--xpu --rocm --static-dispatch-backend XPU CPU --per-operator-headers -o lists.cmake", "2.6"),
    Case("--mtia --xpu --mps --generate sources", "2.8"),
    Case("--op_registration_whitelist aten::add aten::mul.out --skip_dispatcher_op_registration --generate sources"),
    Case(
        "--op-registration-whitelist aten::add aten::mul.out --force-schema-registration --per-operator-headers"
        " --generate sources"
    ),
    Case("--op-registration-whitelist --generate sources"),
    Case("--update-aoti-c-shim --per-operator-headers --generate sources"),
    Case("--extend-aoti-c-shim --update-aoti-c-shim --generate sources", "2.6"),
    Case("--backend-whitelist --static-dispatch-backend --dry-run -o lists.cmake"),
    Case("--headeronly-install-dir install/headeronly --generate headers declarations_yaml", "2.12"),
    Case("--native-aot-ops-dir {modules} --backend-whitelist CUDA CPU --per-operator-headers", "2.15"),
)


def compare(source: Source, release: str, folder: Path, cache: Path) -> Iterator[tuple[str, list[str]]]:
    """Runs both programs with the words of each case that the release has. Yields the words, and the files and lists
    that differ."""
    selected, modules = folder / "selected.yaml", folder / "modules"
    selected.write_text(_SELECTED)
    for name, more in _MODULES.items():
        (modules / name).mkdir(parents=True)
        (modules / name / "aot.py").write_text(MODULE.replace("topk", name) + more)
    for i, case in enumerate(CASES):
        if is_at_least(release, case.since):
            words = case.words.format(selected=selected, modules=modules).split()
            yield case.words, _different(source, release, folder / str(i), cache, words)
            shutil.rmtree(folder / str(i))  # some 130 MB


def _different(source: Source, release: str, folder: Path, cache: Path, words: list[str]) -> list[str]:
    theirs, ours = folder / "theirs", folder / "ours"
    theirs.mkdir(parents=True)
    ours.mkdir()
    packaged = source.root / "torchgen" / "packaged" / "ATen"
    try:
        expected: Generated | None = run_gen(packaged, theirs, *words, root=source.root)
    except Refused:
        expected = None
    own = ["-s", packaged, "-d", INSTALL, f"--aoti-install-dir={INSTALL}/{SHIMS}", f"cache={cache}"]
    own += [] if source.specs == "torch" else [f"release={release}"]
    done = forked.gradmill(["torchgen", *map(str, own), *words], ours)
    if done.status and expected is not None:
        raise Broken(f"gradmill torchgen {' '.join(words)}:\n{done.stderr[-2000:]}")
    if expected is None:
        return [] if done.status else ["torchgen refuses these words"]
    theirs_by_name = {**expected.files, **{name: text.encode() for name, text in expected.lists.items()}}
    generated = Generated(ours)
    ours_by_name = {**generated.files, **{name: text.encode() for name, text in generated.lists.items()}}
    names = sorted({*theirs_by_name, *ours_by_name})
    return [name for name in names if theirs_by_name.get(name) != ours_by_name.get(name)]
