"""The door of type stubs: what PyTorch's gen_pyi.py writes, from schemas and from that script of a checkout."""

from gradmill.doors import Extension

_HERE = "gradmill.extensions.type_stubs"

EXTENSION = Extension(
    commands=f"{_HERE}.commands",
    families=(f"{_HERE}.family:TYPE_STUBS",),
    kinds={"hint": f"{_HERE}.kind"},
    files={
        "stub_script": ("gen_pyi.py", "", "tools/pyi/gen_pyi.py"),
        "torch_docs": ("_torch_docs.py", "", "torch/_torch_docs.py"),
        "tensor_docs": ("_tensor_docs.py", "", "torch/_tensor_docs.py"),
        "torchgen_model": ("torchgen_model.py", "", "torchgen/model.py"),
    },
    ends={f"{_HERE}.kind:hints": "spec/stub_script", f"{_HERE}.kind:docstrings": "spec/{}"},
)
