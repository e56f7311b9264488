"""The language server: passes an editor's notifications and requests to the session of the file's spec set.

Changes that arrive faster than they are processed are processed together. A request is answered for the current text.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
from collections.abc import Callable, Mapping

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from gradmill import __version__
from gradmill.extensions.browse.editor.words import state_of
from gradmill.extensions.browse.lsp import diagnostics
from gradmill.extensions.browse.lsp.buffers import Buffer, Text, path_of
from gradmill.extensions.browse.lsp.protocol import Protocol
from gradmill.extensions.browse.lsp.sessions.session import Session
from gradmill.extensions.browse.lsp.sessions.sets import Sets
from gradmill.extensions.browse.lsp.symbols import converter
from gradmill.extensions.browse.lsp.tokens import Encoder
from gradmill.io.files import read_file
from gradmill.problems.plain import reason
from gradmill.problems.problem import SpecError
from gradmill.query.engine import IncrementalBug
from gradmill.session.own_code import CodeChanged, OwnCode
from gradmill.specs.text import decode_text
from gradmill.stages.infos import rows

PAUSE = 0.004  # seconds to wait for more changes
PATIENCE = 0.05  # seconds after which changes are processed even if more arrive
REST = 0.5  # seconds without a change, until the whole set is checked
IDLE = 0.2  # seconds after that, until garbage is collected
LOOK = 2.0  # seconds between two checks whether the editor still runs

_CHANGED = "gradmill's own code changed: start the language server again"


class Server(LanguageServer):
    """The server of one editor: its open files and their spec sets."""

    def __init__(self, variables: Mapping[str, str], code: OwnCode) -> None:
        super().__init__("gradmill", __version__, protocol_cls=Protocol, converter_factory=converter, max_workers=1)
        self.sets = Sets(variables, code)
        self.buffers: dict[str, Buffer] = {}  # by path
        self._shown: dict[str, list[types.Diagnostic]] = {}
        self.encoder = Encoder()
        self._tokens: dict[str, tuple[str, list[int]]] = {}  # the last semantic tokens by path: result id, numbers
        self._since = 0.0  # the time of the first unprocessed change
        self._timer: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None

    @property
    def encoding(self) -> str:
        """The encoding in which the editor counts characters."""
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        return types.PositionEncodingKind(encoding).value

    def watch(self, editor: int) -> None:
        """Ends this process after the editor's process ended: another process may hold the pipe open. A process that
        does not run at the start is on another machine."""
        if editor > 0 and is_alive(editor):
            asyncio.get_running_loop().call_later(LOOK, self._look, editor)

    def _look(self, editor: int) -> None:
        if is_alive(editor):
            asyncio.get_running_loop().call_later(LOOK, self._look, editor)
            return
        self.sets.close()
        os._exit(1)  # a thread still reads the pipe

    # ---- files

    def open(self, uri: str, text: str, version: int) -> None:
        """A file was opened."""
        path = path_of(uri)
        self.buffers[path] = Buffer(uri, text, version)
        self._schedule(path)

    def change(self, uri: str, changes: list[types.TextDocumentContentChangeEvent], version: int) -> None:
        """A file was changed in the editor, and not saved."""
        path = path_of(uri)
        buffer = self.buffers.get(path)
        if buffer is None:
            return
        for each in changes:
            buffer = buffer.changed(each, version, self.encoding)
        self.buffers[path] = buffer
        self._schedule(path)

    def leave(self, uri: str) -> None:
        """A file was closed: the text on the disk is used again."""
        path = path_of(uri)
        self.buffers.pop(path, None)
        self._tokens.pop(path, None)
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
            self._schedule(other)
        sessions = self.sets.open()
        for other in self._shown.keys() - self.buffers.keys():
            if not any(session.files.has(other) for session in sessions):
                self._publish(other, [])

    def _schedule(self, path: str) -> None:
        """Schedules a check of an open file's set; shows the reason if the file is in no set."""
        session = self.sets.of(path)
        if session is not None:
            self._later(session)
        elif path in self.sets.why:
            self._publish(path, [diagnostics.outside(self.sets.why[path])])
        elif self._shown.get(path):
            self._publish(path, [])

    def text(self, path: str) -> Text:
        """The text of a file in the editor, else on the disk; empty if it is missing or no text."""
        buffer = self.buffers.get(path)
        if buffer is not None:
            return buffer
        try:
            return Text(decode_text(read_file(path) or b""))
        except SpecError:
            return Text("")

    def uri(self, path: str) -> str:
        """The editor's URI of a file."""
        buffer = self.buffers.get(path)
        return buffer.uri if buffer is not None else from_fs_path(path) or ""

    def shown(self, path: str) -> list[types.Diagnostic]:
        """The diagnostics that are shown in a file."""
        return self._shown.get(path, [])

    def keep_tokens(self, path: str, numbers: list[int]) -> str:
        """Keeps the semantic tokens of a file; returns the id of this result."""
        before = self._tokens.get(path, ("0", []))[0]
        self._tokens[path] = str(int(before) + 1), numbers
        return self._tokens[path][0]

    def kept_tokens(self, path: str, result: str) -> list[int] | None:
        """The semantic tokens of a file in a result; None if it is not the last one."""
        kept, numbers = self._tokens.get(path, ("", []))
        return numbers if kept == result else None

    def edit(self, changes: dict[str, list[types.TextEdit]]) -> types.WorkspaceEdit:
        """An edit of files, by URI; with the versions of open files if the editor supports them."""
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace is not None else None
        if edits is None or not edits.document_changes:
            return types.WorkspaceEdit(changes=changes)
        versions = {buffer.uri: buffer.version for buffer in self.buffers.values()}
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)), text_edits
                )
                for uri, text_edits in changes.items()
            ]
        )

    # ---- keeping up

    def _later(self, session: Session) -> None:
        """Schedules a session's update; a change before then postpones it, up to `PATIENCE`."""
        now = time.monotonic()
        self._since = self._since if any(each.has_changes for each in self.sets.open()) else now
        session.has_changes = True
        for timer in (self._timer, self._idle):
            if timer is not None:
                timer.cancel()
        pause = PAUSE if now - self._since < PATIENCE else 0
        self._timer = asyncio.get_running_loop().call_later(pause, self.catch_up)

    def catch_up(self) -> None:
        """Updates the sessions with unprocessed changes and shows their diagnostics; schedules the complete check."""
        if self._timer is not None:
            self._timer.cancel()
        changed = [session for session in self.sets.open() if session.has_changes]
        for session in changed:
            session.has_changes = False
        updated = [session for session in changed if self._update(session)]
        for session in updated:
            session.rests = False
        if updated:
            self._idle = asyncio.get_running_loop().call_later(REST, self._complete)

    def _update(self, session: Session) -> bool:
        """Updates a session. False, after a message, if that is not possible."""
        opened = {path: buffer.data for path, buffer in self.buffers.items() if session.files.has(path)}
        outrun = session.is_outrun
        if not self._try(lambda: session.check(opened)):
            return False
        self._show(session, force=True)
        if outrun:
            self.refresh("code_lens")
        asyncio.get_running_loop().call_soon(session.settle)
        return True

    def _try(self, update: Callable[[], object]) -> bool:
        """Calls `update`; again after a bug that only results of earlier runs cause, as these were dropped. False,
        after a message, if a file cannot be read, gradmill's code changed, or for a bug."""
        try:
            try:
                update()
            except IncrementalBug as bug:
                self._report(bug, str(bug))
                update()
        except (CodeChanged, OSError) as error:
            why = reason(error) if isinstance(error, OSError) else _CHANGED
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, why))
            return False
        except Exception as error:
            self._report(error, f"a bug of gradmill: {type(error).__name__}: {error}; its traceback is in the log")
            return False
        return True

    def _report(self, bug: Exception, message: str) -> None:
        """Shows a bug in the editor, and writes its traceback to standard error, which is the editor's log."""
        logging.getLogger(__name__).error("%s", message, exc_info=bug)
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))

    def _complete(self) -> None:
        """Runs after `REST` seconds without a change: checks whole sets, commits results, schedules `_tidy`."""
        for session in [each for each in self.sets.open() if not each.rests]:
            session.rests = True
            if self.complete(session):
                session.settle()
                self._refresh_names(session)
        self._idle = asyncio.get_running_loop().call_later(IDLE, self._tidy)

    def _refresh_names(self, session: Session) -> None:
        """Asks the editor to request tokens and hints again if names changed: those in one file depend on others."""
        before, session.names = session.names, (*state_of(session.db), session.db.digest(rows))
        if before not in (None, session.names):
            self.refresh("semantic_tokens", "inlay_hint")

    def refresh(self, *kinds: str) -> None:
        """Asks the editor to request answers of these kinds again, if it supports that."""
        for kind in kinds:
            capability = getattr(self.client_capabilities.workspace, kind, None)
            if capability is not None and capability.refresh_support:
                getattr(self, f"workspace_{kind}_refresh")(None)

    def verified(self, session: Session) -> None:
        """Shows what a verification that ended found, if the set is still open."""
        if session in self.sets.open() and not self.is_behind(
            session
        ):  # else it is shown after the check of the changes
            session.recall()
            self._show(session, force=False)
        self.refresh("code_lens")

    def complete(self, session: Session) -> bool:
        """Checks the rest of a set and shows its diagnostics. False, after a message, if that is not possible."""
        if (session.is_outrun and not self._update(session)) or not self._try(session.complete):
            return False
        self._show(session, force=False)
        return True

    def is_behind(self, session: Session) -> bool:
        """Whether a set has changes that were not checked completely; they are after a rest."""
        return session.has_changes or not session.rests

    def _tidy(self) -> None:
        """Collects garbage: automatic collection is off."""
        gc.collect()
        gc.freeze()

    def _show(self, session: Session, *, force: bool) -> None:
        """Publishes a session's diagnostics that changed. `force`: all of open files, because their version changed."""
        by_path = diagnostics.by_file(session.report(), self.text, self.encoding, session.config)
        for path in [*by_path, *(path for path in {**self.buffers, **self._shown} if path not in by_path)]:
            if session.files.has(path) and (force or self._shown.get(path, []) != by_path.get(path, [])):
                self._publish(path, by_path.get(path, []))

    def _publish(self, path: str, shown: list[types.Diagnostic]) -> None:
        buffer = self.buffers.get(path)
        if buffer is None and self._shown.get(path, []) == shown:
            return
        self._shown[path] = shown
        uri = self.uri(path)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, shown, buffer.version if buffer is not None else None)
        )


def is_alive(process: int) -> bool:
    """Whether there is a process with this number."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
