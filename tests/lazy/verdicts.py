"""What torchgen says of many files of a backend, each in place of the checkout's: one JSON object, file to error."""

import contextlib
import io
import json
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory


def main() -> None:
    sys.path.insert(0, "")
    from torchgen import gen_lazy_tensor
    from torchgen.gen import parse_native_yaml

    parsed = cache(parse_native_yaml)
    gen_lazy_tensor.parse_native_yaml = lambda *paths: type(parsed(*paths))(
        parsed(*paths).native_functions, dict(parsed(*paths).backend_indices)
    )
    result = {}
    for path in sorted(Path(sys.argv[1]).glob("*.yaml")):
        with contextlib.redirect_stdout(io.StringIO()), TemporaryDirectory() as out:
            result[path.stem] = verdict(str(path), out)
    json.dump(result, sys.stdout)


def verdict(path: str, out: str) -> str:
    """torchgen's error, "" when it has none."""
    from torchgen.dest.lazy_ir import GenTSLazyIR
    from torchgen.gen_lazy_tensor import run_gen_lazy_tensor

    try:
        run_gen_lazy_tensor(
            aten_path="aten/src/ATen",
            source_yaml=path,
            output_dir=out,
            dry_run=False,
            impl_path="torch/csrc/lazy/ts_backend/ts_native_functions.cpp",
            lazy_ir_generator=GenTSLazyIR,
            gen_forced_fallback_code=True,
        )
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    main()
