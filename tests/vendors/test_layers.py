"""Spec sets of layers: what each key of a description does, held against what the rules of docs/vendors.md say."""

from __future__ import annotations

import json
import re

import pytest
from manifests import manifest_in
from project import files_in

from vendors.vendor import Vendor, block, kernel, registered


@pytest.fixture(scope="module")
def kernels(built: Vendor) -> str:
    return built.files()["VariableType_0.cpp"]


def test_the_files_are_those_that_the_description_asks_for(built: Vendor) -> None:
    assert sorted(built.files()) == [
        "Functions.cpp",
        "Functions.h",
        "VariableType.h",
        "VariableTypeEverything.cpp",
        "VariableType_0.cpp",
        "python_functions.h",
        "python_functionsEverything.cpp",
        "python_functions_0.cpp",
        "python_functions_1.cpp",
        "wrappers.cc",
    ]


def test_nodes_follow_the_definitions_that_hold(built: Vendor) -> None:
    structs = re.findall(r"^struct TORCH_API (\w+) :", built.files()["Functions.h"], re.MULTILINE)
    names = ["Exp", "Mm", "Swish", "Add", "Scaled", "Clipped", "Noise"]
    assert structs == [f"{name}Backward0" for name in names]


def test_kernels_are_in_the_order_of_the_files_and_generated_ones_last(kernels: str) -> None:
    whole = kernels.partition("TORCH_LIBRARY")[0]
    actual = [line.partition("(")[0].split()[-1] for line in whole.splitlines() if "(c10::DispatchKeySet ks" in line]
    own = ["swish", "swish_", "swish_out_out", "plugin_add_Tensor", "scaled", "clipped"]
    assert actual == ["exp", "exp_", "mm", *own, "exp_out_out"]


def test_kernels_are_in_the_order_of_their_definitions(vendor: Vendor) -> None:
    vendor.replace("specset.toml", 'order = "file"', 'order = "derivatives"')
    path = vendor.path("plugin/config/derivatives.yaml")
    head, exp, mm, rest = path.read_text().split("- name: ", 3)
    path.write_text("- name: ".join([head, mm, exp, rest]))
    files = vendor.build()
    own = ["swish", "swish_", "swish_out_out", "plugin_add_Tensor", "scaled", "clipped"]
    names = ["mm", "exp", "exp_", "exp_out_out", *own]
    assert re.findall(r"(\w+)\(c10::DispatchKeySet ks", files["VariableType_0.cpp"]) == names


def test_two_layers_read_one_file(vendor: Vendor) -> None:
    """Each its own lists of it, in its own namespace."""
    before = vendor.build()
    layer = (
        '[[layer]]\nname = "other"\nnamespace = "other"\nnative = { file = "accel/functions.yaml", list = "more" }\n'
    )
    vendor.replace("specset.toml", "[functions]\n", f"{layer}\n[functions]\n")
    vendor.replace("specset.toml", 'take = "defined"', 'take = ["defined", "layer:other"]')
    vendor.append(
        "accel/functions.yaml", "\nmore:\n  - func: swish(Tensor self) -> Tensor\n    dispatch:\n      CPU: x\n"
    )
    vendor.run().clean()
    text = vendor.files()["VariableType_0.cpp"]
    assert kernel(text, "other_swish") and kernel(text, "swish") == kernel(before["VariableType_0.cpp"], "swish")
    assert vendor.run("show", "specs", "other::swish").rows


def test_functions_stand_in_the_slots_of_their_kind(kernels: str) -> None:
    assert registered(block(kernels, "aten")) == ["exp", "exp_", "mm", "exp.out"]
    assert registered(block(kernels, "accel")) == ["swish", "swish_", "swish.out"]
    assert registered(block(kernels, "plugin")) == ["add.Tensor", "scaled", "clipped"]


def test_text_is_replaced_where_the_description_says_so(kernels: str) -> None:
    assert "return accel::redispatch::swish(ks" in kernel(kernels, "swish")
    assert "accel::redispatch::swish_out(ks" in kernel(kernels, "swish_out_out")
    assert "at::redispatch::exp_outf(ks" in kernel(kernels, "exp_out_out")


def test_a_registration_is_wrapped(kernels: str) -> None:
    wrapped = '  if (plain()) {\n      m.impl("mm",\n         TORCH_FN(VariableType::mm)\n  );\n  }\n'
    assert wrapped in kernels


def test_parts_of_kernels_are_left_out(kernels: str) -> None:
    assert "run_jit_decomposition" not in kernels
    assert "storage().use_count()" not in kernels
    kernel_text = kernel(kernels, "swish")
    assert "    at::AutoDispatchBelowADInplaceOrView guard;\n      return accel::" in kernel_text
    assert "== self_.getIntrusivePtr());\n\n  if (!at::impl" in kernel_text  # the empty line stays


def test_arguments_are_taken_as_they_are(kernels: str) -> None:
    assert "auto& self_ = self;\n  auto& other_ = other;\n" in kernel(kernels, "mm")
    assert 'unpack(self, "self", 0)' in kernel(kernels, "exp")


def test_a_schema_of_the_base_is_rewritten(kernels: str) -> None:
    assert kernel(kernels, "mm").startswith(", const at::Tensor & self, const at::Tensor & other)")


def test_functions_of_two_namespaces_are_two(built: Vendor, kernels: str) -> None:
    kernel_text = kernel(kernels, "plugin_add_Tensor")
    assert "make_intrusive<AddBackward0>()" in kernel_text
    assert "VariableType::plugin_add_Tensor" in block(kernels, "plugin")
    assert not kernel(kernels, "add_Tensor"), "nothing defines derivatives of aten::add"


def test_more_operators_are_right_for_complex_tensors(kernels: str) -> None:
    assert "throw_error_for_complex_autograd" not in kernel(kernels, "swish")
    assert "throw_error_for_complex_autograd" in kernel(kernels, "scaled")


def test_declarations_are_the_heads_of_kernels(built: Vendor) -> None:
    lines = [line for line in built.files()["VariableType.h"].splitlines() if "DispatchKeySet" in line]
    assert lines[0] == "  at::Tensor swish(c10::DispatchKeySet ks, const at::Tensor & self);"
    assert len(lines) == 6


def test_a_raw_file_has_pieces_as_they_are(built: Vendor) -> None:
    text = built.files()["wrappers.cc"]
    assert '  // aten::swish\n  m.impl("swish",\n       TORCH_FN(VariableType::swish)\n);\n  // plugin::add.T' in text
    assert "\n  \n" in text, "white space at the end of a line stays"
    assert "\n}\n\nat::Tensor plugin_add_Tensor(" in text


def test_shards_are_as_many_as_the_description_says(built: Vendor) -> None:
    header = built.files()["python_functions.h"]
    assert header.count("initialize_autogenerated_functions_") == 4


def test_comments_name_the_template(built: Vendor) -> None:
    for name, text in built.files().items():
        template = name.replace("_0", "").replace("_1", "").replace("Everything", "")
        assert f"@generated from templates/{template}\n" in text, name


def test_another_release_has_other_entries(vendor: Vendor) -> None:
    (vendor.folder / "base" / "RELEASE").write_text("2.12.1")
    actual = vendor.build()["VariableType_0.cpp"]
    assert kernel(actual, "old") and not kernel(actual, "clipped")
    assert not kernel(actual, "scaled"), "its derivatives are for later releases"


def test_a_rewrite_may_rename_an_operator(vendor: Vendor) -> None:
    vendor.replace(
        "specset.toml",
        'from = "Tensor mat2", to = "Tensor other"',
        'from = "mm(Tensor self, Tensor mat2)", to = "product(Tensor self, Tensor other)"',
    )
    vendor.replace("plugin/config/derivatives.yaml", "- name: mm(", "- name: product(")
    assert "ProductBackward0" in vendor.build()["Functions.h"]


def test_a_layer_is_there_for_some_releases(vendor: Vendor) -> None:
    vendor.replace("specset.toml", 'name = "plugin"\n', 'name = "plugin"\nsince = "2.14"\n')
    vendor.replace("specset.toml", ', "plugin::add.Tensor"]', "]", 2)
    vendor.replace("specset.toml", 'registrations_plugin = { piece = "registration", of = "layer:plugin" }\n', "")
    vendor.replace("templates/VariableType.cpp", "${registrations_plugin}", "")
    vendor.replace("specset.toml", 'derivatives = "alone"', "")
    vendor.replace("specset.toml", 'rewrite = [{ func = "mm", from = "Tensor mat2", to = "Tensor other" }]\n', "")
    vendor.replace("specset.toml", 'take = "defined"', 'take = "all"')
    build = vendor.build()
    assert "ExpBackward0" in build["Functions.h"] and "Scaled" not in build["Functions.h"]


def test_derivatives_add_to_those_of_the_base(vendor: Vendor) -> None:
    vendor.replace("specset.toml", 'derivatives = "alone"', 'derivatives = "add"')
    vendor.replace("specset.toml", 'rewrite = [{ func = "mm", from = "Tensor mat2", to = "Tensor other" }]\n', "")
    text = vendor.path("plugin/config/derivatives.yaml").read_text()
    first, _, rest = text.partition("- name: mm(")
    vendor.path("plugin/config/derivatives.yaml").write_text(
        first + "- name: swish(" + rest.partition("- name: swish(")[2]
    )
    vendor.run().ok()
    assert "accel_exp(grad" in vendor.files()["Functions.cpp"], "the layer's formula counts"
    assert "SortBackward0" in vendor.files()["Functions.h"]


def test_without_a_base_layers_bring_all(vendor: Vendor) -> None:
    for name in ("native_functions", "tags", "derivatives"):
        vendor.path(f"{name}.yaml").write_text((vendor.folder / "base" / f"{name}.yaml").read_text())
    for template in (vendor.folder / "base" / "templates").iterdir():
        vendor.path(f"templates/{template.name}").write_text(template.read_text())
    vendor.path("specset.toml").write_text(
        'release = "2.13"\nfamilies = ["nodes"]\n[[layer]]\nname = "all"\nnative = "native_functions.yaml"\n'
        'tags = "tags.yaml"\nderivatives = ["derivatives.yaml"]\n'
    )
    build = vendor.build()
    vendor.run(specs="base", families="nodes", generated="plain", cache="other").ok()
    assert build == {name: data.decode() for name, data in files_in(vendor.folder / "plain").items()}


def test_bases_by_release(vendor: Vendor) -> None:
    vendor.replace("specset.toml", 'specs = "../base"', 'releases = { "2.12" = "../older", "2.13" = "../base" }')
    (vendor.folder / "base").rename(vendor.folder / "older")
    (vendor.folder / "older" / "RELEASE").write_text("2.12.1")
    assert kernel(vendor.build(release="2.12.1")["VariableType_0.cpp"], "old")
    run = vendor.run(release="2.11")
    assert run.status and "2.12, 2.13" in run.stderr


def test_an_edit_of_a_vendors_file_runs_what_follows_from_it(vendor: Vendor) -> None:
    vendor.build()
    vendor.replace("plugin/config/derivatives.yaml", "swish_gradient(grad, self)", "swish_gradient(grad, self) * 1")
    assert "plugin/config/derivatives.yaml:12 swish → SwishBackward0 → Functions.cpp" in vendor.run("explain").stdout
    run = vendor.run()
    assert run.units == ["SwishBackward0"] and run.shards == ["Functions.cpp"]
    assert vendor.run(generated="fresh", cache="fresh-cache").status == 0
    assert vendor.files() == {name: data.decode() for name, data in files_in(vendor.folder / "fresh").items()}


def test_a_comment_runs_no_unit(vendor: Vendor) -> None:
    vendor.build()
    vendor.append("accel/functions.yaml", "# nothing\n")
    run = vendor.run()
    assert run.units == [] and run.shards == []


def test_an_edit_of_the_description_is_seen(vendor: Vendor) -> None:
    before = vendor.build()
    vendor.replace("specset.toml", 'to = "accel::redispatch", of = "own"', 'to = "accel::again", of = "own"')
    after = vendor.build()
    assert {name for name in before if before[name] != after[name]} == {
        "VariableType_0.cpp",
        "VariableTypeEverything.cpp",
        "wrappers.cc",
    }
    assert vendor.run().ran == []


def test_the_split_layout(vendor: Vendor) -> None:
    build = vendor.build(layout="split", shards=3)
    assert {"Functions_0.cpp", "Functions_2.h", "VariableType_2.cpp"} <= set(build)
    names = [name for name in build if name.startswith("VariableType_")]
    assert sum(text.count('m.impl("') for name, text in build.items() if name in names) == 10


def test_the_manifest_names_files_within_the_set(built: Vendor) -> None:
    manifest = json.loads(manifest_in(built.folder / "cache" / "accel"))
    assert [each["name"] for each in manifest["inputs"]][:3] == [
        "native_functions.yaml",
        "tags.yaml",
        "accel/functions.yaml",
    ]
    units = {unit["unit"]: unit for unit in manifest["units"]}
    assert units["SwishBackward0"]["file"] == "plugin/config/derivatives.yaml"
    assert units["SwishBackward0"]["line"] == 12
    assert units["VariableType::swish"]["file"] == "accel/functions.yaml"
    assert str(built.folder) not in json.dumps(manifest)


def test_a_diff_that_leaves_nothing_of_a_file_is_applied(vendor: Vendor) -> None:
    base, text = vendor.folder / "base" / "native_functions.yaml", "- func: exp(Tensor self) -> Tensor"
    base.write_text(text)
    vendor.path("base_functions.patch").write_text(f"@@ -1 +0,0 @@\n-{text}\n\\ No newline at end of file\n")
    vendor.run().failed("native_functions.yaml:1:1: error: the file is empty", status=1)


def test_reports_work_on_layers(built: Vendor) -> None:
    shown = built.run("show", "specs", "plugin::add.Tensor").rows
    assert [row["entry"].rpartition(" ")[2] for row in shown] == ["@plugin", "@plugin"]
    assert "SwishBackward0" in built.run("coverage").stdout
    compared = built.run("diff", against="base")
    assert compared.status == 0 and "swish" in compared.stdout


def test_the_json_schema_of_descriptions(built: Vendor) -> None:
    schema = json.loads(built.run("schema", "specset").stdout)
    assert {"Layer", "Family", "Slot"} <= set(schema["$defs"])


def test_functions_of_another_namespace_are_registered_in_a_block_of_their_own(vendor: Vendor) -> None:
    """Where templates are PyTorch's, or made as these are: those of core here."""
    entry = "- func: plugin::swish_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: x\n"
    vendor.path("own.yaml").write_text(entry)
    vendor.path("specset.toml").write_text(
        '[base]\nspecs = "core"\n[[layer]]\nname = "plugin"\nnative = "own.yaml"\n[functions]\ntake = "own"\n'
        '[family.variable_type]\nkeys = { Default = "AutogradPrivateUse1" }\nshards = 1\neverything = false\n'
        "[family.inplace_or_view]\nshards = 1\neverything = false\n"
    )
    build = vendor.build()
    text = build["VariableType_0.cpp"]
    assert registered(block(text, "plugin, AutogradPrivateUse1")) == ["swish_"]
    assert not registered(block(text, "aten, AutogradPrivateUse1"))
    text = build["ADInplaceOrViewType_0.cpp"]
    assert registered(block(text, "plugin, ADInplaceOrView")) == ["swish_"]
    assert not registered(block(text, "aten, ADInplaceOrView"))


def test_views_of_one_name_in_two_namespaces_have_a_class_each(vendor: Vendor) -> None:
    vendor.path("own.yaml").write_text(
        "- func: plugin::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)\n  dispatch:\n    CPU: x\n"
        "- func: plugin::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor\n"
        "  tags: view_copy\n  autogen: select_copy.int_out\n"
        "  dispatch:\n    CompositeExplicitAutogradNonFunctional: y\n"
    )
    vendor.path("specset.toml").write_text('[base]\nspecs = "core"\n[[layer]]\nname = "plugin"\nnative = "own.yaml"\n')
    files = vendor.build()
    for name in ("ViewFuncs.h", "ViewFuncs.cpp"):
        assert len(re.findall(r"\bSelectIntViewFunc\b", files[name])) == len(
            re.findall(r"\bPluginSelectIntViewFunc\b", files[name])
        )
    assert "struct PluginSelectIntViewFunc " in files["ViewFuncs.h"]
    kernels = files["ADInplaceOrViewTypeEverything.cpp"]
    for name, named in (("select_int", "SelectIntViewFunc"), ("plugin_select_int", "PluginSelectIntViewFunc")):
        assert set(re.findall(r"\w+ViewFunc\b", kernel(kernels, name))) == {named}


def test_bindings_have_templates_slots_and_functions_of_the_set(vendor: Vendor) -> None:
    name, names = "python_torch_functions.cpp", '["count", "swish", "swish_", "head"]'
    vendor.append(
        "specset.toml",
        f'\n[family.bindings]\ntemplates = "templates"\nfunctions = {names}\nfiles = ["{name}"]\n'
        f'[family.bindings.file."{name}"]\nslots.rows = "row"\n',
    )
    vendor.path(f"templates/{name}").write_text(
        "// ${generated_comment}\n${rows}\n// ${ops_headers}${py_forwards}${py_methods}${py_method_defs}${shard_id}\n"
    )
    files = vendor.build()
    assert not [file for file in files if file.startswith("python_variable")]
    assert files["python_torch_functionsEverything.cpp"].startswith(f"// @generated from templates/{name}\n")
    rows = files["python_torch_functionsEverything.cpp"].partition("\n// ")[0]
    assert re.findall(r'{"(\w+)",', rows) == ["count", "swish", "swish_", "head"]


def test_a_set_over_a_base_has_its_lists_of_c_functions(vendor: Vendor) -> None:
    """Named by the description or by the command, in the folder of these families."""
    (vendor.folder / "base" / "fallback_ops.py").write_text(
        'inductor_fallback_ops = {"aten.exp.default": {}}\naten_shimified_ops: dict = {}\n'
    )
    vendor.path("specset.toml").write_text('families = ["c_shims"]\nbase = "../base"\n')
    vendor.run(specs="base", families="c_shims", generated="plain", cache="other").clean()
    files = vendor.build()
    assert "aoti_torch_cpu_exp(" in files["aoti/c_shim_cpu.h"]
    assert files == {name: data.decode() for name, data in files_in(vendor.folder / "plain").items()}
    assert vendor.build(families="c_shims") == files
