"""The hints of Python names in type stubs: from schemas, from what a checkout's script writes by hand, from docstrings.

The script is interpreted with the names of functions in place of their signatures. So its own rules give the lists of
names, the order of hints and what is written by hand, and an edit that changes no name does not read it again.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, SupportsIndex

from gradmill.families.bindings.order import grouped
from gradmill.families.type_stubs.files import CLASSES, FUNCTIONS, STUBS, TYPE_STUBS
from gradmill.families.type_stubs.order import Types, orders_of
from gradmill.families.type_stubs.text import signature_lines
from gradmill.model.bindings import Binding
from gradmill.model.type_stubs import GENERATED, Hint, StubScript, Written
from gradmill.problems.problem import Role, SpecError, TextError
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.native.structseqs import returns_structseq
from gradmill.specs.python_tables import Record, Script, members_of
from gradmill.stages import python_names
from gradmill.stages.kinds.python_names import in_bucket
from gradmill.stages.layered.files import parse_file
from gradmill.stages.schemas import buckets, heads
from gradmill.stages.set import release, spec_set
from gradmill.stages.tags import tags

ROLE: Role = "stub_script"
_FUNCTION, _METHOD = "torch", "Tensor"  # the modules of names
_DOCUMENTED = {_FUNCTION: "torch.", _METHOD: "torch._C.TensorBase."}  # what docstrings call them
_DOCS: dict[Role, str] = {"torch_docs": "torch._torch_docs", "tensor_docs": "torch._tensor_docs"}  # to import
_MODEL = "torchgen.model"
_ENUMERATIONS = ("DispatchKey", "_TorchDispatchModeKey")  # of this module
# Names of the script: its main function, of which these tables are local, as is the function that corrects hints.
_MAIN, _BY_HAND = "gen_pyi", "blocklist"
_TABLES = {_FUNCTION: "unsorted_function_hints", _METHOD: "unsorted_tensor_method_hints"}
_CORRECTING = "replace_special_case"

Names = Mapping[str, tuple[bool, bool]]


@table
def named(db: Database, bucket: str) -> dict[str, tuple[bool, bool]]:
    """The Python names of a bucket that have stubs, each with whether it has deprecated forms, and named results."""
    own, found = dict(heads(db, bucket)), {}
    for unit in in_bucket(db, TYPE_STUBS, bucket):
        module, _, name = unit.name.rpartition(".")
        if module in _TABLES:
            forms = python_names.called(db, name) if module == _FUNCTION else []
            deprecated = any(each in unit.functions for each, _ in forms)
            found[unit.name] = deprecated, any(returns_structseq(own[each]) for each in unit.functions)
    return found


@query
def script(db: Database) -> StubScript:
    """What the script writes besides the text of units. Reports what cannot be read."""
    names = {name: facts for bucket in db.names(buckets) for name, facts in named(db, bucket).items()}
    known: dict[str, Any] = {"torchgen.gen.parse_tags_yaml": lambda path: tags(db)}
    for each in _ENUMERATIONS:
        found = parse_file(db, "torchgen_model", lambda text, name=each: members_of(text, name))  # type: ignore[misc]
        known[f"{_MODEL}.{each}"] = [Record(name=own) for own in found or ()]
    return parse_file(db, ROLE, lambda text: _written(text, known, names)) or StubScript({}, {})


def _written(text: str, known: Mapping[str, Any], names: Names) -> StubScript:
    """What the script writes if these are all names. Raises a TextError for what cannot be read."""
    python = "torchgen.api.python"
    signatures = {
        f"{python}.format_function_signature": signature_lines,
        f"{python}.returns_structseq_pyi": lambda signature: signature.attributes["named"],
    }
    run = Script(text, {**known, **signatures})
    _check({_MAIN: callable(run.names.get(_MAIN)), _BY_HAND: isinstance(run.names.get(_BY_HAND), (list, tuple, set))})
    groups = {module: [each for name in names for each in _stand_ins(name, module, names)] for module in _TABLES}
    run.names["get_py_torch_functions"] = lambda found, method=False: groups[_METHOD if method else _FUNCTION]
    files: dict[str, dict[str, Any]] = {}
    manager = Record(write_with_template=lambda name, template, holes: files.update({name: holes()}))
    run.names[_MAIN]("", "", "", manager)
    if unknown := next((name for name in files if name not in STUBS), ""):
        raise TextError(f"the script writes {unknown}, which gradmill does not know", "update gradmill", 1, 1)
    own, hint = run.locals[_MAIN], _Noting()
    _check({table: isinstance(own.get(table), dict) for table in _TABLES.values()})
    _check({f"text for {name}": isinstance(found, dict) for name, found in files.items()})
    own.get(_CORRECTING, lambda text: text)(hint)
    written = {
        f"{module}.{name}": Written(_once(listed), name in by_hand, hint.replaced if module == _FUNCTION else [])
        for by_hand in [set(run.names[_BY_HAND])]
        for module, table in _TABLES.items()
        for name, listed in sorted(own[table].items())
        if listed
    }
    return StubScript(written, {name: _holes(STUBS[name][1], own, [*written], names) for name, own in files.items()})


def _check(found: Mapping[str, bool]) -> None:
    """TextError for the first thing that the script lacks."""
    if lacking := next((name for name in found if not found[name]), ""):
        raise TextError(f"the script has no {lacking}", "write it as PyTorch's releases do", 1, 1)


def _stand_ins(name: str, module: str, names: Names) -> list[Record]:
    """What stands for the signatures of a name of a module: one for all, and one more for deprecated ones."""
    of, _, plain = name.rpartition(".")
    deprecated, has_class = names[name]
    texts = {"signature_str_pyi": lambda **options: GENERATED, "signature_str_pyi_vararg": lambda **options: None}
    facts = {"name": plain, "named": (plain, GENERATED + plain) if has_class else None, **texts}
    both = (False, True)[: (1 + deprecated) * (of == module)]
    return [Record(signature=Record(deprecated=each, **facts), outplace=None) for each in both]


def _once(hints: list[object]) -> list[str]:
    """The hints of a name, with one place for all that signatures give: what is computed from them is opaque."""
    texts = [each if isinstance(each, str) else GENERATED for each in hints]
    return [each for at, each in enumerate(texts) if each != GENERATED or each not in texts[:at]]


def _holes(slot: str, written: Mapping[str, Any], hints: list[str], names: Names) -> dict[str, str | list[str]]:
    """What fills the holes of a file: text, or in the slot of units their names. TextError if text is not known."""
    holes: dict[str, str | list[str]] = dict(written)
    for hole, text in written.items():
        if not isinstance(text, str) and not (isinstance(text, list) and all(isinstance(each, str) for each in text)):
            raise TextError(f"'{hole}' is not known before the script runs", "write it as text, or as a list", 1, 1)
    _check({f"hole '{slot}'": not slot or slot in written})
    if slot == CLASSES:
        plain = (each.strip(f"{GENERATED}\n") for each in written[slot])
        functions = ((f"{_FUNCTION}.{name}", f"{_METHOD}.{name}") for name in plain)
        holes[slot] = [one if names.get(one, (False, False))[1] else other for one, other in functions]
    elif slot:
        holes[slot] = [
            each for each in hints if each.rpartition(".")[0] == (_FUNCTION if slot == FUNCTIONS else _METHOD)
        ]
    return holes


class _Noting(str):
    """A hint that notes what is replaced in it."""

    def __init__(self) -> None:
        self.replaced: list[tuple[str, str]] = []

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> str:
        self.replaced.append((old, new))
        return self


@table
def hints(db: Database) -> dict[str, Written]:
    """What the script says of each name; of one that has only a class, nothing."""
    found = script(db)
    classes = found.holes.get("torch/return_types.pyi", {}).get(CLASSES, ())
    return {**{name: Written([], True, []) for name in classes}, **found.names}


def holes(db: Database) -> dict[str, dict[str, str | list[str]]]:
    """What fills the holes of each file: text, or the names of units."""
    return script(db).holes


@table
def docstrings(db: Database) -> dict[str, str]:
    """The docstrings of functions and methods, by their names in Python. Reports what cannot be read."""
    found: dict[str, str] = {}
    known: dict[str, Any] = {"torch._C._add_docstr": lambda of, text: found.update({of.name: text.strip()})}

    def read(text: str) -> Mapping[str, Any]:
        return Script(text, known).names

    for role, module in _DOCS.items():
        own = parse_file(db, role, read) if role in spec_set(db).files else None
        known |= {f"{module}.{name}": value for name, value in (own or {}).items()}
    return found


@query
def signatures(db: Database, bucket: str) -> dict[str, list[tuple[str, Types]]]:
    """The signatures of each name of a bucket as text, each with the types of its parameters; without invalid ones."""
    found: dict[str, list[tuple[str, Types]]] = {}
    for name in named(db, bucket):
        own = _binding(db, name)
        with suppress(SpecError):  # the unit reports it
            listed = grouped(own, release(db)) if own is not None else []
            found[name] = [(group.text, tuple(each.type for each in group.signature.inputs)) for group in listed]
    return found


@table
def orders(db: Database) -> dict[str, list[int]]:
    """The order of the signatures of each name that has several: all of a module are ordered at once."""
    by_module: dict[str, dict[str, list[tuple[str, Types]]]] = {module: {} for module in _TABLES}
    for bucket in db.names(buckets):
        for name, own in signatures(db, bucket).items():
            by_module[name.rpartition(".")[0]][name] = own
    ordered = (orders_of(names) for names in by_module.values())
    return {name: order for found in ordered for name, order in found.items() if len(order) > 1}


@query
def hint(db: Database, name: str) -> Hint | None:
    """A name with all that its stub needs; None if it has none."""
    written = hints.item(db, name)
    if written is None:
        return None
    module, _, plain = name.rpartition(".")
    docstring = docstrings.item(db, _DOCUMENTED[module] + plain)
    return Hint(written, _binding(db, name), orders.item(db, name) or [], docstring)


def _binding(db: Database, name: str) -> Binding | None:
    """What Python calls by a name: stubs have no deprecated forms of methods."""
    find = python_names.binding if name.startswith(f"{_FUNCTION}.") else python_names.named_functions
    return find(db, name)
