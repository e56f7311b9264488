"""Writes the Ninja file of this example: gradmill, then one object per source, then a library.

Nothing here is specific to Python. Your own build needs the same rules; see docs/consumers.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PRECOMPILED = ROOT / "examples" / "precompiled.h"
SLIM = ROOT / "examples" / "slim" / "slim.py"
PRELUDE = "slim/slim/formulas.h"

RULES = """\
# gradmill writes a file only if its text changes. `restat`: Ninja then rebuilds nothing from unchanged files.
rule gradmill
  command = cd $root && $python -m doit specs=$specs generated=$generated cache=$cache layout=split shards=$shards
  description = gradmill
  depfile = $manifest.d
  deps = gcc
  restat = 1

rule slim
  command = $slim headers $torch $generated slim
  description = slim headers
  restat = 1

rule precompile
  command = $launcher $cxx $flags $whole -x c++-header $in -o $out -MMD -MF $out.d
  description = precompile $out
  depfile = $out.d

rule compile
  command = $launcher $cxx $flags $precompiled -c $in -o $out -MMD -MF $out.d
  description = compile $out
  depfile = $out.d
  deps = gcc

rule link
  command = $cxx $linker -shared $in -o $out $libraries
  description = link $out
"""


def main() -> None:
    options = _options()
    options.build.mkdir(parents=True, exist_ok=True)
    (options.build / "build.ninja").write_text(_ninja_file(options))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=_folder, default=ROOT / "build" / "ninja", help="folder of the build")
    parser.add_argument("--specs", type=_specs, default=ROOT / "specs" / "core", help="folder of the spec set; torch")
    parser.add_argument("--shards", type=int, default=16, help="files to spread the Nodes over")
    parser.add_argument("--cxx", default="g++", help="the compiler")
    parser.add_argument("--launcher", default="", help="a program in front of it, as ccache")
    parser.add_argument("--linker", help="mold, lld, gold or bfd: by default the first of these that is installed")
    parser.add_argument("--flags", default="-O2", help="more flags for it")
    parser.add_argument("--slim", action="store_true", help="compile formulas with slim headers: examples/slim")
    parser.add_argument("--no-precompiled", action="store_true", help="compile torch's headers with every file")
    return parser.parse_args()


def _folder(text: str) -> Path:
    return Path(text).resolve()


def _specs(text: str) -> Path:
    """A folder; or `torch`, which gradmill finds itself."""
    return Path(text) if text == "torch" else _folder(text)


def _is_upstream(specs: Path) -> bool:
    """Whether the Nodes are in upstream's namespace: then torch's headers must include the generated Functions.h."""
    template = specs / "templates" / "Functions.cpp"
    return not template.is_file() or "namespace torch::autograd::generated {" in template.read_text()


def _ninja_file(options: argparse.Namespace) -> str:
    generated, cache = options.build / "generated", options.build / "cache"
    manifest = cache / options.specs.name / "manifest.json"
    shards = range(options.shards)
    sources = [generated / f"Functions_{k}{part}.cpp" for k in shards for part in ("", "_formulas")]
    headers = [generated / "Functions.h", generated / "Functions_common.h"]
    headers += [generated / f"Functions_{k}.h" for k in shards]
    torch = _torch()
    upstream = _is_upstream(options.specs)
    if options.slim and not upstream:
        raise SystemExit(f"--slim: {options.specs} has templates of its own, whose sources need more headers")
    ours = [*([options.build / "slim"] if upstream else []), generated]
    ours += [options.specs / "templates"] if options.specs.is_absolute() else []
    variables = {
        "root": shlex.quote(str(ROOT)),
        "python": shlex.quote(sys.executable),
        "specs": shlex.quote(str(options.specs)),
        "generated": shlex.quote(str(generated)),
        "cache": shlex.quote(str(cache)),
        "manifest": str(manifest),
        "shards": str(options.shards),
        "torch": shlex.quote(f"{torch}/include"),
        "slim": _slim(),
        "launcher": " ".join(filter(None, [f"{_slim()} compile slim {PRELUDE}" * options.slim, options.launcher])),
        "cxx": options.cxx,
        "flags": shlex.join(_flags(torch, ours, options.flags)),
        "precompiled": "" if options.no_precompiled else "-Winvalid-pch -include precompiled.h",
        # Without it each source instantiates the templates of torch's headers again.
        "whole": "-fpch-instantiate-templates" if "clang" in options.cxx else "",
        "linker": f"-fuse-ld={options.linker or _linker(options.cxx)}",
        "libraries": shlex.join(
            [f"-L{torch}/lib", f"-Wl,-rpath,{torch}/lib", "-ltorch_python", "-ltorch_cpu", "-lc10"]
        ),
    }
    lines = [*(f"{name} = {value.replace('$', '$$')}" for name, value in variables.items()), "", RULES]
    # The manifest represents the run of gradmill; the compiled files are further outputs of the same rule.
    lines.append(f"build {_paths([manifest])} | {_paths([*headers, *sources])}: gradmill")
    lines += [f"build {PRELUDE}: slim {_paths([SLIM, torch / 'version.py'])}"] if upstream else []
    lines += _compilations(sources, manifest, upstream, options)
    return "\n".join(lines)


def _compilations(sources: list[Path], manifest: Path, upstream: bool, options: argparse.Namespace) -> list[str]:
    objects = [f"{path.stem}.o" for path in sources]
    first = [] if options.no_precompiled else ["precompiled.h.gch"]
    prelude = [f"{PRELUDE}.gch"] if options.slim else []
    lines = [f"build {header}: precompile {header.removesuffix('.gch')}" for header in prelude]
    header = SLIM.parent / "precompiled.h" if upstream else PRECOMPILED
    lines += [f"build {name}: precompile {_paths([header])}" for name in first]
    # Headers must exist before the first compilation; later the compiler's depfile lists the relevant ones.
    order = " ".join([_paths([manifest]), *([PRELUDE] if upstream else [])])
    for path, name in zip(sources, objects):
        needed = [*first, *(prelude if path.stem.endswith("_formulas") else [])]
        lines.append(f"build {name}: compile {_paths([path])} | {' '.join(needed)} || {order}")
    return [*lines, f"build libcore_nodes.so: link {' '.join(objects)}", "default libcore_nodes.so", ""]


def _slim() -> str:
    return shlex.join([sys.executable, "-I", "-S", str(SLIM)])


def _flags(torch: Path, ours: Iterable[Path], more: str) -> list[str]:
    # The generated folder comes first: templates have the same names, but contain holes.
    system = [f"{torch}/include", f"{torch}/include/torch/csrc/api/include", _python_headers()]
    return [
        *("-std=c++20", "-fPIC", "-Wall", "-D_GLIBCXX_USE_CXX11_ABI=1"),
        # GCC warns about torch's inline functions even in system headers, which would hide warnings of this project.
        *("-Wno-array-bounds", "-Wno-maybe-uninitialized"),
        *shlex.split(more),
        *(f"-I{folder}" for folder in ours),
        *(word for folder in system for word in ("-isystem", folder)),
    ]


def _linker(cxx: str) -> str:
    """The first of these linkers that the compiler finds: with the default one, bfd, half a second of an edit is
    linking."""
    for name in ("mold", "lld", "gold"):
        words = [cxx, f"-fuse-ld={name}", "-Wl,--version"]
        if not subprocess.run(words, capture_output=True, check=False).returncode:  # noqa: S603
            return name
    return "bfd"


def _python_headers() -> str:
    import sysconfig

    return sysconfig.get_paths()["include"]


def _torch() -> Path:
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("torch is not installed: pip install torch==2.13.0")
    return Path(next(iter(found.submodule_search_locations)))


def _paths(paths: Iterable[Path]) -> str:
    return " ".join(str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:") for path in paths)


if __name__ == "__main__":
    main()
