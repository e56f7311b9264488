"""What docs, settings and tests name by its text is there: files, headings, commands, their options, entry points."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from project import ROOT

from tests.campaigns import CAMPAIGNS

FOLDERS = ("pipeline", "tests", "bench", "docs", "examples", "editors", "specs")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOREIGN = {"node_modules"}

_PROSE = re.compile(r'"""[\s\S]*?"""|#.*')
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_SPAN = re.compile(r"`([^`\n]+)`")
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_PATH = re.compile(rf"(?<![\w./${{}}-])(?:{'|'.join(FOLDERS)})/[\w./*-]*\w/?")
_COMMAND = re.compile(r"python3? (?:-m ((?:tests|bench)(?:\.\w+)*)|((?:tests|bench)/[\w/]+\.py))([^`\n|;&]*)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
CAMPAIGN = ROOT / "tests" / "never_wrong" / "campaign.py"


@cache
def files() -> list[Path]:
    """All text of the repository: no outputs, no packages."""
    places = [ROOT.glob("*.*"), *((ROOT / folder).rglob("*.*") for folder in FOLDERS)]
    found = [path for place in places for path in place if path.suffix in (".md", ".py")]
    return [ROOT / ".ci" / "run", *(path for path in sorted(found) if FOREIGN.isdisjoint(path.parts))]


PAGES = [path for path in files() if path.suffix == ".md"]


@cache
def prose(path: Path) -> str:
    """What people read of a file: of Python the comments and docstrings."""
    text = path.read_text(errors="replace")
    return "\n".join(_PROSE.findall(text)) if path.suffix == ".py" else text


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_there(name: str, near: Path) -> bool:
    """Whether a path is one from the root, from `pipeline/gradmill/` or from the folder of the text that names it."""
    bases = (ROOT, ROOT / "pipeline" / "gradmill", near)
    return any((base / name).exists() or (base / f"{name}.py").exists() or any(base.glob(name)) for base in bases)


# ---- files


@pytest.mark.extension("graphs", "type_stubs", "verify", "browse")
def test_paths_in_prose_lead_somewhere() -> None:
    paths = [(path, match[0]) for path in files() for match in _PATH.finditer(prose(path))]
    assert len(paths) > 100
    assert [f"{label(path)}: {name}" for path, name in paths if not is_there(name, path.parent)] == []


@pytest.mark.extension("graphs", "type_stubs", "verify", "browse")
def test_files_of_tests_in_the_table_of_tests_are_there() -> None:
    page = ROOT / "tests" / "README.md"
    names = [name for span in _SPAN.findall(page.read_text()) for name in re.findall(r"[\w/]*\w+\.py\b", span)]
    assert len(names) > 70
    assert [name for name in names if not (page.parent / name).is_file()] == []


# ---- headings


def slugs(page: Path) -> set[str]:
    """The anchors of a page."""
    titles = re.findall(r"^#+ (.*)$", _BLOCK.sub("", page.read_text()), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).strip().lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


@pytest.mark.extension("graphs", "type_stubs", "verify", "browse")
def test_links_lead_to_files_and_headings() -> None:
    wrong = []
    for page in PAGES:
        links = [link for link in _LINK.findall(page.read_text()) if not re.match(r"\w+:", link)]
        for link in links:
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in slugs(target)):
                wrong.append(f"{label(page)}: {link}")
    assert wrong == []


# ---- commands


def script(module: str) -> Path:
    """The file that `python -m` runs; `module` may be a path."""
    path = ROOT / (module if module.endswith(".py") else f"{module.replace('.', '/')}.py")
    return path if path.is_file() else path.with_suffix("") / "__main__.py"


def commands() -> Iterator[tuple[Path, Path, str]]:
    """Each command of tests and benchmarks in prose: the text that names it, its file, the words behind."""
    for path in files():
        for module, file, words in _COMMAND.findall(prose(path)):
            name = next(iter(words.split()), "")
            of_campaign = module == "tests.campaigns" and name in CAMPAIGNS
            yield path, script(f"tests.{CAMPAIGNS[name].module}" if of_campaign else module or file), words


def options(path: Path) -> set[str]:
    """The options that a script adds, or looks for in its arguments, and those of all campaigns if it is one."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    modules = {(node.module or "").split(".")[-1] for node in nodes if isinstance(node, ast.ImportFrom)}
    shared = options(CAMPAIGN) if CAMPAIGN.stem in modules or path == script("tests.campaigns") else set()
    return {"--help"} | shared | {text for text in texts if isinstance(text, str) and text.startswith("-")}


@pytest.mark.extension("graphs", "type_stubs", "verify", "browse")
def test_commands_in_prose_are_scripts_with_these_options() -> None:
    wrong = []
    for path, file, words in commands():
        if not file.is_file():
            wrong.append(f"{label(path)}: {label(file)}")
        else:
            known = options(file)
            wrong += [f"{label(path)}: {label(file)} {each}" for each in _OPTION.findall(words) if each not in known]
    assert wrong == []


# ---- settings


@pytest.mark.extension("graphs", "type_stubs", "verify", "browse")
def test_the_files_that_settings_name_are_there() -> None:
    tools = SETTINGS["tool"]
    data = tools["setuptools"]["package-data"]["gradmill"]
    patterns = [f"pipeline/gradmill/{each}" for each in data] + [
        *tools["ruff"]["extend-exclude"],
        *tools["mypy"]["files"],
    ]
    patterns += [*tools["ruff"]["lint"]["per-file-ignores"], *tools["pytest"]["ini_options"]["testpaths"]]
    patterns += [each for files in tools["setuptools"]["data-files"].values() for each in files]
    assert [pattern for pattern in patterns if not any(ROOT.glob(pattern))] == []


@pytest.mark.extension("graphs", "type_stubs", "verify", "browse")
def test_programs_are_where_ci_installs_them_for_tests() -> None:
    """Elsewhere they are not found, and their tests are skipped."""
    ci = (ROOT / ".ci" / "run").read_text()
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.py") if "bad" not in path.parts)
    sought = set(re.findall(r'\.venv(?:/|" / ")(\w+)', tests)) - {"bin"}
    assert len(sought) > 2
    assert [name for name in sorted(sought) if f".venv/{name}" not in ci] == []
    assert [name for name in re.findall(r"\bexport (\w+)=", ci) if f'"{name}"' not in tests] == []


def test_entry_points_can_be_loaded() -> None:
    scripts = SETTINGS["project"]["scripts"]
    assert list(scripts) == ["gradmill"]
    for name, value in scripts.items():
        assert callable(EntryPoint(name, value, "").load()), name
