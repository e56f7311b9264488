"""C++ that makes and fills a Node of every class, from what gradmill knows of it: `kinds.cpp`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch

Row = dict[str, Any]

_WORD = re.compile(r"[A-Za-z_]\w*")
_ONE_GRAD = re.compile(r"\bgrad\b")

# How `Given` reads an argument of a type. Enumerations are integers in torch's schemas, and saved by no Node.
_READ = {
    "Tensor": "tensor",
    "Optional[Tensor]": "optional_tensor",
    "List[Tensor]": "tensors",
    "List[Optional[Tensor]]": "optional_tensors",
    "number": "scalar",
    "Optional[number]": "optional_scalar",
    "List[number]": "scalars",
    "int": "integer",
    "Optional[int]": "optional_integer",
    "List[int]": "integers",
    "Optional[List[int]]": "optional_integers",
    "float": "number",
    "Optional[float]": "optional_number",
    "Optional[List[float]]": "optional_numbers",
    "bool": "boolean",
    "Optional[bool]": "optional_boolean",
    "str": "string",
    "Optional[str]": "optional_string",
}
_FILE = """#include "kinds.h"

namespace gradmill::test {{

using namespace gradmill::core;
using at::TensorGeometry;

{functions}

void add_kinds(Kinds& kinds) {{
{rows}
}}

}} // namespace gradmill::test
"""
_SAVED_TENSORS = (
    "at::Tensor",
    "::std::optional<at::Tensor>",
    "at::TensorList",
    "c10::List<::std::optional<at::Tensor>>",
    "::std::vector<at::Tensor>",
)


class Kind(NamedTuple):
    """A Node class, and the function that it differentiates."""

    node: str
    row: Row  # of `doit show infos` or `doit show foreach`
    schema: Any  # torch's own reading of the schema

    @property
    def operator(self) -> str:
        """`add.Tensor`, without a namespace that is not ATen's."""
        return str(self.row["func"]).partition("(")[0]

    @property
    def types(self) -> dict[str, str]:
        return {argument.name: str(argument.type) for argument in self.schema.arguments}

    @property
    def inputs(self) -> list[str]:
        """The differentiable arguments, in the order of the Node's edges."""
        return list(self.row["args_with_derivatives"])

    @property
    def returns(self) -> list[str]:
        """The names that formulas have for the results."""
        names = [result.name for result in self.schema.returns]
        if len(names) == 1:
            return ["result"] if self.in_place else [names[0] or "result"]
        return [name or f"result{i}" for i, name in enumerate(names)]

    @property
    def in_place(self) -> bool:
        return self.operator.partition(".")[0].endswith("_")

    @property
    def outputs(self) -> list[str]:
        """The results that have a gradient."""
        declared = self.row["output_differentiability"]
        if declared is None:
            first_only = any(_ONE_GRAD.search(d["formula"]) for d in self.row["derivatives"])
            declared = [i == 0 or not first_only for i in range(len(self.returns))]
        return [name for name, has_gradient in zip(self.returns, declared) if has_gradient]


def kinds_of(rows: Iterable[Row]) -> dict[str, Kind]:
    """Every Node, by its name."""
    return {row["op"]: Kind(row["op"], row, torch._C.parse_schema(row["func"])) for row in rows if row.get("op")}


def kinds_cpp(kinds: Sequence[Kind]) -> str:
    """The whole file."""
    functions = "\n\n".join(text for kind in kinds for text in (_save_inputs(kind), _save_outputs(kind)))
    rows = "\n".join(f'  kinds["{kind.node}"] = kind<{kind.node}>();' for kind in kinds)
    return _FILE.format(functions=functions, rows=rows)


def _save_inputs(kind: Kind) -> str:
    saved = kind.row["all_saved_inputs"]
    lists = [name for name in kind.inputs if kind.types[name] in ("List[Tensor]", "List[Optional[Tensor]]")]
    words = {word for one in saved for word in _WORD.findall(one["expr"])} | set(lists)
    read = [(name, _READ[t]) for name, t in kind.types.items() if name in words]  # or a method has the name
    reads = [f'  [[maybe_unused]] const auto {name} = given.{how}("{name}");' for name, how in read]
    saves = [f"  save(node.{_field(one)}, {one['expr']});" for one in saved]
    sizes = [f"  node.{name}_size_ = {name}.size();" for name in lists]
    return _function("save_inputs", kind, [*reads, *saves, *sizes])


def _save_outputs(kind: Kind) -> str:
    types = {name: str(result.type) for name, result in zip(kind.returns, kind.schema.returns)}
    saves = []
    for one in kind.row["all_saved_outputs"]:
        name = one["name"]
        saves.append(f'  save(node.{_field(one)}, given.{_READ[types[name]]}("{name}"), /*is_output=*/true);')
    return _function("save_outputs", kind, saves)


def _function(name: str, kind: Kind, lines: Sequence[str]) -> str:
    if not lines:
        return f"void {name}({kind.node}& /*node*/, const Given& /*given*/) {{}}"
    return "\n".join([f"void {name}({kind.node}& node, const Given& given) {{", *lines, "}"])


def _field(saved: Row) -> str:
    return f"{saved['name']}_" if saved["type"] in _SAVED_TENSORS else str(saved["name"])
