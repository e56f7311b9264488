"""What torchgen's gen_backend_stubs says of many files of backends: a JSON list of its errors, "" where it has none.

python by_torchgen.py ROOT: `ROOT` is laid out as a checkout. Each line of the input is a JSON list with the file of a
backend, the folder to write to, the C++ file of its kernels or "", the folder to run in, and the operators that have
structured kernels. These torchgen rejects for a backend, so the program lifts that: what it prints is torchgen's own.
"""

import contextlib
import dataclasses
import io
import json
import os
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any


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
    structured: set[str] = set()
    lift(gen_backend_stubs, structured)
    for source, out, kernels, folder, operators in map(json.loads, sys.stdin):
        os.chdir(folder)
        structured.clear()
        structured.update(operators)
        with contextlib.redirect_stdout(io.StringIO()):
            errors.append(verdict(partial(run, source, out, False, kernels or None)))
    json.dump(errors, sys.stdout)


def lift(stubs: Any, structured: set[str]) -> None:
    """Lets operators of a backend have structured kernels, in its class, as those of a key that torchgen has them for:
    MPS, whose guard is the same, or CPU without one."""
    from torchgen.dest import native_functions, register_dispatch_key
    from torchgen.model import DispatchKey

    parse, declare = stubs.parse_backend_yaml, stubs.dest.compute_native_function_declaration
    classes, empty = register_dispatch_key.StructuredRegisterDispatchKey, register_dispatch_key.gen_empty_impl_names
    gen_class = classes.gen_class

    def parsed(*arguments: Any) -> Any:
        found = parse(*arguments)
        own = found.backend_indices.get(found.backend_key)
        for name, metadata in {**own.index}.items() if own is not None else ():
            if str(name) in structured:
                space = f"{found.cpp_namespace}::{found.class_name or own.native_function_class_name()}"
                kernel = str(name).replace(".", "_") + ("_symint" if metadata.supports_symint() else "")
                changed = dataclasses.replace(metadata, kernel=kernel, structured=True, cpp_namespace=space)
                own.index[name] = changed
        return found

    def declared(group: Any, index: Any) -> Any:
        metadata = index.get_kernel(group)
        is_class = metadata is not None and metadata.structured
        return native_functions.gen_structured(group, index) if is_class else declare(group, index)

    def printed(self: Any, *arguments: Any, **named: Any) -> Any:
        key = DispatchKey.MPS if self.backend_index.device_guard else DispatchKey.CPU
        index = dataclasses.replace(self.backend_index, dispatch_key=key)
        return gen_class(dataclasses.replace(self, backend_index=index), *arguments, **named)

    stubs.parse_backend_yaml, stubs.dest.compute_native_function_declaration = parsed, declared
    classes.gen_class = printed
    register_dispatch_key.gen_empty_impl_names = lambda index: (
        ("at::empty", "at::empty_strided") if structured else empty(index)
    )


def verdict(run: Callable[[], None]) -> str:
    """torchgen's error, "" when it has none."""
    try:
        run()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    main()
