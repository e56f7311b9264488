"""`gradmill generate-code` in Bazel: one rule in the shape of PyTorch's, with all files as outputs, as docs/pytorch.md
has it. A copy stands in for the compiler."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from project import ROOT, Project
from with_bazel import Bazel, needs_bazel

from front.test_generate_code import FORMULA, Checkout, make

DOCS = (ROOT / "docs" / "pytorch.md").read_text().partition("## In Bazel")[2].partition("\n## ")[0]
RULE = """\
GENERATED = OUTPUTS

[
    filegroup(
        name = name,
        srcs = ["aten/src/ATen/native/" + name],
    )
    for name in ["native_functions.yaml", "tags.yaml"]
]

genrule(
    name = "generate-code",
    srcs = [
        ":native_functions.yaml",
        ":tags.yaml",
        ":version.txt",
        "//tools/autograd:specs",
        "@gradmill//:code",
    ],
    local = True,
    outs = GENERATED,
    cmd = "gradmill generate-code cache=$(RULEDIR)/gradmill " +
          "--gen-dir=$(RULEDIR) " +
          "--native-functions-path $(location :native_functions.yaml) " +
          "--tags-path=$(location :tags.yaml) ",
)

[
    genrule(
        name = "compile_" + name,
        srcs = [name],
        outs = [name + ".o"],
        cmd = "cp $< $@",
    )
    for name in GENERATED
    if name.endswith(".cpp")
]

filegroup(
    name = "objects",
    srcs = [name + ".o" for name in GENERATED if name.endswith(".cpp")],
)
"""


def workspace(checkout: Checkout) -> list[str]:
    """Adds what Bazel reads to a checkout, from the documentation; returns the files to generate."""
    specs, repository = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
    (checkout.root / "tools" / "autograd" / "BUILD.bazel").write_text(specs)
    (checkout.root / "WORKSPACE").write_text(repository)
    shutil.copyfile(ROOT / "examples" / "bazel" / "gradmill.bzl", checkout.root / "gradmill.bzl")
    checkout.generate()
    outputs = [f"torch/{name}" for name in checkout.files()]
    (checkout.root / "BUILD.bazel").write_text(RULE.replace("OUTPUTS", json.dumps(outputs)))
    for folder in ("torch", "build", "tools/setup_helpers", "torchgen"):
        path = checkout.root / folder
        path.unlink() if path.is_symlink() else shutil.rmtree(path)
    return outputs


def test_the_rule_is_the_one_of_the_documentation() -> None:
    (diff,) = re.findall(r"```diff\n(.*?)```", DOCS, re.DOTALL)
    lines = [(line[0], line[1:].strip()) for line in diff.splitlines() if not line.endswith("…")]
    assert {mark for mark, _ in lines} == {"+", "-", " "}
    assert all((line in RULE) == (mark != "-") for mark, line in lines)


@pytest.mark.slow
@needs_bazel
def test_bazel_compiles_what_an_edit_changes(
    tiny_built: Project, torch_specs: Path, tmp_path: Path, bazel_files: Path
) -> None:
    checkout = make(tmp_path / "pytorch", tiny_built.path, torch_specs)
    outputs = workspace(checkout)
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    with Bazel(bazel_files, checkout.root, environment) as bazel:

        def ran() -> list[str]:
            """The rules that Bazel ran, by the names of what they compile."""
            message = bazel.build("//:objects", ["--action_env=PATH", "--spawn_strategy=local"])
            return sorted(re.findall(r"SUBCOMMAND: # //:(?:\S*/)?(\S+) \[action", message))

        sources = sorted(name.rpartition("/")[2] for name in outputs if name.endswith(".cpp"))
        assert ran() == sorted([*sources, "generate-code"])
        assert ran() == []
        checkout.edit(FORMULA, f"# A comment.\n  {FORMULA}")
        assert ran() == ["generate-code"]
        checkout.edit("grad.mul(self.conj())", "grad * self.conj()")
        assert ran() == ["Functions.cpp", "generate-code"]
        made = checkout.root / "bazel-bin" / "torch" / "csrc" / "autograd" / "generated"
        assert made.joinpath("Functions.cpp.o").read_text() == made.joinpath("Functions.cpp").read_text()
        checkout.edit(FORMULA, FORMULA.replace("self:", "slef:"))
        words = ["build", "--action_env=PATH", "//:objects"]
        assert re.search(r"derivatives\.yaml:\d+:\d+: error: exp: slef:", bazel.run(*words, status=1))
