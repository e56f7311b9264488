"""`.pt2` files as torch.export writes them: how they are read, and which are refused."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._export.serde import serialize
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, export, save

from gradmill.extensions.graphs.model import Ref
from gradmill.extensions.graphs.queries import graphs
from gradmill.extensions.graphs.read.exported import format
from gradmill.extensions.graphs.read.exported.archive import read_model
from graphs import models
from graphs.reading import Reading, written
from graphs.running import gradmill

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_numbers_of_dtypes_layouts_and_formats_are_those_of_torch_export() -> None:
    for own, known in (
        (format.DTYPES, serialize._SERIALIZE_TO_TORCH_DTYPE),
        (format.LAYOUTS, serialize._SERIALIZE_TO_TORCH_LAYOUT),
        (format.MEMORY_FORMATS, serialize._SERIALIZE_TO_TORCH_MEMORY_FORMAT),
    ):
        assert own == {int(number): str(each).removeprefix("torch.") for number, each in known.items() if number in own}
    assert format.MEMORY_FORMATS.keys() == serialize._SERIALIZE_TO_TORCH_MEMORY_FORMAT.keys()


class Small(nn.Module):
    """A parameter, mutated buffers, a constant tensor, a number, a region without grad, a list of views."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scale", torch.ones(4), persistent=False)
        self.table = torch.arange(4.0)

    def forward(self, x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
        self.count.add_(1)
        x.mul_(2)
        y = torch.relu_(x * self.weight * self.scale + self.table * n)
        first, second = y.chunk(2)
        with torch.no_grad():
            z = y * 3
        return torch.cat([first, second], 1), z.max(dim=0).values, x


SMALL = """\
add_ = aten::add_.Tensor(self=b_count, other=1, alpha=1)
mul_ = aten::mul_.Tensor(self=x, other=2)
mul = aten::mul.Tensor(self=mul_, other=p_weight)
mul_1 = aten::mul.Tensor(self=mul, other=b_scale)
mul_2 = aten::mul.Tensor(self=c_table, other=3)
add = aten::add.Tensor(self=mul_1, other=mul_2, alpha=1)
relu_ = aten::relu_(self=add)
chunk[2] = aten::chunk(self=relu_, chunks=2, dim=0)
mul_3 = aten::mul.Tensor(self=relu_, other=3) without grad
cat = aten::cat(tensors=[chunk[0], chunk[1]], dim=1)
getitem_3, getitem_4 = aten::max.dim(self=mul_3, dim=0, keepdim=False)
return cat, getitem_3, mul_
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small model, exported."""
    path = tmp_path_factory.mktemp("exported") / "small.pt2"
    save(export(Small(), (torch.ones(2, 4), 3)), path)
    return path


def test_a_model_is_read_as_it_was_traced(small: Path) -> None:
    function = Reading(small).function("small")
    lines = "\n".join(written(function)) + "\n"
    # The numbers in the names of results' items vary with torch's release.
    assert _renumbered(lines) == _renumbered(SMALL)
    assert [(i.name, i.kind, i.source, i.type) for i in function.inputs] == [
        ("p_weight", "parameter", "weight", "Tensor"),
        ("b_count", "buffer", "count", "Tensor"),
        ("b_scale", "buffer", "scale", "Tensor"),
        ("c_table", "constant", "table", "Tensor"),
        ("x", "user", "", "Tensor"),
        ("n", "user", "", "int"),
    ]
    x = function.inputs[4].facts
    assert x is not None and (x.dtype, x.sizes, x.strides, x.device) == ("float32", (2, 4), (4, 1), "cpu")
    assert function.inputs[5].fixed is not None
    assert not function.single


class Heads(nn.Module):
    """A matmul of an item of a list, which has known sizes, too."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = x.unbind(0)
        return (q @ k.mT).softmax(-1) @ v


def test_an_item_of_a_list_has_known_sizes(tmp_path: Path) -> None:
    """Else a matmul saves the item, and with it all of the list's memory."""
    save(export(Heads(), (torch.ones(3, 2, 2, 4, 5),)), tmp_path / "heads.pt2")
    reading = Reading(tmp_path / "heads.pt2", "torch")
    function = graphs.lean(reading.build.db, "heads.pt2", "heads")
    assert function is not None, reading.report
    calls = [call.op for call in function.calls]
    assert calls.count("aten::bmm") == 2 and "aten::matmul" not in calls


class Whole(nn.Module):
    """Whole numbers of a recorded composite, of a branch, of a cast; and what is computed from them."""

    def forward(self, flag: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        factors, pivots = torch.linalg.lu_factor(x)
        n = torch.cond(flag, lambda x: x.argmax(1), lambda x: x.argmin(1), (x,))
        return torch.linalg.lu_solve(factors, pivots, x), pivots * 0.5, n * 0.5, x.long() * 0.5


def test_whole_numbers_have_no_history(tmp_path: Path) -> None:
    save(export(Whole(), (torch.tensor(True), torch.rand(3, 3))), tmp_path / "whole.pt2")
    plan = Reading(tmp_path / "whole.pt2", "torch").plan()
    assert [each.needs for each in plan.returned] == [(1,), (), (), ()]
    assert set(plan.needs.refusals.values()) == {()} and plan.needs.gates == []


def _renumbered(text: str) -> str:
    names: dict[str, str] = {}
    for word in text.replace(",", " ").replace("=", " ").replace("(", " ").replace(")", " ").split():
        if word.startswith("getitem_"):
            names.setdefault(word, f"item{len(names)}")
    for word, name in sorted(names.items(), reverse=True):
        text = text.replace(word, name)
    return text


def test_mutations_of_a_decomposed_model_are_copied_at_the_end(tmp_path: Path) -> None:
    program = export(Small(), (torch.ones(2, 4), 3)).run_decompositions({})
    save(program, tmp_path / "small.pt2")
    function = Reading(tmp_path / "small.pt2", decomposed="1").function("small")
    copies = [line for line in written(function) if "aten::copy_" in line]
    assert len(copies) == 2 and "self=b_count" in copies[0] and "self=x" in copies[1]


class Doubled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mul_(2)


def test_an_output_of_a_decomposed_model_is_the_input_that_it_wrote_to(tmp_path: Path) -> None:
    save(export(Doubled(), (torch.ones(2, 4),)).run_decompositions({}), tmp_path / "doubled.pt2")
    function = Reading(tmp_path / "doubled.pt2", decomposed="1").function("doubled")
    assert [each.value for each in function.outputs] == [Ref("x")]


class Straight(nn.Module):
    """Rounds, with a gradient that goes around the rounding."""

    def forward(self, x: Tensor) -> Tensor:
        y = x * 4
        return y + (y.round() - y).detach()


def test_a_decomposed_model_is_refused_unless_it_is_asked_for(tmp_path: Path) -> None:
    path, program = tmp_path / "straight.pt2", export(Straight(), (torch.ones(2, 4),))
    save(program, path)
    assert "detach = aten::detach(self=sub)" in written(Reading(path, "torch").function("straight"))
    save(program.run_decompositions(), path)
    reading = Reading(path, "torch")
    assert reading.functions["straight"] is None
    assert "the model was decomposed: its verifiers are [ATEN], not [TRAINING]" in reading.report
    hint = "before run_decompositions(); if the module has no detach() and no no_grad, write decomposed=1"
    assert hint in reading.report
    assert Reading(path, "torch", decomposed="1").functions["straight"] is not None


class One(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


def test_a_model_that_returns_one_tensor_is_a_function_that_returns_no_tuple(tmp_path: Path) -> None:
    save(export(One(), (torch.ones(2),)), tmp_path / "one.pt2")
    assert Reading(tmp_path / "one.pt2").function("one").single


class Nested(nn.Module):
    def forward(self, x: Tensor) -> dict[str, Any]:
        return {"second": x * 2, "first": [x + 1, (x, None)]}


def test_items_of_lists_and_dictionaries_are_returned_in_the_order_of_the_exported_tree(tmp_path: Path) -> None:
    program = export(Nested(), (torch.ones(2),))
    save(program, tmp_path / "nested.pt2")
    assert written(Reading(tmp_path / "nested.pt2").function("nested"))[-1] == "return mul, add, x, None"


# ---- refused models


class Loop(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return while_loop(lambda x: x.sum() < 10, lambda x: (x + 1,), (x,))[0]


def refused(path: Path, specs: str = "core") -> str:
    """The standard error of gradmill for a file; it fails, and writes nothing."""
    ended = gradmill([f"specs={specs}", f"graphs={path.name}", "families=graphs"], path.parent)
    assert "Traceback" not in ended.stdout + ended.stderr
    assert ended.status == 1, ended.stderr
    assert not (path.parent / "generated").exists()
    return ended.stderr


def test_a_loop_is_refused(tmp_path: Path) -> None:
    save(export(Loop(), (torch.ones(2),)), tmp_path / "loop.pt2")
    assert refused(tmp_path / "loop.pt2").startswith(
        "loop.pt2: error: loop: node 'while_loop': 'while_loop' is a loop\n"
        "  hint: a graph has branches, torch.cond, and no loops: export the body by itself\n"
    )


def edited(small: Path, tmp_path: Path, edit: Callable[[Any], Any]) -> Path:
    """A copy of the small model with another `model.json`."""
    path = tmp_path / "small.pt2"
    with zipfile.ZipFile(small) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.namelist():
            data = old.read(member)
            if member.endswith("model.json"):
                changed = edit(json.loads(data))
                data = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
            new.writestr(member, data)
    return path


def set_at(*path: Any) -> Callable[[Any], Any]:
    """An edit: sets the item at the path `path[:-1]` to `path[-1]`."""

    def edit(model: Any) -> Any:
        *places, last, value = path
        inner = model
        for place in places:
            inner = inner[place]
        inner[last] = value
        return model

    return edit


NODES = ("graph_module", "graph", "nodes")
VALUES = ("graph_module", "graph", "tensor_values")
SIGNATURE = ("graph_module", "signature")
FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "another version": (set_at("schema_version", "major", 9), "the model has schema version 9.20; only 8 is supported"),
    "no version": (lambda model: {}, "the model cannot be read: Object missing required field `schema_version`"),
    "no JSON": (lambda model: b"{", "the model cannot be read: Input data was truncated"),
    "not UTF-8": (lambda model: b'{"\xff": 1}', "the model cannot be read"),
    "bottomless": (lambda model: b"[" * 100_000, "the model cannot be read"),
    "another type": (set_at(*NODES, 0, "target", 3), "the model cannot be read: Expected `str`, got `int`"),
    "an unknown operator": (
        set_at(*NODES, 1, "target", "torch.ops.aten.mull_.Tensor"),
        "node 'mul_': the spec set has no operator 'aten::mull_.Tensor'\n  hint: did you mean 'mul_'?",
    ),
    "an unknown overload": (
        set_at(*NODES, 1, "target", "torch.ops.aten.mul_.Tensr"),
        "node 'mul_': the spec set has no operator 'aten::mul_.Tensr'",
    ),
    "an unknown operator of torch": (
        set_at(*NODES, 1, "target", "torch.ops.prims.mull.default"),
        "node 'mul_': the spec set has no operator 'prims::mull.default'",
    ),
    "a Python function": (
        set_at(*NODES, 1, "target", "_operator.concat"),
        "node 'mul_': the operator '_operator.concat' is not supported in a graph",
    ),
    "a higher-order operator": (
        set_at(*NODES, 1, "target", "torch.ops.higher_order.flex_attention"),
        "node 'mul_': 'flex_attention' is a higher-order operator",
    ),
    "an unknown argument": (
        set_at(*NODES, 1, "inputs", 1, "name", "othr"),
        "node 'mul_': 'aten::mul_.Tensor' has no argument 'othr'\n  hint: did you mean 'other'?",
    ),
    "a missing argument": (
        set_at(*NODES, 1, "inputs", []),
        "node 'mul_': 'aten::mul_.Tensor' cannot be called: its argument 'self' is missing",
    ),
    "an undefined name": (
        set_at(*NODES, 1, "inputs", 0, "arg", {"as_tensor": {"name": "nowhere"}}),
        "node 'mul_': 'nowhere' is used before it is defined",
    ),
    "a custom object": (
        set_at(*SIGNATURE, "input_specs", 0, {"custom_obj": {"arg": {}, "custom_obj_name": "x"}}),
        "an input is a custom object, a token or of an unknown kind",
    ),
    "an input without metadata": (
        set_at(*SIGNATURE, "input_specs", 0, "parameter", "arg", "name", "nowhere"),
        "the file has no metadata for the input 'nowhere'",
    ),
    "an output that is a gradient": (
        set_at(
            *SIGNATURE, "output_specs", 0, {"gradient_to_parameter": {"arg": {"name": "cat"}, "parameter_name": "w"}}
        ),
        "an output is a gradient, a token or of an unknown kind",
    ),
    "an unknown dtype": (
        set_at("graph_module", "graph", "tensor_values", "x", "dtype", 99),
        "the dtype of number 99 is not supported in a graph",
    ),
    "an invalid float": (
        set_at(*NODES, 1, "inputs", 1, "arg", {"as_float": "much"}),
        "node 'mul_': 'much' is not a number",
    ),
    "a name that is code": (
        set_at(*SIGNATURE, "input_specs", 0, "parameter", "parameter_name", 'x"\n#error'),
        "the name 'x\"\\n#error' cannot be written in C++",
    ),
}


LARGE = {  # numbers beyond 64 bits: where they are in the file, and what is refused
    "an argument": (set_at(*NODES, 1, "inputs", 1, "arg", {"as_int": 2**63}), "nodes[1].inputs[1].arg.as_int`"),
    "a list": (set_at(*NODES, 1, "inputs", 1, "arg", {"as_ints": [1, -(2**70)]}), "arg.as_ints[1]`"),
    "a size": (set_at(*VALUES, "x", "sizes", 0, {"as_int": 2**70}), "tensor_values[...].sizes[0].as_int`"),
    "a stride": (set_at(*VALUES, "x", "strides", 1, {"as_int": 2**64}), "tensor_values[...].strides[1].as_int`"),
    "a size of a result": (set_at(*VALUES, "mul", "sizes", 0, {"as_int": 2**64}), "sizes[0].as_int`"),
    "a dtype": (set_at(*VALUES, "x", "dtype", 2**64), "tensor_values[...].dtype`"),
    "a device": (set_at(*VALUES, "x", "device", {"type": "cuda", "index": 2**64}), "device.index`"),
    "a limit": (
        set_at("range_constraints", {"s0": {"min_val": 0, "max_val": 2**63}}),
        "range_constraints[...].max_val`",
    ),
    "an expression": (
        set_at(*VALUES, "x", "sizes", 0, {"as_expr": {"expr_str": f"Integer({2**63})"}}),
        "the size of an input has a number of more than 64 bits",
    ),
    "a guard": (
        set_at("guards_code", [f"L['x'].size()[0] < {2**63}"]),
        f"the export depends on 'L['x'].size()[0] < {2**63}', which a graph cannot check",
    ),
    "a dimension in a guard": (
        set_at("guards_code", [f"L['x'].size()[{2**63}] < 1"]),
        f"the export depends on 'L['x'].size()[{2**63}] < 1', which a graph cannot check",
    ),
}
UNREADABLE = {
    f"a size {text}": (
        set_at(*VALUES, "x", "sizes", 0, {"as_expr": {"expr_str": text}}),
        f"the size '{text.partition('(')[2][:-1] or text}' is not supported in a graph",
    )
    for text in ("Symbol(x)", "Symbol(1)", "Symbol({[]: 1})", "Integer('1')", "Integer(x)", "3")
}


@pytest.mark.parametrize("where", {**LARGE, **UNREADABLE})
def test_a_size_or_a_number_that_no_model_has_is_refused(where: str, small: Path, tmp_path: Path) -> None:
    edit, problem = {**LARGE, **UNREADABLE}[where]
    assert problem in refused(edited(small, tmp_path, edit))


@pytest.mark.parametrize("fault", FAULTS)
def test_an_invalid_model_is_refused(fault: str, small: Path, tmp_path: Path) -> None:
    edit, problem = FAULTS[fault]
    text = refused(edited(small, tmp_path, edit))
    assert text.startswith("small.pt2: error: ")
    assert problem in text


DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "it is not a zip file: write it with torch.export.save": lambda data: b"no zip",
    "it is truncated or damaged: export the model again": lambda data: data[: len(data) // 2],
    "cannot be read": lambda data: data.replace(b'"graph_module"', b'?graph_module"', 1),
}


@pytest.mark.parametrize("problem", DAMAGED)
def test_a_damaged_file_is_refused(problem: str, small: Path, tmp_path: Path) -> None:
    (tmp_path / "model.pt2").write_bytes(DAMAGED[problem](small.read_bytes()))
    assert problem in refused(tmp_path / "model.pt2")


def test_a_large_model_that_is_not_compressed_is_read(small: Path, tmp_path: Path) -> None:
    """As `torch.export.save` writes it."""
    with zipfile.ZipFile(small) as old, zipfile.ZipFile(tmp_path / "model.pt2", "w") as new:
        for name in old.namelist():
            blanks = b" " * (40 << 20) if name.endswith("models/model.json") else b""
            new.writestr(name, old.read(name) + blanks)
    assert read_model(str(tmp_path / "model.pt2")).endswith(b"  ")


def test_a_zip_without_a_model_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model.pt2", "w") as file:
        file.writestr("x/archive_format", "pt2")
    assert "it must contain one model, models/NAME.json; it contains none" in refused(tmp_path / "model.pt2")


def test_all_errors_of_a_model_are_reported(small: Path, tmp_path: Path) -> None:
    def edit(model: Any) -> Any:
        set_at(*NODES, 1, "target", "torch.ops.aten.mull_.Tensor")(model)
        return set_at(*NODES, 5, "target", "torch.ops.aten.ad.Tensor")(model)

    text = refused(edited(small, tmp_path, edit))
    assert "aten::mull_" in text and "aten::ad" in text and "2 errors" in text


@pytest.mark.slow
def test_weights_are_not_an_input(small: Path, tmp_path: Path) -> None:
    """Two models that differ only in their weights are the same graph."""
    shutil.copyfile(small, tmp_path / "small.pt2")
    first = Reading(tmp_path / "small.pt2").build.db.input("graph/small.pt2")
    with zipfile.ZipFile(tmp_path / "small.pt2", "a") as file:
        file.writestr("small/data/weights/weight_9", b"more")
    assert Reading(tmp_path / "small.pt2").build.db.input("graph/small.pt2") == first


def test_a_dropout_of_sizes_known_at_run_time_may_return_its_input(tmp_path: Path) -> None:
    program = export(models.Dropping(), (torch.rand(4, 4),), dynamic_shapes={"x": {0: Dim("rows")}})
    save(program, tmp_path / "dropping.pt2")
    reading = Reading(tmp_path / "dropping.pt2", "torch")
    function = graphs.lean(reading.build.db, "dropping.pt2", "dropping")
    assert function is not None, reading.report
    assert "aten::native_dropout" not in [call.op for call in function.calls]
