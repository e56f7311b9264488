"""Names that have type stubs, and their hints: from schemas, from what a checkout's script writes by hand, from
docstrings. The script runs with names in place of signatures: an edit that changes no name does not run it again.
"""

import ast
from contextlib import suppress
from importlib.resources import files

import msgspec

from gradmill.extensions.type_stubs.family import MODEL, ROLE, STUBS, TENSOR_DOCS, TORCH_DOCS, TYPE_STUBS
from gradmill.extensions.type_stubs.model import Hint, StubScript, Written
from gradmill.extensions.type_stubs.stand_ins import SCRIPT, TABLES
from gradmill.families.bindings.order import Types, grouped, in_precedence
from gradmill.families.family import Family
from gradmill.families.hook_files.process import Process
from gradmill.model.bindings import Binding
from gradmill.model.units import Unit
from gradmill.problems.problem import Problem, Role, SpecError
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.native.structseqs import returns_structseq
from gradmill.specs.text import parse_python
from gradmill.stages import python_names
from gradmill.stages.kinds import python_names as bound
from gradmill.stages.kinds.kind import Kind
from gradmill.stages.schemas import buckets, heads
from gradmill.stages.set import release, spec_set
from gradmill.stages.spec_files import parse_file
from gradmill.stages.tags import tags

_FILES = {SCRIPT: ROLE, "_torch_docs": TORCH_DOCS, "_tensor_docs": TENSOR_DOCS}  # modules -> files


@table
def facts(db: Database, bucket: str) -> dict[str, tuple[bool, bool]]:
    """The Python names of a bucket that have stubs, each with whether it has deprecated forms, and named results."""
    own, found = dict(heads(db, bucket)), {}
    for unit in bound.in_bucket(db, TYPE_STUBS, bucket):
        module, _, name = unit.name.rpartition(".")
        if module in TABLES:
            forms = python_names.called(db, name) if module == "torch" else ()
            deprecated = any(each in unit.functions for each, _ in forms)
            found[unit.name] = deprecated, any(returns_structseq(own[each]) for each in unit.functions)
    return found


@query
def script(db: Database) -> StubScript:
    """What the script writes besides the text of units, and docstrings. Reports what cannot be read, or fails."""
    names = {name: own for bucket in db.names(buckets) for name, own in facts(db, bucket).items()}
    keys = parse_file(db, MODEL, _members) or {}
    listed = [(name, parse_file(db, role, str)) for name, role in _FILES.items() if role in spec_set(db).files]
    texts = [(name, text) for name, text in listed if text is not None]
    slots = {f"{name} from {template}": slot for name, (template, slot) in STUBS.items()}
    if texts == listed:
        main = files("gradmill.extensions.type_stubs").joinpath("stand_ins.py").read_text()
        own = Process((("hooks", main), *texts), 0).call("stubs", tags(db), keys, names, slots)
        if not own.error:
            return msgspec.convert(own.value, StubScript)
        module, line = own.at if own.at[0] in _FILES else (SCRIPT, 1)
        problem, hint = f"the script fails without PyTorch: {own.error}", "write it as PyTorch's releases do, or run it"
        db.report(Problem(_FILES[module], "", "", problem, hint, line=line, column=1))
    return StubScript({}, {}, {})


def holes(db: Database, family: Family) -> dict[str, dict[str, str | list[str]]]:
    """The text of each file that no unit prints."""
    return script(db).holes


def _members(text: str) -> dict[str, list[str]]:
    """The members of enumerations in torchgen/model.py, in their order, without aliases."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(parse_python(text)):
        if isinstance(node, ast.ClassDef) and node.name in ("DispatchKey", "_TorchDispatchModeKey"):
            own = [each for each in node.body if isinstance(each, ast.Assign) and not isinstance(each.value, ast.Name)]
            found[node.name] = [target.id for each in own for target in each.targets if isinstance(target, ast.Name)]
    return found


@table
def hints(db: Database) -> dict[str, Written]:
    """What the script says of each name; of one that has only a class, nothing."""
    return script(db).names


@table
def docstrings(db: Database, role: Role) -> dict[str, str]:
    """The docstrings in a file, by name, as in StubScript."""
    return {name: text for name, text in script(db).docstrings.items() if _documents(name) == role}


@query
def signatures(db: Database, bucket: str) -> dict[str, list[tuple[str, Types]]]:
    """The signatures of each name of a bucket as text, each with the types of its parameters; without invalid ones."""
    found: dict[str, list[tuple[str, Types]]] = {}
    for name in facts(db, bucket):
        own = _binding(db, name)
        with suppress(SpecError):  # the unit reports it
            listed = grouped(own, release(db)) if own is not None else []
            found[name] = [(group.text, tuple(each.type for each in group.signature.inputs)) for group in listed]
    return found


@table
def orders(db: Database) -> dict[str, list[int]]:
    """The order of the signatures of each name that has several. Upstream orders all of a module at once: one follows
    all that take precedence over it, whatever their names. Those that wait for one another come last."""
    found: dict[str, list[int]] = {}
    every = [own for bucket in db.names(buckets) for own in signatures(db, bucket).items()]
    for module in TABLES:
        of_module = [(name, own) for name, own in every if name.rpartition(".")[0] == module]
        listed = sorted((text, name, at, types) for name, own in of_module for at, (text, types) in enumerate(own))
        order, rest = in_precedence([types for *_, types in listed])
        for _, name, at, _ in (listed[each] for each in order + rest):
            found.setdefault(name, []).append(at)
    return {name: order for name, order in found.items() if len(order) > 1}


@query
def hint(db: Database, name: str) -> Hint | None:
    """A name with all that its stub needs; None if it has none."""
    written = hints.item(db, name)
    if written is None:
        return None
    return Hint(written, _binding(db, name), orders.item(db, name) or [], docstrings.item(db, _documents(name), name))


def _documents(name: str) -> Role:
    """The role of the file with the docstring of a name."""
    return TORCH_DOCS if name.startswith("torch.") else TENSOR_DOCS


def _binding(db: Database, name: str) -> Binding | None:
    """What Python calls by a name: stubs have no deprecated forms of methods."""
    find = python_names.binding if name.startswith("torch.") else python_names.named_functions
    return find(db, name)


def listed(db: Database, family: Family) -> list[Unit]:
    """The names that have stubs. Verifies the deprecated forms of calls."""
    db.digest(python_names.stage)
    return [unit for name in db.names(hints) if (unit := named(db, family, name)) is not None]


def named(db: Database, family: Family, name: str) -> Unit | None:
    """A name as a unit: that of its binding, or without an entry if it is only written by hand; None without a stub."""
    if hints.item(db, name) is None:
        return None
    plain = name.rpartition(".")[2]
    return bound.named(db, family, name) or Unit(
        name=name, title=name, shard_key=plain, overload=plain, role=ROLE, entry=""
    )


def of_function(db: Database, family: Family, identity: str) -> list[str]:
    """The names under which stubs have a function."""
    return [each for each in bound.of_function(db, family, identity) if hints.item(db, each) is not None]


KIND = Kind(listed, named, of_function=of_function)
