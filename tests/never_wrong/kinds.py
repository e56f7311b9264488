"""Every key of the YAML files with every kind of value, every type in every place of a schema: gradmill and torchgen
must reach one verdict, and write the same bytes.

python -m tests.campaigns kinds [--count N] [--seed N] [--minutes M] [--only WORD] [--list]
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from project import CORE, KERNEL_TEMPLATES, ROOT

from .campaign import options, run
from .mutations import judge
from .oracle import Oracle
from .verdicts import Verdict

BASE = ROOT / "tests" / "bad" / "base"
NATIVE, DERIVATIVES, TAGS = "native_functions.yaml", "derivatives.yaml", "tags.yaml"

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
    "tags": ("core", "[core]", "[core, core]", "core, generated", "{core: a}", "[[core]]", "{core}"),
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
    "python_module": ("nn", "nn, linalg"),
    "category_override": ("factory", "dummy"),
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
HOSTS = {
    NATIVE: ("add.Tensor(", "add_.Tensor(", "add.out(", "exp(", "exp_(", "transpose(", "transpose_copy(", "sort(",
    "square(", "_foreach_exp("),
    TAGS: ("inplace_view", "core"),
    DERIVATIVES: ("add.Tensor(", "exp(", "sort(", "transpose(", "chunks(", "noise("),
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
_DERIVATIVE = "- name: {schema}\n  self: f(grad, x)\n"


class Probe(NamedTuple):
    """One edit of the base: what it is called, the files that it changes and their texts."""

    name: str
    texts: dict[str, str]


def probes() -> Iterator[Probe]:
    """All of them, in an order that never changes."""
    texts = {name: (BASE / name).read_text() for name in (NATIVE, DERIVATIVES, TAGS)}
    for file, keys in KEYS.items():
        for host in HOSTS[file]:
            for key in keys:
                for value in (*MEANT.get(key, ()), *(kind for kind in KINDS if (key, kind) not in EXCEPT)):
                    yield Probe(f"{file}: {host} {key}: {value!r}", {file: _with(texts[file], host, key, value)})
        for value in (*KINDS, "{name: a}", "{func: a}", "{tag: a}"):
            yield Probe(f"{file}: as an entry: {value!r}", {file: f"{texts[file]}\n- {value}\n"})
            yield Probe(f"{file}: as a file: {value!r}", {file: f"{value}\n"})
    for base in BASE_TYPES:
        for suffix in SUFFIXES:
            for schema, more in PLACES:
                yield from _typed(texts, base, suffix, schema, more)


def _with(text: str, host: str, key: str, value: str) -> str:
    """The text, in which the entry of `host` has the value for the key, in the place of what it has."""
    start = re.search(rf"(?m)^- \w+: {re.escape(host)}", text)
    assert start is not None, host
    end = text.find("\n- ", start.start()) + 1 or len(text)
    first, *lines = text[start.start() : end].rstrip("\n").split("\n")
    if first.startswith(f"- {key}:"):
        first = f"- {key}: {value}"
    else:
        at = next((i for i, line in enumerate(lines) if line.startswith(f"  {key}:")), len(lines))
        after = at + 1
        while after < len(lines) and lines[after].startswith("   "):
            after += 1
        lines[at:after] = [f"  {key}: {value}"]
    return text[: start.start()] + "\n".join([first, *lines, "", ""]) + text[end:]


def _typed(texts: dict[str, str], base: str, suffix: str, schema: str, more: str) -> Iterator[Probe]:
    plain, annotated, view = f"{base}{suffix}", f"{base}(a!){suffix}", f"{base}(a){suffix}"
    kinds = {"T": plain, "A": annotated, "V": view}
    func = re.sub(r"\b[TAV]\b", lambda match: kinds[match[0]], schema)
    entry = f"\n- func: {func}\n  dispatch:\n    CompositeExplicitAutograd: probe\n"
    native = {NATIVE: texts[NATIVE] + entry + (f"  {more}\n" if more else "")}
    name = f"type: {func} {more}"
    yield Probe(name, native)
    if "T x" in schema or "-> T" in schema:
        derivative = _DERIVATIVE.format(schema=func).replace("x)", "x)" if " x" in func else "result)")
        yield Probe(f"{name} with a derivative", {**native, DERIVATIVES: f"{texts[DERIVATIVES]}\n{derivative}"})


class Judge:
    """A folder for the set, and torchgen's process."""

    def __init__(self, folder: Path, torchgen: Oracle) -> None:
        self._specs, self._scratch, self._torchgen = folder / "set", folder / "scratch", torchgen
        shutil.copytree(BASE, self._specs)
        for name in (*KERNEL_TEMPLATES, "variable_factories.h"):
            shutil.copyfile(CORE / "templates" / name, self._specs / "templates" / name)

    def judge(self, probe: Probe) -> Verdict:
        """What both say of one probe."""
        for name in (NATIVE, DERIVATIVES, TAGS):
            (self._specs / name).write_text(probe.texts.get(name) or (BASE / name).read_text())
        return judge(self._specs, self._scratch, self._torchgen)


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("--only", default="", metavar="WORD", help="those whose name has the word")
    parser.add_argument("--list", action="store_true", help="names them only")
    wanted = parser.parse_args(words)
    chosen = [probe for probe in probes() if wanted.only in probe.name]
    if wanted.count is not None:
        chosen = Random(wanted.seed).sample(chosen, min(wanted.count, len(chosen)))
    if wanted.list:
        print(*(probe.name for probe in chosen), sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="gradmill-") as folder, Oracle() as torchgen:
        judge_ = Judge(Path(folder), torchgen)
        return run((judge_.judge(probe).trial(probe.name) for probe in chosen), wanted)
