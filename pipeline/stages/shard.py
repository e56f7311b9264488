"""Stage `shard:<file>`: the pieces of many Nodes and a template to one generated file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pipeline.model.infos import NodeRow
from pipeline.outputs.families import families
from pipeline.outputs.family import generated_comment
from pipeline.outputs.file import File
from pipeline.problems import SpecError, nearest
from pipeline.releases.model import Release
from pipeline.spec_text import decode_text
from pipeline.text_template import Template, lines_of

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


def run(
    file: File, template: Template, comment_folder: str, pieces: Mapping[str, Iterable[str]], release: Release
) -> bytes:
    """The file's bytes. `pieces` gives, by name, the text of every Node in the order of the file."""
    values = {
        "generated_comment": generated_comment(comment_folder, file.template or file.name),
        **file.constants,
        **{hole: lines_of(pieces[piece]) for hole, piece in file.slots.items()},
    }
    text = template.fill(values)
    if release.spaces_docstrings and '"""' in text:
        text = _DOCSTRING.sub(r"\g<1>\n\n\g<2>", text)
    return text.encode("utf-8")
