"""The digest of a module's code: its own text, and that of all modules of its package that it reaches."""

from __future__ import annotations

from msgspec import Struct

from pipeline.code.files import PREFIX
from pipeline.code.imports import imports_of
from pipeline.query.database import ENGINE, Database
from pipeline.query.memo import digest_of
from pipeline.query.query import query

FILES = "code files"  # the input that lists the labels of source files, by line


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
    imports = imports_of(module if is_package else module.rpartition(".")[0], texts[0] or b"") if texts else ()
    return Module(sorted({name for name in imports if name != module and name in known}), digest_of(*texts))
