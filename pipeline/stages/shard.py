"""Stage `shard:<file>`: the pieces of many Nodes and a template to one generated file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pipeline.families.family import generated_comment
from pipeline.families.file import File
from pipeline.families.table import families
from pipeline.families.template import Hole, Template, Value, indented, lines_of
from pipeline.model.artifact import digest, digest_of
from pipeline.model.infos import NodeRow
from pipeline.problems.problem import SpecError, nearest
from pipeline.releases.model import Release
from pipeline.specs.text import decode_text

# Upstream formats all generated text as if it were Python: after a docstring, one blank line, then the definition.
_BRACE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\\\.|[^\"\\\\])*\"|\bnamespace\s+([\w:]+)\s*\{|[{}]", re.DOTALL)
_DOCSTRING = re.compile(r'(""")\n+((\s*@.+\n)*\s*(class|def))')


def files(nodes: Sequence[NodeRow], layout: str, shards: int) -> list[File]:
    """All files of all families of a layout."""
    return [file for family in families(layout, shards) for file in family.files(nodes)]


def parse_template(data: bytes, file: File, release: Release) -> Template:
    """The template of `file`, whose holes must all be known. `data` is that of the spec set."""
    text = decode_text(data)
    if file.reopens:
        text = _reopened(text, next(iter(file.slots)))
    template = Template(file.before + text, trim=release.trims_lines)
    known = {"generated_comment", *file.constants, *file.slots}
    for name in sorted(template.names):
        if name not in known:
            raise SpecError(f"the template has an unknown hole '${{{name}}}'", nearest(name, known), needle=name)
    return template


def _reopened(text: str, hole: str) -> str:
    """The hole alone, inside the namespaces that are open around it."""
    stack: list[str] = []
    for match in _BRACE.finditer(text.partition(f"${{{hole}}}")[0]):
        if match.group() == "}":
            stack.pop()
        elif match.group().endswith("{"):
            stack.append(match.group(1) or "")
    opened = [name for name in stack if name]
    begin = "".join(f"namespace {name} {{\n\n" for name in opened)
    end = "".join(f"\n\n}} // namespace {name}" for name in reversed(opened))
    return f"{begin}${{{hole}}}{end}\n"


Piece = bytes | memoryview

_EMPTY = digest(b"")


class Made(NamedTuple):
    data: bytes
    places: dict[bytes, tuple[int, int]]  # offset and length of pieces, as the next run may take them from here


def run(
    file: File,
    template: Template,
    comment_folder: str,
    digests: Mapping[str, Sequence[bytes]],
    taken: Mapping[bytes, memoryview],
    load: Callable[[str, str], str],
    release: Release,
) -> Made:
    """The file's bytes. `digests` has, by the name of a piece, those of all Nodes in the order of the file.

    A piece comes from `taken`, which is what an earlier file had at its places, or else is loaded by its Node's name
    and its own.
    """
    values: dict[str, Value] = {
        "generated_comment": generated_comment(comment_folder, file.template or file.name),
        **file.constants,
    }
    blocks = {hole: piece for hole, piece in file.slots.items() if _is_block(template, hole)}
    for hole, piece in file.slots.items():
        loaded = hole in template.names and hole not in blocks
        values[hole] = lines_of(load(node, piece) for node in file.nodes) if loaded else ""
    data: list[Piece] = []
    places: dict[bytes, tuple[int, int]] = {}
    size = 0
    for part, text in zip(template.parts, template.filled(values)):
        if not isinstance(part, Hole) or part.names[0] not in blocks:
            data.append(text.encode())
            size += len(data[-1])
            continue
        piece, indent = blocks[part.names[0]], part.indent or ""
        names = [digest_of((name, indent)) if indent else name for name in digests[piece]]
        given: list[Piece | None] = []
        for node, found, name in zip(file.nodes, digests[piece], names):
            known: Piece | None = taken.get(name)
            if known is None and found != _EMPTY:
                known = _as_block(load(node, piece), indent, release)
            given.append(known)
        size = _join(given, names, size, data, places)
    made = b"".join(data)
    if release.spaces_docstrings and b'"""' in made:
        return Made(_DOCSTRING.sub(r"\g<1>\n\n\g<2>", made.decode()).encode(), {})
    return Made(made, places)


def _is_block(template: Template, hole: str) -> bool:
    """Whether the template has a hole once, on a line of its own: each piece then stands there as it is."""
    holes = [part for part in template.parts if isinstance(part, Hole) and hole in part.names]
    return len(holes) == 1 and holes[0].names == (hole,) and holes[0].indent is not None


def _as_block(text: str, indent: str, release: Release) -> bytes:
    return (indented(text, indent, trim=release.trims_lines) if indent else text).encode()


def _join(
    given: Sequence[Piece | None],
    names: Sequence[bytes],
    size: int,
    data: list[Piece],
    places: dict[bytes, tuple[int, int]],
) -> int:
    """Adds a block, a line break between its pieces, to a file of `size` bytes; gives the size of both.

    None stands for a piece without any line. White space at the end of the block goes.
    """
    last = len(given) - 1
    while last >= 0 and not (ending := str(given[last] or b"", "utf-8").rstrip().encode()):
        last -= 1
    first = True
    for i, piece in enumerate(given[: last + 1]):
        if piece is None:
            continue
        if not first:
            data.append(b"\n")
            size += 1
        first = False
        text = ending if i == last else piece
        data.append(text)
        if text and len(text) == len(piece):
            places[names[i]] = (size, len(text))
        size += len(text)
    return size
