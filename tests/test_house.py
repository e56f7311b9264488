"""The rules of `pipeline/gradmill/`, checked in its text: which folder imports which, what a stage may ask its database
for."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple, TypeGuard

import pytest
from project import COMMANDS, ROOT

from gradmill.families.rows import HOOK_FILES
from gradmill.families.table import FAMILIES
from gradmill.session.roots import find_query

PIPELINE = ROOT / "pipeline" / "gradmill"
MODULES = sorted(path for path in PIPELINE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})

# Top to bottom: a folder imports those below it, and of those above none.
ORDER = (
    "extensions",
    "cli",
    "builds",
    "session",
    "reports",
    "stages",
    "families",
    "lints",
    "rules",
    "specs",
    "cpp",
    "grammar",
    "releases",
    "model",
    "problems",
    "store",
    "query",
    "io",
    "doors",  # the table of extensions
)
FOR_ALL = {"__version__", "STARTED"}  # what `pipeline/gradmill/__init__.py` has for everyone

PROCESS = ("gc.", "signal.", "atexit.", "faulthandler.", "warnings.", "resource.", "sys.set", "os.chdir", "os.umask")
READS = {"digest", "input", "item", "names", "report"}  # all that a query asks its database for


class Import(NamedTuple):
    """One import of something of `gradmill`."""

    place: str
    module: str
    name: str  # "" where the module itself is imported


@cache
def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def dotted(path: Path) -> str:
    return label(path).removeprefix("pipeline/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def layer(module: str) -> str:
    """The folder that a module is in; "" for `gradmill` itself and its `__main__`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] != "__main__" else ""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of a module: most tests here go through them."""
    return list(ast.walk(tree(path)))


@cache
def imports(path: Path) -> list[Import]:
    """All imports of `gradmill` in a module, those inside functions too."""
    return list(_imports(path))


@cache
def typing_only(path: Path) -> set[int]:
    """The ids of the nodes that only a type checker reads."""
    return {
        id(inner)
        for node in nodes(path)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for inner in ast.walk(node)
    }


def _imports(path: Path) -> Iterator[Import]:
    for node in nodes(path):
        place = f"{label(path)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "gradmill":
                    yield Import(place, alias.name, "")
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{place}: an import says where from"
            if (node.module or "").split(".")[0] == "gradmill":
                for alias in node.names:
                    yield Import(place, node.module or "", alias.name)


NAMES = {dotted(path) for path in MODULES}


def target(imported: Import) -> str:
    """The module that an import is of."""
    inner = f"{imported.module}.{imported.name}"
    return inner if inner in NAMES else imported.module


# ---- who imports whom


def test_every_folder_has_its_place_in_the_order() -> None:
    assert {layer(dotted(path)) for path in MODULES} - {""} | {"extensions"} == set(ORDER)


def test_one_table_names_the_extensions() -> None:
    """Who leaves an extension out has one row to remove."""
    naming = [label(path) for path in MODULES if "gradmill.extensions" in path.read_text()]
    assert [name for name in naming if "/extensions/" not in name] == ["pipeline/gradmill/doors.py"]


# What extensions may import freely; of other folders they import what tests/extension_imports.txt lists.
FREE = ("doors", "problems", "io", "query", "model", "grammar", "cpp", "releases", "specs")


@pytest.mark.extension("graphs", "type_stubs", "verify", "browse")
def test_what_extensions_use_of_the_core_is_listed() -> None:
    """The list is what a change of the core may break: it should only get shorter."""
    used: dict[tuple[str, str], set[str]] = {}
    for path in MODULES:
        own = dotted(path).split(".")
        for each in imports(path) if own[1:2] == ["extensions"] and len(own) > 2 else ():
            other = each.module.split(".")
            if other[1:2] == ["extensions"]:
                assert other[2] == own[2], f"{each.place}: {own[2]} imports another extension"
            elif other[1:] and other[1] not in FREE:
                used.setdefault((own[2], each.module), set()).add(each.name)
    lines = [f"{extension} {module}: {', '.join(sorted(names))}\n" for (extension, module), names in used.items()]
    assert "".join(sorted(lines)) == (ROOT / "tests" / "extension_imports.txt").read_text()


def test_imports_run_downwards_only() -> None:
    actual = []
    for path in MODULES:
        own = layer(dotted(path))
        for each in imports(path):
            other = layer(target(each))
            if own and own != other and not (not other and each.name in FOR_ALL) and not is_below(other, own):
                actual.append(f"{each.place}: {own} imports {target(each)}")
    assert actual == []


def is_below(other: str, own: str) -> bool:
    return other in ORDER and ORDER.index(other) > ORDER.index(own)


def test_every_module_that_is_imported_is_there() -> None:
    assert [f"{e.place}: {e.module}" for path in MODULES for e in imports(path) if e.module not in NAMES] == []


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Imports for a type checker count: two modules that name each other's types are one module in two files."""
    graph = {dotted(path): {target(e) for e in imports(path)} & NAMES for path in MODULES}
    assert circle(graph) == []


def test_no_sibling_folders_import_one_another_in_a_circle() -> None:
    """`rules/native` and `rules/derivatives`, say. A folder may share what it has with those inside it."""
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        own = dotted(path.parent)
        for circle_ in imports(path):
            other = target(circle_)
            there = other if (PIPELINE.parent / other.replace(".", "/")).is_dir() else other.rpartition(".")[0]
            if not is_inside(there, own) and not is_inside(own, there):
                graph.setdefault(own, set()).add(there)
    assert circle(graph) == []


def is_inside(inner: str, outer: str) -> bool:
    return f"{inner}.".startswith(f"{outer}.")


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The names on one circle, [] where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


IN_TORCH = PIPELINE / "extensions" / "verify" / "child"  # what runs in a process of its own, which has torch


def test_pipeline_never_imports_the_generator_of_the_release() -> None:
    modules = [path for path in MODULES if not path.is_relative_to(IN_TORCH)]
    actual = [f"{place}: {name}" for path in modules for place, name in all_imports(path)]
    assert [line for line in actual if line.split(": ")[1].split(".")[0] in ("torch", "torchgen")] == []


def test_only_the_clones_tasks_import_doit() -> None:
    assert [place for path in MODULES for place, name in all_imports(path) if name.split(".")[0] == "doit"] == []


def test_what_imports_torch_is_imported_by_none_that_does_not_and_imports_none() -> None:
    inside = {path: path.is_relative_to(IN_TORCH) for path in MODULES}
    children = {dotted(path) for path, is_inside_torch in inside.items() if is_inside_torch}
    crossing = [
        f"{e.place}: {target(e)}" for path in MODULES for e in imports(path) if (target(e) in children) != inside[path]
    ]
    assert crossing == []


def test_every_library_that_is_imported_is_declared() -> None:
    """A library that comes with another one may leave with a new release of it. Types are for type checkers alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["lsp"]]
    declared = {re.split(r"[^\w.-]", need)[0] for need in needed} | {"yaml", "gradmill"}
    declared.add("torch")  # the one that is checked with; the tests above say what imports it
    assert "pyyaml" in declared, "it is imported by another name"
    found = {name.split(".")[0]: place for path in MODULES for place, name in all_imports(path, typing=False)}
    unknown = found.keys() - declared - sys.stdlib_module_names
    assert sorted(f"{found[name]}: {name}" for name in unknown) == []


def test_no_module_names_a_family_but_the_family_itself() -> None:
    names = FAMILIES.keys() - {"nodes", "graphs", "declarations"}  # words of pages, folders and templates, too
    actual = [
        f"{label(path)}:{node.lineno}: {node.value}"
        for path in MODULES
        if path.name not in ("doors.py", "rows.py")  # the tables of extensions, called as their families, and of these
        for node in nodes(path)
        if isinstance(node, ast.Constant) and node.value in names and path.parent.name != node.value
    ]
    assert actual == []


def all_imports(path: Path, *, typing: bool = True) -> Iterator[tuple[str, str]]:
    """Every import, also by `import_module` and `__import__` of a name that is written there. `typing`: with those
    that only a type checker reads."""
    left_out = set() if typing else typing_only(path)
    for node in nodes(path):
        place = f"{label(path)}:{getattr(node, 'lineno', 0)}"
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Import):
            yield from ((place, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield place, node.module or ""
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            yield from ((place, argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant))


def called(call: ast.Call) -> str:
    """The last name of what is called: that of a function or method."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


# ---- what a module says of itself


def test_a_module_opens_with_what_it_is_for() -> None:
    assert [label(path) for path in MODULES if path.read_text() and not ast.get_docstring(tree(path))] == []


# ---- what is fresh


def test_messages_name_the_command_that_works_in_every_folder() -> None:
    """An installed gradmill has no dodo.py, without which `doit` runs nothing."""
    command = re.compile(rf"\bdoit (?:{'|'.join(sorted(COMMANDS))})\b")
    found = []
    for path in MODULES:
        documented = [n for n in nodes(path) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
        docs = {id(n.body[0].value) for n in documented if n.body and isinstance(n.body[0], ast.Expr)}
        texts = (n for n in nodes(path) if isinstance(n, ast.Constant) and id(n) not in docs)
        found += [f"{label(path)}:{n.lineno}" for n in texts if isinstance(n.value, str) and command.search(n.value)]
    assert found == []


def test_stats_are_taken_by_one_function() -> None:
    """The note of a command line, the record of a run and a run agree on what a stat is."""
    taken = [label(path) for path in MODULES if "st_mtime_ns" in path.read_text()]
    assert taken == [
        "pipeline/gradmill/io/files.py",
        "pipeline/gradmill/io/stats.py",
    ]  # the one is the clock of a file system


WRITING = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC")
COPIES = ("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "shutil.move")


def writes(call: ast.Call) -> bool:
    """Whether a call opens a file by its name for writing, or copies one."""
    function, arguments = ast.unparse(call.func), [*call.args, *(each.value for each in call.keywords)]
    if arguments and ast.unparse(arguments[0]) == "os.devnull":
        return False
    if function == "os.open":
        return any(flag in ast.unparse(call) for flag in WRITING)
    modes = [str(each.value) for each in arguments if isinstance(each, ast.Constant)]
    opens = function.rpartition(".")[2] == "open" and any(
        re.fullmatch("[rwaxbt+]*[wax+][bt+]*", mode) for mode in modes
    )
    return opens or function in COPIES or function.endswith((".write_text", ".write_bytes", ".touch"))


def test_one_module_opens_files_for_writing() -> None:
    """What it creates has a name that nobody can have foreseen, and no link is followed."""
    calls = ((path, node) for path in (*MODULES, ROOT / "dodo.py") for node in nodes(path))
    actual = {
        f"{label(path)}: {ast.unparse(node)}" for path, node in calls if isinstance(node, ast.Call) and writes(node)
    }
    assert [line for line in actual if not line.startswith("pipeline/gradmill/io/files.py: ")] == []
    creating = [line for line in actual if "O_CREAT" in line]
    assert creating == ["pipeline/gradmill/io/files.py: os.open(path, os.O_RDWR | os.O_CREAT | _SAFE, 438)"]  # the lock


@pytest.mark.extension("verify")
def test_json_is_decoded_by_one_function() -> None:
    """The one that has no other error than ValueError, however deep the data are."""
    found = re.compile(r"\bjson\.(decode|loads?)\(")
    # These read what gradmill wrote, and import no other part of it.
    own = [
        "pipeline/gradmill/extensions/verify/child/__main__.py",
        "pipeline/gradmill/families/hook_files/child.py",
        "pipeline/gradmill/io/decoding.py",
    ]
    assert [label(path) for path in MODULES if found.search(path.read_text())] == own


def test_what_looks_before_imports_imports_next_to_nothing() -> None:
    for name in ("session/answer.py", "io/checked.py", "io/stats.py"):
        inner = {target(each) for each in imports(PIPELINE / name)}
        outer = {name.split(".")[0] for _, name in all_imports(PIPELINE / name)} - {"gradmill"}
        assert inner <= {"gradmill.session", "gradmill.io.checked", "gradmill.io.stats"}
        assert outer <= {"__future__", "collections", "os", "sys", "zlib"}


# ---- what a query may ask


def test_a_query_asks_its_database_for_values_only() -> None:
    """Whether a row holds is no stage's business, nor that of a report: only the engine's and of who runs it."""
    asking = [
        (f"{label(path)}:{node.lineno}: {ast.unparse(node)}", node.attr)
        for path in MODULES
        if layer(dotted(path)) not in ("query", "extensions", "cli", "builds", "session")
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "db"
    ]
    assert {name for _, name in asking} >= READS - {"item"}
    assert [place for place, name in asking if name not in READS] == []


# ---- the environment of the process


ENTRIES = (
    "pipeline/gradmill/cli/start/command.py",
    "pipeline/gradmill/cli/commands/worker.py",  # to start it again
)


def test_each_query_is_found_by_a_name_of_its_own() -> None:
    """What is not found by its name is refused when it is called, which may be in a command that few use."""
    names = [f"{dotted(path)}:{node.name}" for path in MODULES for node in nodes(path) if _is_query(node)]
    assert len(names) > 180
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert [name for name in names if getattr(find_query(name), "name", "") != name] == []


def _is_query(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    kinds = {"query", "table", "unkept", "unordered"}
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(each, ast.Name) and each.id in kinds for each in node.decorator_list
    )


def test_only_the_entry_reads_the_command_line() -> None:
    reading = [label(path) for path in MODULES if re.search(r"\bsys\.(orig_)?argv|import .*argv", path.read_text())]
    assert [name for name in reading if name not in ENTRIES] == []


def test_importing_a_module_leaves_the_process_as_it_was() -> None:
    """No call of `gc`, `signal` and the like outside of functions and classes."""
    actual = [
        f"{label(path)}:{node.lineno}: {ast.unparse(node)}"
        for path in MODULES
        for part in tree(path).body
        if not isinstance(part, ast.FunctionDef | ast.ClassDef) and "__name__ == '__main__'" not in ast.unparse(part)
        for node in ast.walk(part)
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(PROCESS)
    ]
    assert actual == []


def test_each_family_of_upstreams_build_names_its_subset() -> None:
    """A family without one would be missing from what `generate-code` or `torchgen` writes."""
    families = {name: own for name, own in FAMILIES.items() if own.unit != "graph" and name != HOOK_FILES}
    assert [name for name, family in families.items() if not family.row.subsets] == []
