"""A program's own code as an input: what each module is made of, found by its import statements."""

from __future__ import annotations

import marshal
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import cache_from_source
from typing import TYPE_CHECKING

from msgspec import Struct

from pipeline.query.database import ENGINE, Database
from pipeline.query.files import CodeChanged, Input, read_file, stat_of
from pipeline.query.query import query
from pipeline.query.row import digest_of

if TYPE_CHECKING:
    import ast

PREFIX = "code/"  # of the labels of source files
FILES = "code files"  # the input that lists the labels, by line


class Source:
    """A source file as an input. It is read when its digest is asked for; its text is let go of once somebody had it,
    as there are many, and read again for who has it again: CodeChanged where it is another one then."""

    __slots__ = ("_digest", "_path", "_text")

    def __init__(self, path: str, trusted: bytes | None = None) -> None:
        self._path = path
        self._digest = trusted  # where that is known
        self._text: bytes | None = None

    @property
    def digest(self) -> bytes:
        if self._digest is None:
            self._text = read_file(self._path)
            self._digest = Input(self._text).digest
        return self._digest

    def read(self) -> bytes | None:
        text, self._text = self._text, None
        if text is None:
            text = read_file(self._path)
            if Input(text).digest != self._digest:
                raise CodeChanged
        return text


def source_files(folder: str) -> dict[str, str]:
    """All files of the package in `folder`: label to path."""
    found = {}
    package = os.path.basename(folder)
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        inside = place[len(folder) + 1 :]
        for name in sorted(names):
            label = "/".join(part for part in (package, inside.replace(os.sep, "/"), name) if part)
            found[PREFIX + label] = os.path.join(place, name)
    return found


def library_files(names: tuple[str, ...]) -> dict[str, str]:
    """The files that state the versions of libraries, which are not imported for that."""
    found = {}
    for name in names:
        spec = PathFinder.find_spec(name, sys.path)
        if spec is not None and spec.origin:
            found[name] = spec.origin
            version = os.path.join(os.path.dirname(spec.origin), "_version.py")
            if os.path.isfile(version):
                found[f"{name} version"] = version
    return found


_SECOND = 1_000_000_000  # nanoseconds


def runs_as_older(path: str) -> bool:
    """Whether Python runs an older text of a module, whose bytecode it found: it compares sizes and whole seconds only.

    Such bytecode is removed. Only what was compiled soon after its text was saved can be of an older text.
    """
    compiled = cache_from_source(path)
    text, made = stat_of(path), stat_of(compiled)
    if not text or not made or made[1] - max(text[1], text[2]) > 2 * _SECOND:
        return False
    data = read_file(compiled) or b""
    named = int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")
    if any(data[4:8]) or named != (text[1] // _SECOND & 0xFFFFFFFF, text[0] & 0xFFFFFFFF):
        return False  # Python will not take it
    try:
        if marshal.loads(data[16:]) == compile(read_file(path) or b"", path, "exec", dont_inherit=True):  # noqa: S302
            return False
        os.unlink(compiled)
    except (OSError, SyntaxError, ValueError, EOFError, TypeError):
        return True
    return True


@query
def code(db: Database, module: str) -> bytes:
    """The digest of a module, of all modules of its package that it reaches, and of the text files beside these."""
    reached: dict[str, Module] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = source(db, name)
            waiting += reached[name].imports
    return digest_of(db.input(ENGINE), *((name, found.digest) for name, found in sorted(reached.items())))


class Module(Struct, frozen=True, array_like=True):
    """What is known of a module of this program."""

    imports: list[str]  # the modules of this program that it imports, wherever in its text
    digest: bytes  # of its text, and of the files beside it that are no modules


@query
def files(db: Database) -> dict[str, list[str]]:
    """The labels of the files of each module: its own, then those beside it that are no modules."""
    found: dict[str, list[str]] = {}
    texts: dict[str, list[str]] = {}
    for label in (db.input(FILES) or b"").decode().splitlines():
        folder = label.rpartition("/")[0]
        if label.endswith(".py"):
            found[label[len(PREFIX) : -3].removesuffix("/__init__").replace("/", ".")] = [label]
        else:
            texts.setdefault(folder, []).append(label)
    return {module: labels + texts.get(labels[0].rpartition("/")[0], []) for module, labels in found.items()}


@query
def source(db: Database, module: str) -> Module:
    """A module's own text and what it imports."""
    known = files(db)
    labels = known.get(module, [])
    texts = [db.input(label) for label in labels]
    is_package = bool(labels) and labels[0].endswith("/__init__.py")
    imports = _imports(module if is_package else module.rpartition(".")[0], texts[0] or b"") if texts else ()
    return Module(sorted({name for name in imports if name != module and name in known}), digest_of(*texts))


def _imports(package: str, text: bytes) -> Iterator[str]:
    """The modules that the text of a module of a package imports, and what may be one."""
    import ast  # for those who look into modules that have changed

    yield package
    for node in _nodes(text):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
                base = f"{up}.{base}".rstrip(".")
            yield from _parents(base)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


_WORD = rb"\bimport\b"
_IMPORT = rb"[ \t]*((?:from[ \t][^\n#;()\\]*)?import[ \t](?:\([^()#;\\]*\)|[^\n#;()\\]*))(?:#[^\n]*)?$"


def _nodes(text: bytes) -> Iterable[ast.AST]:
    """The nodes of a text's syntax tree; of its import statements alone, where these are lines that say nothing else
    and have all of the text's words `import`: parsing takes most of the time that a module takes."""
    import ast

    statements = b"\n".join(_import_statements(text))
    if b"\\\n" not in text.replace(b"\r", b"") and _says_no_more(text, statements):
        with suppress(SyntaxError):
            return ast.parse(statements).body
    with suppress(SyntaxError):
        return ast.walk(ast.parse(text))
    return ()


def _import_statements(text: bytes) -> Iterator[bytes]:
    """The statements that begin on the lines which have the word."""
    end, pattern = 0, re.compile(_IMPORT, re.MULTILINE)
    while (word := text.find(b"import", end)) >= 0:
        found = pattern.match(text, text.rfind(b"\n", 0, word) + 1)
        end = word + 6 if found is None else max(found.end(), word + 6)
        if found is not None:
            yield found[1]


def _says_no_more(text: bytes, statements: bytes) -> bool:
    """Whether a text has the word `import` nowhere else than in these statements of it."""
    if text.count(b"import") == statements.count(b"import"):
        return True
    return len(re.findall(_WORD, text)) == len(re.findall(_WORD, statements))
