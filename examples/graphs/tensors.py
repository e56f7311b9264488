"""Files in the format of safetensors, read and written without its package: a header in JSON, then the bytes of all
tensors.

The package does the same: `save_file` and `load_file` of `safetensors.torch`.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

DTYPES = {"F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16, "I64": torch.int64, "BOOL": torch.bool}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def save(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Writes tensors by name. A dtype that `DTYPES` lacks is a KeyError."""
    header, data = {}, bytearray()
    for name, tensor in tensors.items():
        whole = tensor.detach().contiguous()
        begin = len(data)
        data += ctypes.string_at(whole.data_ptr(), whole.nbytes) if whole.nbytes else b""
        header[name] = {
            "dtype": NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, len(data)],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def load(path: Path) -> dict[str, Tensor]:
    """The tensors of a file by name."""
    data = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, each in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = each["data_offsets"]
            values = torch.frombuffer(data[start + begin : start + end], dtype=DTYPES[each["dtype"]])
            tensors[name] = values.reshape(each["shape"])
    return tensors
