"""The files of whole graphs: a header and a source for each file of functions, more sources for a large one, a header
for the state of a model, and the headers that all share.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from gradmill.extensions.graphs.family import FOLDER, GRAPHS
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print.files import (
    PARTS,
    STATES,
    SUPPORT,
    header,
    of_function,
    part,
    parts_header,
    parts_of,
    source,
    support_text,
)
from gradmill.extensions.graphs.print.state import STATE, has_state, state_header
from gradmill.extensions.graphs.queries.graphs import all_names, asked, graph, is_exported, lean, stem, wanted
from gradmill.extensions.graphs.queries.planned import plan
from gradmill.families.family import generated_comment
from gradmill.families.file import File
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages.emit import text
from gradmill.stages.set import release, spec_set, template_label


@query
def plans(db: Database, file: str) -> list[GraphPlan]:
    """The plans of the functions of a file."""
    candidates = (plan(db, own, name) for own, name in all_names(db) if own == file)
    return [each for each in candidates if each is not None]


@query
def parts(db: Database, file: str) -> list[str]:
    """The endings of the files that a file of functions needs beyond a header and a source, since it is large."""
    functions = (lean(db, own, name) for own, name in all_names(db) if own == file)
    return parts_of(function for function in functions if function is not None)


@query
def stateful(db: Database, file: str) -> bool:
    """Whether a file is a model with tensors that a program has to load."""
    functions = (graph(db, own, name) for own, name in all_names(db) if own == file and is_exported(file))
    return any(has_state(function) for function in functions if function is not None)


def _pieces(db: Database, file: str) -> list[dict[str, str]]:
    """The pieces of the functions of a file, without formulas."""
    listed = (text(db, GRAPHS.name, f"{own}:{name}") for own, name in all_names(db) if own == file)
    return list(map(of_function, listed))


def more(db: Database, sources: Mapping[str, File]) -> list[File]:
    """The files in addition to the `sources` of files of functions, by name: those that all share, and the further ones
    of large files."""
    further = [
        replace(sources[f"{FOLDER}{stem(file)}.cpp"], name=f"{FOLDER}{stem(file)}{ending}")
        for file in asked(db).files
        if f"{FOLDER}{stem(file)}.cpp" in sources
        for ending in [*parts(db, file), *([STATE] if stateful(db, file) else [])]
    ]
    return [*_support(db), *further]


def _support(db: Database) -> list[File]:
    """The files that all files of graphs share: gradmill's own, and the spec set's templates."""
    templates = [name for name in GRAPHS.row.templates if name in spec_set(db).templates]
    own = [*SUPPORT, *([STATES] if any(stateful(db, file) for file in asked(db).files) else [])]
    named = [*((name, "") for name in own if name not in templates), *((name, name) for name in templates)]
    return [File(f"{FOLDER}{name}", template, {}, family=GRAPHS.name, whole=True) for name, template in named]


def whole(db: Database, name: str) -> str:
    """The text of a generated file of graphs: a copied template, the support files, or what a file of graphs yields."""
    inner = name.removeprefix(FOLDER)
    if inner in GRAPHS.row.templates and inner in spec_set(db).templates:
        text = (db.input(template_label(inner)) or b"").decode("utf-8", "replace")
        return f"// {generated_comment('templates', inner)}\n{text}"
    if inner in (*SUPPORT, STATES):
        return support_text(inner, release(db))
    file = next(each for each in asked(db).files if inner.startswith(f"{stem(each)}."))
    comment = generated_comment("graphs", file)
    planned = plans(db, file)
    endings, ending = parts(db, file), inner.removeprefix(stem(file))
    if ending == STATE:
        return state_header(planned[0], stem(file), comment, release(db)) if planned else ""
    if ending == PARTS:
        return parts_header(planned, _pieces(db, file), stem(file), comment, release(db))
    if endings and ending != ".h":
        which = (endings.index(ending) + 1 if ending in endings else 1, len(endings))
        return part(planned, _pieces(db, file), which, stem(file), comment, wanted(db).namespace, release(db))
    if inner.endswith(".h"):
        return header(planned, stem(file), comment, release(db))
    return source(planned, stem(file), comment, wanted(db).namespace, release(db))
