"""The header of a model's state: structs with a member for each tensor, and the table of their names in the module."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from forked import gradmill
from torch import Tensor, nn
from torch.export import export, save

from gradmill.extensions.graphs.queries import files as graph_files
from gradmill.extensions.graphs.read.exported.archive import read_model
from graphs import library
from graphs.reading import Reading

pytestmark = pytest.mark.filterwarnings("ignore")


class Stateful(nn.Module):
    """State of all kinds: trained, frozen, shared, persistent or not, expanded, transposed, a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)
        self.turned = nn.Parameter(torch.ones(4, 2).t())
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("same", torch.ones(1).expand(4))
        self.register_buffer("mask", torch.ones(4), persistent=False)
        self.table = torch.arange(4.0)

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1)
        y = x * self.first.weight * self.second.weight * self.frozen * self.same * self.mask * self.table
        return y.sum() * self.turned.sum()


class Named(nn.Module):
    """Names that are no names in C++, or that become the same one."""

    NAMES = ("class", "a_b", "a__b", "_Up", "names_parameters", "EOF", "x", "é", "è", "λ")

    def __init__(self) -> None:
        super().__init__()
        for name in self.NAMES:
            self.register_parameter(name, nn.Parameter(torch.ones(2)))
        self.a = nn.ParameterDict({"b": torch.ones(2)})
        self.layers = nn.Sequential(nn.ParameterList([torch.ones(2)]))

    def forward(self, parameters: Tensor) -> Tensor:
        for each in self.parameters():
            parameters = parameters * each
        return parameters


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both models, exported."""
    folder = tmp_path_factory.mktemp("models")
    save(export(Stateful(), (torch.ones(4, 4),)), folder / "stateful.pt2")
    save(export(Named(), (torch.ones(2),)), folder / "names.pt2")
    return folder


@pytest.fixture(scope="module")
def headers(models: Path) -> dict[str, str]:
    """The headers of their states, by model."""
    reading = Reading(models)
    assert not reading.problems, reading.report
    return {stem: graph_files.whole(reading.build.db, f"graphs/{stem}.state.h") for stem in ("stateful", "names")}


@pytest.fixture
def stateful(models: Path, tmp_path: Path) -> Path:
    """A copy of a model, in an empty folder."""
    return Path(shutil.copyfile(models / "stateful.pt2", tmp_path / "stateful.pt2"))


STATEFUL = """\
struct stateful_parameters {
  at::Tensor frozen; // frozen: float32 [4], frozen
  at::Tensor turned; // turned: float32 [2, 4]
  at::Tensor first_weight; // first.weight: float32 [4, 4]
  at::Tensor second_weight; // second.weight: float32 [4, 4], the same tensor as first.weight
};
struct stateful_buffers {
  at::Tensor count; // count: int64 []
  at::Tensor same; // same: float32 [4]
};
struct stateful_constants {
  at::Tensor mask; // mask: float32 [4]
  at::Tensor table; // table: float32 [4]
};
"""


def test_each_tensor_of_the_state_is_a_member_with_its_name_and_shape(headers: dict[str, str]) -> None:
    text = headers["stateful"]
    assert "".join(re.findall(r"^struct .*?^};\n", text, re.MULTILINE | re.DOTALL)) == STATEFUL


def test_members_have_names_that_cpp_takes_and_that_differ(headers: dict[str, str]) -> None:
    text = headers["names"]
    members = dict(re.findall(r"at::Tensor (\w+); // ([^:]+):", text))
    assert members == {
        "class_": "class",
        "a_b": "a_b",
        "a_b_2": "a__b",
        "Up": "_Up",
        "names_parameters_2": "names_parameters",
        "EOF_": "EOF",
        "x": "x",
        "e": "é",
        "e_2": "è",
        "lamda": "λ",
        "a_b_3": "a.b",
        "layers_0_0": "layers.0.0",
    }
    assert "const names_parameters& parameters_,\n    const at::Tensor& parameters\n" in text


@pytest.mark.slow(12)
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
def test_the_headers_compile_together_in_the_dialect_with_the_most_macros(models: Path, tmp_path: Path) -> None:
    generated = library.generate(models, tmp_path, "states")
    source = tmp_path / "both.cpp"
    source.write_text("".join(f'#include "graphs/{stem}.state.h"\n' for stem in ("names", "stateful")))
    words = ["c++", *library.flags("-O0"), "-std=gnu++20", "-Werror", f"-I{generated}", "-fsyntax-only", str(source)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_header_is_a_file_of_the_graph_in_any_layout(stateful: Path, tmp_path: Path) -> None:
    words = ["graphs=stateful.pt2", "families=graphs", "layout=split", "generated=g"]
    gradmill(words, tmp_path).ok()
    assert (tmp_path / "g/graphs/stateful.state.h").exists() and (tmp_path / "g/graphs/graph_state.h").exists()
    manifest = json.loads(next(tmp_path.rglob("manifest.json")).read_text())
    (file,) = (each for each in manifest["files"] if each["path"] == "graphs/stateful.state.h")
    assert file["units"] == ["stateful"] and "graphs/stateful.pt2" in file["inputs"]
    stateful.rename(tmp_path / "other.pt2")
    gradmill(["graphs=other.pt2", *words[1:]], tmp_path).ok()
    names = {path.name for path in (tmp_path / "g/graphs").glob("*state*.h")}
    assert names == {"graph_state.h", "other.state.h"}


def test_an_edited_graph_with_the_same_state_leaves_the_header(stateful: Path, tmp_path: Path) -> None:
    words = ["graphs=stateful.pt2", "families=graphs", "generated=g"]
    assert gradmill(words, tmp_path).status == 0
    save(export(Doubled(), (torch.ones(4, 4),)), stateful)
    ended = gradmill(words, tmp_path).ok()
    (files,) = re.findall(r"\.  shard: (.*)", ended.stdout)
    assert files == "graphs/stateful.cpp"


class Doubled(Stateful):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x * 2)


def test_functions_of_a_python_file_have_no_state(tmp_path: Path) -> None:
    text = "from torch import Tensor\n\n\ndef f(x: Tensor) -> Tensor:\n    return x * 2\n"
    (tmp_path / "plain.py").write_text(text)
    gradmill(["graphs=plain.py", "families=graphs", "generated=g"], tmp_path).ok()
    assert not list((tmp_path / "g/graphs").glob("*state*"))


# ---- the list of weights


def with_weights(path: Path, edit: Callable[[bytes], bytes]) -> None:
    """Edits the list of weights of a `.pt2` file."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, edit(data) if name.endswith("model_weights_config.json") else data)


DAMAGED = (b"{", b"[]", b'{"config": 3}', b'{"config": {"a": []}}', b"{}", b"\xff", b"[" * 100_000)


def test_a_damaged_list_of_weights_is_an_error(stateful: Path, tmp_path: Path) -> None:
    for text in DAMAGED:
        with_weights(stateful, lambda _, text=text: text)  # type: ignore[misc]
        with pytest.raises(OSError, match="its list of weights cannot be read: export the model again"):
            read_model(str(stateful))
    ended = gradmill(["graphs=stateful.pt2", "families=graphs"], tmp_path)
    assert ended.status == 1 and "Traceback" not in ended.stderr
    assert "stateful.pt2: error: cannot be read: its list of weights cannot be read" in ended.stderr


def test_parts_of_one_memory_that_differ_are_not_shared(stateful: Path) -> None:
    def elsewhere(data: bytes) -> bytes:
        model: Any = json.loads(data)
        model["config"]["second.weight"]["tensor_meta"]["storage_offset"] = {"as_int": 1}
        return json.dumps(model).encode()

    shared = {"first.weight": "first.weight", "second.weight": "first.weight"}
    assert json.loads(read_model(str(stateful)))["shared"] == shared
    with_weights(stateful, elsewhere)
    assert "shared" not in json.loads(read_model(str(stateful)))
