"""What generated files say: read as texts, without anything of gradmill's."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SHARD = re.compile(r"_(?:\d+|Everything)(?=[_.]|$)|Everything(?=\.)")
_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
_UPSTREAM = "torch/csrc/autograd/generated/"


def kind(name: str) -> str:
    """What a file and the other shards of it have in common: its name without the shard."""
    return _SHARD.sub("", name)


def is_compiled(name: str) -> bool:
    """Whether a generated file is one that is compiled: not one with all shards, nor a template of shards."""
    return "Everything" not in name and not name.startswith("templates/")


def compiled(files: Mapping[str, bytes]) -> dict[str, str]:
    """The texts of those files."""
    return {name: data.decode() for name, data in files.items() if is_compiled(name)}


def includes(text: str) -> list[str]:
    """The files that a text includes; of upstream's folder of generated files by their names there."""
    return [name.removeprefix(_UPSTREAM) for name in _INCLUDE.findall(text)]
