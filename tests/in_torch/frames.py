"""Of generated sources of Nodes, what calls the formulas: each Node's `apply`, as it stands there, and a counter in it.

A library of these and the formulas, loaded before libtorch, is what libtorch's own Nodes call: it exports `apply`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

NODES = "Nodes"  # the family that calls of Nodes are counted in
_PROTOTYPE = re.compile(r"^C10_HIDDEN variable_list \w+_apply_functional\([^{}]*?\);\n", re.MULTILINE)
_APPLY = re.compile(r"^variable_list (\w+)::apply\(variable_list&& grads\) \{\n.*?^\}\n", re.MULTILINE | re.DOTALL)
_NAMESPACE = "namespace torch::autograd::generated {\n"
_COUNTER = """\
#include <atomic>
#include "torch/csrc/autograd/generated/Functions.h"

namespace gradmill::test {
std::atomic<long>& counter(const char* family, const char* kernel);
}

"""


def frames(sources: Iterable[Path]) -> str:
    """A C++ source of the frames of all Nodes of these."""
    texts = [path.read_text() for path in sources]
    head = texts[0].partition(_NAMESPACE)[0].replace("#define GRADMILL_SHARD 0\n", "")
    parts = [_counted(match) for text in texts for match in _frames(text)]
    return "".join([head, _COUNTER, _NAMESPACE, *parts, "}\n"])


def nodes(source: Path) -> list[str]:
    """The Nodes of a source of frames."""
    return [match[1] for match in _APPLY.finditer(source.read_text())]


def _frames(text: str) -> list[re.Match[str]]:
    return [*_PROTOTYPE.finditer(text), *_APPLY.finditer(text)]


def _counted(match: re.Match[str]) -> str:
    if match.re is _PROTOTYPE:
        return match[0]
    first, rest = match[0].split("\n", 1)
    count = f'static auto& gradmill_count = gradmill::test::counter("{NODES}", "{match[1]}");'
    return f"{first}\n  {count}\n  ++gradmill_count;\n{rest}"
