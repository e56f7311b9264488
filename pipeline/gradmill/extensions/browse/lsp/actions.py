"""Code actions: the fixes of `gradmill check fix=1`, one or all of a file, and comments that silence warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from gradmill.extensions.browse.editor.outline import entry_above
from gradmill.session.fixes import Fix, fix_lines

if TYPE_CHECKING:
    from gradmill.extensions.browse.lsp.buffers import Text
    from gradmill.extensions.browse.lsp.server import Server

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.gradmill"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)
REASON = "TODO: the reason"  # for the author to replace


def actions(server: Server, path: str, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The actions for the diagnostics that are shown in a range of an open file, of the requested kinds."""
    server.catch_up()
    text, uri = server.text(path), params.text_document.uri
    shown = server.shown(path)
    inside = [each for each in shown if each.range.start <= params.range.end and params.range.start <= each.range.end]
    found = [each for diagnostic in inside for each in _for_one(server, uri, text, diagnostic)]
    fixes = [fix for diagnostic in shown if (fix := _fix_of(diagnostic)) is not None]
    if fixes:
        found += _for_all(server, uri, text, fixes)
    only = params.context.only
    return [each for each in found if only is None or any(_is_of(each.kind, kind) for kind in only)]


def _is_of(kind: str | None, wanted: str) -> bool:
    """Whether a kind is the wanted one or a kind of it."""
    plain = wanted.value if isinstance(wanted, types.CodeActionKind) else wanted
    own = kind.value if isinstance(kind, types.CodeActionKind) else kind or ""
    return not plain or f"{own}.".startswith(f"{plain}.")


def _for_one(server: Server, uri: str, text: Text, diagnostic: types.Diagnostic) -> Iterator[types.CodeAction]:
    fix = _fix_of(diagnostic)
    if fix is not None and (edits := _edits(text, [fix], server.encoding)):
        yield types.CodeAction(
            f"Write '{fix.right}' for '{fix.wrong}'" if fix.right else f"Remove '{fix.wrong}'",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            edit=server.edit({uri: edits}),
            is_preferred=True,
        )
    rule = _data(diagnostic).get("silence")
    line = diagnostic.range.start.line
    block = entry_above(text.lines, line) if rule else None
    if block is not None and line <= block.last:
        comment = f"{' ' * block.body.indent}# gradmill: ignore {rule} {REASON}{text.line_end}"
        start = types.Position(block.line, 0)
        yield types.CodeAction(
            f"Silence [{rule}] for this entry, with a reason that you write",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            edit=server.edit({uri: [types.TextEdit(types.Range(start, start), comment)]}),
        )


def _for_all(server: Server, uri: str, text: Text, fixes: list[Fix]) -> Iterator[types.CodeAction]:
    """All fixes of a file, as an action for the source and, if there are several, as a quick fix."""
    edits = _edits(text, fixes, server.encoding)
    title = f"Fix all {len(edits)} certain problems of this file" if len(edits) > 1 else "Fix all certain problems"
    for kind in (types.CodeActionKind.QuickFix,) * (len(edits) > 1) + (FIX_ALL,) * bool(edits):
        yield types.CodeAction(title, kind=kind, edit=server.edit({uri: edits}))


def _edits(text: Text, fixes: Iterable[Fix], encoding: str) -> list[types.TextEdit]:
    """The edits of those fixes whose text is there, as `check fix=1` makes them."""
    lines = [line.encode("utf-8", "surrogatepass") for line in text.lines]
    edits = []
    for fix in fix_lines(lines, set(fixes)):
        start = fix.column - 1
        edits.append(types.TextEdit(text.range(fix.line - 1, start, start + len(fix.wrong), encoding), fix.right))
    return edits


def _fix_of(diagnostic: types.Diagnostic) -> Fix | None:
    fix = _data(diagnostic).get("fix")
    return None if fix is None else Fix("", *fix)


def _data(diagnostic: types.Diagnostic) -> dict[str, Any]:
    return diagnostic.data if isinstance(diagnostic.data, dict) else {}
