"""The import statements of a module, found without parsing the rest where that is safe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast


def imports_of(package: str, text: bytes) -> Iterator[str]:
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
