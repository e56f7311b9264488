"""Which files are generated, of which templates, with which units. Part of the stage `shard`."""

from msgspec.structs import replace

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.doors import load
from gradmill.families.family import Layout
from gradmill.families.file import File, operator_in
from gradmill.families.rows import HOOK_FILES
from gradmill.families.table import FAMILIES
from gradmill.grammar.buckets import bucket_of
from gradmill.model.entries import grouped
from gradmill.problems.problem import LAST, Problem, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import table, unkept
from gradmill.stages.kernels import underived, used_keys
from gradmill.stages.kinds.kind import found
from gradmill.stages.requested import families
from gradmill.stages.set import (
    hooks,
    includes,
    is_described,
    own_templates,
    place_of_key,
    release,
    requested_files,
    spec_set,
)
from gradmill.stages.tags import odd_tag, tags
from gradmill.stages.units import units, units_in


@table
def files(db: Database, layout: str, shards: int) -> dict[str, File]:
    """The files of all families, by name, without units if these are printed one by one."""
    listed = arranged(db, layout, shards)
    return {name: file if file.whole else replace(file, units=()) for name, file in listed.items()}


@table
def members(db: Database, layout: str, shards: int) -> dict[str, tuple[str, ...]]:
    """The units of each file, in its order."""
    return {name: file.units for name, file in arranged(db, layout, shards).items()}


@unkept
def arranged(db: Database, layout: str, shards: int) -> dict[str, File]:
    """The files of all families with their units, by name. Reports two with one name."""
    keys = tuple(used_keys(db))
    without = "" if DEFAULT_KEY in keys else underived(db)
    kind = Layout(
        "split" if layout == "split" else "upstream",
        shards,
        keys,
        without,
        tags=tuple(tags(db)),
        odd_tag=odd_tag(db),
        given={name: found(own.given)(db, own) for name in families(db) if (own := FAMILIES[name]).given},
        operator_headers=includes(db).operator_headers is not False,
    )
    by_name: dict[str, File] = {}
    for file in (file for name in families(db) for file in _files(db, name, kind)):
        if file.name in by_name:
            twice = f"two files are called '{file.name}'"
            if not is_described(db):  # it is what the command line asks for
                of = f"{by_name[file.name].family} and {file.family}"
                raise SpecError(f"{twice}, of {of}", "name some of the families, or leave out tree=")
            db.report(_twice(db, file, twice))
        by_name[file.name] = file
    for family in {file.family for file in by_name.values() if file.whole}:
        by_name |= {file.name: file for file in load(FAMILIES[family].whole).more(db, by_name)}
    return by_name


def _twice(db: Database, file: File, problem: str) -> Problem:
    """The problem of a name that two files have."""
    hint, own = "give one another name", hooks(db)
    if file.family == HOOK_FILES:
        key = next(iter(own.modules.values()))
        return Problem("hooks", "", "", problem, hint, line=own.lines["files"], column=1, file=key)
    return Problem("set", "", "", problem, hint, place_of_key(db, ("family", file.family)), file.name)


def _files(db: Database, family: str, layout: Layout) -> list[File]:
    """The requested files of a family; none if there is an error, which is reported."""
    at = requested_files(db)
    try:
        planned = [
            file for file in _planned_files(db, family, layout) if at.has(family, file.made_of.rpartition("/")[2])
        ]
        if _lacks_template(db, family, planned):
            return []
        kind, folder = FAMILIES[family], spec_set(db).comment
        return [
            replace(file, family=family, name=at.path(family, file.name), comment=kind.comment_of(file, folder))
            for file in planned
        ]
    except SpecError as error:
        if error.role is not None:
            problem = problem_of(error, error.role, error.entry, error.op)
            db.report(replace(problem, entry="", file=error.entry) if error.role == "template" else problem)
            return []
        # Any other error may be the reason why these lack derivatives.
        db.report(replace(problem_of(error, "derivatives", "", layout.underived), rank=LAST))
        return []


def _lacks_template(db: Database, family: str, planned: list[File]) -> bool:
    """Whether the spec set lacks a template of a family's files. Reports the first."""
    known = {*spec_set(db).templates, *own_templates(db, family).values(), ""}
    names = (name for file in planned for name in (file.template, *file.other_templates))
    missing = next((name for name in names if name not in known), None)
    if missing is not None:
        problem = f"'{family}' is made from the template {missing}, which the spec set does not have"
        hint = f"leave {family} out, or add the template"
        db.report(Problem("template", "", "", problem, hint, file=missing))
    return missing is not None


def _planned_files(db: Database, family: str, layout: Layout) -> list[File]:
    kind, members, facts = FAMILIES[family], units(db, family), release(db)
    if not kind.is_in(facts):
        error = SpecError(f"PyTorch {facts.version} has no {kind.label}", f"leave out the family {family}")
        error.role, error.entry = "template", kind.row.needs
        raise error
    if family == HOOK_FILES:
        from gradmill.stages.layered.hooks import texts

        return [File(name=name, template="", holes={}) for name in db.names(texts)]
    if not kind.described or not facts.described:
        return kind.files(members, layout, facts)
    from gradmill.families.described import described_files, layout_of, located, stands_apart
    from gradmill.stages.layered.overridden_units import namespaces, rules_of

    rules, templates = rules_of(db, family), own_templates(db, family)
    own = layout_of(layout, rules, namespaces(db) if stands_apart(kind, rules, templates) else ())
    planned = described_files(kind, members, own, facts, rules)
    had, own_only = {*spec_set(db).templates, *templates}, {*rules.files, *rules.file, ""}
    if not had.isdisjoint(kind.row.templates):
        return [located(file, templates) for file in planned]
    return [located(file, templates) for file in planned if file.template in had | own_only]


@table
def groups(db: Database, layout: str, shards: int, name: str) -> dict[str, list[str]]:
    """The units of a file in groups of neighbours, each keyed by its first unit."""
    return {group[0]: group for group in grouped(units_of(db, layout, shards, name))}


def units_of(db: Database, layout: str, shards: int, name: str) -> tuple[str, ...]:
    """The units of a file, in its order, also of one of those that each operator has."""
    listed = members.item(db, layout, shards, name)
    if listed is not None:
        return listed
    file = file_of(db, layout, shards, name)
    return () if file is None else file.units


def file_of(db: Database, layout: str, shards: int, name: str) -> File | None:
    """A generated file by its name, as in `files`, or one of those that each operator has, with its units; None if
    there is none."""
    found = files.item(db, layout, shards, name)
    if found is not None:
        return found
    for entry in db.names(files, layout, shards):
        if operator := operator_in(name, entry):
            own = files.item(db, layout, shards, entry)
            assert own is not None
            units = [unit for unit in units_in(db, own.family, bucket_of(operator)) if unit.shard_key == operator]
            if units:
                return own.of(operator, (unit.name for unit in units))
    return None
