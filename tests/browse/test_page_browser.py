"""The pages of torch's specs in a browser: no complaint, the search finds, keys, links, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browser
import pytest
from browser import Browser
from project import Project
from site_of_pages import Site

pytestmark = [
    pytest.mark.slow(1.5),
    pytest.mark.skipif(not browser.CHROMIUM, reason=browser.MISSING),
]


PAGES = """
    index operators functions nodes helpers lineage helper/sinc_backward op/mv op/add op/_foreach_div op/squeeze
""".split()


@pytest.fixture(scope="module")
def site(torch_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The pages of all of torch."""
    folder = tmp_path_factory.mktemp("pages")
    project = Project(folder, torch_specs, "2.13.0", packaged=True, kernels=True)
    project.run("page").ok()
    return Site(project.generated / "page")


@pytest.fixture
def chromium() -> Iterator[Browser]:
    """A browser, which must not complain of anything, nor ask for anything but files."""
    browser = Browser()
    yield browser
    browser.close()
    assert browser.complaints == []
    assert [address for address in browser.requests if not address.startswith(("file:", "data:"))] == []


def here(chromium: Browser) -> str:
    """The page that is open, with its anchor."""
    path: str = chromium.run("location.pathname.split('/').slice(-2).join('/') + location.hash")
    return path


def found(chromium: Browser) -> list[str]:
    """What the search shows."""
    names: list[str] = chromium.run("[...document.querySelectorAll('#results li .code')].map(item => item.textContent)")
    return names


def test_all_links_of_all_pages_hold(site: Site) -> None:
    assert len(site.pages) > 1300
    assert list(site.broken()) == []
    assert [name for name, page in site.pages.items() if len(page.ids) != len(set(page.ids))] == []


def test_pages_of_every_kind_open_without_a_complaint(site: Site, chromium: Browser) -> None:
    for page in (*PAGES, "source/derivatives.yaml", "source/native_functions.yaml"):
        chromium.open(site.folder / f"{page}.html")
        assert chromium.run("document.querySelector('h1').textContent.trim().length > 0")


@pytest.mark.parametrize(
    ("typed", "first", "place"),
    [
        ("mv", "mv", "op/mv.html"),
        ("MvBack", "MvBackward0", "op/mv.html#MvBackward0"),
        ("add_.Tensor", "add_.Tensor", "op/add.html#add_.Tensor"),
        ("foreach exp", "_foreach_exp", "op/_foreach_exp.html"),
        ("scaled_dot_prod", "scaled_dot_product_attention", "op/scaled_dot_product_attention.html"),
        ("sinc_backward", "sinc_backward", "helper/sinc_backward.html"),
    ],
)
def test_the_search_finds_while_letters_are_typed(
    site: Site, chromium: Browser, typed: str, first: str, place: str
) -> None:
    chromium.open(site.folder / "index.html")
    chromium.type("/")
    chromium.until(lambda: chromium.run("document.activeElement.id") == "search")
    for letter in typed:
        chromium.type(letter)
        chromium.until(lambda: chromium.run("document.getElementById('search').dataset.took"))
    chromium.until(lambda: found(chromium)[0] == first)
    chromium.press("Enter")
    chromium.until(lambda: here(chromium) == place)
    chromium.until(lambda: chromium.run("document.readyState") == "complete")


def test_arrows_choose_and_escape_closes(site: Site, chromium: Browser) -> None:
    chromium.open(site.folder / "op" / "exp.html")
    chromium.type("/")
    chromium.until(lambda: chromium.run("document.activeElement.id") == "search")
    chromium.type("mv")
    chromium.until(lambda: len(found(chromium)) > 2)
    chosen = "document.querySelector('#results [aria-selected=true]').id"
    assert chromium.run(chosen) == "result-0"
    chromium.press("ArrowDown")
    chromium.press("ArrowDown")
    assert chromium.run(chosen) == "result-2"
    chromium.press("ArrowUp")
    assert chromium.run(chosen) == "result-1"
    assert chromium.run("document.activeElement.getAttribute('aria-activedescendant')") == "result-1"
    second = found(chromium)[1]
    chromium.press("Escape")
    assert chromium.run("document.getElementById('results').hidden")
    chromium.press("Escape")
    assert chromium.run("document.activeElement.id") != "search"
    chromium.type("/")
    chromium.until(lambda: len(found(chromium)) > 2)
    chromium.press("ArrowDown")
    chromium.press("Enter")
    chromium.until(lambda: second.partition(".")[0] in here(chromium))


def test_a_search_without_matches_is_reported(site: Site, chromium: Browser) -> None:
    chromium.open(site.folder / "index.html")
    chromium.type("/")
    chromium.until(lambda: chromium.run("document.activeElement.id") == "search")
    chromium.type("qqzzxx")
    chromium.until(lambda: "No matches" in (chromium.run("document.getElementById('results').textContent") or ""))
    chromium.press("Enter")
    assert here(chromium).endswith("index.html")


def test_entries_show_their_lines_and_lead_there(site: Site, chromium: Browser) -> None:
    chromium.open(site.folder / "op" / "mv.html")
    line = site.data("lines.js")["derivatives.yaml"]["mv"]
    shown = "document.querySelector('.derivative .place').textContent"
    chromium.until(lambda: chromium.run(shown) == f"derivatives.yaml:{line}")
    chromium.run("document.querySelector('.derivative .place').click()")
    chromium.until(lambda: here(chromium) == "source/derivatives.yaml.html#mv")
    chromium.until(lambda: chromium.run("document.readyState") == "complete")
    chromium.until(lambda: chromium.run("document.querySelector(':target') !== null"))
    chromium.until(lambda: chromium.run("document.querySelector(':target').textContent").startswith("- name: mv("))
    top = "document.querySelector(':target').getBoundingClientRect().top"
    chromium.until(lambda: 0 <= chromium.run(top) < 600)


def test_cpp_is_coloured_when_it_is_opened_and_stays_the_same_text(site: Site, chromium: Browser) -> None:
    chromium.open(site.folder / "op" / "mv.html")
    box = "document.getElementById('cpp-MvBackward0')"
    assert not chromium.run(f"{box}.open")
    before = chromium.run(f"{box}.textContent")
    chromium.run(f"{box}.querySelector('summary').click()")
    chromium.until(lambda: chromium.run(f"{box}.querySelectorAll('i.k').length > 5"))
    assert chromium.run(f"{box}.textContent") == before
    assert "MvBackward0_apply_functional" in before


def test_a_link_to_a_kernel_opens_it(site: Site, chromium: Browser) -> None:
    chromium.open(f"{(site.folder / 'op' / 'mv.html').as_uri()}#variable_type-mv")
    assert chromium.run("document.getElementById('variable_type-mv').open")


def shown_rows(chromium: Browser) -> list[str]:
    """The first cells of the rows that a list shows."""
    script = (
        "[...document.querySelectorAll('#rows tbody tr')].filter(row => !row.hidden).map(row => row.cells[0].innerText)"
    )
    names: list[str] = chromium.run(script)
    return names


def test_filters_and_the_order_are_in_the_address(site: Site, chromium: Browser) -> None:
    chromium.open(site.folder / "nodes.html")
    chromium.run("document.querySelector('[data-trait=forward]').click()")
    assert here(chromium) == "page/nodes.html#forward"
    chromium.run("document.querySelector('[data-trait=saves-inputs]').click()")
    chromium.run("document.getElementById('filter').focus()")
    chromium.type("cos")
    chromium.run("document.querySelectorAll('#rows .sort')[1].click()")
    chromium.run("document.querySelectorAll('#rows .sort')[1].click()")
    chromium.until(lambda: here(chromium) == "page/nodes.html#only=forward,saves-inputs&q=cos&sort=-2")
    before = shown_rows(chromium)
    assert {"CosBackward0", "AcosBackward0", "CoshBackward0"} <= set(before)
    assert chromium.run("document.querySelector('[aria-sort]').innerText").startswith("Function")
    chromium.open("about:blank")
    chromium.open(f"{(site.folder / 'nodes.html').as_uri()}#only=forward,saves-inputs&q=cos&sort=-2")
    assert shown_rows(chromium) == before
    assert chromium.run("document.getElementById('filter').value") == "cos"


def test_tables_are_ordered_by_numbers_and_by_names(site: Site, chromium: Browser) -> None:
    chromium.open(f"{(site.folder / 'helpers.html').as_uri()}#sort=-3")
    counts = chromium.run("[...document.querySelectorAll('#rows tbody tr')].map(row => +row.cells[2].innerText)")
    assert counts == sorted(counts, reverse=True) and counts[0] > 10
    chromium.open("about:blank")
    chromium.open(f"{(site.folder / 'functions.html').as_uri()}#q=addm&sort=1")
    names = shown_rows(chromium)
    assert names == sorted(names, key=lambda name: name.lstrip("_").lower()) and "addmm" in names


def test_without_javascript_links_and_filters_work(site: Site, chromium: Browser) -> None:
    chromium.call("Emulation.setScriptExecutionDisabled", value=True)
    chromium.call("Page.navigate", url=f"{(site.folder / 'nodes.html').as_uri()}#missing")
    chromium.until(lambda: here(chromium) == "page/nodes.html#missing")
    chromium.until(lambda: chromium.run("document.readyState") == "complete")
    visible = "[...document.querySelectorAll('#rows tbody tr')].filter(row => row.offsetParent).length"
    assert 0 < chromium.run(visible) < chromium.run("document.querySelectorAll('#rows tbody tr').length") / 4


def test_on_a_phone_graphs_scroll_and_names_break_at_underscores(site: Site, chromium: Browser) -> None:
    chromium.size(390, 844, mobile=True)
    chromium.open(f"{(site.folder / 'op' / '_foreach_div.html').as_uri()}#lineage")
    assert chromium.run("document.getElementById('lineage').open")
    graph = "document.querySelector('#lineage .graph')"
    assert chromium.run(f"{graph}.scrollWidth > {graph}.clientWidth")
    assert chromium.run(f"({graph}.scrollLeft = 50, {graph}.scrollLeft)") == 50
    chromium.open(site.folder / "op" / "_scaled_dot_product_flash_attention_for_cpu.html")
    lines = "[...new Set([...document.querySelector('h1').getClientRects()].map(box => box.height))]"
    assert chromium.run(f"{lines}[0]") > 60  # the title takes several lines
    assert chromium.run("document.querySelector('h1').scrollWidth") <= 390
    assert chromium.run("document.querySelectorAll('h1 wbr').length") > 5


@pytest.mark.parametrize("page", ["operators", "functions", "nodes", "helpers"])
def test_rows_have_no_gaps_on_a_phone(site: Site, chromium: Browser, page: str) -> None:
    """All of a row is at the width of the page: nothing that is to the right of it makes the row high."""
    chromium.size(390, 844, mobile=True)
    chromium.open(site.folder / f"{page}.html")
    assert chromium.run("document.querySelector('.wide').scrollWidth <= document.querySelector('.wide').clientWidth")
    names = """getComputedStyle(document.querySelector('#rows tbody td:nth-child(2)'), '::before').content"""
    heads = "document.querySelector('#rows thead th:nth-child(2) button').textContent"
    assert chromium.run(names).strip('"').strip() == chromium.run(heads).strip()


def colours(chromium: Browser) -> tuple[int, int]:
    """How bright the back and the text are, from 0 to 765."""
    script = "(name => getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0))"
    return chromium.run(f"{script}('backgroundColor')"), chromium.run(f"{script}('color')")


def test_light_and_dark_follow_the_system_and_the_switch(site: Site, chromium: Browser) -> None:
    page = site.folder / "op" / "mv.html"
    for dark in (False, True):
        chromium.size(1200, 800, dark=dark)
        chromium.open(page)
        back, text = colours(chromium)
        assert (back < text) is dark
        assert abs(back - text) > 400
    chromium.run("document.getElementById('theme').click()")
    assert colours(chromium)[0] > 600
    chromium.open(site.folder / "index.html")
    assert colours(chromium)[0] > 600, "the choice is kept"


@pytest.mark.parametrize("page", PAGES)
def test_a_phone_shows_pages_at_their_width(site: Site, chromium: Browser, page: str) -> None:
    chromium.size(390, 844, mobile=True)
    chromium.open(site.folder / f"{page}.html")
    assert chromium.run("document.documentElement.scrollWidth") <= 390
    small = """[...document.querySelectorAll("main p, main dd, main code.formula, main td")]
        .filter(item => item.offsetParent && parseFloat(getComputedStyle(item).fontSize) < 12).length"""
    assert chromium.run(small) == 0
