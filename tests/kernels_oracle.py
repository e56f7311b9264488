"""The oracle of TraceType, ADInplaceOrViewType and ViewFuncs: runs torchgen itself, in a process of its own.

python tests/kernels_oracle.py NATIVE TAGS DERIVATIVES TEMPLATES OUT [ROOT]: writes the files of which there are
templates into the folder OUT. ROOT is a folder that holds an unpacked torchgen/; without it the installed one is run.
"""

import sys
from pathlib import Path


def main(native: str, tags: str, derivatives: str, templates: str, out: str, root: str = "") -> None:
    if root:
        sys.path.insert(0, root)
    from torchgen.api import cpp
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.gen import parse_native_yaml
    from torchgen.packaged.autograd.load_derivatives import load_derivatives
    from torchgen.utils import FileManager

    # The folder's real path would be printed into every file.
    FileManager.template_dir_for_comments = lambda self: "packaged/autograd/templates"
    Path(out).mkdir(parents=True, exist_ok=True)
    infos, _ = load_derivatives(derivatives, native, tags)
    functions = parse_native_yaml(native, tags).native_functions
    write_kernels(functions, match_differentiability_info(sorted(functions, key=lambda f: cpp.name(f.func)), infos),
                  templates, out)  # fmt: skip


def write_kernels(functions: list, matched: list, templates: str, out: str) -> None:
    """The files of these families, of functions as they are parsed and as they are matched."""
    from torchgen.packaged.autograd.gen_inplace_or_view_type import gen_inplace_or_view_type
    from torchgen.packaged.autograd.gen_trace_type import gen_trace_type
    from torchgen.packaged.autograd.gen_view_funcs import gen_view_funcs

    if (Path(templates) / "TraceType.cpp").exists():
        gen_trace_type(out, functions, templates)
    if (Path(templates) / "ADInplaceOrViewType.cpp").exists():
        gen_inplace_or_view_type(out, "", "", matched, templates)  # which does not read the yaml files
    if (Path(templates) / "ViewFuncs.h").exists():
        gen_view_funcs(out, matched, templates)


if __name__ == "__main__":
    main(*sys.argv[1:])
