"""What torchgen says of many spec sets, each in a folder of its own: one JSON object, name of the folder to error."""

import contextlib
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torchgen_oracle

CORE = Path(__file__).resolve().parent.parent.parent / "specs" / "core" / "templates"
KERNELS = (
    "VariableType.h",
    "VariableType.cpp",
    "TraceType.cpp",
    "ADInplaceOrViewType.cpp",
    "ViewFuncs.h",
    "ViewFuncs.cpp",
)


def verdict(folder: Path, out: str) -> str:
    """torchgen's error, "" when it has none. In a folder that says so, it prints kernels, too."""
    for name in KERNELS if (folder / "KERNELS").exists() else ():
        shutil.copyfile(CORE / name, folder / "templates" / name)
    options = {
        "native": folder / "native_functions.yaml",
        "tags": folder / "tags.yaml",
        "derivatives": folder / "derivatives.yaml",
        "templates": folder / "templates",
        "out": out,
        "match": f"{out}/match.jsonl",
    }
    sys.argv = ["torchgen_oracle.py", *(f"--{name}={value}" for name, value in options.items())]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            torchgen_oracle.main()
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    folders = sorted(Path(sys.argv[1]).iterdir())
    result = {}
    for folder in folders:
        with tempfile.TemporaryDirectory() as out:
            result[folder.name] = verdict(folder, out)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
