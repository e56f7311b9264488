"""torchgen's side of a measured run: the files that gradmill generates, from the same specs, and nothing more."""

import sys
from pathlib import Path

_FAMILIES = ("variable_type", "inplace_or_view", "trace_type", "nodes", "factories", "view_funcs")


def run(specs: Path, out: Path, families: str = "") -> None:
    """Writes the files of the spec set in `specs` to `out`. `families`: names separated by commas; all by default."""
    import torchgen
    from torchgen.api import cpp
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.gen import parse_native_yaml
    from torchgen.packaged.autograd import gen_autograd_functions as emit
    from torchgen.packaged.autograd.gen_inplace_or_view_type import gen_inplace_or_view_type
    from torchgen.packaged.autograd.gen_trace_type import gen_trace_type
    from torchgen.packaged.autograd.gen_variable_factories import gen_variable_factories
    from torchgen.packaged.autograd.gen_variable_type import gen_variable_type
    from torchgen.packaged.autograd.gen_view_funcs import gen_view_funcs
    from torchgen.packaged.autograd.load_derivatives import load_derivatives
    from torchgen.utils import FileManager

    # torchgen prints the folder into every file and the script into some: use the paths of a build.
    script = Path(torchgen.__file__).parent.parent / "tools" / "setup_helpers" / "generate_code.py"
    sys.modules["__main__"].__file__ = str(script)
    FileManager.template_dir_for_comments = lambda self: "packaged/autograd/templates"
    native, tags, templates = (str(specs / name) for name in ("native_functions.yaml", "tags.yaml", "templates"))
    infos, used_keys = load_derivatives(str(specs / "derivatives.yaml"), native, tags)
    out.mkdir(parents=True, exist_ok=True)
    wanted = families.split(",") if families else _FAMILIES
    if "nodes" in wanted:
        emit.gen_autograd_functions_python(str(out), infos, templates)
    # Matching adds the infos of foreach functions. torchgen's own cache has the functions parsed above.
    functions = parse_native_yaml(native, tags).native_functions
    matched = match_differentiability_info(sorted(functions, key=lambda f: cpp.name(f.func)), infos)
    generators = {
        "variable_type": lambda: gen_variable_type(str(out), native, tags, matched, templates, used_keys),
        "inplace_or_view": lambda: gen_inplace_or_view_type(str(out), native, tags, matched, templates),
        "trace_type": lambda: gen_trace_type(str(out), functions, templates),
        "nodes": lambda: emit.gen_autograd_functions_lib(str(out), infos, templates),
        "factories": lambda: gen_variable_factories(str(out), native, tags, templates),
        "view_funcs": lambda: gen_view_funcs(str(out), matched, templates),
    }
    for name in wanted:
        generators[name]()


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
