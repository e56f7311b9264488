"""Names that would be commands to a GitHub runner, or move the cursor of a terminal, are shown and obeyed by none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import forked
import pytest
from conftest import RELEASE
from copies import copy_of
from project import Project, Run

EVIL = "evil\n::error::obeyed\r##[add-mask]obeyed\x1b[2J\u2028\u202e"
QUOTED = json.dumps(EVIL)  # as YAML and TOML write it
OWN = re.compile(r"::(error|warning) file=[^:]*,title=[^:]*::\S|::notice::\S")  # what gradmill says to a runner

Words = tuple[str, ...]
SCHEMA = json.dumps(f"{EVIL}(Tensor self) -> Tensor")

# What is added to files of a set.
ADDED: dict[str, dict[str, str]] = {
    "a key of an entry": {"derivatives.yaml": f"- name: neg(Tensor self) -> Tensor\n  {QUOTED}: grad"},
    "an operator": {"native_functions.yaml": f"- func: {SCHEMA}"},
    "the operator of a definition": {"derivatives.yaml": f"- name: {SCHEMA}\n  self: grad"},
    "a tag": {
        "tags.yaml": f"- tag: {QUOTED}\n  desc: {QUOTED}",
        "native_functions.yaml": f"- func: mine(Tensor self) -> Tensor\n  tags: {QUOTED}",
    },
    "a hole of a template": {"templates/Functions.h": "// ${" + "hole}\x1b[2J ::error::"},
}
_BASE = '[base]\nspecs = "../set"\n'
_LAYER = '[[layer]]\nname = "mine"\nnamespace = "mine"\n[layer.native]\n'
DESCRIBED: dict[str, str] = {
    "a key of a description": f"{QUOTED} = 1\n{_BASE}",
    "a file of a description": f"{_BASE}{_LAYER}file = {QUOTED}\n",
    "a base of a description": f"[base]\nspecs = {QUOTED}\n",
    "the name of a description": f"name = {QUOTED}\n{_BASE}",
    "a template of a description": f"{_BASE}[family.nodes]\ntemplates = {QUOTED}\n",
}


def _added(project: Project, texts: dict[str, str]) -> Words:
    for name, text in texts.items():
        project.append(name, text)
    return ()


def _described(project: Project, text: str) -> Words:
    folder = project.folder / "described"
    folder.mkdir()
    (folder / "specset.toml").write_text(text)
    project.specs = folder
    return ()


def _formula(project: Project) -> Words:
    project.set_formula("exp", "self", json.dumps(f"grad * {EVIL}"))
    return ()


def _folder(project: Project) -> Words:
    folder = project.folder / EVIL.replace("/", "")
    project.specs.rename(folder)
    project.specs = folder
    project.replace("derivatives.yaml", "- name: exp(Tensor self)", "- name: exq(Tensor self)")
    return ()


def _folder_at_the_start_of_a_line(project: Project) -> Words:
    project.specs.rename(project.folder / "::error::x")
    project.specs = Path("::error::x")
    (project.folder / "::error::x" / "derivatives.yaml").write_text("- name: [\n")
    return ()


def _graph(project: Project) -> Words:
    folder = project.folder / "graphs"
    folder.mkdir()
    (folder / f"{EVIL}.py".replace("/", "")).write_text("def f(x: Tensor) -> Tensor:\n    return torch.nonsense(x)\n")
    return (f"graphs={folder}",)


NAMES: dict[str, Callable[[Project], Words]] = {
    **{name: partial(_added, texts=texts) for name, texts in ADDED.items()},
    **{name: partial(_described, text=text) for name, text in DESCRIBED.items()},
    "a formula": _formula,
    "a folder": _folder,
    "a folder at the start of a line": _folder_at_the_start_of_a_line,
    "a file of graphs": _graph,
}

WORDS: dict[str, Callable[[Project], Words]] = {
    **{f"{name}=": lambda _, name=name: (f"{name}={EVIL}",) for name in ("release", "families", "layout", "shards")},
    **{f"{name}=": lambda _, name=name: (f"{name}={EVIL}/x",) for name in ("graphs", "namespace", "lines")},
    "against=": lambda _: ("diff", f"against={EVIL}/x"),
    "stamp=": lambda project: (f"stamp={project.specs}/RELEASE/{EVIL}",),
    "cache=": lambda project: (f"cache={project.specs}/RELEASE/{EVIL}",),
    "generated=": lambda project: (f"generated={project.specs}/RELEASE/{EVIL}",),
    "format=": lambda _: (f"format={EVIL}",),
    "a variable": lambda _: (f"{EVIL}=1",),
    "an option": lambda _: (f"--{EVIL}",),
    "a task": lambda _: (EVIL,),
    "a file": lambda _: (f"shard:{EVIL}.h",),
    "a file that is a target": lambda _: (f"./{EVIL}.h",),
    "a unit": lambda _: (f"emit:{EVIL}",),
    **{f"what {word} is given": lambda _, word=word: (word, EVIL) for word in ("explain", "show", "list")},
    **{f"what {word} is not given": lambda _, word=word: (word, EVIL) for word in ("export", "check", "gc", "schema")},
    **{f"a task to {word}": lambda _, word=word: (word, EVIL) for word in ("clean", "help")},
}


@pytest.fixture(scope="module")
def whole(tiny_built: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A set that no test of this file changes."""
    return copy_of(tiny_built, tmp_path_factory.mktemp("whole"))


FORMATS = [(name, format_) for name in NAMES for format_ in ("text", "github")]
DOCUMENTS = [
    (name, format_) for name in ("an operator", "a folder", "a file of graphs") for format_ in ("json", "sarif")
]


@pytest.mark.parametrize(("name", "format_"), [*FORMATS, *DOCUMENTS])
def test_no_name_in_a_file_is_a_command_or_moves_the_cursor(
    tiny_built: Project, tmp_path: Path, name: str, format_: str
) -> None:
    project = Project(tmp_path, tiny_built.specs, RELEASE)
    run = _gradmill(project, "check", *NAMES[name](project), f"format={format_}")
    assert (run.status == 0) == (name in WARNED), run
    _assert_harmless(run)


@pytest.mark.parametrize("name", WORDS)
def test_no_word_of_the_command_line_is_a_command_or_moves_the_cursor(whole: Project, name: str) -> None:
    words = WORDS[name](whole)
    run = _gradmill(whole, *words)
    assert run.status != 0, run
    _assert_harmless(run)


WARNED = ("a formula", "a tag")


def _gradmill(project: Project, *words: str) -> Run:
    values = {word.partition("=")[0] for word in words}
    more = [f"{key}={getattr(project, key)}" for key in ("specs", "generated", "cache") if key not in values]
    return forked.gradmill([*words, *more], project.folder)


def _assert_harmless(run: Run) -> None:
    text = run.stdout + run.stderr
    assert "Traceback" not in text, text
    assert re.findall("[^\n\t -~\u00a1-\u2027\u2030-\u205f\u2070-\ud7ff]", text) == [], text
    printed = [each for each in re.split("[\n\r]", text) if not OWN.match(each)]
    assert [each for each in printed if each.lstrip().startswith("::") or "##[" in each] == []


@pytest.fixture(scope="module")
def odd(tiny_built: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A set without an error, in a folder with such a name, and a file of graphs."""
    project = Project(tmp_path_factory.mktemp("odd"), tiny_built.specs, RELEASE)
    project.specs = project.specs.rename(project.folder / EVIL)
    for name in ("generated", "cache"):
        setattr(project, name, project.folder / f"{name} {EVIL}")
    project.set_formula("exp", "self", "grad * rezult")
    _assert_harmless(_gradmill(project))
    return project


@pytest.mark.parametrize(
    "command",
    ["", "-v", "check", "list --all --status", "check fix=1",
     "explain exp", "explain", "coverage",
     pytest.param("page", marks=pytest.mark.extension("browse")),
     "diff against=core", "gc", "show match exp", "export ninja", "export cmake", "clean -n", "clean"],
)  # fmt: skip
def test_a_set_of_such_a_name_is_harmless_in_every_output(odd: Project, command: str) -> None:
    run = _gradmill(odd, *command.split())
    assert run.status == (3 if command.startswith("export") else 0), run
    _assert_harmless(run)
