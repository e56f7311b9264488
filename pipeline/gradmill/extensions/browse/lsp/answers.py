"""Answers an editor's requests about a place, from the session's database, as types of the protocol."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from msgspec import Struct
from msgspec.structs import replace

from gradmill.extensions.browse.editor.completion import Context, Kind, complete
from gradmill.extensions.browse.editor.cursor import Cursor, cursor_at
from gradmill.extensions.browse.editor.hover import hover
from gradmill.extensions.browse.editor.references import references
from gradmill.extensions.browse.editor.renaming import rename, target_at
from gradmill.extensions.browse.editor.signatures import signatures
from gradmill.extensions.browse.editor.spots import Files, Spot, declarations
from gradmill.extensions.browse.lsp.buffers import path_of, units
from gradmill.extensions.browse.lsp.generated import link
from gradmill.problems.problem import Role, SpecError
from gradmill.specs.spec_set import ROLES

if TYPE_CHECKING:
    from gradmill.extensions.browse.lsp.buffers import Text
    from gradmill.extensions.browse.lsp.server import Server
    from gradmill.extensions.browse.lsp.sessions.session import Session

_DEPRECATED: Role = "deprecated"
KINDS: dict[Kind, types.CompletionItemKind] = {
    "key": types.CompletionItemKind.Property,
    "operator": types.CompletionItemKind.Method,
    "argument": types.CompletionItemKind.Variable,
    "tag": types.CompletionItemKind.EnumMember,
    "dispatch key": types.CompletionItemKind.EnumMember,
    "helper": types.CompletionItemKind.Function,
    "value": types.CompletionItemKind.Keyword,
}


class EditorRequest(Struct, frozen=True):
    """The place of an editor's request."""

    server: Server
    session: Session
    path: str
    text: Text
    cursor: Cursor

    def range(self, start: int, end: int) -> types.Range:
        """A range of columns of the line, in the editor's units."""
        return self.text.range(self.cursor.line, start, end, self.server.encoding)

    @property
    def files(self) -> Files:
        """The spec files and headers of the set, with the editor's unsaved text."""
        return files_of(self.server, self.session)


def files_of(server: Server, session: Session) -> Files:
    """The spec files and headers of a set, with the editor's unsaved text."""
    specs: dict[Role, list[tuple[str, list[str]]]] = {}
    keys = {}
    for role in ROLES:
        for at in session.files.locations(role):
            path = os.path.realpath(at.path)
            keys[path] = session.files.key(path)
            specs.setdefault(role, []).append((path, server.text(path).lines))
    headers = {name: os.path.realpath(at.path) for name, at in session.files.headers().items()}
    return Files(specs, {name: (path, server.text(path).lines) for name, path in headers.items()}, keys)


def locations(server: Server, spots: Sequence[Spot]) -> list[types.Location]:
    """Places in files, in the editor's units. Reads each file once."""
    texts = {path: server.text(path) for path in {spot.path for spot in spots}}
    return [
        types.Location(server.uri(spot.path), texts[spot.path].range(spot.line, spot.start, spot.end, server.encoding))
        for spot in spots
    ]


def request_at(server: Server, uri: str, place: types.Position) -> EditorRequest | None:
    """The place of a request, after pending changes are applied. None if the file is not open or in no spec set."""
    path = path_of(uri)
    session = server.sets.of(path) if path in server.buffers else None
    role = session.files.role(path) if session is not None else None
    if session is None or role is None:
        return None
    server.catch_up()
    text = server.text(path)
    column = text.offset(place, server.encoding) - text.starts[min(place.line, len(text.starts) - 1)]
    return EditorRequest(server, session, path, text, cursor_at(role, text.lines, place.line, column))


def completions(request: EditorRequest) -> types.CompletionList:
    """The completions at a place."""
    context = Context(request.session.db, request.cursor, tuple(request.text.lines))
    choices = complete(context)
    place = request.range(choices.start, choices.end)
    items = [
        types.CompletionItem(
            choice.label,
            kind=KINDS[choice.kind],
            detail=choice.detail or None,
            sort_text=f"{number:04}",
            filter_text=choice.text if choice.kind == "operator" and choice.insert else None,
            text_edit=types.TextEdit(place, choice.text),
        )
        for number, choice in enumerate(choices.choices)
    ]
    return types.CompletionList(is_incomplete=choices.more, items=items)


def hovered(request: EditorRequest) -> types.Hover | None:
    """The hover text for the word at a place, as Markdown; None if there is none."""
    markdown = hover(request.session.db, request.cursor, lambda facts: link(request.session.config, facts))
    _, start, end = request.cursor.word
    content = types.MarkupContent(types.MarkupKind.Markdown, markdown)
    return types.Hover(content, request.range(start, end)) if markdown else None


def declared(request: EditorRequest) -> list[types.Location]:
    """The declarations of the word at a place."""
    return locations(request.server, declarations(request.session.db, request.cursor, request.files))


def referred(request: EditorRequest, *, declared: bool) -> list[types.Location]:
    """The references of the word at a place; with `declared`, its declarations too."""
    db, reader = request.session.db, request.session.reader
    spots = references(db, request.cursor, request.path, request.files, reader, declared=declared)
    return locations(request.server, spots)


def signature(request: EditorRequest) -> types.SignatureHelp | None:
    """The signatures of the call around a place; None if there is no known one."""
    found = signatures(request.session.db, request.cursor, request.text.lines)
    if found is None:
        return None
    encoding = request.server.encoding
    overloads = [
        types.SignatureInformation(
            each.label,
            documentation=each.what or None,
            parameters=[
                types.ParameterInformation((units(each.label[:start], encoding), units(each.label[:end], encoding)))
                for start, end in each.parameters
            ],
        )
        for each in found.overloads
    ]
    return types.SignatureHelp(overloads, found.active, found.argument)


def renamable(request: EditorRequest) -> types.PrepareRenamePlaceholder | None:
    """The name at a place, if it can be renamed."""
    target = target_at(request.cursor)
    if target is None:
        return None
    return types.PrepareRenamePlaceholder(request.range(target.start, target.end), target.text)


def renamed(request: EditorRequest, new: str) -> types.WorkspaceEdit:
    """All edits that rename the operator at a place to `new`. Raises SpecError if it cannot be renamed."""
    target = target_at(request.cursor)
    if target is None:
        raise SpecError("there is no operator's name here", "go to one: func:, name:, structured_delegate:, autogen:")
    if any(at.member for role in ROLES for at in request.session.files.locations(role)):
        raise SpecError("the spec set is inside an archive", "unpack it first")
    changes: dict[str, list[types.TextEdit]] = {}
    session = request.session
    edits = rename(session.db, target, new, _with_unread(request), session.reader)
    for location, (_, text) in zip(locations(request.server, [spot for spot, _ in edits]), edits):
        changes.setdefault(location.uri, []).append(types.TextEdit(location.range, text))
    return request.server.edit(changes)


def _with_unread(request: EditorRequest) -> Files:
    """The files of the set, deprecated forms too, which only the Python bindings read."""
    files = request.files
    unread = [(path, request.server.text(path).lines) for path in request.session.files.unread(_DEPRECATED)]
    return replace(files, by_role={**files.by_role, _DEPRECATED: unread}) if unread else files
