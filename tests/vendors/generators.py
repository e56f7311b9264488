"""What the generators of vendors print for a flat spec set, by torchgen itself: python -m vendors.generators VENDOR SET
BASE. The files go to `out` in it; BASE is PyTorch's native_functions.yaml: some ask which operators are not in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# The branch of forward mode that decomposes an operator, around what else is done; a check of a result's storage.
DECOMPOSED = re.compile(
    r"if \(\(.*\)\) \{\n\s*static c10::OperatorName [\s\S]*?\} else \{\n\s*([\s\S]*?)\n\s*\}(?=\n\s*\}\))"
)
USE_COUNT = re.compile(r"if \(\w+\.has_storage\(\) [^\n]*\{\n\s*[^\n]*\.storage\(\)\.use_count\(\) == 1[^\n]*\n\s*\}")

PLAIN = """\
if (std::getenv("TORCH_NPU_USE_COMPATIBLE_IMPL") == nullptr || \
std::string(std::getenv("TORCH_NPU_USE_COMPATIBLE_IMPL")) != "1") {
    %s}"""
WRAPPED = {"matmul", "matmul.out", "matmul_backward", "matmul_double_backward"}
EXCLUDED = {"npu_format_cast.Tensor", "npu_format_cast_", "npu_format_cast_.acl_format"}
KERNEL = "type_derived_method_definitions"


def changed_kernel(vendor: str, text: str, operator: str, *, own: bool, out: bool) -> str:
    text = USE_COUNT.sub("", DECOMPOSED.sub(r"\1", text))
    if vendor == "ascend" and operator.startswith("matmul_backward"):
        text = re.sub(r"unpack\((\w+), [^)]*\)", r"\1", text)
    if own and vendor == "ascend":
        text = text.replace("_symint", "")
        if out:
            return re.sub(r"at::redispatch::(\w+)_outf", r"at_npu::redispatch::\1_out", text)
    return text.replace("at::redispatch", "at_npu::redispatch") if own else text


def write(vendor: str, folder: Path, base: set[str]) -> None:
    """Ascend's and cosdt's: operators of their own, and kernels of all that has derivatives, in two blocks."""
    from torchgen.api import cpp
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.context import native_function_manager
    from torchgen.gen import parse_native_yaml
    from torchgen.packaged.autograd import gen_autograd_functions as nodes
    from torchgen.packaged.autograd import gen_inplace_or_view_type as views
    from torchgen.packaged.autograd import gen_variable_factories as factories
    from torchgen.packaged.autograd import gen_variable_type as kernels
    from torchgen.packaged.autograd.load_derivatives import load_derivatives
    from torchgen.utils import FileManager

    native, tags, derivatives, templates, out = (str(folder / name) for name in INPUTS)
    if vendor == "ascend":
        kernels.GRADIENT_IMPLEMENTED_FOR_COMPLEX.update(("stft", "npu_dtype_cast", "_npu_dtype_cast"))
    infos, _ = load_derivatives(derivatives, native, tags)
    functions = parse_native_yaml(native, tags).native_functions
    named = {str(info.func.func.name) for by_key in infos.values() for info in by_key.values()}
    taken = [each for each in functions if named & {str(each.func.name), str(each.func.name.name.base)}]
    matched = [each for each in match_differentiability_info(taken, infos) if str(each.func.func.name) not in EXCLUDED]
    own = {str(each.func.func.name): each for each in matched if each.info and str(each.func.func.name) not in base}

    def signature(each):
        returns = cpp.returns_type(each.func.func.returns).cpp_type()
        names = {"type_wrapper_name": kernels.type_wrapper_name(each.func), "formals": kernels.gen_formals(each.func)}
        return {"return_type": returns, **names}

    def kernel(each):
        operator, is_out = str(each.func.func.name), each.func.func.is_out_fn()
        with native_function_manager(each.func):
            body = kernels.emit_body(each, "Default")
            text = kernels.METHOD_DEFINITION.substitute(signature(each), type_definition_body=body)
            registration = kernels.gen_wrapper_registration(each.func, "Default")
        if vendor == "ascend" and operator in WRAPPED:
            registration = PLAIN % registration
        text = changed_kernel(vendor, text, operator, own=operator in own, out=is_out)
        blocks = {False: "wrapper_registrations_aten", True: "wrapper_registrations_npu"}
        return {KERNEL: [text], blocks[operator in own]: [registration], blocks[operator not in own]: []}

    def declaration(each):
        with native_function_manager(each.func):
            return "{return_type} {type_wrapper_name}({formals});\n".format(**signature(each))

    def view(each, plain=views.gen_inplace_or_view_type_env):
        env = plain(each)
        if texts := env["inplace_or_view_method_definitions"]:
            env["ops_headers"] = []
            texts[0] = re.sub(r"at::_ops::(\w+)::redispatch", r"at_npu::redispatch::\1", texts[0])
        return env

    node, is_factory = nodes.process_function, factories.is_factory_function
    files = FileManager(install_dir=out, template_dir=templates, dry_run=False)
    comment = {"generated_comment": "@generated from a template"}
    files.write_sharded(
        "VariableType.cpp",
        [each for each in matched if kernels.use_derived(each)],
        key_fn=lambda each: cpp.name(each.func.func),
        base_env=comment,
        env_callable=kernel,
        num_shards=1,
        sharded_keys={KERNEL, "wrapper_registrations_aten", "wrapper_registrations_npu"},
    )
    files.write("VariableType.h", lambda: {**comment, "npu_variable_type": [*map(declaration, own.values())]})
    views.gen_inplace_or_view_type_env = view
    views.gen_inplace_or_view_type(out, native, tags, [*own.values()], templates)
    nodes.process_function = lambda *words: node(*words).replace("_symint", "")
    nodes.gen_autograd_functions_lib(out, infos, templates)
    code = nodes.gen_autograd_functions_python.__code__
    shards = tuple(2 if value == 5 else value for value in code.co_consts)
    nodes.gen_autograd_functions_python.__code__ = code.replace(co_consts=shards)
    nodes.gen_autograd_functions_python(out, infos, templates)
    factories.is_factory_function = lambda each: is_factory(each) and each.func.name.name.base in own
    factories.gen_variable_factories(out, native, tags, templates)


INPUTS = ("native_functions.yaml", "tags.yaml", "derivatives.yaml", "templates", "out")


def main(vendor: str, folder: Path, base: Path) -> None:
    import torchgen_oracle
    from torchgen import native_function_generation

    if vendor in ("ascend", "cosdt"):
        write(vendor, folder, set(re.findall(r"^- func: ([\w.]+)\(", base.read_text(), re.MULTILINE)))
        return
    if vendor == "musa":
        native_function_generation.FUNCTIONAL_OPS_THAT_CANNOT_GET_AN_OUT_VARIANT.append("cross_entropy_loss_2d_choice")
    torchgen_oracle.matched_functions(*(str(folder / name) for name in INPUTS))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
