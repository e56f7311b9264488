"""The headers that formulas need, from those of the installed torch: a formula compiles in a second, not in ten.

`ATen/ATen.h`, which formulas include in torch, declares all operators. Here a source declares only those that its text
calls, without the headers that those in turn include for other uses. A source that needs more fails to compile, and is
compiled with torch's own headers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from gradmill.families.sections import Text
from gradmill.families.template import Template

MANUAL = "torch/csrc/autograd/FunctionsManual.h"
_KERNELS = "torch/csrc/autograd/VariableTypeUtils.h"
_OPERATORS = "ATen/ops"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]((?:ATen|torch)/[^>"\n]+)[>"].*$', re.MULTILINE)
_KEPT = re.compile(r"ATen/(ops/|core/(Tensor|Generator|Reduction)\.h)")
_OPERATOR = re.compile(rf"^#include <{_OPERATORS}/(\w+)\.h>", re.MULTILINE)
_CALLED = re.compile(r"\b([a-z_]\w*)\s*\(")
_ENDS = ("_", "_symint", "__symint", "_out", "_outf", "_symint_out", "_symint_outf")
# What needs headers that are slow to compile: lists of tensors other than TensorList, functions of them; and these.
SLOW_TYPES = ("at::ITensorListRef", "c10::List<", "to_args_", "sparse_csr::", "c10::Dispatcher")
_SLOW = ("ATen/core/ivalue.h", "ATen/core/List.h", "ATen/core/IListRef.h")
_WORDS = {  # of formulas: the header that declares each
    "sum_to": "ATen/ExpandUtils.h",
    "maybe_wrap_dim": "ATen/WrapDimUtils.h",
    "dim_list_to_bitset": "ATen/WrapDimUtilsMulti.h",
    "Reduction": "ATen/core/Reduction.h",
    "Dispatcher": "ATen/core/dispatch/Dispatcher.h",
    "fmap": "ATen/core/functional.h",
    "sparse_csr": "ATen/SparseCsrTensorUtils.h",
    "native": "ATen/native/NonSymbolicBC.h",
}
# Inline functions that are copied out of a header, where a text uses their names.
_COPIED = {"to_args_": _KERNELS, "isFwGradDefined": "torch/csrc/autograd/functions/utils.h"}
_BLOCK = re.MULTILINE | re.DOTALL
_FUNCTION = r"^inline [^;{{}}]*\b{name}\w*\([^;{{}}]*\{{\n.*?^\}}\n"
(_SLIM,) = Text(Path(__file__).parent / "cpp" / "headers.h").versions["slim"].values()


class Headers:
    """The headers of an installed torch. `include`: its folder. LookupError where torch lacks what is read of them."""

    def __init__(self, include: str) -> None:
        self._include = include
        self._texts: dict[str, str] = {}

    def of(self, text: str) -> dict[str, str]:
        """The headers for a source with this text: by name, `gradmill_torch.h` among them."""
        files: dict[str, str] = {"ATen/TensorOperators.h": self._slim("ATen/TensorOperators.h")}
        more = [header for word, header in _WORDS.items() if re.search(rf"\b{word}\b", text)]
        included = {name for header in more for name in _OPERATOR.findall(self._text(header))}
        names = sorted({"empty_like", "zeros", "_efficientzerotensor", *self._operators(text), *included})
        for name in names:
            files[f"{_OPERATORS}/{name}.h"] = self._slim(f"{_OPERATORS}/{name}.h")
        files["gradmill_torch.h"] = self._slim_header(text, names, more, slow=is_slow(text))
        return files

    def whole(self) -> dict[str, str]:
        """The header `gradmill_torch.h` with torch's own headers."""
        names = ("ATen/ATen.h", MANUAL, _KERNELS, *_WORDS.values())
        includes = "".join(f"#include <{name}>\n" for name in names)
        return {"gradmill_torch.h": f'#pragma once\n{includes}#define GRADMILL_LISTS "lists.h"\n'}

    def helpers(self) -> set[str]:
        """The names of torch's helpers of formulas."""
        return set(_CALLED.findall(self._text(MANUAL)))

    def _slim_header(self, text: str, names: Iterable[str], more: Iterable[str], *, slow: bool) -> str:
        included = (*(_SLOW if slow else ()), *more, *(f"{_OPERATORS}/{name}.h" for name in names))
        patterns = {re.compile(_FUNCTION.format(name=name), _BLOCK): _COPIED[name] for name in _COPIED if name in text}
        copied = (found for pattern, header in patterns.items() for found in pattern.findall(self._text(header)))
        return Template(_SLIM, blocks=False).fill(
            {
                "includes": "".join(f"#include <{name}>\n" for name in included),
                "array": "" if slow else self._struct("OptionalArray", "ATen/core/ivalue.h"),
                "lists": '#define GRADMILL_LISTS "lists.h"' if slow else "",
                "type_and_size": self._struct("TypeAndSize", *_NODES),
                "manual": _INCLUDE.sub("", self._text(MANUAL)).replace("#pragma once", "", 1),
                "copied": "".join(copied),
            }
        )

    def _operators(self, text: str) -> set[str]:
        """The operators that a text may call as functions."""
        called = set(_CALLED.findall(text))
        called |= {name.removesuffix(end) for name in called for end in _ENDS if name.endswith(end)}
        folder = os.path.join(self._include, _OPERATORS)
        return {name for name in called if os.path.isfile(os.path.join(folder, f"{name}.h"))}

    def _slim(self, name: str) -> str:
        return _INCLUDE.sub(lambda match: match[0] if _KEPT.match(match[1]) else "", self._text(name))

    def _text(self, name: str) -> str:
        if name not in self._texts:
            try:
                with open(os.path.join(self._include, name), encoding="utf-8") as file:
                    self._texts[name] = file.read()
            except OSError as error:
                raise LookupError(f"torch has no header {name}") from error
        return self._texts[name]

    def _struct(self, name: str, *places: str) -> str:
        """The definition of a struct in one of torch's headers."""
        pattern = re.compile(rf"^(?:template ?<[^\n]*\n)?struct {name} {{\n.*?^}};", _BLOCK)
        for place in places:
            match = pattern.search(self._text(place)) if os.path.isfile(os.path.join(self._include, place)) else None
            if match:
                return match[0]
        raise LookupError(f"torch's headers have no struct {name}")


def is_slow(text: str) -> bool:
    """Whether a source with this text needs headers that are slow to compile."""
    return any(slow in text for slow in SLOW_TYPES)


_NODES = tuple(f"torch/csrc/autograd/{name}.h" for name in ("function", "node", "variable", "saved_variable"))
