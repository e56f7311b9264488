"""The facts of a release, by its own torchgen and by the headers of its package: JSON by field of `Release`.

    python tests/releases/upstream_rules.py ROOT

ROOT is a folder that contains the release's `torchgen/`, whose parts of autograd are in `torchgen/packaged`, and its
headers in `torch/include`. A fact is an object of torchgen or a variable of a function, which the tables of facts name,
or it is computed here: by functions for keys and types, by what is written, or by their text.
"""

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, sys.argv[1])

from torchgen import gen, gen_aoti_c_shim, gen_functionalization_type, model
from torchgen.api import dispatcher, types
from torchgen.dest import native_functions, register_dispatch_key
from torchgen.model import DispatchKey, FunctionSchema, NativeFunction
from torchgen.native_function_generation import add_generated_native_functions
from torchgen.packaged.autograd import gen_autograd_functions, gen_trace_type, load_derivatives
from torchgen.utils import FileManager

PIPELINE = Path(__file__).parents[2] / "pipeline" / "gradmill"
NAMED = re.compile(r"^//// (\w+)( \?)?.*  # (torchgen[\w.]*)\.(\w+)(?:: (\w+))?(?: without (.*))?$", re.MULTILINE)
SCHEMA = FunctionSchema.parse("f(Tensor self, bool x=False) -> Tensor")
FUNCTION = NativeFunction.from_yaml({"func": str(SCHEMA)}, model.Location("", 1), {"core"})[0]


def named_facts() -> dict[str, Any]:
    """Those whose object the tables name. A flag is whether there is one."""
    facts, rest = {}, {}
    for table in (PIPELINE / "releases" / "facts").glob("*.txt"):
        for field, flag, module, name, variable, others in NAMED.findall(table.read_text()):
            value: object = ()  # of a release that lacks it
            with suppress(ImportError, AttributeError):
                value = getattr(import_module(module), name)
            members = members_in(value, variable) if variable else value
            facts[field] = bool(members) if flag else plain(members)
            rest |= {field: others.split()} if others else {}
    return facts | {field: {*facts[field]}.difference(*map(facts.get, others)) for field, others in rest.items()}


def plain(value: object) -> object:
    """A value as JSON has it. Of a collection the names, of an enumeration those of aliases, too."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, bool | int | str):
        return value
    return [*map(named, getattr(value, "__members__", value))]


def named(member: object) -> str:
    """The name of a member; of an operator with an overload or an argument as in a schema. None is ATen's."""
    if isinstance(member, tuple):
        return ".".join(filter(None, member))
    return "aten" if member is None else str(member)


def members_in(function: Any, name: str, within: ast.AST | None = None) -> set[object]:
    """What a variable or an argument of a call is by the text of a function: what is assigned, gone through, added.
    `within`: a part of the text."""
    held: set[object] = set()
    for node in ast.walk(within or parsed(function)):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=variable)], value=value)
                | ast.For(target=ast.Name(id=variable), iter=value)
                | ast.keyword(arg=variable, value=ast.Constant() as value)
                | ast.Call(func=ast.Attribute(value=ast.Name(id=variable), attr="add" | "update"), args=[value])
            ) if variable == name:
                if isinstance(value, ast.Name):
                    held |= members_in(function, value.id)
                    continue
                with suppress(NameError):  # what depends on arguments
                    members = evaluated(value, inspect.unwrap(function).__globals__)
                    held |= {*members} if isinstance(members, set | list | tuple) else {members}
    return held


def evaluated(node: ast.AST, names: dict[str, Any]) -> Any:
    """The value of a constant, a name, an attribute or a list of these; NameError for anything else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Attribute(value=owner, attr=name):
            return getattr(evaluated(owner, names), name)
        case ast.List(elts=members) | ast.Set(elts=members) | ast.Tuple(elts=members):
            return tuple(evaluated(each, names) for each in members)
    raise NameError(ast.unparse(node))


def parsed(function: Any) -> ast.Module:
    text = inspect.getsource(function)
    return ast.parse(f"if True:\n{text}" if text.startswith(" ") else text)


def text_of(function: Any) -> str:
    """The text of a function, a line for each statement, without comments."""
    return ast.unparse(parsed(function))


def found(pattern: str, text: str) -> str:
    """The part of a text that a pattern encloses; "" for a text without it."""
    match = re.search(pattern, text)
    return match[1] if match else ""


def of_keys() -> dict[str, object]:
    """What functions return for keys with kernels, if it is not the usual."""
    classes, out, cuda = register_dispatch_key.StructuredRegisterDispatchKey, model.SchemaKind.out, DispatchKey.CUDA
    macro = getattr(native_functions, "torch_api_key_word_prefix", lambda _: "")
    is_guarded = [getattr(model, f"is_{kind}_dispatch_key", lambda _: False) for kind in ("cuda", "xpu")]
    parts = dict.fromkeys(("gen_class_ctor", "gen_class_set_output_functions"), lambda *_: "")

    def index(key: DispatchKey) -> Any:
        one = {SCHEMA.name: model.BackendMetadata("kernel", False, "at::native")}
        return model.BackendIndex(key, use_out_as_primary=True, device_guard=False, external=False, index=one)

    def guard(key: DispatchKey, rocm: bool = False) -> str:
        own = SimpleNamespace(backend_index=index(key), rocm=rocm, **parts)
        text = classes.gen_class(own, FUNCTION, out, class_name="", parent_class="", generate_super=False)
        return found(r"(\S+) guard_;", text)

    def sets_guard(key: DispatchKey) -> bool:
        return "guard_" in classes.gen_class_set_output_body(SimpleNamespace(backend_index=index(key)), out, False)

    def empty_header(key: DispatchKey) -> str:
        lines = register_dispatch_key.gen_registration_headers(index(key), per_operator_headers=True, rocm=False)
        return found(r"<(.*EmptyTensor\.h)>", "\n".join(lines))

    def by_key(value: Callable[[DispatchKey], str]) -> dict[str, str]:
        values = {key.name: value(key) for key in model.dispatch_keys}
        return {key: each for key, each in values.items() if each not in ("", "TORCH_API")}

    return {
        "class_guards": by_key(guard),
        "empty_headers": by_key(empty_header),
        "function_macros": by_key(lambda key: native_functions.gen_unstructured(FUNCTION, index(key)).split()[0]),
        "guarded_keys": [key for key in DispatchKey if any(each(key) for each in is_guarded)],
        "hip_guard": guard(cuda, rocm=True).replace(guard(cuda), ""),
        "struct_macros": by_key(lambda key: macro(index(key)).strip()),
        "unset_guards": [key for key in by_key(guard) if not sets_guard(DispatchKey[key])],
    }


def of_functions() -> dict[str, object]:
    """What functions return for arguments of each type, and for an argument that came later."""
    names = [form.format(each.name) for form in ("{}", "{}?") for each in model.BaseTy]
    schemas = (FunctionSchema.parse(f"f(Tensor self, {name} x) -> Tensor") for name in names)
    functions = {name: SimpleNamespace(func=schema) for name, schema in zip(names, schemas)}

    def is_copied(name: str) -> bool:
        argument = functions[name].func.arguments.flat_all[-1]
        with suppress(AssertionError, KeyError):  # for a type without C++
            own = dispatcher.argument(argument, remove_non_owning_ref_types=True)
            return own.type != dispatcher.argument(argument).type
        return False

    form, shims = "", "std::nullopt"  # how lists give the arguments of versions; a C function of each version
    for name, version in (("metadata", {"new_args": ["x"]}), ("arguments", ["x"])):
        with suppress(AssertionError, TypeError):
            shims = gen_aoti_c_shim.gen_declaration_and_definition(SCHEMA, "cpu", name, {"v2": version})[1]
            form = name
    return {
        "base_types": {each.name: str(types.BaseTypeToCppMapping.get(each, "")) for each in model.BaseTy},
        "copied_in_views": filter(is_copied, names),
        "qualifies_declarations": "at::" in gen.compute_registration_declarations(FUNCTION, {}),
        "shim_versions": form,
        "shims_pass_defaults": "std::nullopt" not in shims,
        "unrecorded_types": [name for name, each in functions.items() if not gen_trace_type.should_trace(each)],
    }


def of_files() -> dict[str, object]:
    """What scripts write of a template, and the list of files."""
    facts: dict[str, object] = {}
    scripts = {"generator": "tools/setup_helpers/generate_code.py", "stubs_generator": "torchgen/gen_backend_stubs.py"}
    with TemporaryDirectory() as folder:
        Path(folder, "a.py").write_text('# ${generated_comment}\n  ${lines}\n"""\ndef f(): ...\n')
        for field, script in scripts.items():
            sys.modules["__main__"].__file__ = f"{sys.argv[1]}/{script}"
            manager = FileManager(f"{folder}/./out", folder, dry_run=False)
            manager.write("a.py", lambda: {"lines": ["a ", "b"]})
            text = Path(folder, "out", "a.py").read_text()
            facts[field] = found(r"generated by (\S+)", text)
        manager.write_outputs("list", f"{folder}/list")
        listed = Path(folder, "list").read_text()
    facts |= {"normal_paths": "/./" not in listed, "spaces_docstrings": '"""\n\ndef' in text}
    return {**facts, "trims_lines": "a \n" not in text}


def of_headers() -> dict[str, object]:
    """The helpers of formulas that libtorch exports or headers define; what autocast casts to float32, lately."""
    helpers, modes, autocast = (
        Path(sys.argv[1], "torch", "include", name).read_text()
        for name in ("torch/csrc/autograd/FunctionsManual.h", "c10/core/GradMode.h", "ATen/autocast_mode.h")
    )
    marks = "struct TORCH_API|TORCH_API inline|TORCH_API|inline"
    names = re.findall(rf"^(?:{marks}) (?:[\w:<>]+\s+)?(\w+)[ ({{]", helpers, re.MULTILINE)
    methods = re.findall(r"struct C10_API (\w+) {\n  static bool (is_enabled)\(", modes)
    lists = re.findall(r"AT_FORALL_(?:FP32|DIFFERENT_REDISPATCH_SIGNATURE)\(_\)((?:.*\\\n)*)", autocast)
    overloads = re.findall(r'_\((\w+)(?:, (\w+))?\)|"([\w.]+)"', "".join(lists))
    known = (PIPELINE / "extensions" / "graphs" / "tables" / "autocast_cuda.txt").read_text().split()
    return {
        "autocast_full": {".".join(filter(None, each)) for each in overloads}.difference(known),
        "exported_helpers": [*names, *map("::".join, methods)],
    }


def of_text() -> dict[str, object]:
    """What functions have in their text."""
    main, sources, entry = map(text_of, (gen.main, gen.gen_source_files, NativeFunction.from_yaml))
    node, formulas = map(text_of, (gen_autograd_functions.process_function, load_derivatives.saved_variables))
    variants, checks = map(text_of, (add_generated_native_functions, NativeFunction.__post_init__))
    registers = text_of(gen_functionalization_type.gen_functionalization_registration)
    node = node.replace("visit_name", "name").replace("('true' if is_output else 'false')", "is_output")
    optional = {"rocm": ()} if "options.rocm" in main else {}
    for branch in ast.walk(ast.parse(main)):
        if isinstance(branch, ast.If) and (keys := members_in(gen.main, "ignore_keys", branch)):
            optional[found(r"options\.(\w+)", ast.unparse(branch.test))] = keys
    shards = re.findall(r"num_shards=(\d+) if dispatch_key == DispatchKey\.(\w+) else (\d+)", sources)
    devices = members_in(gen.main, "aoti_backends") or found(r"if dispatch_key in \((.*)\)", sources).split(", ")
    return {
        "automatic_tags": re.findall(r"tags_inp\.append\('(\w+)'\)", entry),
        "collect_variable": found(r"append\(f['\"](args\.collect.*?;)", node),
        "const_ref_refuses_out": found(r"(use_const_ref\w+):\s+\w+ (?:not )?func\.arguments\.out", entry) != "",
        "core_generates": "not is_core" in variants,
        "functional_apply": "apply_functional" in gen_autograd_functions.FUNCTION_DEFINITION.pattern,
        "header_only_tags": "headeronly_fm.write('enum_tag.h'" in text_of(gen.gen_headers),
        "kernel_shards": {key: each for number, name, rest in shards for key, each in ((name, number), ("", rest))},
        "optional_backends": optional,
        "optional_string": found(r"f'(\{name\}\.has_value\(\) .*?\(\{name\}\.value\(\)\).*?)'", formulas),
        "optional_string_type": found(r"f'(\S+<std::string>) \{name\};'", node),
        "optional_tensor_sizes": found(r"f'(\{name\}\.has_value\(\) .*?->sym_sizes\(\)\) .*?)'", formulas),
        "registers_composed_views": "get_kernel" in registers,
        "seeded_exempt": re.findall(r"'(\w+)' not in", found(r"'rand' in (.*?) or ", checks)),
        "self_pointer": found(r"ptr = '(.+?)' if is_output", node),
        "shim_devices": [named(each).removeprefix("DispatchKey.").lower() for each in devices],
        "shims_by_key": not hasattr(gen_aoti_c_shim, "gen_aoti_c_shim_files"),
        "variants_from": re.findall(r"SchemaKind\.(\w+)", found(r"base_fn = (.*)", variants)),
    }


facts = named_facts()
for more in (of_keys, of_functions, of_files, of_headers, of_text):
    facts |= more()
json.dump(plain(facts), sys.stdout)
