"""Family: the Nodes in shards, and a `Functions.h` that includes them all.

A shard has a header with its structs, `Functions_<k>.h`, and two sources: `Functions_<k>_formulas.cpp` with the
gradient functions, and `Functions_<k>.cpp` with the frames around them, which the engine and compiled autograd call. An
edited formula recompiles only the first, which is a third of the work. A source defines a macro with its shard before
it includes anything. `Functions.h`, which other headers include, then omits the other shards, and for formulas all of
them. `Functions_common.h` has the rest of the release's header. Releases before 2.6 compute gradients in `apply` itself
and have no source of formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from gradmill.families.family import DEFINITION
from gradmill.families.file import CUT, Content, File, Pieces, pieces_in
from gradmill.model.units import Unit
from gradmill.releases.model import Release

COMMON = "Functions_common.h"
MACRO = "GRADMILL_SHARD"

_HEADER = f'#pragma once\n\n// ${{generated_comment}}\n\n#include "{COMMON}"\n'
# A template may have functions that only frames use.
_BEFORE_FORMULAS = f'#define {MACRO} -1\n#ifdef __GNUC__\n#pragma GCC diagnostic ignored "-Wunused-function"\n#endif\n'

_INTERNAL = "static variable_list "  # the start of a gradient function in upstream's one source
_SHARED = "C10_HIDDEN variable_list "  # the same, if its frame is in another source of the library
_FRAMES = ("inline variable_list {node}_apply_functional_ivalue(", "variable_list {node}::apply(")  # their starts
_BODY = "\n{\n"


def formula(definition: str) -> str:
    """The gradient function of a Node, cut out of its definition; "" if `apply` contains it."""
    function, _ = _parts(definition)
    return _SHARED + function.removeprefix(_INTERNAL) if function else ""


def frame(definition: str) -> str:
    """The rest of a definition, after a declaration of the gradient function."""
    function, rest = _parts(definition)
    return f"{_SHARED}{function.removeprefix(_INTERNAL).partition(_BODY)[0]};\n\n{rest}" if function else definition


def _parts(definition: str) -> tuple[str, str]:
    """The gradient function, or "", and the rest."""
    node = definition.removeprefix(_INTERNAL).partition("_apply_functional(")[0]
    for begin in _FRAMES if definition.startswith(_INTERNAL) else ():
        function, mark, rest = definition.rpartition(f"\n{begin.format(node=node)}")
        if mark:
            return f"{function.rstrip()}\n", mark.lstrip() + rest
    return "", definition


# Parts of definitions in the split layout. Any other piece belongs to the frame as a whole.
CUTS: dict[str, Callable[[str], str]] = {"formula": formula, "frame": frame}


def split_files(nodes: Sequence[Unit], slots: dict[str, str], shards: int, release: Release) -> list[File]:
    """The files for a number of shards. `slots`: the holes of templates -> pieces."""
    members: list[list[str]] = [[] for _ in range(shards)]
    for unit in nodes:
        members[shard_of(unit, shards)].append(unit.name)
    includes = "".join(
        f'#if !defined({MACRO}) || {MACRO} == {k}\n#include "Functions_{k}.h"\n#endif\n' for k in range(shards)
    )
    files = [
        File(name="Functions.h", template="", holes={}, before=f"{_HEADER}{includes}"),
        File(name=COMMON, template="Functions.h", holes=pieces_in(slots), shard="_common"),
    ]
    for k, names in enumerate(members):
        files += [
            _header(k, names, slots),
            _cut(shard=f"_{k}", names=names, slots=slots, cut="frame", before=f"#define {MACRO} {k}\n"),
        ]
        if release.functional_apply:
            shard = f"_{k}_formulas"
            formulas = _cut(shard=shard, names=names, slots=slots, cut="formula", before=_BEFORE_FORMULAS)
            files.append(replace(formulas, part="formulas"))
    return files


def shard_of(unit: Unit, shards: int) -> int:
    """The shard of a Node. It depends on the Node's operator alone.

    Overloads, foreach and copy variants share a shard, because one formula often serves all of them. Of the usual
    digests, this one distributes the operators of all known releases most evenly (at most 1.23 times the mean of 16).
    """
    operator = unit.overload.partition(".")[0]
    operator = operator.removeprefix("_foreach_").removesuffix("_copy")
    import hashlib  # few runs have this layout

    digest = hashlib.blake2s(operator.encode()).digest()
    return int.from_bytes(digest[:8], "big") % shards


def _header(k: int, names: Sequence[str], slots: dict[str, str]) -> File:
    return File(
        name=f"Functions_{k}.h",
        template="Functions.h",
        holes=pieces_in(slots),
        units=tuple(names),
        shard=f"_{k}",
        before=f"{_HEADER}\n",
        part="namespaces",
    )


def _cut(shard: str, names: Sequence[str], slots: dict[str, str], cut: str, before: str) -> File:
    """A source with a part of each definition."""
    holes: dict[str, Content] = {
        hole: Pieces(f"{cut}{CUT}{piece}", origin=piece == DEFINITION) for hole, piece in slots.items()
    }
    return File(
        name=f"Functions{shard}.cpp",
        template="Functions.cpp",
        holes=holes,
        units=tuple(names),
        shard=shard,
        before=before,
    )
