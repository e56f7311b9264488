"""In the place of PyTorch's `tools/setup_helpers/generate_code.py`, which no package has: torchgen's functions, called
as that script calls them. It is copied there, and run from the checkout's root with the script's arguments.
"""

import argparse
import os
import sys
from pathlib import Path

AUTOGRAD = Path(__file__).absolute().parent.parent / "autograd"
ATEN = "aten/src/ATen"


def main() -> None:
    parser = argparse.ArgumentParser()
    paths = (
        "native-functions-path",
        "tags-path",
        "gen-dir",
        "install-dir",
        "selected-op-list-path",
        "operators-yaml-path",
    )
    for name in ("subset", *paths):
        parser.add_argument(f"--{name}", f"--{name.replace('-', '_')}")
    for name in ("disable-autograd", "force-schema-registration", "gen-lazy-ts-backend", "per-operator-headers"):
        parser.add_argument(f"--{name}", f"--{name.replace('-', '_')}", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, str(AUTOGRAD.parent.parent))
    root = Path(options.gen_dir or ".")
    csrc = Path(options.install_dir or root / "torch" / "csrc")
    python = Path(options.install_dir or root / "torch" / "testing" / "_internal" / "generated")
    write_autograd(options, csrc / "autograd" / "generated", python)
    write_functionalization(options, csrc / "functionalization" / "generated")
    if options.gen_lazy_ts_backend:
        write_lazy(os.path.join(options.install_dir or csrc, "lazy", "generated"), options.per_operator_headers)


def write_autograd(options: argparse.Namespace, out: Path, python: Path) -> None:
    from tools.autograd.gen_annotated_fn_args import gen_annotated
    from tools.autograd.gen_autograd import gen_autograd, gen_autograd_python

    out.mkdir(parents=True, exist_ok=True)
    python.mkdir(parents=True, exist_ok=True)
    specs = (f"{ATEN}/native/native_functions.yaml", f"{ATEN}/native/tags.yaml")
    if options.subset in (None, "", "pybindings"):
        gen_autograd_python(*specs, str(out), str(AUTOGRAD))
    if options.subset in (None, "", "libtorch"):
        off = options.disable_autograd
        gen_autograd(*specs, str(out), str(AUTOGRAD), disable_autograd=off, operator_selector=selector(options))
    if options.subset in (None, "", "python"):
        gen_annotated(*specs, str(python), str(AUTOGRAD))


def write_functionalization(options: argparse.Namespace, out: Path) -> None:
    """The classes of view metadata, since 2.9, if the checkout has their templates."""
    if not Path(ATEN, "templates", "ViewMetaClasses.h").exists():
        return
    from torchgen.gen_functionalization_type import gen_functionalization_view_meta_classes

    out.mkdir(parents=True, exist_ok=True)
    gen_functionalization_view_meta_classes(
        f"{ATEN}/native/native_functions.yaml",
        f"{ATEN}/native/tags.yaml",
        selector=selector(options),
        install_dir=str(out),
        template_dir=f"{ATEN}/templates",
    )


def write_lazy(out: str, per_operator_headers: bool) -> None:
    """The lazy TorchScript backend. `out` is printed: some of its files include others by this path."""
    from torchgen.dest.lazy_ir import GenTSLazyIR
    from torchgen.gen_lazy_tensor import run_gen_lazy_tensor

    Path(out).mkdir(parents=True, exist_ok=True)
    run_gen_lazy_tensor(
        aten_path=ATEN,
        source_yaml=f"{ATEN}/native/ts_native_functions.yaml",
        backend_name="TorchScript",
        output_dir=out,
        dry_run=False,
        impl_path="torch/csrc/lazy/ts_backend/ts_native_functions.cpp",
        node_base="TsNode",
        node_base_hdr="torch/csrc/lazy/ts_backend/ts_node.h",
        build_in_tree=True,
        lazy_ir_generator=GenTSLazyIR,
        per_operator_headers=per_operator_headers,
        gen_forced_fallback_code=True,
    )


def selector(options: argparse.Namespace):
    """The operators to include."""
    import yaml
    from torchgen.selective_build.selector import SelectiveBuilder

    if options.operators_yaml_path is not None:
        return SelectiveBuilder.from_yaml_path(options.operators_yaml_path)
    if options.selected_op_list_path is None:
        return SelectiveBuilder.get_nop_selector()
    names = {name.partition(".")[0] for name in yaml.safe_load(Path(options.selected_op_list_path).read_text())}
    return SelectiveBuilder.from_legacy_op_registration_allow_list(names, True, True)


if __name__ == "__main__":
    main()
