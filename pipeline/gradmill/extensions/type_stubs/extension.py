"""The door of type stubs: what PyTorch's gen_pyi.py writes, from schemas and from that script of a checkout."""

from gradmill.doors import Extension, FamilyRow, TreeFolders

_HERE = "gradmill.extensions.type_stubs"

_FILES = {
    "stub_script": ("gen_pyi.py", "", "tools/pyi/gen_pyi.py"),
    "torch_docs": ("_torch_docs.py", "", "torch/_torch_docs.py"),
    "tensor_docs": ("_tensor_docs.py", "", "torch/_tensor_docs.py"),
    "torchgen_model": ("torchgen_model.py", "", "torchgen/model.py"),
}

EXTENSION = Extension(
    commands=f"{_HERE}.commands",
    families={
        "type_stubs": FamilyRow(
            (
                "torch/_C/__init__.pyi.in",
                "torch/_C/_VariableFunctions.pyi.in",
                "torch/_C/return_types.pyi.in",
                "torch/nn/functional.pyi.in",
                "torch/_C/_nn.pyi.in",
            ),
            "torch/_C/_VariableFunctions.pyi.in",
            "stub_script",
            reads=("deprecated", *_FILES),
            subsets={"stubs": ""},
            in_trees=TreeFolders("", ""),
            by_default=False,
            module=f"{_HERE}.family",
        ),
    },
    kinds={"hint": f"{_HERE}.kind"},
    files=_FILES,
    ends={f"{_HERE}.kind:hints": "spec/stub_script", f"{_HERE}.kind:docstrings": "spec/{}"},
)
