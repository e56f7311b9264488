"""docs/vendors.md has every key, and its examples are descriptions."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from project import ROOT

from gradmill.families.hook_files import function
from gradmill.families.overrides import REST, WORDS, FunctionFacts
from gradmill.model import layers
from gradmill.problems.catalog.table import RULES
from gradmill.releases.model import Part
from gradmill.rules.layers.facts import LISTS
from gradmill.specs.layers import description
from gradmill.specs.layers.hooks import HOOKS
from gradmill.specs.layers.reading import read_description
from gradmill.stages.layered import hooks

DOC = (ROOT / "docs" / "vendors.md").read_text()
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", DOC, re.DOTALL)
TYPES = [
    type_
    for module in (description, layers)
    for type_ in vars(module).values()
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct) and type_.__struct_config__.forbid_unknown_fields
]
FILE_OF_A_LAYER = '[[layer]]\nname = "mine"\n[layer.native]\nfile = "mine.yaml"\n'  # which one example is a key of
DESCRIPTIONS = sorted(ROOT.glob("examples/vendor-descriptions/**/*.toml"))
QUOTED = " ".join(re.findall(r"`([^`\n]+)`", DOC + REFERENCE)) + " ".join(EXAMPLES)
NODES = [node for module in (function, hooks) for node in ast.walk(ast.parse(inspect.getsource(module)))]
CALLS = [each for each in NODES if isinstance(each, ast.Call) and ast.unparse(each.func) in ("_seen", "hook_function")]
SEEN_BY_HOOKS = {each.arg for call in CALLS for each in call.keywords if each.arg}
SEEN_BY_HOOKS |= {*FunctionFacts("", "", "", ()).names}
KEYS = {key for type_ in TYPES for key in type_.__struct_encode_fields__}


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_key_is_documented(key: str) -> None:
    assert re.search(rf"\b{re.escape(key)}\b", QUOTED), key


def test_every_list_of_facts_word_and_part_is_documented() -> None:
    assert {"cpp_name", "kernel_default", "kernel_passed", "precomputed", "layer", "operator"} <= SEEN_BY_HOOKS
    names = {*LISTS, *WORDS, REST, *get_args(Part), *HOOKS} | SEEN_BY_HOOKS
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", QUOTED)] == []


def check(text: str) -> None:
    value = read_description("specset.toml", text.encode())[1]
    assert {each["rule"] for each in value.get("ignore", ())} <= RULES.keys()


@pytest.mark.parametrize("path", DESCRIPTIONS, ids=lambda path: path.stem)
def test_every_description_of_a_public_backend_is_one(path: Path) -> None:
    check(path.read_text())


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_is_a_description(number: int) -> None:
    text = EXAMPLES[number]
    check(f"{FILE_OF_A_LAYER if text.startswith('versions =') else ''}{text}")
