"""What torchgen's gen_backend_stubs says of many files of backends: a JSON list of its errors, "" where it has none.

python by_torchgen.py ROOT: `ROOT` is laid out as a checkout. Each line of the input is a JSON list with the file of a
backend, the folder to write to, the C++ file of its kernels or "", and the folder to run in.
"""

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path


def main() -> None:
    root = Path(sys.argv[1]).absolute()
    sys.path.insert(0, str(root))
    from torchgen import gen_backend_stubs

    parsed = cache(gen_backend_stubs.parse_native_yaml)
    # A run adds the backend's keys to what was parsed.
    gen_backend_stubs.parse_native_yaml = lambda *paths: type(parsed(*paths))(
        parsed(*paths).native_functions, parsed(*paths).backend_indices.copy()
    )
    sys.modules["__main__"].__file__ = str(root / "torchgen" / "gen_backend_stubs.py")  # which comments name
    run, errors = gen_backend_stubs.run, []
    for source, out, kernels, folder in map(json.loads, sys.stdin):
        os.chdir(folder)
        with contextlib.redirect_stdout(io.StringIO()):
            errors.append(verdict(partial(run, source, out, False, kernels or None)))
    json.dump(errors, sys.stdout)


def verdict(run: Callable[[], None]) -> str:
    """torchgen's error, "" when it has none."""
    try:
        run()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    main()
