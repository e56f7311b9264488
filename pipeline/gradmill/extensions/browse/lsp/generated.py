"""Links from an editor to the C++ of Nodes in generated files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pygls.uris import from_fs_path

from gradmill.extensions.browse.editor.operators import NodeFacts
from gradmill.families.nodes import NODES
from gradmill.io.files import read_file
from gradmill.session.settings.config import Config

_DIRECTIVE = b"#line "


def link(config: Config, facts: NodeFacts) -> str:
    """Markdown that leads to the gradient function of a Node in a generated file; "" if no file has this text, because
    the set was not generated, or the formula was edited since."""
    wanted = facts.function.encode()
    first = wanted.partition(b"\n")[0]
    for path in _sources(config) if first else ():
        data = read_file(path) or b""
        at = data.find(first + b"\n")
        if at >= 0 and _without_directives(data[at:]).startswith(wanted):
            line = data.count(b"\n", 0, at) + 1
            return f"C++: [{os.path.basename(path)}:{line}]({from_fs_path(os.path.abspath(path))}#L{line})"
    return ""


def _without_directives(data: bytes) -> bytes:
    end = data.find(b"\n}\n")
    lines = data[: end + 2].split(b"\n")
    return b"\n".join(line for line in lines if not line.lstrip().startswith(_DIRECTIVE))


def _sources(config: Config) -> Iterator[str]:
    """The generated sources that may have Nodes."""
    for folder, families in config.families_by_folder.items():
        if NODES.name in families:
            try:
                names = sorted(os.listdir(folder))
            except OSError:
                continue
            yield from (os.path.join(folder, n) for n in names if n.endswith(".cpp") and "python_" not in n)
