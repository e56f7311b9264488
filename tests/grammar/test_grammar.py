"""The grammar of operator schemas: what reads back as it was written, and what is refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml
from project import CORE

from gradmill.grammar.schema import SchemaParser
from gradmill.grammar.types import check_type
from gradmill.model.schema import schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases import resolve

BASE_TYPES = frozenset(resolve("2.13").base_types)


@pytest.fixture
def parser() -> SchemaParser:
    return SchemaParser(BASE_TYPES)


def schemas_of(path: Path) -> list[str]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [entry["func"].rpartition("::")[2] for entry in yaml.load(path.read_text(), Loader=loader)]  # noqa: S506


def random_schemas(count: int) -> list[str]:
    """Functional schemas of every shape that the grammar has."""
    source = random.Random(20)
    bases = sorted(BASE_TYPES)
    suffixes = ["", "", "?", "[]", "[2]", "[]?", "?[]", "[3]?"]
    defaults = ["", "", "=0", "=None", "=[]", "=True", "=1e-05", "=Mean", "='none'"]

    def type_() -> str:
        return source.choice(bases) + source.choice(suffixes)

    def arguments(prefix: str) -> list[str]:
        return [f"{type_()} {prefix}{i}{source.choice(defaults)}" for i in range(source.randrange(4))]

    def schema() -> str:
        name = source.choice(["f", "_f", "f_backward", "__and__", "f2d"]) + source.choice(["", ".Tensor", ".dim_x"])
        keywords = arguments("k")
        inputs = [*arguments("a"), *(["*", *keywords] if keywords else [])]
        returns = [type_() + source.choice(["", f" r{i}"]) for i in range(source.randrange(4))]
        return f"{name}({', '.join(inputs)}) -> {returns[0] if len(returns) == 1 else '(' + ', '.join(returns) + ')'}"

    return [schema() for _ in range(count)]


# ---- reading back


def test_random_schemas_read_back_as_they_were_written(parser: SchemaParser) -> None:
    assert [text for text in random_schemas(2000) if str(parser.parse(text)) != text] == []


def test_random_schemas_are_those_of_torchgen(parser: SchemaParser, torch_specs: Path) -> None:
    from torchgen.model import FunctionSchema

    for text in random_schemas(300):
        expected, made = FunctionSchema.parse(text), parser.parse(text)
        assert [str(a) for a in expected.arguments.flat_all] == [str(a) for a in made.arguments]
        assert str(expected.kind()) == f"SchemaKind.{schema_kind(made)}"


# ---- refusals

REFUSED = [
    ("f", "not an operator schema"),
    ("f(Tensor self)", "not an operator schema"),
    ("f(Tensor self) Tensor", "not an operator schema"),
    ("f(Tensor self) -> ", "no returns"),
    ("f.(Tensor self) -> Tensor", "empty overload name"),
    ("f_out(Tensor self) -> Tensor", "ends with _out"),
    ("__ifoo__(Tensor(a!) self) -> Tensor(a!)", "dunder"),
    ("f(Tenser self) -> Tensor", "unrecognized type 'Tenser'"),
    ("f(Tensor self) -> Tenser", "unrecognized type 'Tenser'"),
    ("f(int[x] n) -> Tensor", "unrecognized type 'int[x]'"),
    ("f(Tensor) -> Tensor", "illegal argument 'Tensor'"),
    ("f(Tensor self, *, int a, *, int b) -> Tensor", "only once"),
    ("f(Tensor self, *, *, int b) -> Tensor", "only once"),
    ("f_(Tensor self) -> Tensor", "no mutable self"),
    ("f_(Tensor(a!) self) -> Tensor", "does not return self"),
    ("f_(Tensor(a!) self) -> Tensor(b!)", "neither self nor an out argument"),
    ("f(Tensor self, *, Tensor(a!) out) -> Tensor(b!)", "different alias annotations"),
    ("f(Tensor self, *, Tensor(a!) out, int n) -> Tensor(a!)", "not mutable but follows the out arguments"),
    ("f(Tensor self, *, Tensor(a!) out) -> ()", "1 out arguments but 0 returns"),
    ("f(Tensor(a!) x, Tensor self) -> Tensor", "precedes self and is mutable"),
    ("f(Tensor self, Tensor(a!) x) -> Tensor(a!)", "mutable positional argument 'x' is returned"),
    ("f(Tensor(a1) self) -> Tensor", "unrecognized alias annotation"),
    ("f.functional(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "is named functional"),
]


@pytest.mark.parametrize(("text", "problem"), REFUSED, ids=[text for text, _ in REFUSED])
def test_a_malformed_schema_is_refused(parser: SchemaParser, text: str, problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        parser.parse(text)
    assert problem in caught.value.problem


@pytest.mark.parametrize("text", [text for text, _ in REFUSED])
def test_what_is_refused_torchgen_refuses_too(torch_specs: Path, text: str) -> None:
    from torchgen.model import FunctionSchema

    with pytest.raises((AssertionError, RuntimeError, ValueError, IndexError)):
        FunctionSchema.parse(text)


def mutants(count: int) -> list[str]:
    """Schemas with one piece lost, doubled or moved."""
    source = random.Random(21)
    schemas = schemas_of(CORE / "native_functions.yaml")
    result = []
    for _ in range(count):
        text = source.choice(schemas)
        start = source.randrange(len(text))
        end = start + source.randrange(1, 4)
        piece = source.choice(["", text[start:end] * 2, " ", "!", "?", "[]", "*, ", "(a)", "=", "_"])
        result.append(text[:start] + piece + text[end:])
    return result


def test_a_damaged_schema_is_refused_where_torchgen_refuses_it(parser: SchemaParser, torch_specs: Path) -> None:
    from torchgen.model import FunctionSchema

    different = []
    for text in mutants(3000):
        try:
            FunctionSchema.parse(text)
            accepted = True
        except Exception:  # torchgen has no error class of its own
            accepted = False
        try:
            parser.parse(text)
        except SpecError:
            if accepted:
                different.append(("refused", text))
        else:
            if not accepted:
                different.append(("accepted", text))
    assert different == []


def test_an_unknown_type_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(SpecError) as caught:
        check_type("Tenser?", BASE_TYPES)
    assert "'Tensor'" in caught.value.hint
