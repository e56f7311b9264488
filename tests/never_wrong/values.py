"""Keys of entries with values of all kinds, and functions with every type in every place: what a mutation picks from.

Each mutation is a function of a set and a source of choices, and edits the set.
"""

from __future__ import annotations

import re
from random import Random

from .specset import DERIVATIVES, NATIVE, TAGS, Specs

# Kinds of YAML values, nested ones in flow style: each fits behind a key, and in a list.
KINDS = (
    "", "~", "null", "''", "' '", "a", "'1'", "a, b", "'true'", "true", "false", "yes", "0", "1", "-1", "2", "1.5",
    "0.0",
    ".nan", ".inf", "1e3", "0x10", "1_000", "1:30", "99999999999999999999", "2020-01-01", "[]", "[a]", "[a, b]", "[1]",
    "[0]", "[true]", "[false]", "[True, False]", "[~]", "['']", "[[]]", "[[a]]", "[{}]", "[{a: b}]", "[1.5]", "[0.0]",
    "[2020-01-01]", "[a, 1]", "[a, ~]", "[true, a]", "{}", "{a: b}", "{a: 1}", "{a: ~}", "{a: true}", "{a: []}",
    "{a: [b]}", "{a: {}}", "{a: {b: c}}", "{1: 2}", "{1: a}", "{0: a}", "{~: a}", "{true: a}", "{false: a}", "{1.5: a}",
    "{a: b, c: d}", "{a: 1, b: 2}", "{true: 1, false: 2}", "{true: 1, a: 2}", "{'': a}", "{[a]: b}", "{2020-01-01: a}",
    "!!str 1", "!!binary aGk=", "!!set {a}", "!!set {}", "!!omap [a: b]", "!!omap []", "!!pairs [a: b]", "!!pairs []",
    "!!float 1", "!!int 1", "!!bool yes", "!!null ''", "!!int ''", "!!bool a", "!!seq []", "!!map {}",
    "!!timestamp 2020-01-01",
)  # fmt: skip

# Values that a key takes, in a word or in the place of the words above.
MEANT = {
    "func": ("square(Tensor self) -> Tensor",),
    "variants": ("function", "method", "function, method", "method, function", "function,method", "[function]"),
    "dispatch": (
        "{CPU: a}", "{CPU: ~}", "{CPU: ''}", "{CPU: 1}", "{CPU: [a]}", "{CPU: {a: b}}", "{'CPU, CUDA': a}",
        "{'CPU,CUDA': a}",
        "{CPU: a, CUDA: a}", "{'': a}", "{CPU: true}", "{CPU: 1.5}", "{CPU: a::b}", "{CPU: a::b::c}", "{CPU: 'a b'}",
        "[CPU]", "{CompositeImplicitAutograd: a}", "{CompositeExplicitAutograd: a}", "{'CPU, CPU': a}", "{Default: {}}",
        "{Default: {self: grad}}", "{Default: ~}", "{Default: []}", "{Default: a}", "{Default: {self: 1}}",
        "{Default: {1: a}}",
        "{Default: {self: ~}}", "{Default: {self: [grad]}}", "{AutogradCUDA: {self: grad}}", "{Default: {name: a}}",
        "{Default: {'': a}}", "{Default: {~: a}}", "{Default: {dispatch: a}}",
        "{Default: {output_differentiability: [True]}}",
        "{1: {self: grad}}", "{~: {self: grad}}", "{true: {self: grad}}", "{CPU: {self: grad}}",
    ),
    "tags": (
        "generated", "view_copy", "inplace_view", "[core, inplace_view]", "nope", "[generated, view_copy]", "core",
        "[core]", "[core, core]", "core, generated", "{core: a}", "[[core]]", "{core}",
    ),
    "autogen": ("exp.out", "nope.out", "exp.out, exp.out", "[exp.out]", "exp.out,exp_.out", "exp", "{exp.out: a}"),
    "structured": ("True", "False", "'True'"),
    "structured_delegate": ("add.out", "exp.out", "nope.out", "add_.out", "aten::add.out", "[add.out]"),
    "structured_inherits": ("TensorIteratorBase", "at::TensorIteratorBase"),
    "precomputed": (
        "[a -> int b]", "['dim -> int dim']", "['other -> int dim, int dim2']", "[int a]",
        "['other -> int dim', 'int n']",
        "{other: int dim}", "['other -> ']", "[' -> int a']", "['other -> Int dim']", "['other->int dim']",
        "other -> int dim",
    ),
    "ufunc_inner_loop": (
        "{Generic: 'add (AllAndComplex, Half)'}", "{Generic: add}", "{Nope: 'add (All)'}", "{ScalarOnly: 'add (Bool)'}",
        "{Generic: 'add ()'}", "{Generic: ~}", "{Generic: [add (Bool)]}", "{1: 'add (Bool)'}",
        "{Generic: 'add (Bool)', ScalarOnly: 'add (Bool)'}",
    ),
    "device_check": ("NoCheck", "ExactSame", "nocheck"),
    "python_module": ("nn", "nn, linalg", "fft", "nested", "sparse", "special", "elsewhere", "nn.functional", "torch"),
    "category_override": ("factory", "like", "new", "dummy", "other"),
    "cpp_no_default_args": ("[alpha]", "['alpha', alpha]", "alpha", "{alpha: a}", "[dim]", "{alpha}"),
    "tag": ("core", "inplace_view"),
    "name": ("exp(Tensor self) -> Tensor", "square(Tensor self) -> Tensor"),
    "self": ("grad", "non_differentiable", "not_implemented(a)", "'grad '", "zero", "|\n    grad\n",
    ">\n    grad *\n    2\n"),
    "result": ("auto_linear", "auto_element_wise", "self_t", "'auto_linear '"),
    "self, other": ("grad",),
    "output_differentiability": (
        "[True]", "[True, True]", "[True, False, True]", "[False]", "[False, False]", "['a > 0']", "['a', 'b']", "True",
        "{True: a, False: b}", "{True}", "['True']", "True, False", "(True, False)",
    ),
}  # fmt: skip
_FLAGS = ("use_const_ref_for_mutable_tensors", "device_guard", "manual_kernel_registration", "manual_cpp_binding")
MEANT |= dict.fromkeys(_FLAGS, ("True", "False"))
KEYS = {
    NATIVE: (
        "func", "variants", "dispatch", "tags", "autogen", "structured", "structured_delegate", "structured_inherits",
        "precomputed", "ufunc_inner_loop", "device_check", "python_module", "category_override", "cpp_no_default_args",
        *_FLAGS, "nope", "1", "~", "true", "[a]", "''", "namespace", "has_symint", "loops",
    ),
    TAGS: ("tag", "desc", "nope", "1", "~"),
    DERIVATIVES: (
        "name", "self", "self, other", "result", "output_differentiability", "dispatch", "nope", "1", "~", "true",
        "''", "[a]",
    ),
}  # fmt: skip
# torchgen takes the bytes for as many outputs.
EXCEPT = {("output_differentiability", "!!binary aGk=")}

BASE_TYPES = (
    "Tensor", "int", "SymInt", "float", "bool", "SymBool", "Scalar", "str", "ScalarType", "Device", "DeviceIndex",
    "Layout",
    "MemoryFormat", "Generator", "Dimname", "Storage", "Stream", "QScheme", "ConstQuantizerPtr", "GraphModule",
    "__torch__.torch.classes.a.B", "Nope",
)  # fmt: skip
SUFFIXES = ("", "?", "[]", "[2]", "?[]", "[]?", "[2]?", "?[2]", "??", "[][]", "[2][3]", "[]?[]")
# `T` is a type of SUFFIXES, `A` the same with an annotation.
PLACES = (
    ("probe(Tensor self, T x) -> Tensor", ""),
    ("probe(Tensor self, T x) -> Tensor", "autogen: probe.out"),
    ("probe(Tensor self, *, T x) -> Tensor", "autogen: probe.out"),
    ("probe(T self) -> Tensor", "variants: function, method"),
    ("probe(Tensor self) -> T", ""),
    ("probe(Tensor self) -> T", "autogen: probe.out"),
    ("probe(Tensor self) -> (T a, Tensor b)", "autogen: probe.out"),
    ("probe(Tensor self) -> (Tensor, T)", "autogen: probe.out"),
    ("probe_(A self) -> A", ""),
    ("probe_(A self) -> A", "autogen: probe, probe.out"),
    ("probe_(A self) -> ()", "autogen: probe, probe.out"),
    ("probe(Tensor self, A x) -> Tensor", "autogen: probe_functional, probe.out"),
    ("probe(Tensor self, A x) -> ()", "autogen: probe_functional, probe.out"),
    ("probe(Tensor self, A x) -> T", "autogen: probe_functional, probe.out"),
    ("probe.out(Tensor self, *, A out) -> A", ""),
    ("probe.out(Tensor self, *, A out) -> ()", "autogen: probe"),
    ("probe.out(Tensor self, *, A out) -> A", "autogen: probe"),
    ("probe(Tensor(a) self, T x) -> Tensor(a)", ""),
    ("probe(Tensor(a) self) -> V", ""),
)


def with_key(entry: str, key: str, value: str) -> str:
    """The entry, with the value for the key in the place of what it has."""
    first, *lines = entry.rstrip("\n").split("\n")
    if first.startswith(f"- {key}:"):
        first = f"- {key}: {value}"
    else:
        at = next((i for i, line in enumerate(lines) if line.startswith(f"  {key}:")), len(lines))
        after = at + 1
        while after < len(lines) and lines[after].startswith("   "):
            after += 1
        lines[at:after] = [f"  {key}: {value}"]
    return "\n".join([first, *lines, "", ""])


def types_in(place: str, base: str, suffix: str) -> str:
    """The schema of a place of PLACES, with a type in it."""
    types = {"T": f"{base}{suffix}", "A": f"{base}(a!){suffix}", "V": f"{base}(a){suffix}"}
    return re.sub(r"\b[TAV]\b", lambda match: types[match[0]], place)


def probe_entry(schema: str, more: str) -> str:
    """A function's entry, with a line more or none."""
    entry = f"\n- func: {schema}\n  dispatch:\n    CompositeExplicitAutograd: probe\n"
    return entry + (f"  {more}\n" if more else "")


def key_with_value(specs: Specs, random: Random) -> None:
    """A key of an entry with a value: one that it takes as a rule, or one of any kind."""
    name = random.choice([name for name in KEYS if specs.entries[name]])
    entries, key = specs.entries[name], random.choice(KEYS[name])
    values = MEANT.get(key, KINDS) if random.random() < 0.6 else KINDS
    value, at = random.choice(values), random.randrange(len(entries))
    if (key, value) not in EXCEPT:
        entries[at] = with_key(entries[at], key, value)


def function_of_types(specs: Specs, random: Random) -> None:
    """A new function with one type in one place, some with a derivative."""
    place, more = random.choice(PLACES)
    schema = types_in(place, random.choice(BASE_TYPES), random.choice(SUFFIXES))
    specs.native.append(probe_entry(schema, more))
    if random.random() < 0.3:
        specs.derivatives.append(f"\n- name: {schema}\n  self: f(grad, {'x' if ' x' in schema else 'result'})\n")
