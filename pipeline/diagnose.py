"""All mistakes of a spec set at once.

A step stops at its own mistakes, and the steps after it do not run. An author wants to hear of everything in one
go: when a step of the analysis has failed, the whole analysis is run on what is right, and all that it finds is told.
"""

from __future__ import annotations

from pipeline.build.engine import Build
from pipeline.build.step import Failed, Step
from pipeline.model.functions import FunctionTable
from pipeline.model.specs import SpecFile
from pipeline.problems.locate import render
from pipeline.problems.problem import Problem, Role
from pipeline.releases.model import Release
from pipeline.specs.spec_set import ROLES, SpecSet
from pipeline.stages import derivatives, foreach, infos, match, schemas, specs


def report(build: Build, step: Step, failed: Failed) -> str:
    """The text that tells why `step` failed, and what else is wrong."""
    if ":" in step.name:
        return render(failed.problems, build.config.specs, strict=build.config.strict)
    return report_problems(build, failed)


def report_problems(build: Build, failed: Failed) -> str:
    """The same for a step of the analysis."""
    problems = analyse(build.config.specs, build.release)
    if not any(build.config.strict or not p.warning for p in problems):
        problems += failed.problems  # what went wrong is gone by now
    return render(problems, build.config.specs, strict=build.config.strict)


def analyse(spec_set: SpecSet, release: Release) -> list[Problem]:
    """Every problem that the analysis finds; what only follows from another mistake is left out."""
    files: dict[Role, SpecFile] = {}
    problems: list[Problem] = []
    for role in ROLES:
        try:
            data = spec_set.files[role].read()
        except (OSError, KeyError) as error:
            reason = getattr(error, "strerror", None) or error
            problems.append(Problem(role, -1, "", f"cannot be read: {reason}"))
            continue
        read = specs.run(data, role, "", None)
        problems += read.problems
        if not read.problems:
            files[role] = read.file
    defined = derivatives.run(files["derivatives"], release, None) if "derivatives" in files else None
    problems += defined.problems if defined else []
    if "native" not in files or "tags" not in files:
        return problems
    parsed = schemas.run(files["native"], files["tags"], release, None)
    problems += _causes(parsed.problems)
    if defined is None:
        return problems
    table = FunctionTable(b"", lambda: parsed.functions, lambda: parsed.bodies)
    found = infos.find_targets(defined.definitions, parsed.functions)
    made = infos.run(defined.definitions, found.targets, table, release, None)
    references = foreach.find_references(table, made.infos, release)
    synthesized = foreach.run(references, made.infos, table, release, None)
    paired = match.find_pairs(parsed.functions, made.infos, synthesized.foreach)
    rewrote = match.rewrite(paired.dependents, made.infos, synthesized.foreach, None)
    broken = {_base(p.op) for p in parsed.problems}
    later = found.problems + made.problems + synthesized.problems + rewrote.problems
    return problems + [p for p in later if p.warning or _base(p.op) not in broken]


def _causes(problems: list[Problem]) -> list[Problem]:
    """Without those of an operator that one of its entries could not be read: variants miss each other then."""
    unreadable = {_base(p.op) for p in problems if not p.derived}
    return [p for p in problems if not p.derived or _base(p.op) not in unreadable]


def _base(op: str) -> str:
    name = op.partition(".")[0].rpartition("::")[2]
    return name.rstrip("_").removesuffix("_copy")
