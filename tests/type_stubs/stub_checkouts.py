"""Checkouts with what type stubs are made of: a small script, small templates, docstrings."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from project import files_in

HERE = Path(__file__).parent
SCRIPT = "tools/pyi/gen_pyi.py"
TEMPLATES = {
    "torch/_C/__init__.pyi.in": """\
# ${generated_comment}
class Tag:
    ${tag_attributes}

class DispatchKey:
    ${dispatch_key_hints}

class _TorchDispatchModeKey:
    ${torch_dispatch_mode_key_hints}

class TensorBase:
    ${tensor_method_hints}

_TensorBase = TensorBase
""",
    "torch/_C/_VariableFunctions.pyi.in": "# ${generated_comment}\n${all_directive}\n\n${function_hints}\n",
    "torch/_C/return_types.pyi.in": "# ${generated_comment}\n${structseq_defs}\n\nall_return_types: list[type] = []\n",
    "torch/nn/functional.pyi.in": "# ${generated_comment}\n${imported_hints}\n\n${dispatched_hints}\n",
    "torch/_C/_nn.pyi.in": "# ${generated_comment}\n${c_nn_function_hints}\n",
}
DOCS = {
    "torch/_torch_docs.py": '''\
import re

import torch._C
from torch._C import _add_docstr as add_docstr


def parse_kwargs(desc):
    regx = re.compile(r"\\n\\s{4}(?!\\s)")
    kwargs = [section.strip() for section in regx.split(desc)]
    return {desc.split(" ")[0]: desc for desc in kwargs if len(desc) > 0}


common_args = parse_kwargs("""
    input (Tensor): the input tensor.
    out (Tensor, optional): the output tensor.
""")

add_docstr(
    torch.exp,
    r"""
exp(input) -> Tensor

Args:
    {input}
""".format(**common_args)
    + "\\nMore.",
)
torch.mul.__module__ = "torch"
for name in ("mul", "sigmoid"):
    if hasattr(torch, name):
        add_docstr(getattr(torch, name), f"{name} of two tensors.")
''',
    "torch/_tensor_docs.py": """\
import torch._C
from torch._C import _add_docstr as add_docstr
from torch._torch_docs import common_args


def add_docstr_all(method: str, docstr: str) -> None:
    add_docstr(getattr(torch._C.TensorBase, method), docstr)


add_docstr_all("is_cpu", "On the CPU.")
add_docstr_all("exp", "See also\\n\\n      {out}\\n\\tmore".format(**common_args))
""",
}


def add_stubs(checkout: Path) -> Path:
    """Adds the script, its templates and docstrings."""
    for name, text in {**TEMPLATES, **DOCS}.items():
        path = checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (checkout / "tools" / "pyi").mkdir(parents=True)
    (checkout / "tools" / "pyi" / "__init__.py").touch()
    shutil.copyfile(HERE / "gen_pyi.py", checkout / SCRIPT)
    return checkout


def by_script(checkout: Path, out: Path) -> dict[str, bytes]:
    """The stubs that the script writes."""
    command = [sys.executable, "-m", "tools.pyi.gen_pyi", "--out", str(out)]
    subprocess.run(command, cwd=checkout, check=True)
    return files_in(out)
