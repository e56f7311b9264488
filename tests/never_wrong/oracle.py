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
from torchgen_oracle import matched_functions


class Oracle(Server):
    """The process."""

    module = ("-m", "tests.never_wrong.oracle")

    def run(self, specs: Path, out: Path) -> str:
        """Runs torchgen on a flat folder, its files going to `out`; gives its error, "" when there is none."""
        return str(self.ask(str(specs), str(out)))


def _serve() -> None:
    # torchgen prints to standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        specs, out = json.loads(line)
        try:
            _run(Path(specs), Path(out))
            error = ""
        except (Exception, SystemExit) as found:
            error = "".join(traceback.format_exception_only(found)).strip() or type(found).__name__
        answers.write(json.dumps(error) + "\n")
        answers.flush()


def _run(specs: Path, out: Path) -> None:
    from torchgen import gen
    from torchgen.packaged.autograd import load_derivatives
    from torchgen.utils import _read_template

    # Everything that torchgen keeps by path.
    _read_template.cache_clear()
    gen._GLOBAL_PARSE_NATIVE_YAML_CACHE.clear()
    gen._GLOBAL_PARSE_TAGS_YAML_CACHE.clear()
    gen.parse_tags_yaml.cache_clear()
    load_derivatives._GLOBAL_LOAD_DERIVATIVE_CACHE.clear()
    files = (specs / name for name in ("native_functions.yaml", "tags.yaml", "derivatives.yaml", "templates"))
    matched_functions(*map(str, files), str(out))


if __name__ == "__main__":
    _serve()
