"""The import statements of a module. If that is safe, the rest of the module is not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast


def imports_of(package: str, text: bytes) -> Iterator[str]:
    """The modules that a module of `package` imports, with their parents. `from a import b` also yields `a.b`, which
    need not be a module."""
    import ast  # slow to import: needed for changed modules only

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
    """The nodes of a source's syntax tree, none if the source has a syntax error.

    Parsing dominates the time per module. If the import statements stand on lines of their own and contain every word
    `import` of the source, only they are parsed.
    """
    import ast

    statements = b"\n".join(_import_statements(text))
    if b"\\\n" not in text.replace(b"\r", b"") and _has_all_imports(text, statements):
        with suppress(SyntaxError):
            return ast.parse(statements).body
    with suppress(SyntaxError):
        return ast.walk(ast.parse(text))
    return ()


def _import_statements(text: bytes) -> Iterator[bytes]:
    """The import statements that start on lines with the word `import`."""
    end, pattern = 0, re.compile(_IMPORT, re.MULTILINE)
    while (word := text.find(b"import", end)) >= 0:
        statement = pattern.match(text, text.rfind(b"\n", 0, word) + 1)
        end = word + 6 if statement is None else max(statement.end(), word + 6)
        if statement is not None:
            yield statement[1]


def _has_all_imports(text: bytes, statements: bytes) -> bool:
    """Whether every word `import` of a source is in `statements`."""
    if text.count(b"import") == statements.count(b"import"):
        return True
    return len(re.findall(_WORD, text)) == len(re.findall(_WORD, statements))
