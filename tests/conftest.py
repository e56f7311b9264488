"""Fixtures: projects to run doit in, and the spec set of the installed torch. Which tests run, and in which order."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile, copytree, rmtree

import installed
import pytest
import remote_servers
from copies import copy_of
from cpp import toolchain
from never_wrong.oracle import Oracle
from never_wrong.specset import make_folder, make_tiny, of_families, read_specs
from project import CORE, KERNEL_TEMPLATES, ROOT, Project
from vendors.vendor import Vendor

from gradmill.doors import extensions

RELEASE = (CORE / "RELEASE").read_text().strip()

# The operators of core that most tests have: every kind of Node, of variant and of reference, and few of each.
FAMILIES = """
    add sub mul div pow exp sin cos neg mv pixel_shuffle lerp relu sigmoid clamp mean cat index_put select view
    transpose zeros full
""".split()

EXTENSIONS = ("graphs", "type_stubs", "verify", "browse")  # each has a folder of tests
collect_ignore = [name for name in EXTENSIONS if name not in extensions()]
SHORT = 0.2  # seconds of a test whose mark says none


def pytest_configure(config: pytest.Config) -> None:
    config.option.markexpr = marks_that_run(config)  # in each process: one has no more than the words of the other
    gc.disable()  # what is collected stays
    # Commands run as users run them: without bytecode each of some thousand processes compiles gradmill again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and what they start


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def marks_that_run(config: pytest.Config) -> str:
    """What `-m` is where it is not given. What is named, by its file or with `-k`, runs even if it is slow."""
    option, is_one = config.option, any("::" in name for name in config.args)
    if os.environ.get("UPDATE_GOLDEN"):
        if option.markexpr or option.keyword or is_one:
            raise pytest.UsageError(
                "UPDATE_GOLDEN=1 rewrites whole files: name files or folders of tests, without -k, -m and '::'"
            )
        return "golden"
    if option.markexpr or is_one:
        return str(option.markexpr)
    is_named = option.keyword or any(Path(name).is_file() for name in config.args)
    return "not campaign" if is_named else "not slow and not campaign"


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    needed = {item: {name for mark in item.iter_markers("extension") for name in mark.args} for item in items}
    items[:] = [item for item in items if needed[item] <= extensions().keys()]
    for item in items:
        if _compiles_core(item):
            item.add_marker(pytest.mark.slow)
    yield  # only those that run are left
    seconds: Counter[Path] = Counter()
    for item in items:
        mark = item.get_closest_marker("slow")
        seconds[item.path] += mark.args[0] if mark and mark.args else SHORT
    items.sort(key=lambda item: -seconds[item.path])  # so both processes come to the end together


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI nothing is skipped for lack of a program or package: .ci/run installs them."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where .ci/run has to install what it needs: {report.longreprtext}"
    return report


def _compiles_core(item: pytest.Item) -> bool:
    """Whether a test needs the core Nodes compiled, which takes minutes the first time."""
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
def layers_built(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    """A build of the described set of layers, to copy."""
    vendor = Vendor(tmp_path_factory.mktemp("layers"))
    vendor.build()
    return vendor


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
