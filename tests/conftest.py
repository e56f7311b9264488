"""Fixtures: projects to run doit in, and the spec set of the installed torch. The order and the seed of a test run."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile, copytree, rmtree
from zlib import crc32

import installed
import pytest
import remote_servers
from copies import copy_of
from cpp import toolchain
from never_wrong.oracle import Oracle
from never_wrong.seed import SEED
from never_wrong.specset import make_folder, make_tiny, of_families, read_specs
from project import CORE, KERNEL_TEMPLATES, ROOT, Project
from turns import TURNS, skip_alternates

RELEASE = (CORE / "RELEASE").read_text().strip()

# The operators of core that most tests have: every kind of Node, of variant and of reference, and few of each.
FAMILIES = """
    add sub mul div pow exp sin cos neg mv pixel_shuffle lerp relu sigmoid clamp mean cat index_put select view
    transpose zeros full
""".split()

# Files that take longest, by default or among the slow tests, and are begun first: so both processes come to the end
# together. Before them come those with a long test whose turn it is.
LONG = """
    test_eager.py test_scripts.py test_in_torch.py test_examples.py test_together.py test_releases.py test_bazel.py
    test_linked.py test_models.py
    test_bindings_in_torch.py test_programs.py test_pairs.py test_installed.py
    test_cache.py test_edits.py test_own_code.py test_page_browser.py test_unchanged.py test_readme.py
    test_page_graph.py test_vocabulary.py test_hostile.py test_incremental.py test_states.py
    test_bad_specs.py test_all_releases.py test_damage.py test_chains.py
    test_disk.py test_crowd.py test_ownership.py test_interrupt.py
""".split()
LEFT = 16, 0.5  # of the tests that the default ones leave to the slow ones, one in 16 runs there, for 0.5 s
# Folders around the heart: of their tests one in so many runs when all of tests/ does. Of what is named, by a path or
# with -k, all.
AROUND = {"front": 2, "pairs": 2} | dict.fromkeys(
    "aten families graphs lsp problems releases reports stubs vendors verify views".split(), 3
)
assert all((ROOT / "tests" / folder).is_dir() for folder in AROUND)
assert set(LONG) <= {path.name for path in Path(__file__).parent.rglob("test_*.py")}


def pytest_configure() -> None:
    gc.disable()  # what is collected stays
    # Commands run as users run them: without bytecode each of some thousand processes compiles gradmill again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    os.environ["GRADMILL_SEED"] = str(SEED)  # processes that are started later have the same
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and what they start


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_report_header() -> str:
    return f"GRADMILL_SEED={SEED}"


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    is_whole = not config.option.keyword and {ROOT / argument for argument in config.args} <= {ROOT, ROOT / "tests"}
    around = AROUND if is_whole else {}
    for item in items:
        if _compiles_core(item):
            item.add_marker(pytest.mark.slow)
        elif _is_left_to_slow(item, around):
            item.add_marker(pytest.mark.slow)
            if item.get_closest_marker("alternates") is None:
                item.add_marker(pytest.mark.alternates(*LEFT))
        elif item.get_closest_marker("alternates") and not item.get_closest_marker("sampled"):
            item.add_marker(pytest.mark.slow)
    yield  # only the slow ones are left, or only the others
    named = any("::" in argument for argument in config.args)  # a test that is named runs
    seconds = Counter() if named else skip_alternates(items)
    order = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: (-seconds[item.path], order.get(item.path.name, len(LONG))))


def _is_left_to_slow(item: pytest.Item, around: Mapping[str, int]) -> bool:
    """Whether a case of a `sampled` test, or a test of a folder in `around`, is among the slow ones: the seed chooses
    by its name."""
    mark, folder = item.get_closest_marker("sampled"), item.path.relative_to(ROOT / "tests").parts[0]
    share = mark.args[0] if mark else 1 if item.get_closest_marker("slow") else around.get(folder, 1)
    return (crc32(item.nodeid.encode()) + SEED) % share != 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI nothing is skipped for lack of a program or package: .ci/run installs them. Only turns are."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail") and TURNS not in report.longreprtext:
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where .ci/run has to install what it needs: {report.longreprtext}"
    return report


def _compiles_core(item: pytest.Item) -> bool:
    """Whether a test needs the core Nodes compiled, which takes minutes the first time; not where they were given."""
    if os.environ.get("GRADMILL_KERNELS"):
        return False
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return "core_nodes" in getattr(item, "fixturenames", ()) or params.get("ops") == "core"


@pytest.fixture(scope="session")
def small_specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the core spec set."""
    folder = make_folder(tmp_path_factory.mktemp("small") / "set", CORE, RELEASE)
    of_families(read_specs(CORE), FAMILIES).write(folder)
    return folder


@pytest.fixture(scope="session")
def small_built(small_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A build of it, to copy."""
    return Project(tmp_path_factory.mktemp("built"), small_specs, RELEASE).build()


@pytest.fixture(scope="session")
def tiny_specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few operators: for tests that run so often that the size of the set counts."""
    return make_tiny(tmp_path_factory.mktemp("tiny") / "set")


@pytest.fixture(scope="session")
def tiny_built(tiny_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A build of them, to copy."""
    return Project(tmp_path_factory.mktemp("tiny_built"), tiny_specs, RELEASE).build()


@pytest.fixture
def tiny(tmp_path: Path, tiny_built: Project) -> Project:
    """A copy of it."""
    return copy_of(tiny_built, tmp_path)


@pytest.fixture(scope="session")
def kernels_built(small_specs: Path, torch_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A build of the small spec set with all templates, those of torch, to copy."""
    project = Project(tmp_path_factory.mktemp("kernels_built"), small_specs, RELEASE, kernels=True)
    for name in KERNEL_TEMPLATES:
        copyfile(torch_specs / "autograd" / "templates" / name, project.path(f"templates/{name}"))
    return project.build()


@pytest.fixture
def kernels(tmp_path: Path, kernels_built: Project) -> Project:
    """A copy of it."""
    return copy_of(kernels_built, tmp_path)


@pytest.fixture(scope="session")
def torchgen(torch_specs: Path) -> Iterator[Oracle]:
    """The installed torch's generator, in a process that takes one set after another."""
    with Oracle() as oracle:
        yield oracle


@pytest.fixture
def project(tmp_path: Path, small_specs: Path) -> Project:
    """A copy of the small spec set, never built."""
    return Project(tmp_path, small_specs, RELEASE)


@pytest.fixture
def built(tmp_path: Path, small_built: Project) -> Project:
    """A copy of the small spec set, built."""
    return copy_of(small_built, tmp_path)


@pytest.fixture
def own_code(tmp_path: Path, small_specs: Path) -> Project:
    """A project that a copy of gradmill builds."""
    root = tmp_path / "gradmill"
    for name in ("pipeline", "specs"):
        copytree(ROOT / name, root / name)
    later = time.time() + 10  # so that Python takes the bytecode, and gradmill need not compare it
    for path in root.rglob("*.pyc"):
        os.utime(path, (later, later))
    for name in ("pyproject.toml", "dodo.py"):
        copyfile(ROOT / name, root / name)
    time.sleep(0.05)  # what was saved while a run starts is not of that run
    return Project(tmp_path, small_specs, RELEASE, root=root)


@pytest.fixture
def core_project(tmp_path: Path) -> Project:
    """A copy of the core spec set, never built, with all its templates."""
    return Project(tmp_path, CORE, RELEASE, kernels=True)


@pytest.fixture(scope="session")
def torch_specs() -> Path:
    """The spec set that the installed torch comes with."""
    torchgen = find_spec("torchgen")
    if torchgen is None or not torchgen.submodule_search_locations:
        pytest.skip("torch is not installed: pip install 'gradmill[test]'")
    return Path(next(iter(torchgen.submodule_search_locations))) / "packaged"


@pytest.fixture
def torch_project(tmp_path: Path, torch_specs: Path) -> Project:
    """A copy of the installed torch's spec set, never built."""
    return Project(tmp_path, torch_specs, metadata.version("torch"), packaged=True)


@pytest.fixture
def torch_kernels(tmp_path: Path, torch_specs: Path) -> Project:
    """The same with all its templates."""
    return Project(tmp_path, torch_specs, metadata.version("torch"), packaged=True, kernels=True)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that both processes of a test run have."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own


@pytest.fixture(scope="session")
def wheel(shared: Path) -> Path:
    """gradmill's wheel."""
    return installed.once(shared / "wheel", installed.make_wheel)


@pytest.fixture(scope="session")
def commands(wheel: Path, shared: Path) -> Path:
    """The folder of commands of a virtual environment with the wheel."""
    return installed.once(shared / "venv", partial(installed.install, wheel))


@pytest.fixture(scope="session")
def bazel_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for what Bazel unpacks and builds: some hundred megabytes, too much to leave behind."""
    folder = tmp_path_factory.mktemp("bazel")
    yield folder
    rmtree(folder)


@pytest.fixture(scope="session")
def core_nodes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the library `core_nodes`, which the next run finds again."""
    if reason := toolchain.missing("ninja"):
        pytest.skip(reason)
    cache = getattr(request.config, "cache", None)
    return cache.mkdir("core_nodes") if cache is not None else tmp_path_factory.mktemp("core_nodes")


@pytest.fixture
def nginx(tmp_path: Path) -> Iterator[str]:
    """The URL of nginx with WebDAV's PUT."""
    if remote_servers.nginx() is None:
        pytest.skip("nginx is not installed: NGINX=PROGRAM names one")
    with remote_servers.running_nginx(tmp_path / "nginx") as url:
        yield url
