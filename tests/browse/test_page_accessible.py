"""The pages in a browser, checked by axe-core: no serious finding, light and dark, on a desk and on a phone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import browser
import pytest
from browser import Browser
from project import CORE, ROOT, Project
from site_of_pages import Site

AXE = Path(os.environ.get("AXE") or ROOT / ".venv/axe/node_modules/axe-core/axe.min.js")
PAGES = """
    index operators functions nodes helpers lineage graphs changes op/mul op/_foreach_exp op/squeeze helper/times
    graph/waves source/derivatives.yaml source/core_helpers.h
""".split()
GRAPH = """\
from torch import Tensor


def waves(x: Tensor, y: Tensor) -> Tensor:
    return x.sin() * y
"""
FEW = "index nodes lineage op/mul graph/waves source/core_helpers.h".split()  # of each kind, for other looks
# Everything that is folded is opened: what is hidden is not checked. Rows that repeat are not checked again.
FOUND = """(() => { document.querySelectorAll("details").forEach(each => each.open = true);
    document.querySelectorAll("#rows tbody tr:nth-child(n + 25), .block + .block").forEach(each => each.remove());
    document.querySelectorAll(".function ~ .function").forEach(each => each.remove());
    return axe.run(document, { resultTypes: ["violations"], preload: false }).then(found => found.violations
        .filter(each => ["serious", "critical"].includes(each.impact))
        .flatMap(each => each.nodes.slice(0, 4).map(node => `${each.id}: ${node.html.slice(0, 160)}`))); })()"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not browser.CHROMIUM, reason=browser.MISSING),
    pytest.mark.skipif(not AXE.is_file(), reason="axe-core is absent: npm install --prefix .venv/axe axe-core"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The pages of core, with a graph."""
    folder = tmp_path_factory.mktemp("accessible")
    project = Project(folder, CORE, "2.13.0", kernels=True)
    (folder / "graphs").mkdir()
    (folder / "graphs" / "mine.py").write_text(GRAPH)
    project.run("page", graphs=folder / "graphs").ok()
    return Site(project.generated / "page")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    chromium = Browser()
    yield chromium
    chromium.close()


def findings(chromium: Browser, page: Path) -> list[str]:
    """The serious and critical findings of axe-core about a page, as it is shown."""
    chromium.open(page)
    chromium.run(AXE.read_text() + "; 0")
    found: list[str] = chromium.run(FOUND)
    return found


@pytest.mark.parametrize(
    ("dark", "phone"), [(False, False), (True, False), (False, True)], ids=["light", "dark", "phone"]
)
def test_no_page_has_a_serious_finding(site: Site, chromium: Browser, *, dark: bool, phone: bool) -> None:
    chromium.size(*((390, 844) if phone else (1200, 800)), dark=dark, mobile=phone)
    pages = FEW if dark or phone else PAGES
    found = {page: findings(chromium, site.folder / f"{page}.html") for page in pages}
    assert {page: each for page, each in found.items() if each} == {}


def test_a_page_that_is_hard_to_read_has_one(site: Site, chromium: Browser) -> None:
    chromium.size(1200, 800)
    path = site.folder / "op" / "mul.html"
    bad = site.folder / "op" / "bad.html"
    bad.write_text(path.read_text().replace("<body>", '<body style="--soft: #ddd">'))
    assert any(each.startswith("color-contrast") for each in findings(chromium, bad))
