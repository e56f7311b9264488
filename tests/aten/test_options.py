"""Options of a build of ATen: the files equal torchgen.gen's with its own options."""

from __future__ import annotations

import pytest
from project import Project
from torchgen_gen import SHIMS

from aten.conftest import FOLDER, Expected, generated

OPTIONS = {
    "static_dispatch=CPU": "--static-dispatch-backend CPU",
    "static_dispatch=CPU,CUDA,QuantizedCPU": "--static-dispatch-backend CPU CUDA QuantizedCPU",
    "static_dispatch=SparseCPU,CPU dispatch_keys=SparseCPU,CPU": "--static-dispatch-backend SparseCPU CPU"
    " --backend-whitelist SparseCPU CPU",
    "dispatch_keys=CUDA,Meta": "--backend-whitelist CUDA Meta",
    "registrations=none": "--skip-dispatcher-op-registration --force-schema-registration",
    "registrations=schemas operator_names=aten::add,aten::odd_c.out,aten::none": "--force-schema-registration"
    " --op-registration-whitelist aten::add aten::odd_c.out aten::none",
    "operator_names=aten::add,quantized::odd_one": "--op-registration-whitelist aten::add quantized::odd_one",
    "registrations=none operator_names=,": "--skip-dispatcher-op-registration --op-registration-whitelist",
}


@pytest.mark.slow(1)
@pytest.mark.parametrize("variables", OPTIONS)
def test_the_files_of_an_option_are_those_of_torchgen(aten: Project, by_gen: Expected, variables: str) -> None:
    for name in ("elsewhere.yaml", "kernels.yaml"):
        aten.append("native_functions.yaml", (FOLDER / name).read_text())
    expected = {name: text for name, text in by_gen(*OPTIONS[variables].split()).items() if not name.startswith(SHIMS)}
    actual = generated(aten, families="headers,sources", **dict(word.split("=") for word in variables.split()))
    names = {*expected} | {*actual}
    assert " ".join(name for name in sorted(names) if expected.get(name) != actual.get(name)) == ""


def test_files_of_other_options_go(aten: Project, by_gen: Expected) -> None:
    few = generated(aten, families="headers,sources", dispatch_keys="CPU", static_dispatch="CPU", registrations="none")
    expected = {name: text for name, text in by_gen().items() if not name.startswith(SHIMS)}
    assert generated(aten, families="headers,sources") == expected
    assert generated(aten, families="headers,sources", dispatch_keys="CPU", registrations="none").keys() == few.keys()
