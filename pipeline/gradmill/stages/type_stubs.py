"""The hints of Python names in type stubs: from schemas, from what a checkout's script writes by hand, from docstrings.

The script is interpreted with the names of functions in place of their signatures, so its own rules give the lists of
names, the order of hints and all that is written by hand: an edit of a schema that changes no name does not run it.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, SupportsIndex

from gradmill.families.bindings.order import grouped
from gradmill.families.type_stubs.files import CLASSES, FUNCTIONS, STUBS
from gradmill.families.type_stubs.order import orders_of
from gradmill.families.type_stubs.text import signature_lines
from gradmill.model.bindings import Binding
from gradmill.model.type_stubs import GENERATED, Hint, StubRules, StubScript
from gradmill.model.units import Unit
from gradmill.problems.problem import Role, SpecError, TextError
from gradmill.query.database import Database
from gradmill.query.query import query, table, unkept
from gradmill.rules.native.structseqs import returns_structseq
from gradmill.specs.python_tables import Record, Script, members_of
from gradmill.stages import python_names
from gradmill.stages.layered.files import parse_file
from gradmill.stages.schemas import buckets, heads
from gradmill.stages.set import release, spec_set
from gradmill.stages.tags import tags

ROLE: Role = "stub_script"
_FUNCTION, _METHOD = "torch", "Tensor"  # the modules of names
_MODES = ("DispatchKey", "_TorchDispatchModeKey")  # enumerations of torchgen that the script prints
_NAMES = ("gen_pyi", "blocklist")  # which the script must have
_FUNCTIONS, _METHODS = "unsorted_function_hints", "unsorted_tensor_method_hints"  # its tables
_CORRECTING = "replace_special_case"  # its function that corrects hints of functions
_DOCS: dict[Role, str] = {"torch_docs": "torch._torch_docs", "tensor_docs": "torch._tensor_docs"}  # to import
_OWN_NAMES = {_FUNCTION: "torch.", _METHOD: "torch._C.TensorBase."}  # in the modules with docstrings


@table
def named(db: Database, bucket: str) -> dict[str, tuple[bool, bool]]:
    """The Python names of a bucket that have stubs, each with whether it has deprecated forms, and named results."""
    own, found = dict(heads(db, bucket)), {}
    for unit in python_names.units_of_bucket(db, bucket):
        module, _, name = unit.name.rpartition(".")
        if module in _OWN_NAMES:
            deprecated = module == _FUNCTION and any(
                each in unit.functions for each, _ in python_names.called(db, name)
            )
            found[unit.name] = deprecated, any(returns_structseq(own[each]) for each in unit.functions)
    return found


@query
def script(db: Database) -> StubScript:
    """What the script writes besides the text of units. Reports what cannot be read."""
    names = {name: facts for bucket in db.names(buckets) for name, facts in named(db, bucket).items()}
    model = parse_file(db, "torchgen_model", lambda text: {each: members_of(text, each) for each in _MODES})
    known: dict[str, Any] = {
        f"torchgen.model.{each}": [Record(name=own) for own in (model or {}).get(each, ())] for each in _MODES
    }
    known["torchgen.gen.parse_tags_yaml"] = lambda path: tags(db)
    return parse_file(db, ROLE, lambda text: _written(text, known, names)) or StubScript({}, StubRules(), {})


def _written(text: str, known: Mapping[str, Any], names: Mapping[str, tuple[bool, bool]]) -> StubScript:
    """What the script writes if these are all names. Raises a TextError for what cannot be read."""
    by_module: dict[str, list[Record]] = {module: [] for module in _OWN_NAMES}
    for name, facts in names.items():
        module, _, plain = name.rpartition(".")
        by_module[module] += _stand_ins(plain, *facts)
    run = Script(
        text,
        {
            **known,
            "torchgen.api.python.format_function_signature": signature_lines,
            "torchgen.api.python.returns_structseq_pyi": lambda signature: signature.attributes["named"],
        },
    )
    if lacking := [name for name in _NAMES if name not in run.names]:
        raise TextError(f"the script has no {lacking[0]}", "write it as PyTorch's releases do", 1, 1)
    run.names["get_py_torch_functions"] = lambda signatures, method=False: by_module[_METHOD if method else _FUNCTION]
    files: dict[str, dict[str, Any]] = {}
    manager = Record(write_with_template=lambda name, template, holes: files.update({name: holes()}))
    run.names["gen_pyi"]("", "", "", manager)
    if unknown := [name for name in files if name not in STUBS]:
        raise TextError(f"the script writes {unknown[0]}, which gradmill does not know", "update gradmill", 1, 1)
    tables = ((_FUNCTION, _FUNCTIONS), (_METHOD, _METHODS))
    of_modules = ((module, sorted(run.locals["gen_pyi"][table].items())) for module, table in tables)
    hints = {f"{module}.{name}": _once(own) for module, listed in of_modules for name, own in listed if own}
    holes = {name: {hole: _text(hole, own) for hole, own in written.items()} for name, written in files.items()}
    for name, written in holes.items():
        slot = STUBS[name][1]
        if slot == CLASSES:
            written[slot] = [_with_class(each.strip(f"{GENERATED}\n"), names) for each in written[slot]]
        elif slot:
            own_module = _FUNCTION if slot == FUNCTIONS else _METHOD
            written[slot] = [each for each in hints if each.rpartition(".")[0] == own_module]
    return StubScript(hints, StubRules([*run.names["blocklist"]], _replaced(run.locals["gen_pyi"])), holes)


class _Noting(str):
    """A hint that notes what is replaced in it."""

    def __init__(self, text: str) -> None:
        self.replaced: list[tuple[str, str]] = []

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> str:
        self.replaced.append((old, new))
        return self


def _replaced(functions: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the script's function that corrects hints replaces."""
    hint = _Noting("")
    if _CORRECTING in functions:
        functions[_CORRECTING](hint)
    return hint.replaced


def _stand_ins(name: str, deprecated: bool, named: bool) -> Iterator[Record]:
    """What stands for the signatures of a name while the script is read: one for all, one more for deprecated ones."""
    for is_deprecated in (False, True)[: 1 + deprecated]:
        signature = Record(
            name=name,
            deprecated=is_deprecated,
            signature_str_pyi=lambda skip_outputs=False: GENERATED,
            signature_str_pyi_vararg=lambda skip_outputs=False: None,
            named=(name, GENERATED + name) if named else None,
        )
        yield Record(signature=signature, outplace=None)


def _once(hints: Iterable[object]) -> list[str]:
    """The hints of a name, with one place for all that signatures give: what is computed from them is opaque."""
    texts = [each if isinstance(each, str) else GENERATED for each in hints]
    return [each for at, each in enumerate(texts) if each != GENERATED or each not in texts[:at]]


def _text(hole: str, value: object) -> Any:
    """The text or the lines in a hole. TextError if they are computed."""
    known = isinstance(value, str) or (isinstance(value, list) and all(isinstance(each, str) for each in value))
    if not known:
        raise TextError(f"'{hole}' is not known before the script runs", "write it as text, or as a list", 1, 1)
    return value


def _with_class(name: str, names: Mapping[str, tuple[bool, bool]]) -> str:
    """The function, else the method, that has a class of named results."""
    function = f"{_FUNCTION}.{name}"
    return function if names.get(function, (False, False))[1] else f"{_METHOD}.{name}"


@table
def hints(db: Database) -> dict[str, list[str]]:
    """The hints of each name, with a place for those that signatures give. A method may have a class alone."""
    written = script(db)
    classes = [each for own in written.holes.values() for each in own.get(CLASSES, ())]
    return {**{name: [] for name in classes if name.rpartition(".")[0] in _OWN_NAMES}, **written.hints}


@query
def rules(db: Database) -> StubRules:
    """What the script does to hints from signatures."""
    return script(db).rules


def holes(db: Database) -> dict[str, dict[str, str | list[str]]]:
    """What fills the holes of each file: text, or the names of units."""
    return script(db).holes


@table
def docstrings(db: Database) -> dict[str, str]:
    """The docstrings of functions and methods, by their names in Python. Reports what cannot be read."""
    found: dict[str, str] = {}
    known: dict[str, Any] = {"torch._C._add_docstr": lambda of, text: found.update({of.name: text.strip()})}
    for role, module in _DOCS.items():
        own = parse_file(db, role, lambda text: Script(text, known)) if role in spec_set(db).files else None
        known |= {f"{module}.{name}": value for name, value in own.names.items()} if own is not None else {}
    return found


@query
def signatures(db: Database, bucket: str) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """The signatures of each name of a bucket as text, each with the types of its parameters; without invalid ones."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name in named(db, bucket):
        own = _binding(db, name)
        with suppress(SpecError):  # the unit reports it
            listed = grouped(own, release(db)) if own is not None else []
            found[name] = [(group.text, tuple(each.type for each in group.signature.inputs)) for group in listed]
    return found


@table
def orders(db: Database) -> dict[str, list[int]]:
    """The order of the signatures of each name that has several. Upstream orders all of them, not those of a name."""
    all_names = {name: own for bucket in db.names(buckets) for name, own in signatures(db, bucket).items()}
    return {
        name: order
        for module in _OWN_NAMES
        for name, order in orders_of({n: own for n, own in all_names.items() if n.startswith(f"{module}.")}).items()
        if len(order) > 1
    }


@query
def hint(db: Database, name: str) -> Hint | None:
    """A name with all that its stub needs; None if it has none."""
    listed = hints.item(db, name)
    if listed is None:
        return None
    module, _, plain = name.rpartition(".")
    docstring = docstrings.item(db, _OWN_NAMES[module] + plain)
    order, own = orders.item(db, name) or [], rules(db)
    replaced = own.replaced if module == _FUNCTION else []
    return Hint(name, listed, _binding(db, name), order, plain in own.by_hand, replaced, docstring)


def _binding(db: Database, name: str) -> Binding | None:
    of_functions = name.startswith(f"{_FUNCTION}.")
    return python_names.binding(db, name) if of_functions else python_names.named_functions(db, name)


# ---- units


@unkept
def all_units(db: Database) -> list[Unit]:
    """The names that have stubs."""
    return [_unit(db, name) for name in db.names(hints)]


def unit_named(db: Database, name: str) -> Unit | None:
    """A name as a unit; None if it has no stub."""
    return None if hints.item(db, name) is None else _unit(db, name)


def units_of_function(db: Database, identity: str) -> list[str]:
    """The names under which stubs have a function."""
    return [each for each in python_names.units_of_function(db, identity) if hints.item(db, each) is not None]


def _unit(db: Database, name: str) -> Unit:
    """A name as a unit: that of its binding, or without an entry if it is only written by hand."""
    own = python_names.unit_named(db, name)
    plain = name.rpartition(".")[2]
    return own or Unit(name, name, plain, plain, ROLE, "")


stage = python_names.stage  # deprecated forms are validated as for bindings
