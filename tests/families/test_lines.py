"""From C++ back to YAML: `explain FILE:LINE`, the comments above kernels, `#line` with lines=1."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import installed
import pytest
from cpp import toolchain
from project import CORE, ROOT, Project

from gradmill.families.table import FAMILIES
from gradmill.reports.origin.lines import place_in
from gradmill.reports.origin.owners import NO_UNIT, parts_of
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config
from gradmill.stages.arrangement import files, units_of
from gradmill.stages.emit import text

RELEASE = (CORE / "RELEASE").read_text().strip()
SPLIT = {"layout": "split", "shards": 3}


def line_with(path: Path, text: str) -> int:
    """The first line of a file that has a text in it."""
    return next(number for number, line in enumerate(path.read_text().split("\n"), 1) if text in line)


def entry(project: Project, file: str, op: str) -> str:
    """Where an entry is, as a report has it."""
    path = project.path(file)
    line = next(n for n, t in enumerate(path.read_text().split("\n"), 1) if re.match(rf"- (func|name): {op}\(", t))
    return f"{path}:{line} {op}"


def opened(project: Project, **variables: object) -> Session:
    return Session.open(read_config({**project.values, **{name: str(value) for name, value in variables.items()}}))


# ---- explain FILE:LINE

PLACES = {
    "a Node's declaration": ("Functions.h", "struct TORCH_API MvBackward0", "MvBackward0, Node of mv(", ("mv", "mv")),
    "its definition": ("Functions.cpp", "MvBackward0_apply_functional(", "MvBackward0, Node of mv(", ("mv", "mv")),
    "a kernel": ("VariableType", "at::Tensor mv(c10::DispatchKeySet ks", "variable_type unit of mv(", ("mv", "mv")),
    "its registration": ("VariableType", 'm.impl("mv",', "variable_type unit of mv(", ("mv", "mv")),
    "a traced kernel": ("TraceType", "at::Tensor mv(c10::DispatchKeySet ks", "trace_type unit of mv(", ("", "mv")),
    "a class of views": ("ViewFuncs.h", "struct ViewViewFunc", "view_funcs unit of view(", ("", "view")),
    "a factory": ("variable_factories.h", "inline at::Tensor zeros(", "factories unit of zeros(", ("", "zeros")),
}


@pytest.mark.parametrize("layout", ["upstream", "split"])
def test_a_line_leads_to_its_entry(kernels: Project, layout: str) -> None:
    if layout == "split":
        kernels.build(**SPLIT)
    words, wanted = [], []
    for file, text_, what, (definition, schema) in PLACES.values():
        path = next(p for p in sorted(kernels.generated.glob(f"{file.partition('.')[0]}*")) if text_ in p.read_text())
        words.append(f"{path}:{line_with(path, text_)}:7:")
        sources = [entry(kernels, "derivatives.yaml", definition)] if definition else []
        wanted.append((what, [*sources, entry(kernels, "native_functions.yaml", schema)]))
    run = kernels.run("explain", *words, **(SPLIT if layout == "split" else {})).clean()
    printed = re.split(r"\n(?=/)", run.stdout.rstrip("\n"))
    assert len(printed) == len(wanted)
    for each, word, (what, sources) in zip(printed, words, wanted):
        first, *made_from = each.split("\n")
        assert first.startswith(f"{word[:-3]}: ") and what in first
        assert [line.strip().removeprefix("made from  ") for line in made_from] == sources


@pytest.mark.parametrize("layout", ["upstream", "split"])
def test_a_file_is_its_parts_and_each_part_of_a_unit_is_its_text(kernels: Project, layout: str) -> None:
    """For all families: so a line between two ends of a part is of that unit and of no other."""
    variables = SPLIT if layout == "split" else {}
    if variables:
        kernels.build(**variables)
    build = opened(kernels, **variables)
    db, at = build.db, build.layout
    for name, file in files(db, *at).items():
        parts = list(parts_of(db, at, file))
        written = (kernels.generated / name).read_text()
        assert "".join(part.text for part in parts) == written
        kind, actual = FAMILIES[file.family], set()
        for part in (part for part in parts if part.unit != NO_UNIT):
            names = [own.name for own in file.pieces.values()]
            pieces = {squeezed(kind.piece(text(db, *part.unit), piece)) for piece in names}
            assert squeezed(part.text) in pieces
            actual.add(part.unit[1])
        assert actual == set(units_of(db, *at, name))
    build.close()


def squeezed(text_: str) -> str:
    """Without white space, and without comments that say where it is from."""
    return "".join(re.sub(r"(?m)^// \S+\.yaml: - .*$", "", text_).split())


def test_a_line_of_no_unit_is_one_of_the_template(built: Project) -> None:
    path = built.generated / "Functions.cpp"
    template = built.path("templates/Functions.cpp")
    line, of_template = (line_with(each, "using torch::autograd::ERR") for each in (path, template))
    run = built.run("explain", f"{path}:{line}")
    assert run.stdout == f"{path}:{line}: a line of the template\n  made from  {template}:{of_template}\n"
    built.build(**SPLIT)
    source = built.generated / "Functions_0.cpp"
    assert "added by the layout" in built.run("explain", f"{source}:1", **SPLIT).stdout
    line = line_with(source, "using torch::autograd::ERR")
    assert f"{template}:{line - 1}\n" in built.run("explain", f"{source}:{line}", **SPLIT).stdout


def test_a_line_is_explained_as_data(built: Project) -> None:
    path = built.generated / "Functions.cpp"
    line = line_with(path, "ForeachExpBackward0::apply(")
    (actual,) = json.loads(built.run("explain", f"{path}({line},5)", format="json").stdout)
    assert (actual["file"], actual["line"], actual["family"]) == (str(path), line, "nodes")
    assert actual["unit"] == "ForeachExpBackward0"
    assert actual["begin"] < line < actual["end"]
    assert "synthesized foreach Node of _foreach_exp(" in actual["what"]
    sources = [f"{each['file']}:{each['line']} {each['name']}" for each in actual["made_from"]]
    assert entry(built, "derivatives.yaml", "exp") in sources


def test_a_line_is_found_by_any_path_that_ends_as_the_files(built: Project) -> None:
    path = built.generated / "Functions.cpp"
    line = line_with(path, "struct ") if "struct " in path.read_text() else line_with(path, "ExpBackward0")
    whole = built.run("explain", f"{path}:{line}")
    for other in (f"../out/generated/Functions.cpp:{line}:3", f"Functions.cpp:{line}", "./" + f"Functions.cpp:{line}:"):
        run = built.run("explain", other).ok()
        assert run.stdout.partition(": ")[2] == whole.stdout.partition(": ")[2]


def test_a_file_is_found_by_any_path_too(built: Project) -> None:
    wanted = built.run("explain", "Functions.h").stdout
    for path in (built.generated / "Functions.h", "../out/Functions.h", "shard:Functions.h"):
        assert built.run("explain", str(path)).stdout == wanted


BAD = {
    "a line beyond the end": (lambda path: f"{path}:999999", "has no line 999999"),
    "line 0": (lambda path: f"{path}:0", "has no line 0"),
    "another file": (lambda path: f"{path.with_name('Function.cpp')}:3", "did you mean 'Functions.cpp'"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_line_that_is_none_is_refused(built: Project, case: str) -> None:
    word, message = BAD[case]
    run = built.run("explain", word(built.generated / "Functions.cpp"))
    assert run.status == 3
    assert run.stdout == "" and message in run.stderr and "Traceback" not in run.stderr


def test_a_file_that_is_not_what_would_be_generated_is_refused(built: Project, tmp_path: Path) -> None:
    path = built.generated / "Functions.cpp"
    elsewhere = tmp_path / "Functions.cpp"
    shutil.copyfile(path, elsewhere)
    assert built.run("explain", f"{elsewhere}:9").status == 0
    elsewhere.write_text("int main() {}\n")
    run = built.run("explain", f"{elsewhere}:1")
    assert run.status == 3 and f"{elsewhere} is out of date" in run.stderr
    built.set_formula("exp", "self", "result.conj() * grad")
    assert "edited" in built.run("explain", f"{path}:9").stderr
    path.unlink()
    assert "is missing" in built.run("explain", f"{path}:9").stderr


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("a/F.cpp:12", ("a/F.cpp", 12)),
        ("a/F.cpp:12:7: ", None),
        ("a/F.cpp:12:7:", ("a/F.cpp", 12)),
        ("C:\\a\\F.cpp(12,7):", ("C:\\a\\F.cpp", 12)),
        ("F.cpp(12)", ("F.cpp", 12)),
        ("emit:ExpBackward0", None),
        ("exp", None),
        ("F.cpp:x", None),
    ],
)
def test_places_are_read_as_compilers_print_them(word: str, place: tuple[str, int] | None) -> None:
    assert place_in(word) == place


@pytest.mark.slow
def test_the_docs_show_the_output(tmp_path: Path) -> None:
    (shown,) = re.findall(r"^```console\n(.*?)^```$", (ROOT / "docs" / "consumers.md").read_text(), re.M | re.S)
    command, _, printed = shown.partition("\n")
    variables, _, word = command.removeprefix("$ gradmill ").partition(" explain ")
    shutil.copytree(CORE, tmp_path / "specs" / "core")
    for words in (variables.split(), [*variables.split(), "explain", word]):
        run = installed.run(sys.executable, "-m", "gradmill", *words, cwd=tmp_path).ok()
    assert run.stdout == printed


# ---- comments above kernels


def test_kernels_of_the_split_layout_say_which_entry_they_are_from(kernels: Project) -> None:
    kernels.build(**SPLIT)
    for family in ("VariableType", "TraceType", "ADInplaceOrViewType"):
        whole = "".join(path.read_text() for path in sorted(kernels.generated.glob(f"{family}_*.cpp")))
        kernels_of = re.findall(r"^(?://.*\n)?[\w:<>,& ]+ \w+\(c10::DispatchKeySet ks", whole, re.MULTILINE)
        assert kernels_of
        assert [actual for actual in kernels_of if not actual.startswith("// native_functions.yaml: - func: ")] == []


# ---- lines=1


def test_lines_are_for_the_split_layout_alone(built: Project) -> None:
    before = built.tree()
    for run in (built.run(lines=1), built.run(lines=1, layout="upstream")):
        assert run.status != 0
        assert "lines=1" in run.stderr and "layout=split" in run.stderr
    assert built.tree() == before


def directives(text_: str) -> list[tuple[str, str, str]]:
    """What follows each `#line` of another file: file, line, text, up to the `#line` back."""
    return re.findall(r'^#line (\d+) "([^"]+\.yaml)"\n(.*?)\n#line', text_, re.MULTILINE | re.DOTALL)


def test_formulas_have_their_line_and_the_rest_has_its_own(kernels: Project) -> None:
    """Each directive leads to the line of the formula behind it; after it, lines count as they stand in the file."""
    kernels.build(**SPLIT)
    plain = kernels.files()
    kernels.build(**SPLIT, lines=1)
    yaml = kernels.path("derivatives.yaml").read_text().split("\n")
    formulas = plain_ones = backs = 0
    for path in sorted(kernels.generated.glob("*.cpp")):
        lines = path.read_text().split("\n")
        assert [line for line in lines if not line.startswith("#line")] == plain[path.name].decode().split("\n")
        for number, line in enumerate(lines, 1):
            back = re.fullmatch(rf'#line (\d+) "{re.escape(str(path))}"', line)
            if back is not None:
                assert int(back[1]) == number + 1
                backs += 1
        for line, file, text_ in directives(path.read_text()):
            assert file == str(kernels.path("derivatives.yaml"))
            field, _, formula = yaml[int(line) - 1].strip().partition(": ")
            assert field and formula
            formulas += 1
            plain_ones += formula in text_
    assert backs >= formulas
    assert formulas > 60 and plain_ones > 20  # the others read what was saved, by names of its own


def test_lines_come_and_go_with_the_variable(project: Project) -> None:
    project.build(**SPLIT)
    plain = project.files()
    project.build(**SPLIT, lines=1)
    printed = project.files()
    assert {name for name in plain if plain[name] != printed[name]} <= {n for n in plain if n.endswith("_formulas.cpp")}
    assert printed != plain
    assert project.run(**SPLIT, lines=1).ran == []
    project.build(**SPLIT)
    assert project.files() == plain
    assert project.run(**SPLIT).ran == []


def test_files_with_other_names_are_rebuilt(project: Project) -> None:
    """The name of a folder stands in them as it was given."""
    for values in (project.generated, os.path.relpath(project.generated, ROOT), project.generated):
        project.run(**SPLIT, lines=1, generated=values).ok()
        text = (project.generated / "Functions_0_formulas.cpp").read_text()
        assert f'"{values}/Functions_0_formulas.cpp"' in text
        assert text.count('_formulas.cpp"') == text.count(f'"{values}/')


def test_an_entry_that_moves_makes_its_shards_again_with_lines_alone(project: Project) -> None:
    project.build(**SPLIT, lines=1)
    path = project.path("derivatives.yaml")
    path.write_text(f"# moved\n\n{path.read_text()}")
    moved = project.run(**SPLIT, lines=1)
    assert set(moved.shards) == {f"Functions_{k}_formulas.cpp" for k in range(3)}
    assert moved.units == []
    printed = project.files()
    shutil.rmtree(project.cache)
    assert project.build(**SPLIT, lines=1).files() == printed


def test_a_line_of_a_file_with_directives_is_explained_by_its_own_number(project: Project) -> None:
    project.build(**SPLIT, lines=1)
    path = next(p for p in project.generated.glob("*_formulas.cpp") if "MvBackward0_apply_functional(" in p.read_text())
    run = project.run("explain", f"{path}:{line_with(path, 'grad.unsqueeze(1) * vec.conj()')}", **SPLIT, lines=1)
    assert "MvBackward0, Node of mv(" in run.stdout
    assert entry(project, "derivatives.yaml", "mv") in run.stdout


@pytest.mark.slow(10)
def test_an_error_of_the_compiler_names_the_line_of_the_formula(tmp_path: Path) -> None:
    """A name that nothing declares, in a formula of core: the compiler's message is about derivatives.yaml."""
    if reason := toolchain.missing():
        pytest.skip(reason)
    project = Project(tmp_path, CORE, RELEASE)
    project.set_formula("mv", "self", "grad.unsqueeze(1) * vecc.conj()")
    project.build(layout="split", shards=64, lines=1, families="nodes")
    source = next(p for p in project.generated.glob("*_formulas.cpp") if "vecc" in p.read_text())
    command = toolchain.syntax_command(source, include=(project.generated, CORE / "templates"))
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert run.returncode != 0
    yaml = project.path("derivatives.yaml")
    errors = re.findall(r"^(\S+?:\d+):\d+: error: (.*)$", run.stderr, re.MULTILINE)
    assert [place for place, _ in errors] == [f"{yaml}:{line_with(yaml, 'vecc')}"]
    assert "vecc" in errors[0][1]
