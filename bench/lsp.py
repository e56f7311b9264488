"""From a keystroke in an editor to its diagnostics: `python -m bench.lsp`.

Opens both YAML files of the installed torch in `gradmill lsp`, as an editor does. Measures from a change to the
diagnostics that follow it, and from a request to its response: wall time of the client, and processor time of the
server. With all features on, a change is followed by what an editor requests then: semantic tokens, hints of the
visible lines, folds, symbols, actions, and lenses, which are answered after half a second without a key. By default the
set was built before, as is usual; `--clean` opens one that was not. On a machine that does much else, processor time is
the better measure.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from bench.scenarios import ROOT
from bench.specs import SpecFolder, make

LIMIT = 100  # milliseconds

Sample = tuple[float, float]  # milliseconds of wall and of processor time


class Client:
    """The measured part of an editor."""

    def __init__(self) -> None:
        self.client = LanguageClient("bench", "1")
        self._shown: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self._versions: dict[str, int] = {}
        self._process = 0
        self._requested: list[asyncio.Future[object]] = []  # what an editor requested after the last change
        self._lenses: list[asyncio.Future[object]] = []  # requests for lenses, which are answered after a rest
        self._tokens: dict[Path, str] = {}  # the ids of the last semantic tokens

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def shown(params: types.PublishDiagnosticsParams) -> None:
            self._shown.put_nowait(params)

    async def start(self, *words: str) -> None:
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: print(params.message, file=sys.stderr))
        await self.client.start_io(sys.executable, "-m", "gradmill", "lsp", *words, cwd=ROOT)
        self._process = self.client._server.pid  # type: ignore[union-attr]
        await self.client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
        self.client.initialized(types.InitializedParams())

    def cpu(self) -> float:
        """Processor time of the server's threads, in milliseconds."""
        times = (path.read_text().split()[0] for path in Path(f"/proc/{self._process}/task").glob("*/schedstat"))
        return sum(map(int, times)) / 1e6

    async def open(self, path: Path) -> None:
        uri = path.as_uri()
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, "yaml", 1, path.read_text())
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self.shown(uri)

    async def shown(self, uri: str) -> types.PublishDiagnosticsParams:
        """Waits for the diagnostics of the current version of the text."""
        while True:
            params = await self._shown.get()
            if params.uri == uri and params.version == self._versions[uri]:
                return params

    async def key(self, path: Path, line: int, start: int, end: int, text: str) -> None:
        """Replaces a range of a line by `text`, and waits for the diagnostics."""
        uri = path.as_uri()
        self._versions[uri] += 1
        places = types.Range(types.Position(line, start), types.Position(line, end))
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        change = types.TextDocumentContentChangePartial(places, text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await self.shown(uri)

    async def all(self, path: Path, line: int, start: int, end: int, text: str, *, whole: bool) -> None:
        """A change, and all that an editor requests after it; returns when the diagnostics are there or, with `whole`,
        the last response, but for lenses, which come after a rest."""
        document, place = types.TextDocumentIdentifier(path.as_uri()), types.Position(line, start)
        visible = types.Range(types.Position(max(line - 30, 0), 0), types.Position(line + 30, 0))
        context, api = types.CodeActionContext([]), self.client
        requests = [
            self._delta(path, document),
            api.text_document_semantic_tokens_range_async(types.SemanticTokensRangeParams(document, visible)),
            api.text_document_inlay_hint_async(types.InlayHintParams(document, visible)),
            api.text_document_folding_range_async(types.FoldingRangeParams(document)),
            api.text_document_document_symbol_async(types.DocumentSymbolParams(document)),
            api.text_document_code_action_async(types.CodeActionParams(document, types.Range(place, place), context)),
            api.text_document_signature_help_async(types.SignatureHelpParams(document, place)),
        ]
        lenses = api.text_document_code_lens_async(types.CodeLensParams(document))
        shown = asyncio.ensure_future(self.key(path, line, start, end, text))
        await asyncio.sleep(0)  # the change comes first
        self._requested = [asyncio.ensure_future(each) for each in requests]
        self._lenses.append(asyncio.ensure_future(lenses))
        await shown
        if whole:
            await self.answered()

    async def answered(self, *, lenses: bool = False) -> None:
        """Waits for the responses to what was requested after the last change."""
        await asyncio.gather(*self._requested, *(self._lenses if lenses else ()))

    async def _delta(self, path: Path, document: types.TextDocumentIdentifier) -> None:
        since = types.SemanticTokensDeltaParams(document, self._tokens.get(path, ""))
        tokens = await self.client.text_document_semantic_tokens_full_delta_async(since)
        self._tokens[path] = (tokens and tokens.result_id) or ""


def main() -> None:
    parser = argparse.ArgumentParser("python -m bench.lsp", description=__doc__)
    parser.add_argument("--keys", type=int, default=20, metavar="N", help="measurements of each kind (20)")
    parser.add_argument("--pause", type=float, default=0.4, metavar="S", help="seconds between two keys (0.4)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only kinds with this text in their names")
    parser.add_argument("--clean", action="store_true", help="open a set that was not built before")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gradmill-lsp-") as folder:
        asyncio.run(_measure(Path(folder).resolve(), arguments))


async def _measure(place: Path, arguments: argparse.Namespace) -> None:
    specs = make(place / "set", 1)
    words = [f"specs={specs.folder}", f"generated={place / 'generated'}", f"cache={place / 'cache'}"]
    if not arguments.clean:
        build = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "doit", *words, cwd=ROOT, stdout=asyncio.subprocess.DEVNULL
        )
        if await build.wait():
            raise SystemExit("the build failed")
    client = Client()
    await client.start(*words)
    begin = time.perf_counter()
    await client.open(specs.derivatives)
    print(f"opened after {time.perf_counter() - begin:.2f} s")
    await client.open(specs.native)
    await asyncio.sleep(2)
    for name, ask in _kinds(client, specs).items():
        if arguments.only not in name:
            continue
        durations = [await _timed(client, ask, number, arguments.pause) for number in range(arguments.keys)]
        print(_report(name, durations), flush=True)
    await client.answered(lenses=True)
    await client.client.shutdown_async(None)
    client.client.exit(None)
    await client.client.stop()


async def _timed(client: Client, ask: Callable[[int], Awaitable[object]], number: int, pause: float) -> Sample:
    await client.answered()
    await asyncio.sleep(pause)
    cpu, begin = client.cpu(), time.perf_counter()
    await ask(number)
    wall = (time.perf_counter() - begin) * 1e3
    return wall, client.cpu() - cpu


def _report(name: str, durations: list[Sample]) -> str:
    wall = sorted(wall for wall, _ in durations)
    cpu = sorted(cpu for _, cpu in durations)
    above = sum(each > LIMIT for each in wall)
    middle = f"median {statistics.median(wall):.0f} ms ({wall[0]:.0f} to {wall[-1]:.0f})"
    p95 = wall[math.ceil(0.95 * len(wall)) - 1]
    own = f"CPU {statistics.median(cpu):.0f} ms (p95 {cpu[math.ceil(0.95 * len(cpu)) - 1]:.0f}, to {cpu[-1]:.0f})"
    return f"{name:<46} {middle:<32} p95 {p95:.0f} ms; {own}; {above} above {LIMIT} ms"


def _kinds(client: Client, specs: SpecFolder) -> dict[str, Callable[[int], Awaitable[object]]]:
    """The measured actions, by title. Each takes the number of its turn."""
    formula = _line(specs.derivatives, "- name: mv(") + 1
    schema = _line(specs.native, "- func: mv(")
    blank = schema - 1
    column = len("  self: ")
    document = types.TextDocumentIdentifier(specs.derivatives.as_uri())
    place = {"text_document": document, "position": types.Position(formula, column + 2)}
    api = client.client

    async def toggled(path: Path, line: int, at: int, text: str, number: int) -> None:
        """Types `text` in one turn and deletes it in the next."""
        await client.key(path, line, at, at + len(text) * (number % 2), "" if number % 2 else text)

    async def with_all(path: Path, line: int, at: int, text: str, number: int, *, whole: bool = False) -> None:
        end = at + len(text) * (number % 2)
        await client.all(path, line, at, end, "" if number % 2 else text, whole=whole)

    async def method(number: int) -> None:
        line = formula + 1
        await client.key(specs.derivatives, line, column, column, "self.")
        await api.text_document_completion_async(types.CompletionParams(document, types.Position(line, column + 5)))
        await client.key(specs.derivatives, line, column, column + 5, "")

    async def renamed(at: int, number: int) -> None:
        """Types a new letter in place of the letter typed before."""
        await client.key(specs.native, schema, at, at + bool(number), chr(ord("a") + number % 26))

    return {
        "a key in a formula, all features on": lambda n: with_all(specs.derivatives, formula, column, "1", n),
        "a key in a schema, all features on": lambda n: with_all(specs.native, schema, len("- func: m"), "x", n),
        "the same, until all is answered": lambda n: with_all(specs.derivatives, formula, column, "1", n, whole=True),
        "of a schema, until all is answered": lambda n: with_all(
            specs.native, schema, len("- func: m"), "x", n, whole=True
        ),
        "a key in a formula": lambda n: client.key(specs.derivatives, formula, column, column, str(n % 10)),
        "an unknown name, and back": lambda n: toggled(specs.derivatives, formula, column, "grd * ", n),
        "a formula that is no YAML, and back": lambda n: toggled(specs.derivatives, formula, column, "{", n),
        "a key in a comment of native_functions": lambda n: toggled(specs.native, blank, 0, "# a comment", n),
        "native_functions is no YAML, and back": lambda n: toggled(specs.native, schema, len("- func: "), "[", n),
        "an argument renamed in a schema, and back": lambda n: toggled(
            specs.native, schema, len("- func: mv(Tensor self, Tensor vec"), "tor", n
        ),
        "an operator that is not in the set, and back": lambda n: toggled(
            specs.native, schema, len("- func: m"), "x", n
        ),
        "completion in a formula": lambda n: api.text_document_completion_async(types.CompletionParams(**place)),
        "hover": lambda n: api.text_document_hover_async(types.HoverParams(**place)),
        "definition": lambda n: api.text_document_definition_async(types.DefinitionParams(**place)),
        "references of an operator": lambda n: api.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(True), document, types.Position(formula - 1, len("- name: m")))
        ),
        "workspace symbols": lambda n: api.workspace_symbol_async(types.WorkspaceSymbolParams("mvback")),
        "completion of a method": method,
        "code lenses of derivatives": lambda n: api.text_document_code_lens_async(types.CodeLensParams(document)),
        "code lenses of native_functions": lambda n: api.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(specs.native.as_uri()))
        ),
        # Last, because these leave other names behind. A name that was typed before costs less: its rows exist.
        "an argument renamed, each time to a new name": lambda n: renamed(len("- func: mv(Tensor self, Tensor vec"), n),
        "an operator renamed, each time to a new name": lambda n: renamed(len("- func: mv"), n),
    }


def _line(path: Path, start: str) -> int:
    lines = path.read_text().split("\n")
    numbers = [number for number, line in enumerate(lines) if line.startswith(start)]
    if not numbers:
        raise SystemExit(f"{path.name} of this torch has no {start}")
    return numbers[0]


if __name__ == "__main__":
    main()
