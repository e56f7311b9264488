"""Graphs on a device other than the CPU, the toy of `examples/vendor`: the same losses and parameters in each step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from cpp import toolchain
from project import ROOT

from graphs import library, models

pytestmark = [
    pytest.mark.slow(24),
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
    pytest.mark.filterwarnings("ignore"),
]

NAMES = ("conv_block", "encoder_layer")
CREATING = "gpt"  # creates tensors, on the CPU where it was exported
DROPPING = """\
import torch.nn.functional as F
from torch import Tensor


def dropping(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, dropout_p=0.4)


def masked(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, mask, 0.4)
"""
# A process that has the device: its name is for the whole process.
TRAINING = """
import os
import sys
from pathlib import Path
import torch
import torch.nn.functional as F
from graphs import models
from cpp import toy

folder = Path(sys.argv[1])
toy.know(folder / "device.so")
torch.ops.load_library(str(folder / "graphs.so"))


def trained(name, device, call):
    model = models.model(name).to(device)
    inputs = [each.to(device) for each in models.inputs(name)]
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = call(model, inputs)
        assert loss.device.type == device, loss.device
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().cpu())
    assert all(each.grad.device.type == device for each in model.parameters())
    return losses + [each.detach().cpu() for each in model.state_dict().values()]


for name in sys.argv[2:]:
    operator = getattr(torch.ops.on_a_device, name)
    graph = lambda model, inputs: operator(*model.parameters(), *model.buffers(), *inputs)
    eager = trained(name, "cpu", lambda model, inputs: model(*inputs))
    assert eager[4] < eager[0]
    for device in ("toy",) if name == "gpt" else ("cpu", "toy"):
        found = trained(name, device, graph)
        assert len(found) == len(eager)
        for one, other in zip(eager, found):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)
    print(name, "is trained", flush=True)

seen, given = [], torch.rand(3, 2, 4, 6, 8, dtype=torch.float64)
eager = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, dropout_p=0.4)
for call, device in ((eager, "cpu"), (eager, "toy"), (torch.ops.on_a_device.dropping, "toy")):
    torch.manual_seed(3)
    qkv = given.to(device).detach().requires_grad_()
    result = call(*qkv)
    (result * result).sum().backward()
    seen.append((result.detach().cpu(), qkv.grad.cpu(), torch.rand(2)))
torch.testing.assert_close(seen[1], seen[0])
torch.testing.assert_close(seen[2], seen[0])
print("attention draws as on the CPU", flush=True)

strides, mask = [], torch.zeros(6, 1, dtype=torch.float64).to("toy").expand(6, 6)
choose = lambda q, k, v, mask, *more, **others: strides.append(mask.stride(-1)) or 0
with torch.library._scoped_library("aten", "IMPL") as kernels:
    kernels.impl("_fused_sdp_choice", choose, "PrivateUse1")
    torch.ops.on_a_device.masked(*given.to("toy"), mask)
print("a mask with strides", strides, flush=True)
os._exit(0)  # a thread of autograd for the device may still wait for Python's lock
"""


def test_graphs_train_on_another_device_as_on_the_cpu(tmp_path: Path) -> None:
    exported = tmp_path / "exported"
    exported.mkdir()
    for name in (*NAMES, CREATING):
        torch.export.save(torch.export.export(models.model(name), models.inputs(name)), exported / f"{name}.pt2")
    (exported / "dropping.py").write_text(DROPPING)
    generated = library.generate(exported, tmp_path, "on_a_device", "torch", "device=toy")
    device = tmp_path / "device.cpp"
    parts = (ROOT / "examples/vendor/csrc/device.cpp", ROOT / "tests/cpp/toy_operators.cpp")
    device.write_text("".join(f'#include "{part}"\n' for part in parts))
    library.linked([library.together(generated)], tmp_path / "graphs.so")
    library.linked([library.compiled(device, generated, *parts)], tmp_path / "device.so")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", TRAINING, str(tmp_path), *NAMES, CREATING]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-4000:]
    trained = [f"{name} is trained" for name in (*NAMES, CREATING)]
    assert ended.stdout.splitlines() == [*trained, "attention draws as on the CPU", "a mask with strides [1]"]


def test_batch_norm_for_cuda_chooses_its_kernel_as_eager_does(tmp_path: Path) -> None:
    path = tmp_path / "conv_block.pt2"
    torch.export.save(torch.export.export(models.model("conv_block"), models.inputs("conv_block")), path)
    built = []
    for memory in "10":
        (tmp_path / memory).mkdir()
        words = ("device=cuda", f"memory={memory}")
        built.append(library.build(path, tmp_path / memory, f"for_cuda_{memory}", "torch", *words))
        text = (tmp_path / memory / "generated/graphs/conv_block.cpp").read_text()
        assert "_ops::_batch_norm_with_update::" in text
        assert ("batch_normalized_on_device(" in text) == (memory == "0")
    found = []
    for call in (None, *(each.conv_block for each in built)):
        model = models.model("conv_block")
        given = models.inputs("conv_block")
        loss = model(*given) if call is None else call(*model.parameters(), *model.buffers(), *given)
        loss.backward()
        found.append([loss, *(each.grad for each in model.parameters()), *model.buffers()])
    torch.testing.assert_close(found[1], found[0])
    assert all(map(torch.equal, found[1], found[2]))  # with a budget, too
