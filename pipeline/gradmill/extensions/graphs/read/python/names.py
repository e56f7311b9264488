"""The tables of the reader: Python's operators, attributes, torch's constants, unsupported constructs with hints."""

from __future__ import annotations

import ast
import math
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from gradmill.extensions.graphs.model import Constant
from gradmill.extensions.graphs.read.resolve.operands import DTYPES, of_constant, of_dtype, of_number
from gradmill.extensions.graphs.scalars import FUNCTIONS

# ---- operators


class Binary(NamedTuple):
    """What a binary operator calls."""

    tensors: str  # the method of tensors
    numbers: str  # the computation on numbers, "" if there is none
    in_place: str  # the method of tensors
    reflected: str = ""  # with a number on the left: of a tensor, or for a quotient of its reciprocal
    number_first: bool = False  # whether that takes the number first


BINARY: dict[type[ast.operator], Binary] = {
    ast.Add: Binary("add", "add", "add_", "add"),
    ast.Sub: Binary("sub", "sub", "sub_", "rsub"),
    ast.Mult: Binary("mul", "mul", "mul_", "mul"),
    ast.Div: Binary("div", "truediv", "div_", "mul"),
    ast.FloorDiv: Binary("floor_divide", "floordiv", "floor_divide_", "floor_divide", number_first=True),
    ast.Mod: Binary("remainder", "mod", "remainder_", "remainder", number_first=True),
    ast.Pow: Binary("pow", "pow", "pow_", "pow", number_first=True),
    ast.MatMult: Binary("matmul", "", ""),
    ast.BitAnd: Binary("__and__", "and", "__iand__", "__and__"),
    ast.BitOr: Binary("__or__", "or", "__ior__", "__or__"),
    ast.BitXor: Binary("__xor__", "xor", "__ixor__", "__xor__"),
    ast.LShift: Binary("__lshift__", "lshift", "__ilshift__", "bitwise_left_shift", number_first=True),
    ast.RShift: Binary("__rshift__", "rshift", "__irshift__", "bitwise_right_shift", number_first=True),
}

UNARY: dict[type[ast.unaryop], tuple[str, str]] = {  # the method of tensors, the computation on numbers
    ast.USub: ("neg", "neg"),
    ast.UAdd: ("", "pos"),
    ast.Invert: ("bitwise_not", "invert"),
    ast.Not: ("", "not"),
}

COMPARE: dict[type[ast.cmpop], tuple[str, str]] = {  # the operator, and the one for swapped sides
    ast.Eq: ("eq", "eq"),
    ast.NotEq: ("ne", "ne"),
    ast.Lt: ("lt", "gt"),
    ast.LtE: ("le", "ge"),
    ast.Gt: ("gt", "lt"),
    ast.GtE: ("ge", "le"),
}

# ---- torch's names

MODULES = {  # the prefix of the operators for a module's functions
    "torch": "",
    "torch.nn.functional": "",
    "torch.linalg": "linalg_",
    "torch.special": "special_",
    "torch.fft": "fft_",
    "torch._C._nn": "",
}
ATTRIBUTES = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH", "real": "real", "imag": "imag"}
PROPERTIES = {"shape": "sizes", "ndim": "dim", "dtype": "dtype", "device": "device"}
CASTS = {  # methods of tensors that cast to a dtype
    **DTYPES,
    "bfloat16": "bfloat16",
    "bool": "bool",
    "char": "int8",
    "byte": "uint8",
}
DTYPE_NAMES = frozenset(
    "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128"
    " double float half long int short cfloat cdouble".split()
)
_MEMORY_FORMATS = "contiguous_format preserve_format channels_last channels_last_3d".split()
CONSTANTS = {
    **{f"{of}.{name}": of_number(getattr(math, name)) for of in ("math", "torch") for name in "pi e inf nan".split()},
    **{f"torch.{name}": of_dtype(DTYPES.get(name, name)) for name in DTYPE_NAMES},
    **{f"torch.{name}": of_constant(Constant("MemoryFormat", name)) for name in _MEMORY_FORMATS},
    "torch.strided": of_constant(Constant("Layout", "strided")),
}
MATH = FUNCTIONS | {"floor", "ceil", "trunc"}
GRAD_MODES = {"torch.no_grad": False, "torch.enable_grad": True, "torch.set_grad_enabled": None}
# Other modes, by the last part of their names: what to write instead.
MODES = {
    **{path.rpartition(".")[2]: f"write with {path}():" for path in GRAD_MODES},
    "inference_mode": "write with torch.no_grad():",
    "autocast": "cast tensors with .to(dtype), or export a model with it: a .pt2 keeps its regions of autocast",
}

# ---- unsupported constructs

REFUSED_ATTRIBUTES = {
    "data": "write x.detach()",
    "grad": "take gradients outside the graph",
    "grad_fn": "a graph is one node of autograd",
    "requires_grad": "the caller decides whether an input requires grad",
    "is_leaf": "the caller decides whether an input is a leaf",
    "layout": "write torch.strided",
    "itemsize": "write the number",
}
REFUSED_METHODS = {
    **dict.fromkeys(("item", "tolist", "numpy"), "a value of a tensor is known only when the graph runs"),
    "backward": "a graph has its own backward: return the loss",
    "requires_grad_": "the caller decides whether an input requires grad",
    "register_hook": "register hooks in the caller of the graph",
    "retain_grad": "return the tensor",
    "set_": "a graph cannot change the storage of a tensor",
    **dict.fromkeys(("resize_", "resize_as_"), "a graph cannot change the storage of a tensor: make a new tensor"),
    "cuda": "write x.to(y.device)",
    "is_contiguous": "whether a tensor is contiguous is known only when the graph runs: write x.contiguous()",
    "apply_": "write operators of tensors",
    "map_": "write operators of tensors",
}

_BRANCH = "a graph is straight-line code: write torch.where(condition, a, b), or two functions"
_LOOP = "a graph is straight-line code: write out each step"
_CALLED = "write its body where it is called"
STATEMENTS: dict[type[ast.stmt], tuple[str, str]] = {
    **dict.fromkeys((ast.If, ast.Match), ("a branch", _BRANCH)),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), ("a loop", _LOOP)),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), ("a function within a function", _CALLED)),
    ast.ClassDef: ("a class", "write functions only"),
    **dict.fromkeys((ast.Try, ast.TryStar), ("'try'", "a graph cannot catch errors: leave them to its caller")),
    ast.Raise: ("'raise'", "leave checks to the caller"),
    ast.Assert: ("'assert'", "leave checks to the caller"),
    **dict.fromkeys((ast.Import, ast.ImportFrom), ("an import within a function", "write it at the top of the file")),
    ast.Global: ("'global'", "pass it as a parameter, return the new value"),
    ast.Nonlocal: ("'nonlocal'", "pass it as a parameter, return the new value"),
    ast.AsyncWith: ("'async'", "write with torch.no_grad():"),
}
EXPRESSIONS: dict[type[ast.expr], tuple[str, str]] = {
    **dict.fromkeys(
        (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), ("a comprehension", "write out each item")
    ),
    ast.Lambda: ("a lambda", _CALLED),
    ast.IfExp: ("a conditional expression", _BRANCH),
    ast.BoolOp: ("'and' or 'or'", "write & and | of tensors"),
    ast.Dict: ("a dict", "name each item, return a tuple"),
    ast.Set: ("a set", "write a tuple"),
    ast.Await: ("'await'", "a graph is straight-line code"),
    **dict.fromkeys((ast.Yield, ast.YieldFrom), ("'yield'", "return a tuple")),
    ast.JoinedStr: ("an f-string", "write the text"),
    ast.NamedExpr: ("':='", "write a separate assignment"),
    ast.Starred: ("a '*' here", "write out each item"),
    ast.Slice: ("a slice here", "write slices in subscripts"),
}


# ---- functions that PyTorch implements in Python


Functions = dict[str, ast.FunctionDef]


@cache
def _prelude() -> list[ast.stmt]:
    """The statements of `prelude.py`, with a function for each number of dimensions in place of one for `Nd`."""
    functions = Path(__file__).with_name("prelude.py").read_text(encoding="utf-8").split("\n\n")
    each = ([text.replace("Nd", f"{n}d") for n in (1, 2, 3)] if "Nd(" in text else [text] for text in functions)
    return ast.parse("\n\n".join(chain.from_iterable(each))).body


@cache
def functions(of: str) -> Functions:
    """The definitions for a module or class of torch, `torch.nn.functional`; "" for those that only others call."""
    of_classes = {ast.get_docstring(each): each.body for each in _prelude() if isinstance(each, ast.ClassDef)}
    found: Functions = {}
    for each in of_classes.get(of, []) if of else _prelude():
        if isinstance(each, ast.FunctionDef):
            found[each.name] = each
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Attribute):  # the same as one of torch
            found[each.value.attr] = functions("torch")[each.value.attr]
    return found


# Functions that torch computes in Python from sizes or with random numbers: the hint on what to write instead.
_SAMPLES = (
    "write torch.ops.aten.fractional_max_pool{}d(x, kernel_size, output_size, samples)[0], samples being an input"
)
_OUTSIDE = "take gradients outside of the graph"
_CHECKPOINT = "call the function itself, and generate with memory=0.5: the backward computes values again"
_EXPORT = "export a model with it: torch.export keeps it in the .pt2"
REFUSED = {
    "torch.utils.checkpoint.checkpoint": _CHECKPOINT,
    "torch.utils.checkpoint.checkpoint_sequential": _CHECKPOINT,
    "torch.cond": _EXPORT,
    "torch.autograd.grad": _OUTSIDE,
    "torch.autograd.backward": _OUTSIDE,
    "torch.nn.functional.fractional_max_pool2d": _SAMPLES.format(2),
    "torch.nn.functional.fractional_max_pool3d": _SAMPLES.format(3),
    "torch.nn.functional.max_unpool2d": "write torch.ops.aten.max_unpool2d(x, indices, output_size)",
    "torch.nn.functional.max_unpool3d": "write torch.ops.aten.max_unpool3d(x, indices, output_size, stride, padding)",
}

# Methods without arguments that return numbers or shapes: `python::…`.
MEASURES = {
    "dim": "dim",
    "ndimension": "dim",
    "numel": "numel",
    "nelement": "numel",
    "storage_offset": "storage_offset",
    "stride": "strides",
}
