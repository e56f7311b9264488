"""Many builders with one shared cache over gRPC: hits, bytes, and no wrong output.

    python -m tests.fleet [--builders 20] [--edits 10] [--set core] [--server own|casd|buildgrid] [--faults 0.1]

Each builder has its own folder, and starts with an empty cache three times: on one edit of the set, on another one, and
on the first once more after a local edit, which makes no request. Its files and its manifest must be those of a local
build that knows no server. `--faults`: the part of its calls that the server of this program answers wrongly.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

if __name__ == "__main__":  # as pytest has it on the path
    sys.path.insert(0, str(Path(__file__).parent))

import remote_servers
from delay import Delay
from execution_server import Answer, Call, chunks, serving
from project import CORE, Project, finish

from pipeline.front.remote.channel import METHODS

_FORMULA = re.compile(r"^- name: (\w+)\(.*\n  self: (.+)$", re.MULTILINE)
SLICE = 600.0  # seconds for the whole, at most


class Outcome(NamedTuple):
    """One build."""

    kind: str  # hit: of equal inputs; similar: of others; miss; edit: of a local store
    warned: bool
    wrong: str


class Result(NamedTuple):
    """All builds."""

    outcomes: list[Outcome]
    up: int  # bytes
    down: int

    @property
    def wrong(self) -> list[str]:
        """What was wrong."""
        return [each.wrong for each in self.outcomes if each.wrong]

    def __str__(self) -> str:
        kinds = Counter(each.kind for each in self.outcomes)
        counts = ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds))
        warned = sum(each.warned for each in self.outcomes)
        return (
            f"{len(self.outcomes)} builds: {counts}; {warned} with a warning; {self.up:,} bytes up, {self.down:,} down;"
            f" {len(self.wrong)} wrong"
        )


class Fleet:
    """Builders of edits of one set. `folder`: for all of them."""

    def __init__(self, folder: Path, source: Path, edits: int) -> None:
        self._folder = folder
        text = (source / "derivatives.yaml").read_text()
        found = _FORMULA.findall(text)[:edits]
        assert len(found) == edits, f"the set has {len(found)} formulas to edit"
        self._source = source
        self._edits = [(name, f"({formula}) * {number + 2}") for number, (name, formula) in enumerate(found)]
        self._expected = [self._local(number) for number in range(edits)]

    def run(self, url: str, builders: int, jobs: int, seed: int) -> list[Outcome]:
        """The builds of all builders, some at a time."""
        until = time.monotonic() + SLICE
        with ThreadPoolExecutor(jobs) as pool:
            done = pool.map(
                lambda number: self._builder(url, number, Random(seed * 1000 + number), until), range(builders)
            )
            return [outcome for outcomes in done for outcome in outcomes]

    def _local(self, edit: int) -> tuple[dict[str, bytes], bytes]:
        """The files and the manifest of a build without a server."""
        project = self._project(self._folder / f"local-{edit}")
        self._edit(project, edit)
        assert self._build(project).status == 0
        result = project.files(), project.manifest()
        shutil.rmtree(project.folder)
        return result

    def _builder(self, url: str, number: int, random: Random, until: float) -> list[Outcome]:
        project = self._project(self._folder / f"builder-{number}")
        first, second = (random.randrange(len(self._edits)) for _ in range(2))
        outcomes = []
        for edit, cold in ((first, True), (second, True), (first, False), (first, True)):
            if time.monotonic() > until:
                break
            if cold:
                shutil.rmtree(project.cache, ignore_errors=True)
                shutil.rmtree(project.generated, ignore_errors=True)
            self._edit(project, edit)
            outcomes.append(self._outcome(project, edit, url, cold=cold))
        shutil.rmtree(project.folder)
        return outcomes

    def _outcome(self, project: Project, edit: int, url: str, *, cold: bool) -> Outcome:
        run = self._build(project, remote=url)
        name = f"{project.folder.name}, {self._edits[edit][0]}"
        kind = "edit" if not cold else "miss" if "schemas" in run.ran else "similar" if run.units else "hit"
        wrong = ""
        if run.status or len(run.stderr.splitlines()) > 1:
            wrong = f"{name}: status {run.status}, {run.stderr}"
        elif (project.files(), project.manifest()) != self._expected[edit]:
            wrong = f"{name}: the files differ"
        return Outcome(kind, bool(run.stderr), wrong)

    def _project(self, folder: Path) -> Project:
        folder.mkdir()
        shutil.copytree(self._source, folder / "set")
        return Project.at(folder)

    def _edit(self, project: Project, edit: int) -> None:
        shutil.copyfile(self._source / "derivatives.yaml", project.path("derivatives.yaml"))
        project.set_formula(self._edits[edit][0], "self", self._edits[edit][1])

    def _build(self, project: Project, **variables: object) -> Any:
        return finish(project.start(**variables))


def faulty(part: float, random: Random) -> dict[str, Answer]:
    """Answers of a server that fails now and then."""

    def answer(call: Call) -> Any:
        if random.random() >= part:
            return call.usual()
        kind = random.choice(["UNAVAILABLE", "INTERNAL", "RESOURCE_EXHAUSTED", "NOT_FOUND", "garbage", "cut off"])
        if kind == "garbage":
            data = random.randbytes(50)
            return chunks(data) if call.name == "Read" else data
        if kind == "cut off":
            data = call.usual()
            return [*data][:2] if call.name == "Read" else data[: len(data) // 2]
        return call.abort(kind)

    return dict.fromkeys(METHODS, answer)


@contextmanager
def server_of(kind: str, folder: Path, faults: float, random: Random) -> Iterator[str]:
    """The URL of a server."""
    if kind == "own":
        with serving(faulty(faults, random) if faults else {}, zstd=True, batch=100_000) as server:
            yield server.url
        return
    with (remote_servers.running_casd if kind == "casd" else remote_servers.running_buildgrid)(folder) as url:
        yield url


def run(
    source: Path, *, builders: int, edits: int, server: str = "own", faults: float = 0.0, jobs: int = 2, seed: int = 1
) -> Result:
    """A fleet with a server."""
    with tempfile.TemporaryDirectory(prefix="gradmill-fleet-") as name:
        folder = Path(name).resolve()
        fleet = Fleet(folder, source, edits)
        with server_of(server, folder, faults, Random(seed)) as url:
            scheme, _, rest = url.partition("://")
            port, slash, instance = rest.partition(":")[2].partition("/")
            proxy = Delay(int(port), 0.0)
            outcomes = fleet.run(f"{scheme}://127.0.0.1:{proxy.port}{slash}{instance}", builders, jobs, seed)
            return Result(outcomes, proxy.up, proxy.down)


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.fleet", description=__doc__)
    parser.add_argument("--builders", type=int, default=20)
    parser.add_argument("--edits", type=int, default=10)
    parser.add_argument("--set", type=Path, default=CORE, help="a folder with a spec set; core")
    parser.add_argument("--server", choices=("own", "casd", "buildgrid"), default="own")
    parser.add_argument("--faults", type=float, default=0.0, help="of the own server")
    parser.add_argument("--jobs", type=int, default=2, help="builds at a time")
    parser.add_argument("--seed", type=int, default=1)
    options = vars(parser.parse_args())
    source = options.pop("set")
    start = time.monotonic()
    result = run(source, **options)
    print(f"{options['server']}: {result}; {time.monotonic() - start:.0f} s")
    for each in result.wrong:
        print(each)
    return bool(result.wrong)


if __name__ == "__main__":
    sys.exit(main())
