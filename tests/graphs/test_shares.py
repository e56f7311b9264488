"""Results that may alias an argument without an annotation in the schema: refused uses. Others: `real/shares.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphs.running import gradmill

ERRORS = {
    "x = torch.broadcast_tensors(x, y)[2]": "item 2 of a list of 2",
    "a, b, c = torch.broadcast_tensors(x, y)": "3 names for a list of 2 tensors",
    "torch.unsafe_split(x, 1)[0].mul_(2)": "'aten::unsafe_split.Tensor' as new memory, and this writes",
    "torch.unsafe_chunk(x, 2)[0][0].mul_(2)": "'aten::unsafe_chunk' as new memory, and this writes",
    "a = x * 2; b = torch.unsafe_split_with_sizes(a, [1]); b[0].mul_(2); x = a + 1": "as new memory, and this writes",
    "a = x * 2; b = torch._unsafe_view(a, (-1,)); a.mul_(2); x = b + 1": "as new memory, and this writes",
    "a = x * 2; b = a.dequantize(); b[0] = y; x = a + 1": "as new memory, and this writes",
    "torch.native_batch_norm(x, y, y, y, y, True, 0.1, 0.1, out=(x, y, y))": "and to 'running_mean', which",
}


@pytest.mark.parametrize("line", ERRORS)
def test_errors_are_reported_at_their_line(line: str, tmp_path: Path) -> None:
    head = "import torch\nfrom torch import Tensor\n\n\ndef f(x: Tensor, y: Tensor) -> Tensor:\n"
    (tmp_path / "f.py").write_text(f"{head}    {line}\n    return x\n")
    ended = gradmill(["specs=torch", "graphs=f.py", "families=graphs"], tmp_path)
    assert ended.status == 1 and "f.py:6:" in ended.stderr and ERRORS[line] in ended.stderr, ended.stderr


@pytest.mark.parametrize("view", ["torch.atleast_2d(x)", "x.mT"])
def test_whether_a_view_is_its_argument_is_known_at_run_time(view: str, tmp_path: Path) -> None:
    head = "import torch\nfrom torch import Tensor\n\n\ndef f(x: Tensor) -> Tensor:\n"
    (tmp_path / "f.py").write_text(f"{head}    v = {view}\n    v.unsqueeze_(0)\n    return v\n")
    gradmill(["specs=torch", "graphs=f.py", "families=graphs"], tmp_path).ok()
    text = (tmp_path / "generated" / "torch" / "graphs" / "f.cpp").read_text()
    assert "is_same = v.sizes() == x.sizes() && v.strides() == x.strides();" in text
    assert "TORCH_CHECK(!is_same, " in text
