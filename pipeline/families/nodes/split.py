"""Family: the Nodes in shards, `Functions_<k>.h` and `Functions_<k>.cpp`, and a `Functions.h` that includes them all.

A formula then recompiles one shard. A shard's source says which shard it is before it includes anything:
`Functions.h`, which other headers drag in, then leaves the other shards out. What the release's header has besides
Nodes is in `Functions_common.h`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pipeline.families.file import File
from pipeline.model.units import Unit

COMMON = "Functions_common.h"
MACRO = "GRADMILL_SHARD"

_DECLARATIONS = {"autograd_function_declarations": "declaration"}
_DEFINITIONS = {"autograd_function_definitions": "definition"}
_HEADER = "#pragma once\n\n// ${generated_comment}\n\n"


def split_files(nodes: Sequence[Unit], shards: int) -> list[File]:
    """The files for a number of shards."""
    members: list[list[str]] = [[] for _ in range(shards)]
    for unit in nodes:
        members[shard_of(unit, shards)].append(unit.name)
    found = [_umbrella(shards), File(COMMON, "Functions.h", {}, _DECLARATIONS, ())]
    for k, names in enumerate(members):
        found += [_header(k, names), _source(k, names)]
    return found


def shard_of(unit: Unit, shards: int) -> int:
    """The shard of a Node: that of its operator, whatever other operators there are.

    Overloads, foreach and copy variants stay together: one formula is often printed for all of them. Of the usual
    digests this one spreads the operators of all known releases most evenly (at most 1.23 times the mean of 16).
    """
    operator = unit.op.partition(".")[0]
    operator = operator.removeprefix("_foreach_").removesuffix("_copy")
    found = hashlib.blake2s(operator.encode()).digest()
    return int.from_bytes(found[:8], "big") % shards


def _umbrella(shards: int) -> File:
    includes = "".join(
        f'#if !defined({MACRO}) || {MACRO} == {k}\n#include "Functions_{k}.h"\n#endif\n' for k in range(shards)
    )
    return File("Functions.h", "", {}, {}, (), before=f'{_HEADER}#include "{COMMON}"\n{includes}')


def _header(k: int, names: Sequence[str]) -> File:
    before = f'{_HEADER}#include "{COMMON}"\n\n'
    return File(f"Functions_{k}.h", "Functions.h", {}, _DECLARATIONS, tuple(names), before=before, reopens=True)


def _source(k: int, names: Sequence[str]) -> File:
    before = f"#define {MACRO} {k}\n"
    return File(f"Functions_{k}.cpp", "Functions.cpp", {}, _DEFINITIONS, tuple(names), before=before)
