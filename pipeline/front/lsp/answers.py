"""Answers an editor's requests about a place, from the session's database, as types of the protocol."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types
from msgspec import Struct

from pipeline.front.lsp.buffers import path_of
from pipeline.problems.problem import Role, SpecError
from pipeline.reports.editor.completion import Context, Kind, complete
from pipeline.reports.editor.cursor import Cursor, cursor_at
from pipeline.reports.editor.hover import hover
from pipeline.reports.editor.places import Files, Spot, declarations
from pipeline.reports.editor.renaming import rename, target_at
from pipeline.specs.spec_set import ROLES

if TYPE_CHECKING:
    from pipeline.front.lsp.buffers import Text
    from pipeline.front.lsp.server import Server
    from pipeline.front.lsp.sessions.session import Session

KINDS: dict[Kind, types.CompletionItemKind] = {
    "key": types.CompletionItemKind.Property,
    "operator": types.CompletionItemKind.Method,
    "argument": types.CompletionItemKind.Variable,
    "tag": types.CompletionItemKind.EnumMember,
    "dispatch key": types.CompletionItemKind.EnumMember,
    "helper": types.CompletionItemKind.Function,
    "value": types.CompletionItemKind.Keyword,
}


class Asked(Struct, frozen=True):
    """The place of an editor's request."""

    server: Server
    session: Session
    path: str
    text: Text
    cursor: Cursor

    @property
    def files(self) -> Files:
        """The spec files and headers of the set, with the editor's unsaved text."""
        specs: dict[Role, list[tuple[str, list[str]]]] = {}
        for role in ROLES:
            for at in self.session.files.locations(role):
                path = os.path.realpath(at.path)
                specs.setdefault(role, []).append((path, self.server.text(path).lines))
        headers = {name: os.path.realpath(at.path) for name, at in self.session.files.headers().items()}
        return Files(specs, {name: (path, self.server.text(path).lines) for name, path in headers.items()})

    def location(self, spot: Spot) -> types.Location:
        """A place in a file, in the editor's units."""
        text = self.server.text(spot.path)
        return types.Location(
            self.server.uri(spot.path), text.range(spot.line, spot.start, spot.end, self.server.encoding)
        )


def asked(server: Server, uri: str, place: types.Position) -> Asked | None:
    """The place of a request, after pending changes are applied. None if the file is not open or in no spec set."""
    path = path_of(uri)
    session = server.sets.of(path) if path in server.buffers else None
    role = session.files.role(path) if session is not None else None
    if session is None or role is None:
        return None
    server.catch_up()
    text = server.text(path)
    column = text.offset(place, server.encoding) - text.starts[min(place.line, len(text.starts) - 1)]
    return Asked(server, session, path, text, cursor_at(role, text.lines, place.line, column))


def completions(at: Asked) -> types.CompletionList:
    """The completions at a place."""
    context = Context(at.session.db, at.cursor, tuple(at.text.lines))
    choices = complete(context)
    place = at.text.range(at.cursor.line, choices.start, choices.end, at.server.encoding)
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


def hovered(at: Asked) -> types.Hover | None:
    """The hover text for the word at a place, as Markdown; None if there is none."""
    markdown = hover(at.session.db, at.cursor)
    _, start, end = at.cursor.word
    place = at.text.range(at.cursor.line, start, end, at.server.encoding)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, markdown), place) if markdown else None


def declared(at: Asked) -> list[types.Location]:
    """The declarations of the word at a place."""
    return [at.location(spot) for spot in declarations(at.session.db, at.cursor, at.files)]


def renamable(at: Asked) -> types.PrepareRenamePlaceholder | None:
    """The name at a place, if it can be renamed."""
    target = target_at(at.cursor)
    if target is None:
        return None
    place = at.text.range(at.cursor.line, target.start, target.end, at.server.encoding)
    return types.PrepareRenamePlaceholder(place, target.old)


def renamed(at: Asked, new: str) -> types.WorkspaceEdit:
    """All edits that rename the operator at a place to `new`. Raises SpecError if it cannot be renamed."""
    target = target_at(at.cursor)
    if target is None:
        raise SpecError("there is no operator's name here", "go to one: func:, name:, structured_delegate:, autogen:")
    if any(at_.member for role in ROLES for at_ in at.session.files.locations(role)):
        raise SpecError("the spec set is inside an archive", "unpack it first")
    changes: dict[str, list[types.TextEdit]] = {}
    for spot, text in rename(at.session.db, target, new, at.cursor, at.files):
        location = at.location(spot)
        changes.setdefault(location.uri, []).append(types.TextEdit(location.range, text))
    return at.server.edit(changes)
