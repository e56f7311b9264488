"""For `gradmill verify`: the device, and what the schemas do not say. `TOY` is the folder of libtoy.so."""

import os
import types
from pathlib import Path

import torch

torch.utils.rename_privateuse1_backend("toy")
torch._register_device_module("toy", types.ModuleType("torch.toy"))
torch.ops.load_library(str(Path(os.environ.get("TOY", "build/toy")).resolve() / "libtoy.so"))

device = "toy"  # where operators and formulas run
