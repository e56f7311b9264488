"""In the place of a checkout's tools/pyi/gen_pyi.py: a small script with what PyTorch's is made of. It runs with the
torchgen of the checkout, and in gradmill without. It is written as PyTorch's is.
"""

# ruff: noqa: B028, PLW2901, RUF005

from __future__ import annotations

import argparse
import collections
import importlib
import inspect
import sys
import textwrap
from typing import TYPE_CHECKING
from unittest.mock import Mock, patch
from warnings import warn

from tools.autograd.gen_python_functions import group_overloads, load_signatures, should_generate_py_binding
from torchgen.api.python import format_function_signature as defs
from torchgen.api.python import returns_structseq_pyi
from torchgen.gen import parse_native_yaml, parse_tags_yaml
from torchgen.model import DispatchKey, Variant, _TorchDispatchModeKey
from torchgen.utils import FileManager

if TYPE_CHECKING:
    from collections.abc import Sequence

DEVICE = "device: DeviceLikeType | None = None"
FACTORY = ["dtype: _dtype | None = None", DEVICE]
blocklist = ["add", "add_", "grad"]
comparison_ops = ("eq",) + ("ge",)


def get_py_torch_functions(python_funcs: Sequence, method: bool = False) -> Sequence:
    """The groups of signatures of the module torch, or of methods."""
    variant = Variant.method if method else Variant.function

    def should_bind(pair: object) -> bool:
        own = pair.function
        return should_generate_py_binding(own) and not own.python_module and variant in own.variants

    return group_overloads([each for each in python_funcs if should_bind(each)])


def sig_for_ops(opname: str) -> list[str]:
    """The hints of an operator of Python."""
    assert opname.startswith("__"), opname
    name = opname[2:-2]
    if name in {"ge", "gt"} and not name.endswith("x"):
        return [f"def {opname}(self, other: Any) -> Tensor: ..."]
    elif name in comparison_ops:
        return [f"def {opname}(self, other: Any) -> Tensor: ...  # type: ignore[override]"]
    raise ValueError(f"unknown op {opname!r}")


def generate_type_hints(sig_group: object) -> list[str]:
    """The hints of a group of signatures."""
    type_hints: list[str] = []
    if sig_group.signature.name in blocklist and not sig_group.signature.deprecated:
        return type_hints
    if sig_group.signature.deprecated and sig_group.outplace is not None:
        type_hints.append(sig_group.signature.signature_str_pyi(skip_outputs=True))
    type_hint = sig_group.signature.signature_str_pyi(skip_outputs=sig_group.outplace is None)
    type_hints.append(type_hint)
    vararg = sig_group.signature.signature_str_pyi_vararg(skip_outputs=sig_group.outplace is None)
    if vararg:
        type_hints.append(vararg)
    return type_hints


def with_flag(name: str, arg_list: list[str]) -> dict[str, list[str]]:
    """A function with and without a flag."""
    flag = arg_list.index("{flag}")
    positional = [", ".join(one.split(" = ")[0] for one in arg.split(", ")) for arg in arg_list[: flag + 1]]
    keyword = arg_list.copy()
    keyword.insert(flag, "*")
    return {
        name: [
            defs(name, [arg.format(flag="flag: Literal[False] = False") for arg in arg_list], "Tensor"),
            defs(name, [arg.format(flag="flag: Literal[True]") for arg in positional + ["/"]], "Tensor"),
            defs(name, [arg.format(flag="flag: Literal[True]") for arg in keyword], "Tensor"),
        ]
    }


def gen_nn_functional(fm: FileManager) -> None:
    """The stubs of functions that are written by hand."""
    c_nn: dict[str, list[str]] = {}
    for d in (2, 3):
        c_nn.update({f"avg_pool{d}d": ["def avg_pool{}d({}) -> Tensor: ...".format(d, ", ".join(["input: Tensor"]))]})
    dispatched: dict[str, list[str]] = {}
    for d in (1, 2):
        dispatched.update(
            **with_flag(f"max_pool{d}d", ["input: Tensor", "size: int = 1, step: int = 2", "{flag}"]),
            **with_flag(f"other_pool{d}d", ["input: Tensor", "{flag}"]),
        )
    del dispatched["other_pool1d"]
    hints: list[str] = []
    for _, listed in sorted(dispatched.items()):
        if len(listed) > 1:
            listed = ["@overload\n" + hint for hint in listed]
        hints += listed
    renamed = {"log_sigmoid": "logsigmoid"}
    imported = [
        "from torch._C._nn import (",
        *sorted(f"    {n} as {renamed.get(n, n)}," for n in ["pad", "log_sigmoid"]),
        ")",
    ]
    fm.write_with_template(
        "torch/nn/functional.pyi",
        "torch/nn/functional.pyi.in",
        lambda: {"imported_hints": imported, "dispatched_hints": hints},
    )
    fm.write_with_template(
        "torch/_C/_nn.pyi",
        "torch/_C/_nn.pyi.in",
        lambda: {"c_nn_function_hints": [hint for listed in c_nn.values() for hint in listed]},
    )


def gather_docstrs() -> dict[str, str]:
    """The docstrings of the checkout, by name."""
    docstrs = {}

    def mock_add_docstr(func: Mock, docstr: str) -> None:
        docstrs[func._extract_mock_name()] = docstr.strip()

    with patch.dict(sys.modules), patch.object(sys, "path", sys.path + ["torch"]):
        sys.modules["torch"] = Mock(name="torch")
        sys.modules["torch._C"] = Mock(_add_docstr=mock_add_docstr)
        try:
            sys.modules["torch._torch_docs"] = importlib.import_module("_torch_docs")
            sys.modules["torch._tensor_docs"] = importlib.import_module("_tensor_docs")
        except ModuleNotFoundError:
            warn("there are no docstrings")
    return docstrs


def add_docstr_to_hint(docstr: str, hint: str) -> str:
    """A hint with its docstring."""
    docstr = inspect.cleandoc(docstr).strip()
    if "..." not in hint:
        return f'{hint}\nr"""{docstr}"""'
    content = hint.removesuffix("...").rstrip() + "\n" + textwrap.indent(f'r"""\n{docstr}\n"""', prefix="    ")
    return "\n".join(map(str.rstrip, content.splitlines())).rstrip()


def gen_pyi(native_yaml_path: str, tags_yaml_path: str, deprecated_yaml_path: str, fm: FileManager) -> None:
    """All stubs."""
    structseqs: dict[str, str] = {}
    unsorted_function_hints: dict[str, list[str]] = collections.defaultdict(list)
    unsorted_function_hints.update(
        {
            "tensor": [defs("tensor", ["data: Any", *FACTORY], "Tensor")],
            "exp": ["def exp(input: str) -> Tensor: ..."],
        }
    )
    for binop in ["add"]:
        unsorted_function_hints[binop].append(f"def {binop}(input: Number, other: Number) -> Tensor: ...")
    native_functions = parse_native_yaml(native_yaml_path, tags_yaml_path).native_functions
    native_functions = list(filter(should_generate_py_binding, native_functions))
    function_signatures = load_signatures(native_functions, deprecated_yaml_path, method=False, pyi=True)
    sig_groups = get_py_torch_functions(function_signatures)
    for group in sorted(sig_groups, key=lambda g: g.signature.name):
        name = group.signature.name
        unsorted_function_hints[name] += generate_type_hints(group)
        structseq = returns_structseq_pyi(group.signature)
        if structseq is not None and not group.signature.deprecated:
            tuple_name, tuple_def = structseq
            if tuple_name in structseqs:
                assert structseqs[tuple_name] == tuple_def
            else:
                structseqs[tuple_name] = tuple_def

    def replace_special_case(hint: str) -> str:
        hint = hint.replace("at::Reduction::Mean", "1")
        return hint.replace(": Tensor = None", ": Tensor | None = None")

    docstrs = gather_docstrs()
    function_hints = []
    for name, hints in sorted(unsorted_function_hints.items()):
        hints = [replace_special_case(h) for h in hints]
        if len(hints) > 1:
            hints = ["@overload\n" + h for h in hints]
        docstr = docstrs.get(f"torch.{name}")
        if docstr is not None:
            hints = [add_docstr_to_hint(docstr, h) for h in hints]
        function_hints += hints

    unsorted_tensor_method_hints: dict[str, list[str]] = collections.defaultdict(list)
    unsorted_tensor_method_hints.update(
        {"is_cpu": ["is_cpu: _bool"], "__ge__": ["def __ge__(self, other: str) -> Any: ..."]}
    )
    method_signatures = load_signatures(
        native_functions, deprecated_yaml_path, method=True, skip_deprecated=True, pyi=True
    )
    for group in sorted(get_py_torch_functions(method_signatures, method=True), key=lambda g: g.signature.name):
        name = group.signature.name
        unsorted_tensor_method_hints[name] += generate_type_hints(group)
        structseq = returns_structseq_pyi(group.signature)
        if structseq is not None and not group.signature.deprecated:
            structseqs[structseq[0]] = structseq[1]
    for op in comparison_ops:
        name = f"__{op}__"
        unsorted_tensor_method_hints[name] += sig_for_ops(name)

    tensor_method_hints = []
    for name, hints in sorted(unsorted_tensor_method_hints.items()):
        if len(hints) > 1:
            hints = ["@overload\n" + h for h in hints]
        docstr = docstrs.get(f"torch._C.TensorBase.{name}")
        if docstr is not None:
            hints = [add_docstr_to_hint(docstr, h) for h in hints]
        tensor_method_hints += hints

    structseqs = dict(sorted(structseqs.items()))
    all_symbols = sorted({name for name, hint in unsorted_function_hints.items() if hint}.union(structseqs))
    tag_names = sorted(parse_tags_yaml(tags_yaml_path))
    env = {
        "structseq_defs": [f"{defn}\n" for defn in structseqs.values()],
        "function_hints": function_hints,
        "tensor_method_hints": tensor_method_hints,
        "all_directive": ["__all__ = [", *(f'    "{name}",' for name in all_symbols), "]"],
        "dispatch_key_hints": [f"{key.name} = ..." for key in DispatchKey],
        "torch_dispatch_mode_key_hints": [f"{key.name} = ..." for key in _TorchDispatchModeKey],
        "tag_attributes": "\n".join(f"{name} = {index}" for index, name in enumerate(tag_names)),
    }
    fm.write_with_template("torch/_C/__init__.pyi", "torch/_C/__init__.pyi.in", lambda: env)
    for name in ("torch/_C/_VariableFunctions.pyi", "torch/_VF.pyi"):
        fm.write_with_template(name, "torch/_C/_VariableFunctions.pyi.in", lambda: env)
    fm.write_with_template("torch/return_types.pyi", "torch/_C/return_types.pyi.in", lambda: env)
    gen_nn_functional(fm)


def main() -> None:
    """Writes all stubs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--native-functions-path", default="aten/src/ATen/native/native_functions.yaml")
    parser.add_argument("--tags-path", default="aten/src/ATen/native/tags.yaml")
    parser.add_argument("--deprecated-functions-path", default="tools/autograd/deprecated.yaml")
    parser.add_argument("--out", default=".")
    args = parser.parse_args()
    fm = FileManager(install_dir=args.out, template_dir=".", dry_run=False)
    gen_pyi(args.native_functions_path, args.tags_path, args.deprecated_functions_path, fm)


if __name__ == "__main__":
    main()
