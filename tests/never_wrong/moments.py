"""Saved while a run goes on: spec files, templates and gradmill's own code that change at random moments of runs.

    python -m tests.campaigns races [--count N] [--seed N] [--minutes M]

What a run sees is what was there when it began: its output is that of one state of the files, or it ends with a plain
error. The run after it equals a clean one, and so does the run after going back: nothing may be remembered under a key
that it was not made from. Some edits are taken back while the same run still goes on.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from manifests import manifest_in
from project import CORE, ROOT, files_in, finish

from gradmill.families.table import TEMPLATES

from .campaign import Trial, options, run
from .edits import edit
from .runs import Made, difference, half_written
from .specset import DERIVATIVES, NATIVE, read_specs

SAMPLE = 100
CHANGED = "gradmill's own code changed while it ran: run again\n"

# Places of gradmill's own code that output depends on, and some that it does not: file, pattern, replacement.
# Every edit of one place has the same length: neither size nor, often, time distinguishes one from the next.
CODE = [
    (
        "stages/emit.py",
        r"(?<=trim=facts\.trims_lines\))(?: \+ '[^']*')?(?= for .* in )",
        " + '// emit {:05}'",
    ),
    ("stages/shard.py", r"(?<=append\(part\.encode\(\))(?: \+ b'[^']*')?(?=\)\n)", " + b'// shard {:05}'"),
    ("families/family.py", r"(?<=\{template\})(?: \d{5})?(?=\")", " {:05}"),
    ("families/nodes/node.cpp", r"(?<=&& grads\) override;)(?: // \d{5})?(?=\n)", " // {:05}"),
    ("families/trace_type/trace_type.cpp", r"(?<=/\*num_outputs=\*/0\);)(?: // \d{5})?(?=\n)", " // {:05}"),
    ("query/engine.py", r"(?<=# memos that are kept of a row besides the latest)(?: \d{5})?(?=\n)", " {:05}"),
    ("session/build.py", r"(?<=# a first build had less)(?: \d{5})?", " {:05}"),
]

State = dict[str, bytes]  # files that may be edited, by their path under the folder of a trial


class Trials:
    """A copy of gradmill and a spec set in one folder, whose files change while it runs."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._random = random
        self._folder = folder / "used"
        self._clean = folder / "clean"
        self._count = 0
        self._known: dict[tuple[bytes, ...], Made] = {}
        for place in (self._folder, self._clean):
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / "pipeline", place / "pipeline", ignore=ignore)
            shutil.copytree(CORE, place / "set")
        self._state = self._read()
        self.begun = self._state

    # ---- states

    def _read(self) -> State:
        names = [f"pipeline/gradmill/{name}" for name, _, _ in CODE]
        names += [path.relative_to(self._folder).as_posix() for path in sorted((self._folder / "set").rglob("*.*"))]
        return {name: (self._folder / name).read_bytes() for name in names}

    def _write(self, state: State, folder: Path) -> None:
        """Writes the files that differ, each at once, as editors do."""
        for name, data in state.items():
            path = folder / name
            if path.read_bytes() != data:
                spare = path.with_name(f".{path.name}.new")
                spare.write_bytes(data)
                os.replace(spare, path)

    def _edited(self, state: State) -> tuple[str, State]:
        """A state that is one edit away."""
        what = self._random.choice(["code", "code", "template", "spec", "spec"])
        self._count += 1
        if what == "code":
            name, edited = self.edited_code(state)
            return f"{what} {name}", edited
        if what == "template":
            names = (f"set/templates/{template}" for template in TEMPLATES.main)
            name = self._random.choice([name for name in names if name in state])
            lines = re.sub(rb"(?m)^// edit \d{5}\n", b"", state[name])
            return what, {**state, name: b"// edit %05d\n" % self._count + lines}
        specs = read_specs(self._folder / "set")
        for name in specs.entries:
            head, *entries = re.split(r"(?m)^(?=- )", state[f"set/{name}"].decode())
            specs.heads[name], specs.entries[name] = head, entries
        wanted = self._random.choice([DERIVATIVES, DERIVATIVES, NATIVE])
        edit(specs, wanted, self._random.randrange(len(specs.entries[wanted])), self._random)
        return what, {**state, **{f"set/{name}": text.encode() for name, text in specs.texts().items()}}

    def edited_code(self, state: State) -> tuple[str, State]:
        """A state with another text at one of the places in gradmill's own code."""
        self._count += 1
        name, pattern, replacement = self._random.choice(CODE)
        name = f"pipeline/gradmill/{name}"
        text, times = re.subn(pattern, lambda _: replacement.format(self._count), state[name].decode())
        assert times, f"{name} has no {pattern}"
        return name, {**state, name: text.encode()}

    # ---- runs

    def _start(self, folder: Path, *, keep_bytecode: bool = True) -> subprocess.Popen[str]:
        ours = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
        environment = {name: value for name, value in os.environ.items() if name not in ours}
        environment |= {"PYTHONPATH": str(folder / "pipeline"), "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, *(() if keep_bytecode else ("-B",)), "-m", "gradmill", "specs=set"]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)

    def _finish(self, process: subprocess.Popen[str], folder: Path) -> Made:
        run = finish(process)
        return Made(run, files_in(folder / "generated" / "set"), manifest_in(folder / "cache" / "set"))

    def _run(self) -> Made:
        """A run; once more where it says so: Python may have found bytecode of an older text."""
        made = self._finish(self._start(self._folder), self._folder)
        again = made.run.stderr.endswith(CHANGED)
        return self._finish(self._start(self._folder), self._folder) if again else made

    def clean(self, state: State) -> Made:
        """What a run makes of a state that knows nothing of any other: no cache, and no bytecode either."""
        key = tuple(state.values())
        if key not in self._known:
            for name in ("cache", "generated"):
                shutil.rmtree(self._clean / name, ignore_errors=True)
            self._write(state, self._clean)
            time.sleep(0.05)  # what was saved while a run starts is not of that run
            self._known[key] = self._finish(self._start(self._clean, keep_bytecode=False), self._clean)
        return self._known[key]

    # ---- trials

    def trials(self) -> Iterator[Trial]:
        """Edits at random moments, without end."""
        while True:
            yield self._trial()

    def _trial(self) -> Trial:
        random = self._random
        cold = random.random() < 0.2
        if cold:
            shutil.rmtree(self._folder / "cache", ignore_errors=True)
        if random.random() < 0.5:
            self._state = self._accepted(self._state)
        first = self._state
        self._write(first, self._folder)
        what, second = self._edited(first)
        states = [first, second]
        before = self._files()
        seconds = random.uniform(0.02, 1.0 if cold else 0.5)
        process = self._start(self._folder)
        time.sleep(seconds)
        self._write(second, self._folder)
        if random.random() < 0.4:  # once more in the same run: back, or on
            states.append(first if random.random() < 0.7 else self._edited(second)[1])
            time.sleep(random.uniform(0.005, 0.3))
            self._write(states[-1], self._folder)
            what += ", back" if states[-1] is first else ", on"
        made = self._finish(process, self._folder)
        wrong = self._judge(made, states, before) or self._next(states[-1])
        self._state = states[-1]
        for state in (first, second):
            wrong = wrong or self._later(state)
        return Trial(what.split()[0].rstrip(","), wrong, f"{what}, after {seconds:.3f} s")

    def _accepted(self, state: State) -> State:
        """A state one edit away that is right."""
        while True:
            _, result = self._edited(state)
            if self.clean(result).run.status == 0:
                return result

    def _files(self) -> dict[str, bytes]:
        return files_in(self._folder / "generated" / "set")

    def _judge(self, made: Made, states: list[State], before: dict[str, bytes]) -> str:
        """What is wrong with a run during which the files went through `states`."""
        if made.crashed:
            return f"gradmill broke: {made.run.status} {made.run.stderr[-1500:]}"
        if made.run.stderr.endswith(CHANGED):
            return half_written(made.files, [before, *(self.clean(state).files for state in states)])
        result = [difference(made, self.clean(state), before) for state in self._mixed(states)]
        return "" if "" in result else f"the output of no state: {' | '.join(result)}"

    def _mixed(self, states: list[State]) -> list[State]:
        """The states, and what a run may have met between two of them where an edit changed several files."""
        result = list(states)
        for one, other in itertools.pairwise(states):
            names = [name for name in one if one[name] != other[name]]
            for count in range(1, len(names)):
                for some in itertools.combinations(names, count):
                    result.append({**one, **{name: other[name] for name in some}})
        return result

    def _next(self, state: State) -> str:
        """What is wrong with the runs after that."""
        before = self._files()
        wrong = difference(self._run(), self.clean(state), before)
        if wrong:
            return f"the next run: {wrong}"
        again = self._run().run
        return f"a third run had work: {again.ran[:5]}" if again.ran and not again.status else ""

    def _later(self, state: State) -> str:
        """What is wrong when the files are as they once were."""
        if self.clean(state).run.status == 0:
            self._state = state
        before = self._files()
        self._write(state, self._folder)
        time.sleep(0.05)
        wrong = difference(self._run(), self.clean(state), before)
        return f"after going back: {wrong}" if wrong else ""


def main(words: Sequence[str]) -> int:
    wanted = options(__doc__, SAMPLE).parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        return run(Trials(Path(name), Random(wanted.seed)).trials(), wanted)
