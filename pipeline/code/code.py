"""The digest of a module's code: its source and the sources of all gradmill modules that it imports, transitively."""

from __future__ import annotations

from msgspec import Struct

from pipeline.code.files import PREFIX
from pipeline.query.database import ENGINE, Database
from pipeline.query.memo import digest_of
from pipeline.query.query import query

FILES = "code files"  # the input that lists the labels of source files, by line


@query
def code(db: Database, module: str) -> bytes:
    """The digest of a module, of all gradmill modules it imports, transitively, and of the data files next to them."""
    reached: dict[str, Module] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = source(db, name)
            waiting += reached[name].imports
    return digest_of(db.input(ENGINE), *((name, each.digest) for name, each in sorted(reached.items())))


class Module(Struct, frozen=True, array_like=True):
    """The imports and the digest of one gradmill module."""

    imports: list[str]  # the gradmill modules that it imports, also inside functions
    digest: bytes  # of its source, and of the data files next to it


@query
def files(db: Database) -> dict[str, list[str]]:
    """The labels of the files of each module: its source, then the data files in its folder."""
    modules: dict[str, list[str]] = {}
    texts: dict[str, list[str]] = {}
    for label in (db.input(FILES) or b"").decode().splitlines():
        folder = label.rpartition("/")[0]
        if label.endswith(".py"):
            modules[label[len(PREFIX) : -3].removesuffix("/__init__").replace("/", ".")] = [label]
        else:
            texts.setdefault(folder, []).append(label)
    return {module: labels + texts.get(labels[0].rpartition("/")[0], []) for module, labels in modules.items()}


@query
def source(db: Database, module: str) -> Module:
    """The digest of a module's own source, and its direct imports of gradmill modules."""
    from pipeline.code.imports import imports_of  # only needed for modules that changed

    known = files(db)
    labels = known.get(module, [])
    texts = [db.input(label) for label in labels]
    is_package = bool(labels) and labels[0].endswith("/__init__.py")
    imports = imports_of(module if is_package else module.rpartition(".")[0], texts[0] or b"") if texts else ()
    return Module(sorted({name for name in imports if name != module and name in known}), digest_of(*texts))
