"""`gradmill generate-code` in Bazel: PyTorch's own rule, with all files as outputs, and the tool of docs/pytorch.md. A
copy stands in for the compiler."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from cli.test_generate_code import FORMULA, Checkout, make
from project import ROOT, Project
from with_bazel import Bazel, needs_bazel

DOCS = (ROOT / "docs" / "pytorch.md").read_text().partition("## In Bazel")[2].partition("\n## ")[0]
STAND_INS = ROOT / "examples" / "bazel" / "stand_ins"  # of what Bazel would download
RULE = """\
GENERATED = OUTPUTS

[
    filegroup(
        name = name,
        srcs = ["aten/src/ATen/" + folder + "/" + name],
        visibility = ["//tools/setup_helpers:__pkg__"],
    )
    for folder, name in [
        ("native", "native_functions.yaml"),
        ("native", "tags.yaml"),
        ("templates", "ViewMetaClassesPythonBinding.cpp"),
    ]
]

exports_files(["version.txt"])

genrule(
    name = "generate-code",
    srcs = [
        ":native_functions.yaml",
        ":tags.yaml",
    ],
    outs = GENERATED,
    cmd = "$(execpath //tools/setup_helpers:generate_code) " +
          "--gen-dir=$(RULEDIR) " +
          "--native-functions-path $(location :native_functions.yaml) " +
          "--tags-path=$(location :tags.yaml) ",
    tools = ["//tools/setup_helpers:generate_code"],
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


PY_BINARY = """\
py_binary(
    name = "generate_code_script",
    srcs = ["generate_code.py"],
    main = "generate_code.py",
)
"""


def workspace(checkout: Checkout) -> list[str]:
    """Adds what Bazel reads to a checkout, from the documentation; returns the files to generate."""
    tool, specs, repository = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
    (script,) = re.findall(r"```sh\n(#!.*?)```", DOCS, re.DOTALL)
    (checkout.root / "tools" / "autograd" / "BUILD.bazel").write_text(specs)
    stand_ins = (
        f'local_repository(name = "{name}", path = "{STAND_INS / name}")\n' for name in ("rules_cc", "rules_java")
    )
    (checkout.root / "WORKSPACE").write_text("".join(['workspace(name = "pytorch")\n', repository, *stand_ins]))
    shutil.copyfile(ROOT / "examples" / "bazel" / "gradmill.bzl", checkout.root / "gradmill.bzl")
    checkout.generate()
    outputs = [f"torch/{name}" for name in checkout.files()]
    (checkout.root / "BUILD.bazel").write_text(RULE.replace("OUTPUTS", json.dumps(outputs)))
    for folder in ("torch", "build", "torchgen"):
        path = checkout.root / folder
        path.unlink() if path.is_symlink() else shutil.rmtree(path)
    helpers = checkout.root / "tools" / "setup_helpers"
    (helpers / "BUILD.bazel").write_text(f"{PY_BINARY}\n{tool}")
    (helpers / "generate_code_gradmill.sh").write_text(script)
    (helpers / "generate_code_gradmill.sh").chmod(0o755)
    return outputs


@pytest.mark.slow(14)
@needs_bazel
@pytest.mark.parametrize("strategy", ["--strategy=Genrule=local", "--strategy=Genrule=sandboxed,local"])
def test_bazel_compiles_what_an_edit_changes(
    strategy: str, tiny_built: Project, torch_specs: Path, tmp_path: Path, bazel_files: Path
) -> None:
    options = ["--action_env=PATH", "--define=generator=gradmill"]
    checkout = make(tmp_path / "pytorch", tiny_built.path, torch_specs)
    outputs = workspace(checkout)
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    with Bazel(bazel_files, checkout.root, environment) as bazel:

        def ran() -> list[str]:
            """The rules that Bazel ran, by the names of what they compile."""
            message = bazel.build("//:objects", [*options, strategy])
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
        words = ["build", *options, strategy, "//:objects"]
        assert re.search(r"derivatives\.yaml:\d+:\d+: error: exp: slef:", bazel.run(*words, status=1))
