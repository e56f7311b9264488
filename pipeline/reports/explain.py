"""What a thing is made from, what is made from it, and why it would be made again.

The reasons come from the inputs that steps resolve to: the walk that gives a step its key gives its explanation.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pipeline.build.engine import Build
from pipeline.build.ensure import ensure
from pipeline.build.step import Step, changed_inputs
from pipeline.graph import ANALYSIS, functions_of, label
from pipeline.graph_output import EmitStep, emit_steps, shard_steps
from pipeline.graph_shard import ShardStep
from pipeline.matched import all_matched
from pipeline.model.infos import Infos, NodeRow
from pipeline.model.specs import SpecEntry, SpecFile
from pipeline.problems.problem import Role, SpecError, nearest
from pipeline.reports.show import op_names
from pipeline.specs.spec_set import ROLES


class Explanation(Struct, frozen=True):
    """One thing of the build: a stage, a Node, a generated file or an operator."""

    name: str
    what: str
    made_from: tuple[str, ...]
    made_into: tuple[str, ...]
    reasons: tuple[str, ...]  # why it would be made again; none: it is up to date


class Edit(Struct, frozen=True):
    """An entry that changed since the last run, and what follows from it."""

    entry: str  # file:line operator
    nodes: tuple[str, ...]
    files: tuple[str, ...]


def reasons(build: Build, step: Step) -> tuple[str, ...]:
    """Why `step` would run, empty when it would not."""
    before, outcome = build.recorded(step.name)
    resolved = step.resolve(build)
    found = changed_inputs(before, resolved.inputs)
    if not before:
        return ("it has not been made yet",)
    if not found and not step.present(build, outcome):
        found = ["its output was changed or removed"]
    return tuple(found)


class Explainer:
    """Explains one build. The analysis is up to date; Nodes are rendered as needed, generated files left alone."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._before = {step.name: reasons(build, step) for step in self._analyse()}
        self._emit = {step.row.node: step for step in emit_steps(build)}
        self._stale = {node: found for node, step in self._emit.items() if (found := reasons(build, step))}
        for node in self._stale:
            ensure(build, self._emit[node])
        self._shards = {step.file.name: step for step in shard_steps(build)}

    def _analyse(self) -> Iterable[Step]:
        """The stages in order; each is brought up to date after its reasons were asked for."""
        for step in ANALYSIS:
            yield step
            ensure(self._build, step)

    def edits(self) -> list[Edit]:
        """What changed in the spec files since the last run, down to the files that will change."""
        found = []
        claimed: set[str] = set()
        for role in ROLES:
            file = self._file(role)
            for index, entry in self._changed_entries(role):
                nodes = [row.node for row in self._rows(role, index, entry) if row.node in self._stale]
                claimed.update(nodes)
                name = _title(entry).partition("(")[0]
                found.append(Edit(f"{file.name}:{entry.line} {name}", tuple(nodes), self._files_of(nodes)))
        others = [node for node in self._stale if node not in claimed]
        if others:
            why = sorted({reason for node in others for reason in self._stale[node]})
            found.append(Edit("; ".join(why), tuple(others), self._files_of(others)))
        told = {name for edit in found for name in edit.files}
        for name, step in self._shards.items():
            if name not in told and (changed := reasons(self._build, step)):
                found.append(Edit("; ".join(changed), (), (name,)))
        return found

    def explain(self, name: str) -> list[Explanation]:
        """The explanations of all things called `name`."""
        stages = {step.name: step for step in ANALYSIS}
        if name in stages:
            return [self._stage(stages[name])]
        if name.removeprefix("emit:") in self._emit:
            return [self._node(self._emit[name.removeprefix("emit:")])]
        if name.removeprefix("shard:") in self._shards:
            return [self._shard(self._shards[name.removeprefix("shard:")])]
        found = self._operator(name)
        if not found:
            known = [*stages, *self._emit, *self._shards, *self._operators()]
            raise SpecError(f"explain: nothing is called '{name}'", nearest(name, known))
        return found

    def _stage(self, step: Step) -> Explanation:
        resolved = step.resolve(self._build)
        made = self._build.outcome(step.name).artifacts
        why = self._before[step.name]
        return Explanation(
            step.name,
            "stage",
            tuple(i.label for i in resolved.inputs),
            tuple(f"{what} {digest.hex()[:12]}" for what, digest in made.items()),
            why,
        )

    def _node(self, step: EmitStep) -> Explanation:
        row = step.row
        entry = self._file("derivatives").entries[row.entry]
        made_from = [
            self._place("derivatives", entry),
            *(self._place("native", e) for e in self._native(row.schema)),
            "gradmill's own code",
        ]
        kind = "synthesized foreach Node" if row.synthesized else "Node"
        key = "" if row.dispatch_key == "Default" else f" under {row.dispatch_key}"
        return Explanation(
            row.node,
            f"{kind} of {row.schema}{key}",
            tuple(made_from),
            tuple(name for name, shard in self._shards.items() if row.node in shard.file.nodes),
            self._stale.get(row.node, ()),
        )

    def _shard(self, step: ShardStep) -> Explanation:
        template = self._build.config.specs.templates[step.file.template]
        nodes = f"{len(step.file.nodes)} Nodes"
        return Explanation(
            step.file.name,
            "generated file",
            (str(template), nodes),
            (step.path(self._build),),
            self._shard_reasons(step),
        )

    def _shard_reasons(self, step: ShardStep) -> tuple[str, ...]:
        stale = [node for node in self._stale if node in step.file.nodes]
        found = list(reasons(self._build, step))
        return tuple(found + ([f"Nodes: {', '.join(stale)}"] if found and stale else []))

    def _operator(self, name: str) -> list[Explanation]:
        functions = functions_of(self._build)
        infos = self._build.load(self._build.outcome("infos").artifacts["infos"], Infos)
        found = []
        for matched in all_matched(self._build):
            if name not in op_names(matched.func):
                continue
            function = functions.function(functions.by_schema[matched.func])
            places = [self._place("native", e) for e in self._native(function.generated_from or matched.func)]
            nodes: list[str] = []
            for key, schema in (matched.source or {}).items():
                row = infos.by_schema.get(schema, {}).get(key)
                if row is not None:
                    places.append(self._place("derivatives", self._file("derivatives").entries[row.entry]))
                nodes += [step.row.node for step in self._emit.values() if step.row.schema == schema]
            what = "generated function" if function.generated_from else "function"
            why = tuple(f"{node}: {reason}" for node in nodes for reason in self._stale.get(node, ()))
            found.append(
                Explanation(matched.func, what, tuple(dict.fromkeys(places)), tuple(dict.fromkeys(nodes)), why)
            )
        return found

    def _operators(self) -> set[str]:
        functions = functions_of(self._build)
        return {head.unqualified for head in functions.heads}

    def _file(self, role: Role) -> SpecFile:
        return self._build.load(self._build.outcome("specs").artifacts[role], SpecFile)

    def _changed_entries(self, role: Role) -> list[tuple[int, SpecEntry]]:
        """Entries whose value the last run did not know."""
        old = self._build.recorded("specs")[1].artifacts.get(role)
        before = self._build.store.get(old, SpecFile) if old else None
        known = {entry.digest for entry in before.entries} if before is not None else set()
        return [(i, e) for i, e in enumerate(self._file(role).entries) if e.digest not in known]

    def _rows(self, role: Role, index: int, entry: SpecEntry) -> list[NodeRow]:
        rows = [step.row for step in self._emit.values()]
        if role == "derivatives":
            return [row for row in rows if row.entry == index]
        names = op_names(_title(entry).rpartition("::")[2])
        return [row for row in rows if names & op_names(row.schema)] if role == "native" else rows

    def _files_of(self, nodes: Iterable[str]) -> tuple[str, ...]:
        """The files that change with `nodes`: those whose own inputs differ."""
        wanted = set(nodes)
        return tuple(
            name
            for name, step in self._shards.items()
            if wanted.intersection(step.file.nodes) and reasons(self._build, step)
        )

    def _native(self, schema: str) -> list[SpecEntry]:
        entries = self._file("native").entries
        return [e for e in entries if _title(e).rpartition("::")[2] == schema]

    def _place(self, role: Role, entry: SpecEntry) -> str:
        return f"{label(self._build.config.specs.files[role])}:{entry.line} {_title(entry)}"


def _title(entry: SpecEntry) -> str:
    value = entry.decode()
    if not isinstance(value, dict):
        return ""
    return next((str(value[key]) for key in ("func", "name", "tag") if key in value), "")


def render(explanation: Explanation) -> str:
    """An explanation as text."""
    lines = [f"{explanation.name}: {explanation.what}"]
    for title, items in (("made from", explanation.made_from), ("made into", explanation.made_into)):
        lines += [f"  {title if i == 0 else ' ' * len(title)}  {item}" for i, item in enumerate(items)]
    if explanation.reasons:
        lines += [f"  to be made again: {'; '.join(explanation.reasons)}"]
    else:
        lines += ["  up to date"]
    return "\n".join(lines) + "\n"


def render_edit(edit: Edit) -> str:
    """An edit and what follows from it, as one chain."""
    chain = [edit.entry, ", ".join(edit.nodes) or "no Node", ", ".join(edit.files) or "no file"]
    return " → ".join(part for i, part in enumerate(chain) if i != 1 or edit.nodes or not edit.files) + "\n"
