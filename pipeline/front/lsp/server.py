"""The language server: what an editor says and asks, handed to the session of the file's set.

Keys that are pressed faster than they can be answered are taken together. Whoever asks something is answered of the
text as it is by then.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Collection, Mapping

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from pipeline import __version__
from pipeline.code.files import CodeChanged
from pipeline.front.lsp import diagnostics
from pipeline.front.lsp.buffers import Buffer, Text, path_of
from pipeline.front.lsp.protocol import Protocol
from pipeline.front.lsp.sessions.session import Session
from pipeline.front.lsp.sessions.sets import Sets
from pipeline.io.files import read_file
from pipeline.problems.plain import reason
from pipeline.problems.problem import SpecError
from pipeline.specs.text import decode_text

PAUSE = 0.004  # seconds in which more of what was typed may arrive
PATIENCE = 0.05  # seconds that typing may go on before it is answered
REST = 0.5  # seconds without a key after which the whole set is looked at
IDLE = 0.2  # seconds after that, when memory is tidied up

_CHANGED = "gradmill's own code changed: start the language server again"


class Server(LanguageServer):
    """One editor, the files that it has open, the sets that these belong to."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__("gradmill", __version__, protocol_cls=Protocol, max_workers=1)
        self.sets = Sets(variables)
        self.buffers: dict[str, Buffer] = {}  # by path
        self._behind: dict[Session, None] = {}  # sessions that something changed for
        self._rest: dict[Session, None] = {}  # sessions that were not looked at as a whole
        self._shown: dict[str, list[types.Diagnostic]] = {}
        self._since = 0.0  # when the first change came that is not answered yet
        self._timer: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None

    @property
    def encoding(self) -> str:
        """What the editor counts characters in."""
        found = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        return types.PositionEncodingKind(found).value

    # ---- files

    def open(self, uri: str, text: str, version: int) -> None:
        """A file was opened."""
        path = path_of(uri)
        self.buffers[path] = Buffer(uri, text, version)
        self._look_at(path)

    def change(self, uri: str, changes: list[types.TextDocumentContentChangeEvent], version: int) -> None:
        """A file was changed, and not saved."""
        path = path_of(uri)
        buffer = self.buffers.get(path)
        if buffer is None:
            return
        for each in changes:
            buffer = buffer.changed(each, version, self.encoding)
        self.buffers[path] = buffer
        self._look_at(path)

    def leave(self, uri: str) -> None:
        """A file was closed: what the disk has counts again."""
        path = path_of(uri)
        self.buffers.pop(path, None)
        session = self.sets.of(path)
        if session is not None:
            self._later(session)
        elif path in self._shown:
            self._publish(path, [])

    def saved(self, uri: str) -> None:
        """A file was saved, or changed on the disk."""
        path = path_of(uri)
        self.sets.forget(path)
        for session in self.sets.open():
            self._later(session)
        for other in self.buffers:
            self._look_at(other)
        sessions = self.sets.open()
        for other in self._shown.keys() - self.buffers.keys():
            if not any(session.files.has(other) for session in sessions):
                self._publish(other, [])

    def _look_at(self, path: str) -> None:
        """Looks at the set of an open file; where there is none, shows why."""
        session = self.sets.of(path)
        if session is not None:
            self._later(session)
        elif path in self.sets.why:
            self._publish(path, [diagnostics.outside(self.sets.why[path])])
        elif self._shown.get(path):
            self._publish(path, [])

    def text(self, path: str) -> Text:
        """A file as the editor has it, or the disk."""
        found = self.buffers.get(path)
        if found is not None:
            return found
        try:
            return Text(decode_text(read_file(path) or b""))
        except SpecError:
            return Text("")

    def uri(self, path: str) -> str:
        """What the editor calls a file."""
        found = self.buffers.get(path)
        return found.uri if found is not None else from_fs_path(path) or ""

    def edit(self, changes: dict[str, list[types.TextEdit]]) -> types.WorkspaceEdit:
        """Changes of files; with the versions of those that are open, where the editor takes that."""
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace is not None else None
        if edits is None or not edits.document_changes:
            return types.WorkspaceEdit(changes=changes)
        versions = {buffer.uri: buffer.version for buffer in self.buffers.values()}
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)), found)
                for uri, found in changes.items()
            ]
        )

    # ---- keeping up

    def _later(self, session: Session) -> None:
        """Answers in a moment, unless more is typed until then."""
        now = time.monotonic()
        self._since = self._since if self._behind else now
        self._behind[session] = None
        for timer in (self._timer, self._idle):
            if timer is not None:
                timer.cancel()
        pause = PAUSE if now - self._since < PATIENCE else 0
        self._timer = asyncio.get_running_loop().call_later(pause, self.catch_up)

    def catch_up(self) -> None:
        """Brings up to date what is behind, and shows what came of it; of the rest in a moment."""
        if self._timer is not None:
            self._timer.cancel()
        behind, self._behind = self._open_of(self._behind), {}
        for session in behind:
            self._bring(session)
        if behind:
            self._rest.update(dict.fromkeys(behind))
            self._idle = asyncio.get_running_loop().call_later(REST, self._complete)

    def _bring(self, session: Session) -> None:
        opened = {path: buffer.data for path, buffer in self.buffers.items() if session.files.has(path)}
        outrun = session.is_outrun
        try:
            session.look(opened)
        except (CodeChanged, OSError) as error:
            why = reason(error) if isinstance(error, OSError) else _CHANGED
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, why))
            return
        self._show(session, anew=True)
        if outrun and self._refreshes_lenses:
            self.workspace_code_lens_refresh(None)
        asyncio.get_running_loop().call_soon(session.settle)

    def _complete(self) -> None:
        """What is done when nobody types: the rest of the set, what is kept for the next key, memory."""
        rest, self._rest = self._open_of(self._rest), {}
        for session in rest:
            self.complete(session)
            session.settle()
        self._idle = asyncio.get_running_loop().call_later(IDLE, self._tidy, rest)

    @property
    def _refreshes_lenses(self) -> bool:
        """Whether the editor asks for code lenses again when it is told to."""
        workspace = self.client_capabilities.workspace
        lenses = workspace.code_lens if workspace is not None else None
        return bool(lenses is not None and lenses.refresh_support)

    def _open_of(self, sessions: Collection[Session]) -> list[Session]:
        """Those that were not closed meanwhile."""
        return [session for session in self.sets.open() if session in sessions]

    def complete(self, session: Session) -> None:
        """Looks at the rest of a set, and shows what that tells."""
        if session.is_outrun:
            self._bring(session)
        session.complete()
        self._show(session, anew=False)

    def _tidy(self, sessions: list[Session]) -> None:
        """Collects garbage, which the process does not do by itself."""
        for session in self._open_of(sessions):
            session.prepare()
            session.settle()
        gc.collect()
        gc.freeze()

    def _show(self, session: Session, *, anew: bool) -> None:
        """Shows what a session has to tell; `anew`: in all files that are open, as it is for another text."""
        found = diagnostics.by_file(session.report(), self.text, self.encoding)
        for path in [*found, *(path for path in {**self.buffers, **self._shown} if path not in found)]:
            if session.files.has(path) and (anew or self._shown.get(path, []) != found.get(path, [])):
                self._publish(path, found.get(path, []))

    def _publish(self, path: str, found: list[types.Diagnostic]) -> None:
        buffer = self.buffers.get(path)
        if buffer is None and self._shown.get(path, []) == found:
            return
        self._shown[path] = found
        uri = self.uri(path)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, found, buffer.version if buffer is not None else None)
        )
