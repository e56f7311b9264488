"""Generates and compiles the toy backend: `python build.py FOLDER` writes libtoy.so to FOLDER.

One call compiles all sources, because torch's headers take most of the time. CMakeLists.txt compiles the generated
files one by one, as a real backend does.
"""

import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(folder: Path) -> None:
    """Regenerates the sources and rebuilds libtoy.so."""
    found = find_spec("torch")
    assert found is not None and found.submodule_search_locations, "pip install torch==2.13.0"
    torch = Path(found.submodule_search_locations[0])
    folder = folder.resolve()  # the stubs include each other by the folder that gradmill is given
    generated = folder / "generated"
    words = [f"specs={HERE}", f"generated={generated}", f"cache={folder / 'cache'}"]
    subprocess.run([sys.executable, "-m", "gradmill", *words], check=True)  # noqa: S603
    include = [torch / "include", torch / "include/torch/csrc/api/include", sysconfig.get_paths()["include"]]
    compiler = ["c++", "-std=c++20", "-O0", "-fPIC", "-shared", f"-I{generated}", f"-I{HERE / 'csrc'}"]
    compiler += [word for place in include for word in ("-isystem", str(place))]
    libraries = [
        f"-L{torch / 'lib'}",
        f"-Wl,-rpath,{torch / 'lib'}",
        "-ltorch_python",
        "-ltorch",
        "-ltorch_cpu",
        "-lc10",
    ]
    command = [*compiler, str(HERE / "csrc/all.cpp"), "-o", str(folder / "libtoy.so"), *libraries]
    subprocess.run(command, check=True)  # noqa: S603


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/toy"))
