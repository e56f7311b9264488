"""torchgen in one process that takes spec sets one after another: importing it takes longer than a small set does.

with Oracle() as torchgen:
    error = torchgen.run(specs, out)     "" when torchgen accepts the set
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

from server import Server
from torchgen_gen import SEED
from torchgen_oracle import matched_functions, write_python, write_view_bindings


class Oracle(Server):
    """The process."""

    module = ("-m", "tests.never_wrong.oracle")

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **SEED}

    def run(self, specs: Path, out: Path, *, python: bool = False) -> str:
        """Runs torchgen on a flat folder, its files going to `out`; gives its error, "" when there is none. With
        `python`, the files by which Python sees operators, and these only."""
        return str(self.ask(str(specs), str(out), "python" if python else ""))

    def run_gen(self, source: Path, out: Path, *words: str) -> str:
        """The same with torchgen.gen, on a folder with `native` and `templates`. `words`: its other arguments."""
        return str(self.ask(str(source), str(out), "gen", *words))


def _serve() -> None:
    # torchgen prints to standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        specs, out, what, *words = json.loads(line)
        try:
            error = ""
            if what == "gen":
                error = _run_gen(specs, out, words)
            else:
                _run(Path(specs), Path(out), python=bool(what))
        except (Exception, SystemExit) as found:
            error = "".join(traceback.format_exception_only(found)).strip() or type(found).__name__
        answers.write(json.dumps(error) + "\n")
        answers.flush()


def _run(specs: Path, out: Path, *, python: bool) -> None:
    from torchgen import gen
    from torchgen.packaged.autograd import load_derivatives
    from torchgen.utils import _read_template

    # Everything that torchgen keeps by path.
    _read_template.cache_clear()
    gen._GLOBAL_PARSE_NATIVE_YAML_CACHE.clear()
    gen._GLOBAL_PARSE_TAGS_YAML_CACHE.clear()
    gen.parse_tags_yaml.cache_clear()
    load_derivatives._GLOBAL_LOAD_DERIVATIVE_CACHE.clear()
    names = ("native_functions.yaml", "tags.yaml", "derivatives.yaml", "templates")
    files = tuple(str(specs / name) for name in names)
    if python:
        _run_python(files, out)
    else:
        matched_functions(*files, str(out))


def _run_gen(source: str, out: str, words: list[str]) -> str:
    """Runs torchgen.gen in a copy of the process, as it changes its own lists. Returns its error."""
    from torchgen import gen

    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        with os.fdopen(reader) as answer:
            error = answer.read()
        os.wait()
        return error
    try:
        sys.modules["__main__"].__file__ = gen.__file__  # which files name
        os.chdir(out)  # some folders are made below the current one
        sys.argv = ["gen.py", "-s", source, "-d", out, *words]
        gen.main()
    except BaseException as found:
        os.write(writer, "".join(traceback.format_exception_only(found)).encode())
    os._exit(0)


def _run_python(files: tuple[str, ...], out: Path) -> None:
    """What runs at once with all of PyTorch's generators: derivatives are matched, too, and wrong ones are refused."""
    native, tags, derivatives, templates = files
    matched_functions(native, tags, derivatives, templates, None)
    write_python(native, tags, derivatives, templates, str(out))
    write_view_bindings(native, tags, f"{templates}/ATen", str(out))


if __name__ == "__main__":
    _serve()
