"""Every release against its own torchgen, on one table: python -m tests.campaigns releases [VERSION …]

For each release the torch wheel is downloaded (once: it is kept), its torchgen is run from the unpacked wheel in a
process of its own, gradmill is run on the wheel, and both are compared: all files byte for byte, the matched functions
field by field. An installed torch of the right version takes the place of a wheel. `--only aten` compares what
torchgen.gen writes, `--only headers` one type of these files, `--aggregated` its files without headers for each
operator; `--only autograd` compares all others. By default all. `--only stubs` compares what gen_backend_stubs writes
for backends: those of the tests, the files of `--backends DIR`, such as those of vendors, and mutations of one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

from project import files_in

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
WHEELS = Path(os.environ.get("GRADMILL_WHEELS") or ROOT / "cache" / "wheels")

# The smallest wheels of torch are those for macOS; nothing compiled in them is used.
_DOWNLOAD = """
    --retries 1 --timeout 30 --no-deps --only-binary=:all: --python-version 3.12
    --platform macosx_11_0_arm64 --platform macosx_14_0_arm64
""".split()

_READ = "torch/csrc/autograd/generated/ torch/csrc/autograd/FunctionsManual.h c10/core/GradMode.h ATen/autocast_mode.h"
_WANTED = ("torchgen/", "torch/version.py", *(f"torch/include/{name}" for name in _READ.split()))  # of a wheel

# torchgen makes these lists from sets: their order changes with the hash seed.
_SETS = frozenset(("required_inputs_fw_grad", "required_inputs_primal"))
_FOREACH_SETS = frozenset(("all_saved_inputs", "all_saved_outputs"))  # of synthesized foreach infos only


class Unavailable(Exception):
    """A release whose wheel cannot be had."""


class Broken(Exception):
    """torchgen or gradmill failed on a release."""


class Source(NamedTuple):
    """Where a release is: what `specs` is set to, and the folder that holds its torchgen."""

    specs: str
    root: Path


class Result(NamedTuple):
    """How one release compares. `files` and `functions` name what differs."""

    written: int  # files
    total: int  # functions
    files: list[str]
    functions: list[str]


def known_versions() -> tuple[str, ...]:
    """The releases that gradmill knows."""
    sys.path.insert(0, str(ROOT / "pipeline"))
    from gradmill.releases import KNOWN

    return KNOWN


def find_source(version: str, wheels: Path, folder: Path) -> Source:
    """The installed torch if it is that release, else its wheel, unpacked into `folder`; or Unavailable."""
    installed = _installed()
    if installed is not None and metadata.version("torch").partition("+")[0] == version:
        return Source("torch", installed)
    wheel = wheel_of(version, wheels)
    try:
        with ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith(_WANTED)])
    except BadZipFile as error:
        raise Unavailable(f"{wheel} is damaged: delete it, and run again") from error
    return Source(str(wheel), folder)


def _installed() -> Path | None:
    spec = find_spec("torchgen")
    return Path(spec.origin).parent.parent if spec is not None and spec.origin else None


def wheel_of(version: str, wheels: Path) -> Path:
    """The wheel of a release; or Unavailable."""
    return find_wheel(version, wheels) or download(version, wheels)


def find_wheel(version: str, wheels: Path) -> Path | None:
    """The wheel of a release among those kept."""
    return next(iter(sorted(wheels.glob(f"torch-{version}-*.whl"))), None)


def download(version: str, wheels: Path) -> Path:
    """Downloads the wheel of a release; it appears among the kept ones when it is whole."""
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=wheels, prefix="download-") as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder, *_DOWNLOAD]
        # What may be installed on this machine does not limit which wheels are read.
        environment = {**os.environ, "PIP_CONSTRAINT": os.devnull}
        done = subprocess.run(
            [*command, f"torch=={version}"], env=environment, capture_output=True, text=True, check=False
        )
        got = next(Path(folder).glob("*.whl"), None)
        if done.returncode or got is None:
            reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
            raise Unavailable(f"the wheel of torch {version} cannot be downloaded: {reason}")
        return got.replace(wheels / got.name)


def run_torchgen(source: Source, folder: Path) -> dict[str, dict]:
    """What the release's own torchgen makes: the files in `folder`/files, the functions by schema."""
    packaged = source.root / "torchgen" / "packaged"
    options = {
        "root": source.root,
        "native": packaged / "ATen" / "native" / "native_functions.yaml",
        "tags": packaged / "ATen" / "native" / "tags.yaml",
        "derivatives": packaged / "autograd" / "derivatives.yaml",
        "templates": packaged / "autograd" / "templates",
        "aten": packaged / "ATen" / "templates",
        "out": folder / "files",
        "python": folder / "files",
        "match": folder / "match.jsonl",
    }
    arguments = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    run([sys.executable, str(TESTS / "torchgen_oracle.py"), *arguments])
    return _functions((folder / "match.jsonl").read_text())


def gradmill(source: Source, folder: Path, cache: Path, *command: str, families: str = "all") -> str:
    """Runs gradmill on a release; gives its output. `families`: "" for those that are generated by default."""
    variables = [f"specs={source.specs}", f"generated={folder / 'files'}", f"cache={cache}"]
    variables += [f"families={families}"] if families else []
    return run([sys.executable, "-m", "gradmill", *command, *variables])


def run(command: list[str], folder: Path = ROOT) -> str:
    """What a command prints. Broken if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(f"{' '.join(command)} ends with {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def _functions(lines: str) -> dict[str, dict]:
    rows = [json.loads(line) for line in lines.splitlines()]
    return {row["func"]: settled(row) for row in rows}


def settled(value: object, unordered: frozenset[str] = _SETS) -> object:
    """A value of torchgen's in which the order of lists that were made from sets is settled."""
    if isinstance(value, list):
        return [settled(item, unordered) for item in value]
    if not isinstance(value, dict):
        return value
    if str(value.get("func")).startswith("_foreach_"):
        unordered |= _FOREACH_SETS
    return {
        name: sorted(item, key=str) if name in unordered and item else settled(item, unordered)
        for name, item in value.items()
    }


def compare(source: Source, folder: Path, cache: Path) -> Result:
    """Runs both programs on a release, and compares what they make."""
    theirs, ours = folder / "torchgen", folder / "gradmill"
    expected = run_torchgen(source, theirs)
    gradmill(source, ours, cache, families=_of_autograd(source))
    result = _functions(gradmill(source, ours, cache, "show", "match"))
    wanted, made = files_in(theirs / "files"), files_in(ours / "files")
    names = sorted({*filter(_is_made, wanted), *made})
    files = [name for name in names if wanted.get(name) != made.get(name)]
    functions = [func for func in {**expected, **result} if expected.get(func) != result.get(func)]
    return Result(len(names), len(expected), files, functions)


def _of_autograd(source: Source) -> str:
    """The families of what `torchgen_oracle.py` makes: of ATen's files only the binding of view metas."""
    views = source.root / "torchgen" / "packaged" / "ATen" / "templates" / "ViewMetaClasses.h"
    subsets = "libtorch,pybindings,python"
    return f"{subsets},view_meta_bindings" if views.exists() else subsets


def _is_made(name: str) -> bool:
    """Whether a file of torchgen's belongs to a family."""
    from gradmill.families.table import FAMILIES

    return any(family.owns(name) for family in FAMILIES.values())
