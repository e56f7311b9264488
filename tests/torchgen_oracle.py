"""The oracle: runs torchgen itself on a spec set, in a process of its own.

Writes the nine Node files, those of other families where there are templates of them, and, as JSON lines, what
`gradmill show match` must print. Needs a Python that can import the release's torchgen: the installed torch, or
`--root`, a folder that holds an unpacked `torchgen/`.
"""

import argparse
import json
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", help="folder that holds torchgen/, put first on the path")
    parser.add_argument("--native", required=True)
    parser.add_argument("--tags", required=True)
    parser.add_argument("--derivatives", required=True)
    parser.add_argument("--templates", required=True)
    parser.add_argument("--out", help="folder for the files")
    parser.add_argument("--python", help="folder for the files that Python needs; the rest is not made")
    parser.add_argument("--aten", help="ATen's templates: with --python, the binding of view metas, too")
    parser.add_argument("--match", help="file for the JSON lines")
    parser.add_argument("--differentiability", help="file for what `gradmill show differentiability` must print")
    options = parser.parse_args()
    if options.root:
        sys.path.insert(0, options.root)
    run(options)


def run(options: argparse.Namespace) -> None:
    if options.python:
        write_python(options.native, options.tags, options.derivatives, options.templates, options.python)
    if any((options.out, options.match, options.differentiability)):
        compare(options)
    if options.aten and (Path(options.aten) / "ViewMetaClasses.h").exists():
        write_view_bindings(options.native, options.tags, options.aten, options.python)


def compare(options: argparse.Namespace) -> None:
    """The files of autograd, and what functions are matched with."""
    matched = matched_functions(options.native, options.tags, options.derivatives, options.templates, options.out)
    if options.match:
        lines = [json.dumps(match_line(m), sort_keys=True) for m in matched]
        Path(options.match).write_text("\n".join(lines) + "\n")
    if options.differentiability:
        lines = [json.dumps(differentiability_line(m), sort_keys=True) for m in matched]
        Path(options.differentiability).write_text("\n".join(lines) + "\n")


def matched_functions(native: str, tags: str, derivatives: str, templates: str, out: str | None) -> list:
    """All functions with their derivatives. The files of which there are templates go into the folder `out`."""
    import torchgen
    from torchgen.api import cpp
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.gen import parse_native_yaml
    from torchgen.packaged.autograd import gen_autograd_functions as emit
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    comment_as_packaged()
    # Some files name the script that runs.
    sys.modules["__main__"].__file__ = script(torchgen.__file__)
    infos, keys = load_derivatives(derivatives, native, tags)
    if out:
        Path(out).mkdir(parents=True, exist_ok=True)
        emit.gen_autograd_functions_python(out, infos, templates)
    functions = parse_native_yaml(native, tags).native_functions
    matched = match_differentiability_info(sorted(functions, key=lambda f: cpp.name(f.func)), infos)
    if out:
        emit.gen_autograd_functions_lib(out, infos, templates)
        write_others(native, tags, templates, out, functions, matched, keys)
    return matched


def write_python(native: str, tags: str, derivatives: str, templates: str, out: str) -> None:
    """The files with which Python sees operators: bindings, classes of named results, tags, annotations."""
    from torchgen.packaged.autograd import gen_annotated_fn_args, gen_python_functions

    comment_as_packaged()
    Path(out).mkdir(parents=True, exist_ok=True)
    deprecated = Path(derivatives).with_name("deprecated.yaml")
    if not deprecated.exists():
        deprecated = Path(out) / "deprecated.yaml"
        deprecated.write_text("[]")
    gen_python_functions.gen(out, native, tags, str(deprecated), templates)
    gen_annotated_fn_args.gen_annotated(native, tags, out, str(Path(templates).parent))
    (Path(out) / "deprecated.yaml").unlink(missing_ok=True)


def write_view_bindings(native: str, tags: str, templates: str, out: str) -> None:
    """The Python binding of the classes of view metas. torchgen.gen writes these."""
    from torchgen.gen_functionalization_type import gen_functionalization_view_meta_classes
    from torchgen.selective_build.selector import SelectiveBuilder

    gen_functionalization_view_meta_classes(native, tags, SelectiveBuilder.get_nop_selector(), out, templates)


def comment_as_packaged() -> None:
    """Comments name the templates as in the package: else their folder's real path would be printed into every file."""
    from torchgen.utils import FileManager

    FileManager.template_dir_for_comments = lambda self: "packaged/autograd/templates"


def write_others(
    native: str, tags: str, templates: str, out: str, functions: list, matched: list, keys: set[str]
) -> None:
    """The files of all families but the Nodes, those of which there are templates."""
    from torchgen.packaged.autograd.gen_inplace_or_view_type import gen_inplace_or_view_type
    from torchgen.packaged.autograd.gen_trace_type import gen_trace_type
    from torchgen.packaged.autograd.gen_variable_factories import gen_variable_factories
    from torchgen.packaged.autograd.gen_variable_type import gen_variable_type
    from torchgen.packaged.autograd.gen_view_funcs import gen_view_funcs

    generators = {
        "variable_factories.h": lambda: gen_variable_factories(out, native, tags, templates),
        "VariableType.cpp": lambda: gen_variable_type(out, native, tags, matched, templates, keys),
        "ADInplaceOrViewType.cpp": lambda: gen_inplace_or_view_type(out, native, tags, matched, templates),
        "TraceType.cpp": lambda: gen_trace_type(out, functions, templates),
        "ViewFuncs.h": lambda: gen_view_funcs(out, matched, templates),
    }
    for template, generate in generators.items():
        if (Path(templates) / template).exists():
            generate()


def script(torchgen: str) -> str:
    """What a build of PyTorch runs, by CMake and by Bazel, beside the package `torchgen`: some files name it."""
    return str(Path(torchgen).parent.parent / "tools" / "setup_helpers" / "generate_code.py")


def match_line(matched) -> dict:
    info = matched.info and {key: info_json(i) for key, i in matched.info.items()}
    forward = matched.fw_derivatives
    return {
        "func": str(matched.func.func),
        "info": info or None,
        "fw_derivatives": forward and {key: [forward_json(d) for d in ds] for key, ds in forward.items()},
    }


def differentiability_line(matched) -> dict:
    from torchgen.api.autograd import dispatch_strategy, gen_differentiable_outputs
    from torchgen.context import native_function_manager

    with native_function_manager(matched.func):
        outputs = {key: gen_differentiable_outputs(matched, key) for key in matched.info or {"": None}}
    return {
        "func": str(matched.func.func),
        "dispatch_strategy": dispatch_strategy(matched),
        "differentiable_outputs": {
            key: [{"name": o.name, "type": str(o.type), "cpp_type": o.cpp_type} for o in result]
            for key, result in outputs.items()
        },
    }


def saved_json(saved) -> dict:
    return {"name": str(saved.nctype.name), "type": saved.nctype.type.cpp_type(), "expr": saved.expr}


def derivative_json(derivative) -> dict:
    return {
        "formula": derivative.formula,
        "original_formula": derivative.original_formula,
        "var_names": list(derivative.var_names),
        "saved_inputs": [saved_json(s) for s in derivative.saved_inputs],
        "saved_outputs": [saved_json(s) for s in derivative.saved_outputs],
        "named_gradients": sorted(derivative.named_gradients),
    }


def forward_json(derivative) -> dict:
    return {
        "formula": derivative.formula,
        "var_names": list(derivative.var_names),
        "var_types": [str(t) for t in derivative.var_types],
        "required_inputs_fw_grad": derivative.required_inputs_fw_grad and list(derivative.required_inputs_fw_grad),
        "required_inputs_primal": derivative.required_inputs_primal and list(derivative.required_inputs_primal),
        "required_original_self_value": derivative.required_original_self_value,
        "is_reusing_outplace_formula": derivative.is_reusing_outplace_formula,
    }


def info_json(info) -> dict:
    return {
        "name": info.name,
        "func": str(info.func.func),
        "op": info.op,
        "derivatives": [derivative_json(d) for d in info.derivatives],
        "forward_derivatives": [forward_json(d) for d in info.forward_derivatives],
        "all_saved_inputs": [saved_json(s) for s in info.all_saved_inputs],
        "all_saved_outputs": [saved_json(s) for s in info.all_saved_outputs],
        "available_named_gradients": list(info.available_named_gradients),
        "used_named_gradients": sorted(info.used_named_gradients),
        "args_with_derivatives": [a.name for a in info.args_with_derivatives],
        "non_differentiable_arg_names": list(info.non_differentiable_arg_names),
        "output_differentiability": info.output_differentiability,
        "output_differentiability_conditions": info.output_differentiability_conditions,
    }


if __name__ == "__main__":
    main()
