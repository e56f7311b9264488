"""`gradmill page`: what the pages say, that their links hold, which of them an edit writes again."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT, Project
from site_of_pages import Page, Site

from gradmill.extensions.browse.page.code_changes import MOST, shown
from gradmill.extensions.browse.page.html.highlight import plain
from gradmill.extensions.browse.pages import PageSession
from gradmill.reports.diff.code_changes import CodeChange, CodeName, CodeReport, FileChange
from gradmill.reports.diff.hunks import Hunk
from gradmill.reports.diff.model import SetSide
from gradmill.session.settings.config import read_config


@pytest.fixture(scope="module")
def written(small_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The pages of a part of core; not to be changed."""
    project = Project(tmp_path_factory.mktemp("page"), small_specs, "2.13.0", kernels=True)
    make(project)
    return project


@pytest.fixture(scope="module")
def site(written: Project) -> Site:
    return site_of(written)


@pytest.fixture
def edited(tmp_path: Path, written: Project) -> Project:
    """A copy of them, to change."""
    shutil.copytree(written.folder, tmp_path, dirs_exist_ok=True)
    project = Project.at(tmp_path)
    folder = project.cache / "set"
    for path in (folder / "page").glob("last-*"):
        path.unlink()
    return project


def site_of(project: Project) -> Site:
    return Site(project.generated / "page")


def make(project: Project, **variables: object) -> str:
    """Writes the pages; returns what was printed."""
    run = project.run("page", **variables).ok()
    return run.stdout.rpartition(": ")[2].strip()


def rewritten(project: Project, **variables: object) -> set[str]:
    """The files that the next run writes."""
    before = site_of(project).times()
    make(project, **variables)
    after = site_of(project).times()
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


# ---- what they say


def test_every_link_of_every_page_leads_somewhere_within_the_folder(site: Site) -> None:
    assert len(site.pages) > 40
    assert sum(len(page.links) for page in site.pages.values()) > 1000
    assert list(site.broken()) == []


def test_no_anchor_is_there_twice(site: Site) -> None:
    assert [name for name, page in site.pages.items() if len(page.ids) != len(set(page.ids))] == []


def test_nothing_is_fetched_from_elsewhere(site: Site) -> None:
    elsewhere = re.compile(rb"(?i)(https?:)?//\w+\.\w|url\(|@import")
    assert [name for name, data in site.bytes().items() if elsewhere.search(data)] == []


def test_the_page_of_mv_has_its_gradient_its_saved_attributes_and_its_cpp(site: Site, written: Project) -> None:
    page = site.page("mv")
    assert "∂self grad.unsqueeze(1) * vec.conj()" in page.text
    assert "∂vec self.t().conj().mv(grad)" in page.text
    assert "→result at::mv(self_t, vec_p) + at::mv(self_p, vec_t)" in page.text
    assert "Saves vec at::Tensor self at::Tensor" in page.text
    (shown,) = written.run("show", "emit", "MvBackward0").rows
    for piece in filter(None, shown["pieces"].values()):
        assert " ".join(piece.split()) in page.text
    assert {"MvBackward0", "mv", "mv.out"} <= set(page.ids)


def test_only_tensors_are_marked_among_what_a_node_saves(edited: Project) -> None:
    edited.set_formula("mv", "vec", "self.t().conj().mv(grad).to(self.options())")
    make(edited)
    page = site_of(edited).bytes()["op/mv.html"]
    assert b'class="saved tensor" title="at::Tensor vec ' in page
    assert b'class="saved" title="at::TensorOptions self_options ' in page


def test_every_function_and_every_node_can_be_searched_for_and_has_its_anchor(site: Site, written: Project) -> None:
    actual = site.data("search.js")
    functions = {name: page for page, names, _ in actual for name in names}
    nodes = {name: page for page, _, names in actual for name in names}
    shown = written.run("show", "schemas").rows
    assert set(functions) == {row["func"].partition("(")[0] for row in shown}
    units = [row["unit"] for row in written.run("show", "emit").rows if row["family"] == "nodes"]
    assert set(nodes) == set(units)
    for name, page in (*functions.items(), *nodes.items()):
        assert name in site.pages[f"op/{page}.html"].ids


def test_all_cpp_that_is_generated_is_on_some_page(site: Site, written: Project) -> None:
    text = "\n".join(site.pages[f"op/{page}.html"].text for page, _, _ in site.data("search.js"))
    rows = written.run("show", "emit").rows
    assert {row["family"] for row in rows} >= {"nodes", "variable_type", "trace_type", "inplace_or_view", "view_funcs"}
    pieces = [" ".join(piece.split()) for row in rows for piece in row["pieces"].values()]
    assert len(pieces) > 500
    assert [piece for piece in pieces if piece not in text] == []


def test_entries_are_linked_where_they_stand(site: Site, written: Project) -> None:
    lines = written.path("derivatives.yaml").read_text().splitlines()
    known = site.data("lines.js")["derivatives.yaml"]
    assert lines[known["mv"] - 1].startswith("- name: mv(")
    source = site.pages["source/derivatives.yaml.html"]
    assert {"mv", f"L{known['mv']}", f"L{len(lines)}"} <= set(source.ids)
    assert "../source/derivatives.yaml.html#mv" in site.page("mv").links


def test_relations_lead_from_page_to_page(site: Site) -> None:
    exp, foreach, transpose = site.page("exp"), site.page("_foreach_exp"), site.page("transpose")
    assert "../op/_foreach_exp.html#_foreach_exp" in exp.links
    assert "derived from the formulas of exp" in foreach.text
    assert "Used by exp, _foreach_exp_, exp_" in exp.text
    assert "Differentiated by the formulas of exp" in exp.text  # exp_
    assert "../op/transpose_copy.html#transpose_copy.int" in transpose.links
    assert "copy of the view transpose.int" in site.page("transpose_copy").text.lower()


def test_the_first_page_leads_to_all_sources(site: Site) -> None:
    sources = {name for name in site.pages if name.startswith("source/")}
    assert sources >= {"source/core_helpers.h.html", "source/derivatives.yaml.html"}
    assert {name for name in sources if f'href="{name}"' not in site.pages["index.html"].source} == set()


def test_formulas_are_marked_by_what_they_mean(site: Site) -> None:
    text = site.page("exp").source
    assert "<i class=g>grad</i> * <i class=r>result</i><wbr>.<i class=f>conj</i>()" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("grad.conj()", "grad<wbr>.conj()"),
        ("f(grad,self)", "f(<wbr>grad,<wbr>self)"),
        ("a->size() <= b", "a<wbr><i class=o>-&gt;</i>size() &lt;= b"),
        ("{a[0], at::b(c)}", "{<wbr>a[<wbr><i class=n>0</i>], at::b(<wbr>c)}"),
        ("grad_input_mask", "grad_input_mask"),
        ("a_name_of_more_than_one_line", "<i class=w>a_<wbr>name_<wbr>of_<wbr>more_<wbr>than_<wbr>one_<wbr>line</i>"),
    ],
)
def test_lines_of_formulas_end_between_words(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_the_list_of_nodes_agrees_with_the_report_of_coverage(site: Site, written: Project) -> None:
    printed = written.run("coverage", "--format", "json").stdout
    totals = re.search(r'"nodes": (\d+),\s*"forward": (\d+)', printed)
    assert totals is not None
    assert f"Nodes with a forward derivative {totals[2]} of {totals[1]}" in site.pages["index.html"].text
    assert site.pages["nodes.html"].text.count("Backward") >= int(totals[1])


def test_text_of_the_specs_is_never_taken_for_html(edited: Project) -> None:
    edited.set_formula("exp", "self", '"grad * (result < 1).conj() /* <b>&amp; */"')
    make(edited)
    page = site_of(edited).page("exp")
    assert "<b>&amp;" not in page.source
    assert "(result < 1).conj() /* <b>&amp; */" in page.text


def test_operators_of_another_namespace_have_pages_too(edited: Project) -> None:
    edited.append("native_functions.yaml", "- func: toy::cube(Tensor self) -> Tensor\n  variants: function")
    make(edited)
    site = site_of(edited)
    assert "toy::cube" in site.page("toy.cube").text
    assert "toy-cube" in site.page("toy.cube").ids
    assert list(site.broken()) == []


# ---- what leads where


def called(page: Page) -> set[str]:
    """What the formulas of a page's own entries call, as the pages that they lead to."""
    cards = [card for card in page.source.split('<section class="card derivative"')[1:] if "derived from" not in card]
    formulas = [text for card in cards for text in re.findall(r'<code class="formula">(.*?)</code>', card, re.DOTALL)]
    return {link for text in formulas for link in re.findall(r'href="\.\./(.*?)\.html"', text)}


def users(page: Page) -> set[str]:
    """The pages of the operators whose formulas use what a page is about."""
    (section,) = re.findall(r'id="used-by">(.*?)</section>', page.source, re.DOTALL)
    return set(re.findall(r'class="user"><a class="code" href="\.\./(.*?)\.html', section))


def test_what_a_formula_calls_is_used_by_it_and_by_nothing_else(site: Site) -> None:
    assert called(site.page("mul")) == {"helper/match_domain", "op/mul"}
    shown = {name.removesuffix(".html"): page for name, page in site.pages.items() if name[:3] in ("op/", "hel")}
    targets = {name: page for name, page in shown.items() if name != "helpers"}
    forward = {(target, name) for name, page in shown.items() if name[:3] == "op/" for target in called(page)}
    assert len(forward) > 25
    assert {(target, name) for target, page in targets.items() for name in users(page)} == forward


def test_a_helper_has_its_declaration_and_its_users_with_their_fields(site: Site, written: Project) -> None:
    page = site.pages["helper/match_domain.html"]
    assert "inline Tensor match_domain(ScalarType operand, const Tensor& g);" in page.text
    assert "../source/core_helpers.h.html#match_domain" in page.links
    assert "mul.Tensor other, self" in page.text
    line = site.data("lines.js")["core_helpers.h"]["match_domain"]
    text = written.path("templates/core_helpers.h").read_text().split("\n")
    assert "match_domain(" in text[line - 1]
    assert "../helper/match_domain.html" in site.pages["source/core_helpers.h.html"].links


def test_the_yaml_leads_back_to_what_each_entry_defines(site: Site, written: Project) -> None:
    for file, start, place in (
        ("derivatives.yaml", "- name: ", "../op/mv.html#MvBackward0"),
        ("native_functions.yaml", "- func: ", "../op/mv.html#mv"),
    ):
        page = site.pages[f"source/{file}.html"]
        assert place in page.links
        entries = [line for line in written.path(file).read_text().split("\n") if line.startswith(start)]
        assert page.source.count('class="to"') == len(entries) > 30


def test_every_node_and_operator_says_what_uses_it(site: Site) -> None:
    for name, page in site.pages.items():
        if name.startswith(("op/", "helper/")):
            assert page.ids.count("used-by") == 1
    for card in site.page("exp").source.split('<section class="card derivative"')[1:]:
        assert "<dt>Used by</dt>" in card
    assert "no formula of this set calls it" in site.page("_foreach_exp").text


def test_what_is_counted_is_what_the_link_leads_to(site: Site) -> None:
    counts = re.findall(r'<a href="(\w+)\.html#([\w-]+)">([\d,]+)</a>', site.pages["index.html"].source)
    assert len(counts) >= 6
    for page, trait, count in counts:
        rows = re.findall(r'data-traits="(.*?)"', site.pages[f"{page}.html"].source)
        assert sum(trait in traits.split() for traits in rows) == int(count.replace(",", "")), (page, trait)
    tiles = dict(re.findall(r'class="tile" href="(\w+)\.html"><b>([\d,]+)</b>', site.pages["index.html"].source))
    assert tiles.keys() >= {"operators", "functions", "nodes", "helpers"}
    for page, count in tiles.items():
        assert site.pages[f"{page}.html"].source.count("<tr data-traits=") == int(count.replace(",", ""))


def test_the_lineage_of_an_operator_goes_from_its_entries_to_files(site: Site) -> None:
    (drawn,) = re.findall(r'id="lineage">(.*?)</details>', site.page("exp").source, re.DOTALL)
    boxes = re.findall(r"<text[^>]*>(.*?)</text>", drawn)
    wanted = ["native_functions: exp", "derivatives: exp", "exp", "ExpBackward0", "VariableType::exp", "Functions.cpp"]
    assert [box for box in wanted if box not in boxes] == []
    assert "../source/derivatives.yaml.html#exp" in drawn
    whole = site.pages["lineage.html"]
    assert re.search(r"derivatives.yaml: \d+ entries", whole.text)
    assert {"nodes.html", "functions.html", "source/native_functions.yaml.html"} <= set(whole.links)
    assert "Functions.cpp" in whole.text and "VariableType*.cpp" in whole.text


# ---- which files are written


def test_nothing_changed_writes_nothing(edited: Project) -> None:
    before = site_of(edited).times()
    make(edited)  # what was copied is looked at once
    assert make(edited).endswith("none written")
    assert site_of(edited).times() == before


def test_a_folder_that_is_spelt_otherwise_keeps_its_pages(edited: Project) -> None:
    make(edited)
    before = site_of(edited).times()
    run = edited.gradmill("page", generated="generated", cache="cache")
    assert run.status == 0 and run.stdout.endswith("none written\n"), run.stdout
    edited.set_formula("exp", "self", "result.conj() * grad")
    assert edited.gradmill("page", generated="generated", cache="cache").status == 0
    after = site_of(edited).times()
    assert before.keys() == after.keys() and 0 < sum(before[name] != after[name] for name in before) < 10


def rendered(project: Project) -> set[str]:
    """The pages of operators, helpers and lists that the next run would render, even if their bytes do not change."""
    build = PageSession(read_config(project.values)).begin()
    try:
        build.render()
        ran = [(name[0].removeprefix("gradmill.extensions.browse.page."), str(name[-1])) for name in build.db.ran]
        of_pages = ("pages:operator_page", "pages:helper", "lists:")
        return {key if query[:5] == "pages" else query for query, key in ran if query.startswith(of_pages)}
    finally:
        build.close()


def test_an_edit_renders_only_what_shows_it(edited: Project) -> None:
    edited.set_formula("exp", "self", "result.conj() * grad")
    assert rendered(edited) == {"exp", "_foreach_exp"}
    edited.set_formula("mv", "result", "at::mv(self_p, vec_t) + at::mv(self_t, vec_p)")
    assert rendered(edited) == {"exp", "_foreach_exp", "mv", "lists:node_rows", "lists:nodes"}
    edited.set_formula("exp", "self", "result.conj() * grad.neg()")
    lists = {"lists:node_rows", "lists:nodes"}
    assert rendered(edited) == {"exp", "_foreach_exp", "mv", "neg", *lists}


def test_a_new_call_also_writes_the_page_of_what_is_called(edited: Project) -> None:
    edited.set_formula("exp", "self", "match_domain(self.scalar_type(), grad * result.conj().neg())")
    own = {"op/exp.html", "op/_foreach_exp.html", "source/derivatives.yaml.html"}
    lists = {"nodes.html", "operators.html", "helpers.html", "index.html"}  # what is saved, and who is used, changed
    assert rewritten(edited) - lists == own | {"op/neg.html", "helper/match_domain.html"}
    assert "exp self" in Page(edited.generated / "page" / "helper" / "match_domain.html").text


def test_a_header_that_moves_its_helpers_writes_none_of_their_pages(edited: Project) -> None:
    path = edited.path("templates/core_helpers.h")
    path.write_text("// One line more.\n" + path.read_text())
    assert rewritten(edited) == {"lines.js", "source/core_helpers.h.html"}


def test_graphs_have_pages_and_are_among_the_users(tmp_path: Path, tiny_built: Project) -> None:
    project, folder = Project(tmp_path, tiny_built.specs, "2.13.0"), tmp_path / "graphs"
    folder.mkdir()
    text = "from torch import Tensor\n\n\ndef waves(x: Tensor, y: Tensor) -> Tensor:\n    return x.exp() * y\n"
    other = "\n\ndef grown(x: Tensor) -> Tensor:\n    return x + 1\n"
    (folder / "mine.py").write_text(text + other)
    make(project, graphs=folder)
    site = site_of(project)
    assert list(site.broken()) == []
    page = site.pages["graph/waves.html"]
    assert {"../op/exp.html#exp", "../op/mul.html#mul.Tensor", "../op/exp.html#ExpBackward0"} <= set(page.links)
    assert "return x.exp() * y" in page.text and "graphs/mine.cpp" in page.text
    assert "../graph/waves.html" in site.page("exp").links and "../graph/waves.html" not in site.page("add").links
    assert "graphs waves" in site.page("exp").text
    (folder / "mine.py").write_text(text.replace("x.exp() * y", "x.exp() * y * y") + other)
    assert rewritten(project, graphs=folder) == {"graph/waves.html"}
    assert make(project).endswith("3 removed")


def test_a_line_more_moves_entries_and_writes_no_page_of_theirs(edited: Project) -> None:
    path = edited.path("derivatives.yaml")
    path.write_text("# a comment\n" + path.read_text())
    assert rewritten(edited) == {"lines.js", "source/derivatives.yaml.html"}


def test_what_was_removed_leaves_no_page_behind(edited: Project) -> None:
    path = edited.path("native_functions.yaml")
    path.write_text(path.read_text() + "\n- func: wholly_new(Tensor self) -> Tensor\n")
    make(edited)
    page = edited.generated / "page" / "op" / "wholly_new.html"
    assert page.exists()
    own = page.with_name("own.html")
    own.write_text("<!doctype html>\nsomebody's own\n")
    path.write_text(path.read_text().replace("\n- func: wholly_new(Tensor self) -> Tensor\n", ""))
    assert make(edited).endswith("1 removed")
    assert not page.exists()
    assert own.exists()


def test_pages_that_were_damaged_are_put_back_whatever_is_known(edited: Project, site: Site) -> None:
    folder = edited.generated / "page"
    (folder / "op" / "mv.html").unlink()
    (folder / "page.css").write_text("/* @" + "generated by gradmill */")
    make(edited)
    assert site_of(edited).bytes() == site.bytes()
    shutil.rmtree(edited.cache)
    assert make(edited).endswith("none written")
    assert site_of(edited).bytes() == site.bytes()


def test_errors_are_reported_with_their_place_and_change_no_page(edited: Project) -> None:
    before = site_of(edited).bytes()
    edited.replace("derivatives.yaml", "- name: exp(Tensor self)", "- name: exq(Tensor self)")
    run = edited.run("page")
    assert run.status != 0
    assert re.search(r"derivatives\.yaml:\d+:\d+: error: ", run.stderr)
    assert "Traceback" not in run.stderr
    assert site_of(edited).bytes() == before


def test_a_word_that_means_nothing_is_refused(written: Project) -> None:
    written.run("page", "mv").failed("'mv' is not expected here")


# ---- what changed since another set


def test_changes_since_another_set_are_on_the_pages_that_they_are_about(edited: Project, written: Project) -> None:
    edited.set_formula("exp", "self", "result.conj() * grad * 1")
    make(edited, against=written.specs, against_release="2.13.0")
    site = site_of(edited)
    assert list(site.broken()) == []
    assert "Changed since set (PyTorch 2.13.0)" in site.page("exp").text
    assert "Changed since" not in site.page("mv").text
    assert "<del>grad * </del>result.conj()</code>" in site.page("exp").source
    assert "result.conj()<ins> * grad * 1</ins></code>" in site.page("exp").source
    assert "../op" not in site.pages["changes.html"].source
    assert {"exp", "_foreach_exp"} <= set(site.pages["changes.html"].ids)
    assert make(edited, against=written.specs, against_release="2.13.0").endswith("none written")
    make(edited)
    site = site_of(edited)
    assert list(site.broken()) == [] and "changes.html" not in site.pages
    assert [name for name, page in site.pages.items() if "changes.html" in page.source] == []


def test_changes_of_generated_code_are_folded_with_the_operator_above_them(edited: Project, written: Project) -> None:
    edited.set_formula("exp", "self", "result.conj() * grad * 1 /* <b>&amp; */")
    make(edited, against=written.specs, against_release="2.13.0")
    page = site_of(edited).pages["changes.html"]
    assert "generated-code" in page.ids
    assert '<details><summary class="code">exp  ExpBackward0  Functions.cpp</summary>' in page.source
    assert "<del>-    auto grad_result = any_grad_defined ? (grad * result.conj()) : Tensor();</del>" in page.source
    assert "grad * 1 /* &lt;b&gt;&amp;amp; */) : Tensor();</ins>" in page.source
    assert "<b>&amp; */" not in page.source
    edited.set_formula("exp", "self", "grad * result.conj()")
    make(edited, against=written.specs, against_release="2.13.0")
    page = site_of(edited).pages["changes.html"]
    assert "no generated byte changes" in page.text
    assert "<details>" not in page.source


def test_more_changes_of_code_than_a_page_holds_are_counted() -> None:
    side = SetSide("a", "2.13.0", "2.13")
    lines = tuple(f"+{'x' * 1000}{number}" for number in range(200))
    names = (CodeName("exp", "ExpBackward0"),)
    each = CodeChange("nodes", "Functions.cpp", "changed", names, (Hunk("@@ -1 +1 @@", lines),) * 2)
    found = shown(CodeReport(side, side, (FileChange("Functions.cpp", "changed"),), (each,) * 10))
    assert 0 < len(found.shown) < 10
    assert found.left == 10 - len(found.shown)
    (change, *_) = found.shown
    assert (len(change.hunks), change.left) == (1, 250)
    assert change.hunks[0].count("<ins>") == 150
    assert sum(len("".join(one.hunks)) for one in found.shown) <= MOST


# ---- what others notice of it


def test_a_run_without_pages_knows_nothing_of_them(edited: Project) -> None:
    """Neither the library nor a module nor a row of theirs."""
    printed = """
import sys
from gradmill.cli.start.command import dispatch
assert not dispatch(sys.argv[1:]), "the run failed"
print([name for name in sys.modules if name.startswith(("jinja2", "markupsafe", "gradmill.extensions.browse.page"))])
"""
    edited.set_formula("exp", "self", "result.conj() * grad")
    words = edited.words
    run = subprocess.run([sys.executable, "-c", printed, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "[]"


def test_gc_keeps_what_pages_are_made_from(edited: Project) -> None:
    make(edited)
    edited.run("gc").ok()
    edited.set_formula("exp", "self", "result.conj() * grad")
    assert rewritten(edited) == {"op/exp.html", "op/_foreach_exp.html", "source/derivatives.yaml.html"}
