"""Explains what an object is made from, what is made from it, and why it would be rebuilt.

The database is up to date in memory. The rows that this replaced are those that a run would rebuild, and their recorded
dependencies give the reasons. Nothing is stored, and no file is written.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from gradmill.families.file import ANY
from gradmill.families.rows import HOOK_FILES
from gradmill.families.table import FAMILIES
from gradmill.model.entries import by_key
from gradmill.model.nodes import FunctionWithInfo
from gradmill.model.units import Unit
from gradmill.problems.problem import SpecError, nearest
from gradmill.query.database import Database
from gradmill.query.memo import INPUT, ITEM, Name
from gradmill.reports.calls import calls_of
from gradmill.reports.helpers import all_helpers
from gradmill.reports.show import op_names, operator_name
from gradmill.reports.stages import stage_reads
from gradmill.reports.trail import NEVER, TOUCHED, Ends, Trail, entry_end, row
from gradmill.stages import foreach, infos, schemas
from gradmill.stages.added import is_added
from gradmill.stages.arrangement import file_of, files, units_of
from gradmill.stages.emit import text
from gradmill.stages.match import all_pairs
from gradmill.stages.operator_files import digests_of_each, written_files
from gradmill.stages.requested import families
from gradmill.stages.set import defines, hooks
from gradmill.stages.shard import file_digest
from gradmill.stages.units import schema_of, units

_MANY = 20  # more units than this are counted, not listed
_GROUPS = ("emit", "shard", "manifest")  # all units, all generated files, the manifest
_ROLES = ("derivatives", "native", "deprecated")  # in this order, the entries that a unit is made from
UnitKey = tuple[str, str]  # family, name


class Explanation(Struct, frozen=True):
    """Explains one object: a stage, a unit, a generated file, an operator, a helper, a line of a spec file."""

    name: str
    what: str
    made_from: tuple[str, ...]
    made_into: tuple[str, ...]
    reasons: tuple[str, ...]  # why it would be rebuilt; empty if it is up to date
    used_by: tuple[str, ...] = ()  # of a helper, the formulas that call it
    verification: str = ""  # of a Node or an operator, what `verify` found: `verified`, `wrong: …`; "" if not known


class Edit(Struct, frozen=True):
    """A change since the last run, usually of an entry, and its consequences."""

    what: str
    units: tuple[str, ...]
    files: tuple[str, ...]


class BuildPaths(Struct, frozen=True):
    """Paths of spec files, templates and generated files."""

    specs: Mapping[str, str]  # by key
    templates: Mapping[str, str]
    path: Callable[[str], str]  # of a generated file, by its name
    matches: Callable[[str, bytes], bool]  # whether a generated file's bytes have a digest


class Explainer:
    """Explains one build. `stages` maps each stage to the row of its root query."""

    def __init__(self, db: Database, layout: tuple[str, int], paths: BuildPaths, stages: Mapping[str, Name]) -> None:
        self.db = db
        self.layout = layout
        self.paths = paths
        self._stages = stages
        self.trail = trail = Trail(db)
        self._files = files(db, *layout)
        self._units: dict[UnitKey, Unit] = {
            (family, unit.name): unit for family in families(db) for unit in units(db, family)
        }
        self._stale = {at: ends for at in self._units if (ends := trail.causes(row(text, *at)))}
        self._written = written_files(db, *layout)
        self._to_write = {name: ends for name in self._written if (ends := self._causes_of_file(name))}

    def _causes_of_file(self, name: str) -> Ends:
        """Why a file would be written; empty if its bytes are up to date."""
        db, at, home = self.db, self.layout, self._written[name]
        if self.paths.matches(name, home.digest or file_digest(db, *at, name).xxh3):
            return {}
        of = row(digests_of_each, *at, home.entry, home.bucket) if home.bucket else row(file_digest, *at, name)
        return self.trail.causes(of) or {TOUCHED: None}

    # ---- all changes

    def edits(self) -> list[Edit]:
        """The changes since the last run, with the units and files they change."""
        changed = self._ends()
        units = {at: self._led_to(at, ends, changed) for at, ends in self._stale.items()}
        edits = [self._edit(end, units) for end in changed]
        return [edit for end, edit in zip(changed, edits) if end != NEVER or edit.units or edit.files]

    def _led_to(self, at: UnitKey, ends: Ends, changed: Ends) -> Ends:
        """Why a unit would be rebuilt. For a new unit, the changes that it depends on, such as an added entry."""
        if NEVER not in ends or len(changed) == 1:
            return ends
        own = self.trail.made_from(row(text, *at))
        return {end: None for end in changed if end in own} or ends

    def _ends(self) -> Ends:
        edited = [entry_end(role, entry) for role, names in self.trail.edits.items() for entry in names]
        causes = [end for stale in (self._stale, self._to_write) for ends in stale.values() for end in ends]
        return dict.fromkeys([*edited, *causes])

    def _edit(self, end: Name, units: Mapping[UnitKey, Ends]) -> Edit:
        own = [at for at, ends in units.items() if end in ends]
        new = {name for at in own if NEVER in self._stale[at] for name in self._files_of(at)}
        return Edit(
            self.trail.describe(end),
            tuple(self._units[at].title for at in own),
            tuple(name for name, ends in self._to_write.items() if end in ends or name in new),
        )

    # ---- one object

    def explain(self, name: str) -> list[Explanation]:
        """Explains every object called `name`, or matching it if it contains a `*`. A SpecError if there is none."""
        if "*" in name:
            return [explanation for each in self._matching(name) for explanation in self.explain(each)]
        if name in self._stages:
            return [self._stage(name)]
        if name in _GROUPS:
            return [self._group(name)]
        wanted = name.removeprefix("emit:")
        matches = [self._unit(at) for at in self._units if wanted in (at[1], self._units[at].title)]
        if matches and (name != wanted or not self._pairs(name)):
            return matches
        file = called(name.removeprefix("shard:"), self._written)
        if file:
            return [self._file(file)]
        matches = [*map(self._operator, self._pairs(name)), *matches]
        matches += self._helper(name, unused=not matches)
        if not matches:
            if (own := operator_name(name, self.db)) != name:
                return self.explain(own)
            if called(name, {path.rpartition("/")[2] for path in self.paths.specs.values()}):
                of_hooks = "gradmill explain UNIT names the hook that changed its text"
                hint = of_hooks if name.endswith(".py") else f"name a line of it, as in {name}:12"
                raise SpecError(f"explain: '{name}' is a whole file", hint)
            known = [*self._stages, *_GROUPS, *self._names, *all_helpers(self.db)]
            hint = "the set generates nothing for this function" if name in known else nearest(name, known)
            raise SpecError(f"explain: nothing is called '{name}'", hint)
        return matches

    def _helper(self, name: str, *, unused: bool) -> list[Explanation]:
        """The explanation of a function that formulas call; none if no header and no table has it, or if none calls it
        and it is not wanted `unused`."""
        declared = tuple(helper.source for helper in all_helpers(self.db).get(name, ()))
        calls = [(entry_end("derivatives", each.entry), each) for each in calls_of(self.db, name)] if declared else []
        if not (calls or (declared and unused)):
            return []
        ends = dict.fromkeys(end for end, _ in calls)
        used_by = [f"{self._place(end)}: {each.place}" for end, each in calls]
        what, by = "function that formulas call", tuple(used_by) or ("no formula of this set",)
        return [self.entries(name, what, ends, made_from=declared, used_by=by)]

    def entries(
        self,
        name: str,
        what: str,
        ends: Collection[Name],
        *,
        made_from: tuple[str, ...] = (),
        used_by: tuple[str, ...] = (),
        also: Name | None = None,
    ) -> Explanation:
        """Explains what stands for entries of the spec files, which `ends` has: the units made from them. `also`: a
        further end that may be a reason."""
        rows = {row(text, *at): at for at in self._units}
        own = [rows[name] for name in self.trail.leading_to(rows, ends)] if ends else []
        each = [f"{self._units[at].title}, in {', '.join(self._files_of(at)) or 'no file'}" for at in own]
        stale = [at for at in own if at in self._stale]
        causes = {end: None for at in stale for end in self._stale[at]}
        changed = self._ends()
        causes |= {end: None for end in changed if end == also or (also is not None and changed.keys() == {NEVER})}
        reasons = self._reasons(causes)
        made_into = tuple(each) if len(each) <= _MANY else (f"{len(each)} units",)
        units = (listed([self._units[at].title for at in stale], "units"),) if stale else ()
        return Explanation(name, what, made_from, made_into, (*reasons, *units), used_by)

    def _matching(self, pattern: str) -> list[str]:
        """The names that match a pattern: tasks, or else units, files and operators."""
        units = (f"emit:{unit.title}" for unit in self._units.values())
        tasks = [*self._stages, *units, *(f"shard:{file}" for file in self._written)]
        matches = fnmatch.filter(tasks, pattern) or fnmatch.filter(self._names, pattern)
        if not matches:
            hint = nearest(pattern.replace("*", ""), [*tasks, *self._names])
            raise SpecError(f"explain: nothing matches '{pattern}'", hint)
        return list(dict.fromkeys(matches))

    @cached_property
    def _names(self) -> list[str]:
        """The names of all units and files, and those of operators without overload, sorted."""
        operators = sorted({head.unqualified for _, head in schemas.all_heads(self.db)})
        return [*(unit.title for unit in self._units.values()), *self._written, *operators]

    def _files_of(self, at: UnitKey) -> list[str]:
        return self._in_files.get(at, [])

    @cached_property
    def _in_files(self) -> dict[UnitKey, list[str]]:
        listed = (((file.family, unit), name) for name, file in self._files.items() for unit in self._within(name))
        known = ((self._units.get(at), at, name) for at, name in listed)
        named = ((at, name.replace(ANY, unit.shard_key)) for unit, at, name in known if unit is not None)
        return by_key((at, name) for at, name in named if name in self._written)

    def _pairs(self, name: str) -> list[FunctionWithInfo]:
        texts = schemas.schema_texts(self.db)
        return [pair for pair in all_pairs(self.db) if name in op_names(texts[pair.function])]

    def _stage(self, name: str) -> Explanation:
        module = self._stages[name][0].partition(":")[0]
        ran = sorted((row for row in self.db.ran if row[0].startswith(f"{module}:")), key=str)
        causes = {end: None for row in ran for end in self.trail.causes(row)}
        reads = stage_reads(self.db, self._stages)
        return Explanation(
            name,
            "stage",
            (*reads[name].stages, *sorted(map(self._place, reads[name].inputs))),
            tuple(each for each in reads if name in reads[each].stages),
            self._reasons(causes),
        )

    # ---- the tasks of all units, of all files, and of the manifest

    def _group(self, name: str) -> Explanation:
        if name == "manifest":
            what, files = "what the generated files are, for other build systems", ("manifest.json", "units.json")
            return Explanation(name, what, ("shard",), files, self._reasons(self._ends()))
        if name == "emit":
            what, made_from, count, kind = "all units", "match", len(self._units), "units"
            stale = [(self._units[at].title, ends) for at, ends in self._stale.items()]
        else:
            what, made_from, count, kind = "all generated files", "emit", len(self._written), "files"
            stale = [*self._to_write.items()]
        reasons = self._reasons({end: None for _, ends in stale for end in ends})
        last = (listed([title for title, _ in stale], kind),) if reasons else ()
        return Explanation(name, what, (made_from,), (f"{count} {kind}",), (*reasons, *last))

    def _unit(self, at: UnitKey) -> Explanation:
        unit = self._units[at]
        return Explanation(
            unit.title,
            what_of(self.db, at[0], unit),
            (*self._places_of(self.trail.made_from(row(text, *at))), *self._hook_of(at, unit)),
            tuple(self._files_of(at)),
            self._reasons(self._stale.get(at, {})),
        )

    def _hook_of(self, at: UnitKey, unit: Unit) -> tuple[str, ...]:
        """The hook of a description that changes the text of a unit; none if none does."""
        if not defines(self.db, "unit"):
            return ()
        from gradmill.stages.layered.hook_checks import changes

        return self._hook("unit") if changes(self.db, at[0], unit) else ()

    def _hook(self, name: str) -> tuple[str, ...]:
        """A hook of the description, with its place."""
        own = hooks(self.db)
        return (f"{self.paths.specs[next(iter(own.modules.values()))]}:{own.lines[name]}: the hook {name}",)

    def _within(self, name: str) -> tuple[str, ...]:
        return units_of(self.db, *self.layout, name)

    def _file(self, name: str) -> Explanation:
        file, units = file_of(self.db, *self.layout, name), self._within(name)
        assert file is not None
        stale = [self._units[at].title for at in self._stale if at[0] == file.family and at[1] in units]
        reasons = self._reasons(self._to_write.get(name, {}))
        kind = f"{FAMILIES[file.family].unit}s"
        template = [self.paths.templates.get(file.template, file.template)] if file.template else []
        if file.family == HOOK_FILES:
            template, units = [*self._hook("files")], ()
        counted = [f"{len(units)} {kind}"] if units or FAMILIES[file.family].pieces else []
        return Explanation(
            name,
            "generated file",
            (*template, *counted),
            (self.paths.path(name),),
            (*reasons, f"{kind}: {listed(stale, kind)}") if reasons and stale else reasons,
        )

    def _operator(self, pair: FunctionWithInfo) -> Explanation:
        native = schemas.function(self.db, pair.function)
        generated = schemas.origin(self.db, pair.function)
        sources = {pair.function, *(pair.source or {}).values()}
        own_units = [
            at
            for at, unit in self._units.items()
            if pair.function in (unit.function, *unit.functions)
            or (unit.function in sources and unit.role == "derivatives")
        ]
        places = self._places_of(self._ends_of(pair))
        reasons = (
            f"{self._units[at].title}: {each}" for at in own_units for each in self._reasons(self._stale.get(at, {}))
        )
        return Explanation(
            pair.op if native is None else str(native.func),
            "function" if generated is None else f"{generated.kind} variant, generated",
            tuple(places),
            tuple(f"{self._units[at].title}, in {', '.join(self._files_of(at))}" for at in own_units),
            tuple(reasons),
        )

    def _ends_of(self, pair: FunctionWithInfo) -> Iterator[Name]:
        """The ends that a function and the infos that serve it depend on."""
        origin = schemas.origin(self.db, pair.function)
        yield entry_end("native", pair.function if origin is None else origin.base)
        for key, function in (pair.source or {}).items():
            item = infos.rows.item(self.db, infos.keyed(function, key))
            name = row(foreach.synthesized, function) if item is None else row(infos.infos_of, item.definition)
            yield from self.trail.made_from(name)

    def _places_of(self, names: Iterable[Name]) -> list[str]:
        """The texts of the ends worth naming: files of extensions, entries."""
        ends = dict.fromkeys(names)
        files = [end for end in ends if end[0] == INPUT and is_added(end[1])]
        entered = [end for role in _ROLES for end in ends if end[0] == ITEM and end[2] == role]
        return list(map(self._place, (*files, *entered)))

    def _place(self, end: Name) -> str:
        """The text of an end, with its path."""
        return self.trail.describe(end, self.paths.specs)

    def _reasons(self, causes: Iterable[Name]) -> tuple[str, ...]:
        return tuple(map(self.trail.reason, causes))


def what_of(db: Database, family: str, unit: Unit) -> str:
    """The kind of a unit and its operator's schema, as text."""
    kind = "Node" if FAMILIES[family].unit == "Node" else f"{family} unit"
    key = "" if unit.dispatch_key in ("", "Default") else f" under {unit.dispatch_key}"
    schema = schema_of(db, family, unit)  # "" for what is not of a function
    of = f"of {schema}{key}" if schema else "that is written by hand"
    return f"{'synthesized foreach ' if unit.synthesized else ''}{kind} {of}"


def called(path: str, names: Iterable[str]) -> str:
    """The longest generated file name that the path ends with; "" if there is none."""
    whole = "/" + path.replace("\\", "/")
    return max((name for name in names if whole.endswith(f"/{name}")), key=len, default="")


def listed(names: Iterable[str], what: str) -> str:
    """The names, or their number if there are many."""
    names = list(names)
    return ", ".join(names) if len(names) <= _MANY else f"{len(names)} {what}"


def first_of(texts: Sequence[str]) -> Sequence[str]:
    """The texts; of many, the first ones, and the number of the others."""
    return texts if len(texts) <= _MANY else (*texts[:_MANY], f"{len(texts) - _MANY} more")
