"""Stage `shard:<file>`: the pieces of many Nodes and a template to one generated file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pipeline.model.infos import NodeRow
from pipeline.outputs.families import families
from pipeline.outputs.family import generated_comment
from pipeline.outputs.file import File
from pipeline.problems import SpecError, nearest
from pipeline.releases.model import Release
from pipeline.spec_text import decode_text
from pipeline.text_template import Hole, Template, Value, lines_of

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
Place = tuple[int, int]  # offset and length


class Made(NamedTuple):
    data: bytes
    places: dict[str, list[Place | None]]  # by piece name, for every Node: where its piece stands as it was given


def run(
    file: File, template: Template, comment_folder: str, pieces: Mapping[str, Sequence[Piece]], release: Release
) -> Made:
    """The file's bytes. `pieces` gives, by name, the text of every Node in the order of the file, as UTF-8."""
    values: dict[str, Value] = {
        "generated_comment": generated_comment(comment_folder, file.template or file.name),
        **file.constants,
    }
    flat = {hole: piece for hole, piece in file.slots.items() if _stands_flat(template, hole)}
    for hole, piece in file.slots.items():
        given = () if hole in flat else pieces.get(piece, ())
        values[hole] = lines_of(str(text, "utf-8") for text in given)
    data: list[Piece] = []
    places: dict[str, list[Place | None]] = {}
    size = 0
    for part, text in zip(template.parts, template.filled(values)):
        if isinstance(part, Hole) and part.names[0] in flat:
            piece = flat[part.names[0]]
            joined, places[piece] = _joined(pieces[piece], size)
        else:
            joined = [text.encode()]
        data += joined
        size += sum(map(len, joined))
    made = b"".join(data)
    if release.spaces_docstrings and b'"""' in made:
        return Made(_DOCSTRING.sub(r"\g<1>\n\n\g<2>", made.decode()).encode(), {})
    return Made(made, places)


def _stands_flat(template: Template, hole: str) -> bool:
    """Whether a hole takes blocks as they are: once in the template, alone at the start of a line."""
    holes = [part for part in template.parts if isinstance(part, Hole) and hole in part.names]
    return len(holes) == 1 and holes[0].names == (hole,) and holes[0].indent == ""


def _joined(pieces: Sequence[Piece], start: int) -> tuple[list[Piece], list[Place | None]]:
    """The pieces as a block, a line break between them, and where each stands in a file when the block is at `start`.

    A piece without any line takes none. White space at the end of the block goes.
    """
    last = len(pieces) - 1
    while last >= 0 and not (ending := str(pieces[last], "utf-8").rstrip().encode()):
        last -= 1
    data: list[Piece] = []
    places: list[Place | None] = [None] * len(pieces)
    for i, piece in enumerate(pieces[: last + 1]):
        if not piece:
            continue
        if data:
            data.append(b"\n")
            start += 1
        text = ending if i == last else piece
        data.append(text)
        if len(text) == len(piece):
            places[i] = (start, len(text))
        start += len(text)
    return data, places
