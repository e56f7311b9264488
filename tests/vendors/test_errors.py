"""Errors in descriptions and vendors' files: each gives the message that stands in `errors/`, and writes nothing.

To update the messages, and read them in the diff: UPDATE_GOLDEN=1 pytest tests/vendors/test_errors.py
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import forked
import msgspec
import pytest

from gradmill.model import layers
from gradmill.specs.layers import description
from vendors.vendor import Vendor

GOLDEN = Path(__file__).parent / "errors"
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))

# ruff: noqa: E501 (edits stand on a line each)

TOML, OWN, PATCH = "specset.toml", "accel/functions.yaml", "base_functions.patch"
HOOKS = "hooks.py"
FUNCTIONS, DERIVATIVES = "plugin/config/functions.yaml", "plugin/config/derivatives.yaml"

VIEWS = 'add.views = { head = "self" }'

# What is wrong: edits, each a file, what stands in it, what is to stand there. None for the text: the file is removed.
CASES: dict[str, list[tuple[str, str | None, str]]] = {
    # ---- the description
    "toml": [(TOML, "[functions]\n", "[functions\n")],
    "conflict": [(TOML, "[functions]\n", "<<<<<<< HEAD\n[functions]\n=======\n>>>>>>> topic\n")],
    "conflict-in-a-layer": [(OWN, "\ncustom:\n", "\n<<<<<<< HEAD\ncustom:\n=======\n")],
    "key-of-many-parts": [(TOML, "[functions]\n", f"a{'.a' * 20_000} = 1\n[functions]\n")],
    "nested-deep": [(TOML, "[functions]\n", f"a = {'[' * 150}{']' * 150}\n[functions]\n")],
    "number-of-many-digits": [(TOML, "[functions]\n", f"a = {'9' * 5_000}\n[functions]\n")],
    "name-of-two-lines": [(TOML, 'name = "accel"\ncomment', 'name = "ac\\tcel"\ncomment')],
    "key-after-a-long-list": [(TOML, 'name = "accel"\ncomment', "long = [\n" + "1,\n" * 3_000 + ']\nname = "accel"\ncomment')],
    "unknown-key": [(TOML, 'take = "defined"', 'takes = "defined"')],
    "unknown-key-in-list": [(TOML, 'list = "custom", drop = "exposed"', 'list = "custom", dropp = "exposed"')],
    "unknown-key-of-all": [(TOML, 'name = "accel"\ncomment', 'name = "accel"\n\nfamly = ["nodes"]\ncomment')],
    "unknown-table": [(TOML, "[functions]\n", "[function]\n")],
    "unknown-key-of-layers": [(TOML, 'namespace = "plugin"\n', 'namspace = "plugin"\n'), (TOML, '[[layer]]\nname = "patched"\n', '[[layer]]\nname = 1\n')],
    "required-key-misspelt": [(TOML, 'versions = { keys = "version"', 'versions = { key = "version"')],
    "unknown-value": [(TOML, 'take = "defined"', 'take = "define"')],
    "wrong-type": [(TOML, "raw = true", 'raw = "yes"')],
    "wrong-flags": [(TOML, "[family.nodes]\n", '[family.nodes]\neverything = "no"\n'), (TOML, "foreach_bindings = true", "foreach_bindings = 1")],
    "several-at-once": [(TOML, 'take = "defined"', 'takes = "defined"'), (TOML, "raw = true", "raw = 1")],
    "too-many-shards": [(TOML, 'templates = "templates"\nshards = 2', 'templates = "templates"\nshards = 4000')],
    "layer-without-name": [(TOML, '[[layer]]\nname = "plugin"\n', "[[layer]]\n")],
    "layer-name": [(TOML, '[[layer]]\nname = "plugin"\n', '[[layer]]\nname = "plug @in"\n')],
    "layer-twice": [(TOML, '[[layer]]\nname = "plugin"\n', '[[layer]]\nname = "accel"\n')],
    "namespace": [(TOML, 'namespace = "plugin"', 'namespace = "a::b"')],
    "file-and-diff": [(TOML, '{ diff = "base', '{ file = "x.yaml", diff = "base')],
    "neither-file-nor-diff": [(TOML, '{ diff = "base_functions.patch" }', "{}")],
    "drop-and-keep": [(TOML, 'list = "custom", drop = "exposed"', 'list = "custom", keep = "func", drop = "exposed"')],
    "keys-beside-a-diff": [(TOML, '{ diff = "base_functions.patch" }', '{ diff = "base_functions.patch", list = "custom", drop = "x", versions = { keys = "version" } }')],
    "since-above-until": [(TOML, 'since = "2.7"', 'since = "2.7"\nuntil = "2.6"'), (TOML, 'namespace = "plugin"\n', 'namespace = "plugin"\nsince = "2.14"\nuntil = "2.9"\n')],
    "since-above-until-of-a-replacement": [(TOML, '{ from = "_symint"', '{ since = "2.9", until = "2.7", from = "_symint"')],
    "diff-without-base": [(TOML, 'specs = "../base"\n', "")],
    "base-missing": [(TOML, 'specs = "../base"', 'specs = "../bse"')],
    "base-described": [(TOML, 'specs = "../base"', 'specs = "./specset.toml"')],
    "base-described-in-a-folder": [(TOML, 'specs = "../base"', 'specs = "."')],
    "base-misspelt": [(TOML, 'specs = "../base"', 'specs = "troch"')],
    "release-malformed": [(TOML, 'since = "2.7"', 'since = "two"')],
    "release-unknown": [(TOML, 'name = "accel"\ncomment', 'release = "2.1"\nname = "accel"\ncomment')],
    "name-is-a-path": [(TOML, 'name = "accel"\ncomment', 'name = "a/b"\ncomment')],
    "rewrite-of-nothing": [(TOML, 'from = "Tensor mat2"', 'from = ""')],
    "replace-of-nothing": [(TOML, '{ from = "at::redispatch", ', '{ from = "", ')],
    "view-of-nothing": [(TOML, 'add.views = { head = "self" }', 'add.views = { head = "slef", never_there = "self" }')],
    "facts-unknown": [(TOML, "add.kernel_keys", "add.kernel_key")],
    "facts-internal": [(TOML, "add.kernel_keys", 'add.left_out = ["x"]\nadd.kernel_keys')],
    "facts-form": [(TOML, 'add.views = { head = "self" }', 'add.views = ["head"]')],
    "family-unknown": [(TOML, "[family.nodes]", "[family.node]")],
    "family-without-templates": [(TOML, 'name = "accel"\ncomment', 'families = ["nodes", "trace_type", "bindings", "lazy", "graphs"]\nname = "accel"\ncomment')],
    "family-without-templates-of-a-table": [(TOML, "[family.nodes]\n", '[family.trace_type]\nfunctions = "own"\n\n[family.nodes]\n')],
    "part-unknown": [(TOML, '"boxed_fallback"]', '"boxed_fallbacks"]')],
    "word-unknown": [(TOML, 'of = "layer:accel"', 'of = "owned"')],
    "word-of-older-descriptions": [(TOML, 'of = "layer:plugin"', 'of = "plugin::"'), (TOML, 'of = "own out"', 'of = "own !foreach | out"')],
    "piece-unknown": [(TOML, 'declarations = { piece = "declaration"', 'declarations = { piece = "declarations"')],
    "slot-with-nothing": [(TOML, '{ piece = "declaration", of = "own" }', '{ of = "own" }')],
    "raw-key": [(TOML, "raw = true\n", "")],
    "output-unknown": [(TOML, "[family.variable_type]\n", '[family.variable_type]\nfiles = ["VariableTypes.cpp"]\n')],
    "library-key": [(TOML, "[family.variable_type]\n", '[family.variable_type]\nkeys = { Default = "AutogradX" }\n')],
    "file-elsewhere": [(TOML, '[family.variable_type.file."wrappers.cc"]\n', '[family.variable_type.file."../wrappers.cc"]\n')],
    "two-files-of-one-name": [(TOML, "[family.nodes]\n", '[family.nodes.file."VariableType.h"]\nslots.declarations = "declaration"\n\n[family.nodes]\n')],
    "output-without-template": [(TOML, '[family.variable_type.file."wrappers.cc"]\n', '[family.nodes.file]\n"Function.h".raw = true\n\n[family.variable_type.file."wrappers.cc"]\n'), (TOML, '[family.nodes]\ntemplates = "templates"\n', '[family.nodes]\n')],
    "output-without-anything": [(TOML, '[family.nodes]\ntemplates = "templates"\n', '[family.nodes]\nfile."w.cc".slots.x = "definition"\n')],
    "output-misspelt": [(TOML, '[family.variable_type.file."VariableType.h".slots]', '[family.variable_type.file."VariableTyp.h".slots]')],
    # ---- hooks
    "hooks-missing": [(TOML, 'hooks = "hooks.py"', 'hooks = "hook.py"')],
    "hooks-of-nothing": [(HOOKS, "def unit(", "def units(")],
    "hooks-not-python": [(HOOKS, "def unit(family, piece", "def unit(family piece")],
    "hooks-with-other-arguments": [(HOOKS, "text, release):", "text):")],
    "hooks-that-import": [(HOOKS, "import re\n", "import re, numpy as np\n")],
    "hooks-that-import-around-them": [(HOOKS, "import re\n", "from . import re\n")],
    "hooks-that-raise": [(HOOKS, 'function.operator != "mm"', 'function.opeartor != "mm"')],
    "hooks-that-raise-when-they-are-read": [(HOOKS, "import re\n", "import re\n\nKNOWN = {}['mm']\n")],
    "hooks-without-text": [(HOOKS, "        return text\n", "        return None\n")],
    "hooks-that-read": [(HOOKS, "        return text\n", '        return open("/etc/hosts").read()\n')],
    "hooks-that-run-programs": [(HOOKS, "        return text\n", '        return __import__("os").popen("date").read()\n')],
    "hooks-of-a-file-elsewhere": [(HOOKS, "import re\n", "def files(functions, release):\n    return {'../x.h': ''}\n")],
    "hooks-of-a-file-of-another": [(HOOKS, "import re\n", "import re\n\n\ndef files(functions, release):\n    return {'VariableType.h': ''}\n")],
    "hooks-that-exit": [(HOOKS, "        return text\n", "        exit(3)\n")],
    # ---- templates
    "templates-misspelt": [(TOML, '[family.variable_type]\ntemplates = "templates"', '[family.variable_type]\ntemplates = "tempaltes"')],
    "template-misspelt": [(TOML, "raw = true\n", 'raw = true\ntemplate = "templates/wrapers.cc"\n')],
    "template-without-slot": [("templates/VariableType.cpp", "${registrations_accel}", "")],
    "template-with-other-slot": [("templates/wrappers.cc", "${definitions}", "${definition}")],
    "template-with-a-hole-of-no-slot": [(TOML, 'registrations_plugin = { piece = "registration", of = "layer:plugin" }\n', "")],
    "template-missing": [("templates/wrappers.cc", None, "")],
    # ---- files of layers
    "file-missing": [(OWN, None, "")],
    "file-misspelt": [(TOML, 'file = "plugin/config/derivatives.yaml"', 'file = "plugin/config/derivative.yaml"')],
    "files-missing": [(TOML, '{ diff = "base_functions.patch" }', '["functions.yaml", { file = "more.yaml" }]')],
    "list-misspelt": [(OWN, "\ncustom:\n", "\ncustoms:\n")],
    "list-twice": [(OWN, "\nsymint:\n", "\ncustom:\n")],
    "releases-twice": [(FUNCTIONS, "all_version:", "all_version: [v2.12]\nall_version:")],
    "no-such-list": [(OWN, "\ncustom:\n", "\nours:\n")],
    "no-lists": [(TOML, 'native = { file = "accel/functions.yaml", list = "custom", drop', 'native = { file = "accel/functions.yaml", drop')],
    "file-is-a-list": [(TOML, '{ file = "accel/functions.yaml",', '{ file = "../base/native_functions.yaml",')],
    "key-unknown": [(OWN, "    exposed: True\n", "    exposd: True\n")],
    "schema": [(OWN, "swish(Tensor self) -> Tensor", "swish(Tensr self) -> Tensor")],
    "name-in-the-base": [(OWN, "  - func: swish_(Tensor(a!) self) -> Tensor(a!)\n", "  - func: swish_(Tensor(a!) self) -> Tensor(a!)\n  - func: mm(Tensor self, Tensor other) -> Tensor\n")],
    "name-in-two-layers": [(FUNCTIONS, "custom_autograd:\n", "custom_autograd:\n- func: aten::swish(Tensor self) -> Tensor\n  fast: v2.13\n\n")],
    "name-twice-for-a-release": [(FUNCTIONS, "slow: v2.12\n", "slow: all_version\n"), (FUNCTIONS, "bool twice=False", "bool twice")],
    "version-malformed": [(DERIVATIVES, "version: v2.13,v2.14", "version: v2.13,next")],
    "version-unknown": [(DERIVATIVES, "version: [v2.12, newest]", "version: [v2.11, newest]")],
    "version-reversed": [(DERIVATIVES, "version: [v2.12, newest]", "version: [v2.14, v2.12]")],
    "version-missing": [(DERIVATIVES, "  version: [v2.12, newest]\n", "")],
    "definition-of-nothing": [(DERIVATIVES, "- name: plugin::add.Tensor(", "- name: plugin::sub.Tensor(")],
    "definition-of-a-dropped-entry": [(DERIVATIVES, "  version: v2.12\n", "  version: all_version\n")],
    "formula": [(DERIVATIVES, "swish_gradient(grad, self)", "swish_gradient(grad, slef)"), (DERIVATIVES, "  self: grad * mask", "  slef: grad * mask")],
    "yaml": [(FUNCTIONS, "  slow: v2.12\n", "  slow: v2.12: x\n")],
    "kernel-key": [(TOML, 'since = "2.7"', 'until = "2.7"')],
    "ignore-unknown-rule": [(TOML, "[functions]\n", '[[ignore]]\nrule = "unkown-name"\nreason = "it is declared"\nentries = "swish"\n\n[functions]\n')],
    "ignore-unknown-key": [(TOML, "[functions]\n", '[[ignore]]\nrule = "unknown-name"\nreason = "it is declared"\nentry = "swish"\n\n[functions]\n')],
    "ignore-without-a-reason": [(TOML, "[functions]\n", '[[ignore]]\nrule = "unknown-name"\nreason = ""\n\n[functions]\n')],
    # ---- diffs
    "diff-missing": [(PATCH, None, "")],
    "diff-does-not-apply": [(PATCH, " - func: square(Tensor self) -> Tensor", " - func: squares(Tensor self) -> Tensor"), (PATCH, "   dispatch:\n     CompositeExplicit", "   dispatches:\n     CompositeExplicit")],
    "diff-is-none": [(PATCH, "@@ -140,6 +140,11 @@", "@@")],
    "diff-cut-off": [(PATCH, "@@ -140,6 +140,11 @@", "@@ -140,9 +140,14 @@")],
    "diff-of-other-files": [(PATCH, "+++ b/aten/src/ATen/native/native_functions.yaml\n", "+++ b/a.yaml\n+++ b/b.yaml\n")],
    "error-in-a-diff": [(PATCH, "+  autogen: count.out\n", "+  autogn: count.out\n")],
    # ---- names, in text and of things
    "versions-key-misspelt": [(TOML, 'keys = "version", all', 'keys = "versoin", all')],
    "versions-key-of-nothing": [(TOML, 'keys = ["slow", "fast"]', 'keys = ["slow", "fats"]')],
    "versions-forgotten": [(TOML, 'list = "backward"\nversions = { keys = "version", all = "all_version", missing = "error" }\n', 'list = "backward"\n')],
    "versions-forgotten-of-functions": [(TOML, 'keep = ["func", "tags", "dispatch", "device_check"]\nversions = { keys = ["slow", "fast"], all = "all_version", missing = "dropped" }\n', 'drop = "gen_fast"\n')],
    "versions-list-misspelt": [(TOML, 'keys = ["slow", "fast"], all = "all_version"', 'keys = ["slow", "fast"], all = "al_version"')],
    "versions-missing-misspelt": [(TOML, 'missing = "error"', 'missing = "eror"')],
    "base-derivatives-misspelt": [(TOML, 'derivatives = "alone"', 'derivatives = "alonee"')],
    "order-misspelt": [(TOML, 'order = "file"', 'order = "files"')],
    "take-misspelt-in-a-list": [(TOML, 'take = "defined"', 'take = ["own", "defned"]')],
    "slot-of-names": [(TOML, 'declarations = { piece = "declaration", of = "own" }', 'declarations = ["declaration", "definition"]')],
    "slot-misspelt": [(TOML, 'registrations_accel = {', 'registration_accel = {')],
    "output-of-another-family": [(TOML, "[family.nodes]\n", '[family.nodes]\nfiles = ["Functions.h", "VariableType.cpp"]\n')],
    "name-in-text-unknown": [(TOML, 'to = "accel::redispatch::${function}_out("', 'to = "accel::redispatch::${functoin}_out("'), (TOML, '${namespace}::${operator}\\n', '${namespce}::${operator}\\n'), (TOML, 'comment = "@generated from templates/${template}"', 'comment = "@generated from templates/${templat}"')],
    "families-unknown": [(TOML, 'name = "accel"\ncomment', 'families = ["nodez", "variable_type"]\nname = "accel"\ncomment')],
    "families-of-a-subset": [(TOML, 'name = "accel"\ncomment', 'families = ["libtorch", "all"]\nname = "accel"\ncomment')],
    "helpers-missing": [(TOML, 'namespace = "plugin"\n', 'namespace = "plugin"\nhelpers = ["formulas.h"]\n')],
    "value-misspelt": [(TOML, 'comment = "@generated from templates/${template}"', 'comment = [{ valeu = "@generated from templates/${template}", since = "2.7" }]')],
    "value-of-two-texts": [(TOML, 'comment = "@generated from templates/${template}"', 'comment = [{ value = ["a", "b"] }]')],
    "base-is-missing": [(TOML, '[base]\nspecs = "../base"', '[base]\nspecs = "../vendr/specset.toml"')],
    "layer-unknown": [(TOML, 'of = "layer:accel" }', 'of = "layer:accell" }')],
    "keys-of-another-generator": [(TOML, 'list = "custom", drop = "exposed"', 'list = "custom"'), (OWN, "  - func: swish_(Tensor(a!) self) -> Tensor(a!)\n", "  - func: swish_(Tensor(a!) self) -> Tensor(a!)\n    exposed: True\n    kernel_of: acl\n    tag: core\n")],
    "lists-of-nothing": [(TOML, 'name = "accel"\ncomment', 'families = []\nname = "accel"\ncomment'), (TOML, 'take = "defined"', "take = []"), (TOML, "[family.variable_type]\n", "[family.variable_type]\nfiles = []\n")],
    "table-is-a-list": [(TOML, '[functions]\ntake = "defined"\nexclude = ["noise"]\norder = "file"\n', ""), (TOML, 'name = "accel"\ncomment', 'functions = []\nname = "accel"\ncomment')],
    "key-of-a-backend": [(TOML, "[family.variable_type]\n", '[family.variable_type]\nkeys = { Default = "PrivateUse1" }\n')],
    "kernel-of-a-device": [(OWN, "    exposed: True\n", "    exposed: True\n    dispatch:\n      NPU: swish_npu\n")],
    "formula-of-all-that-take-part": [(TOML, 'take = "defined"', 'take = "tag:nosuch"'), (DERIVATIVES, "swish_gradient(grad, self)", "swish_gradient(grad, self.sizes())")],
    "diff-of-another-role": [(PATCH, "+++ b/aten/src/ATen/native/native_functions.yaml\n", "+++ b/tools/autograd/derivatives.yaml\n")],
}  # fmt: skip

# What may be meant, for another release or by another file: a warning, which strict=1 turns into an error.
SUSPICIONS: dict[str, list[tuple[str, str | None, str]]] = {
    "marks-operator-missing": [(TOML, "[functions]\n", '[[marks]]\nfile = "accel/functions.yaml"\nlist = ["custom", "symint"]\n[functions]\n'), (OWN, "\nsymint:\n", "\nsymint:\n  - name: nothing\n")],
    "unmatched-versions-key": [(TOML, 'keys = ["slow", "fast"]', 'keys = ["slow", "fast", "sparse"]'), (TOML, 'keys = "version", all', 'keys = ["version", "sparse"], all')],
    "unmatched-word-in-take": [(TOML, 'take = "defined"', 'take = ["defined", "own", "tag:nosuch"]')],
    "exclude-unknown-function": [(TOML, 'exclude = ["noise"]', 'exclude = ["noize"]')],
    "rewrite-unknown": [(TOML, 'func = "mm"', 'func = "mmm"')],
    "rewrite-not-there": [(TOML, 'from = "Tensor mat2"', 'from = "Tensor mat3"')],
    "function-unknown": [(TOML, '{ piece = "definition", of = ["swish",', '{ piece = "definition", of = ["swihs",')],
    "tag-unknown": [(TOML, '{ piece = "definition", of = ["swish", "plugin::add.Tensor"] }', '{ piece = "definition", of = "tag:poinwise" }')],
    "key-unknown-in-a-selection": [(TOML, 'take = "defined"', 'take = ["defined", "key:exposd"]')],
    "versions-not-listed": [(FUNCTIONS, "all_version: [v2.12, v2.13, v2.14]\n", "")],
    "unmatched-replacement": [(TOML, '{ from = "at::redispatch", to', '{ from = "at::redispach", to')],
    "unmatched-second-replacement": [(TOML, '{ from = "at::redispatch", to', '{ from = "at::redispatch::${function}_outf(", to')],
    "unmatched-replacement-of-nodes": [(TOML, 'from = "_symint"', 'from = "_symnit"')],
    "unmatched-fact": [(TOML, 'add.complex_differentiable = ["swish"]', 'add.complex_differentiable = ["swihs"]'), (TOML, 'add.views = { head = "self" }', 'add.views = { haed = "self" }')],
    "unmatched-fact-of-keys": [(TOML, 'add.kernel_keys = ["AutogradPrivateUse1"]', 'add.kernel_keys = ["AutogradPrivateUse1", "AutogradPrivateUse9"]')],
    "unmatched-slot": [(TOML, "[family.nodes]\n", '[family.nodes]\nslots.autograd_function_declaration = "declaration"\n')],
    "unmatched-drop": [(TOML, 'drop = "exposed"', 'drop = ["exposed", "exposes"]')],
    "unmatched-keep": [(TOML, 'keep = ["func", "tags", "dispatch", "device_check"]', 'keep = ["func", "tags", "dispach", "device_check"]')],
    "unmatched-list": [(TOML, 'list = ["custom", "custom_autograd"]', 'list = ["custom", "custom_autograd", "ours"]')],
}  # fmt: skip


# Selections of known words that select nothing today, and may tomorrow, and what another run reads: nothing is reported.
EMPTY = {
    "replacement": [(TOML, 'of = "own out" }', 'of = "own key:exposed=no" }')],
    "slot": [(TOML, 'declarations = { piece = "declaration", of = "own" }', 'declarations = { piece = "declaration", of = "own out key:exposed=no" }')],
    "nodes": [(TOML, "[family.nodes]\n", '[family.nodes]\nfunctions = "own key:exposed=no"\n')],
    "value": [(TOML, 'take = "defined"', 'take = ["defined", "key:exposed=no"]')],
    "backend": [(TOML, "[base]\n", '[[backend]]\nfile = "accel/functions.yaml"\n\n[base]\n')],  # for families=backend_stubs
}  # fmt: skip


@contextmanager
def edited(vendor: Vendor, edits: list[tuple[str, str | None, str]]) -> Iterator[None]:
    files = {file: vendor.path(file).read_text() for file, _, _ in edits}
    try:
        for file, old, new in edits:
            if old is None:
                vendor.path(file).unlink()
            else:
                vendor.replace(file, old, new)
        yield
    finally:
        for file, text in files.items():
            vendor.path(file).write_text(text)


def test_there_is_a_message_for_each_error_and_no_other() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == sorted([*CASES, *SUSPICIONS])


@pytest.mark.golden
@pytest.mark.parametrize("name", [*CASES, *SUSPICIONS])
@pytest.mark.extension("graphs")  # some messages list all families
def test_an_error_is_reported_and_nothing_is_written(name: str, built: Vendor) -> None:
    before = built.files()
    with edited(built, (CASES | SUSPICIONS)[name]):
        run = built.run(**({"strict": 1} if name in SUSPICIONS else {}))
    message = run.stderr.replace(str(built.folder), "FOLDER")
    assert "Traceback" not in run.stdout + run.stderr
    assert run.status != 0, run.stdout
    assert built.files() == before
    golden = GOLDEN / f"{name}.txt"
    if UPDATE:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(message)
    assert message == golden.read_text()


@pytest.mark.parametrize("name", EMPTY)
def test_what_may_be_meant_for_another_day_is_not_reported(name: str, built: Vendor) -> None:
    with edited(built, EMPTY[name]):
        run = built.run("check", strict=1)
    assert (run.status, run.stderr) == (0, ""), run.stdout


def test_a_set_without_derivatives_yet_is_right(tmp_path: Path) -> None:
    (tmp_path / "specset.toml").write_text(
        '[base]\nspecs = "core"\nderivatives = "alone"\n\n[[layer]]\nname = "mine"\nnative = "mine.yaml"\n\n'
        '[functions]\ntake = "defined"\n'
    )
    (tmp_path / "mine.yaml").write_text("- func: thrice(Tensor self) -> Tensor\n  dispatch:\n    CPU: thrice\n")
    assert forked.gradmill(["check", "specs=.", "strict=1"], tmp_path).ok().stdout.endswith(": no problems\n")


def test_every_key_of_descriptions_has_an_error() -> None:
    edits = (edit for edits in (CASES | SUSPICIONS).values() for edit in edits)
    texts = [*(f"{old} {new}" for _, old, new in edits), *(path.read_text() for path in GOLDEN.glob("*.txt"))]
    known = set(re.findall(r"\w+", "\n".join(texts)))
    tables = [type_ for module in (description, layers) for type_ in vars(module).values() if is_table(type_)]
    assert len(tables) > 12
    keys = {field.encode_name for table in tables for field in msgspec.structs.fields(table)}
    assert keys <= known


def is_table(type_: object) -> bool:
    config = getattr(type_, "__struct_config__", None)
    return config is not None and config.forbid_unknown_fields


def test_a_suspicion_is_reported_on_every_run_that_has_it(vendor: Vendor) -> None:
    """With nothing to do as well; and no longer once one unit of many has the text."""
    with edited(vendor, SUSPICIONS["unmatched-replacement"]):
        runs = [vendor.run() for _ in range(3)]
        with edited(vendor, [(TOML, "at::redispach", "accel::redispatch")]):
            other = vendor.run()
    golden = (GOLDEN / "unmatched-replacement.txt").read_text()
    for run in runs:
        assert run.status == 0 and run.stderr == golden.replace(" (strict=1: warnings are errors)", "")
    assert [run.ran for run in runs[1:]] == [[], []]
    assert other.status == 0 and other.stderr == "", "one unit has it, out of the replacement before"
