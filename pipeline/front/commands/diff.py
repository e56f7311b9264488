"""`doit diff specs=A against=B`: what changed in autograd from B to A; with `--code`, in the generated code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from pipeline.front.commands.bases import option
from pipeline.front.commands.command import BuildCommand, check, keep
from pipeline.front.commands.other import read_other
from pipeline.front.commands.report import OUTPUT, format_of, format_option, json_text, write_output
from pipeline.front.run.build import Build
from pipeline.front.settings.variables import REVISION
from pipeline.problems.problem import SpecError
from pipeline.reports.diff.code import Code, read_code
from pipeline.reports.diff.code_changes import CodeReport, compare_code
from pipeline.reports.diff.compare import compare
from pipeline.reports.diff.entries import COMPARED
from pipeline.reports.diff.facts import Autograd, read_autograd
from pipeline.reports.diff.model import Report
from pipeline.stages.units import families as generated

S = TypeVar("S", Autograd, Code)  # what is read of a set
# The variables that decide what is generated from either set, besides `families`.
_OF_CODE = (
    "autograd tree operator_headers graphs namespace double_backward decomposed memory device layout shards".split()
)
_SHARED = ("generated", "families", "backend_yaml", "backend_kernels")
_MARKDOWN = "markdown"


class Diff(BuildCommand):
    """Compares the derivatives, or the generated code, of two spec sets."""

    name = "diff"
    of_set = False  # it reads two sets, which may have the same name
    doc_purpose = "report what changed in autograd, or in generated code, between two spec sets or releases"
    doc_usage = "against=SET|git:REVISION [against_release=X.Y.Z] [--code] [specs=SET …]"
    doc_description = (
        "Compares the set in `against` (before) with the set in `specs` (after), operator by operator: added, removed,"
        " renumbered, formulas, forward derivatives, saved variables. With families=bindings also the signatures of the"
        " Python bindings, with annotated_args the required arguments, with lazy the functions of the lazy backend."
        " Both may be core, torch, a folder or a wheel. against=git:HEAD~1 is the set in `specs` as it was in a commit,"
        " a branch or a tag of the git repository around it. With --code, compares the text of each unit in the"
        " generated files; the exit status is 1 if any byte of them changes, else 0."
    )
    cmd_options = (
        option("code", "compare the generated code", default=False),
        format_option("text", "json", "html", _MARKDOWN),
        OUTPUT,
    )

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        self.expect_none(arguments, "gradmill diff specs=SET against=SET")
        format_ = format_of(options, self.build)
        if format_ == _MARKDOWN and not options["code"]:
            raise SpecError("--format=markdown is for generated code", "also write --code, or another format")
        if options["code"]:
            changes = code_report(self.build, self.variables())
            write_output(self.build, _rendered(changes, format_), options["output"])
            return int(bool(changes.files))
        variables = {name: value for name, value in self.variables().items() if name not in _OF_CODE}
        report = compare(_before(self.build, variables, _facts), _facts(self.build))
        write_output(self.build, _rendered(report, format_), options["output"])
        return 0


def code_report(build: Build, variables: dict[str, str]) -> CodeReport:
    """The changes of generated code from the set in `against` to that of a build. SpecError with `lines=1`, Failed if
    either set has errors."""
    if build.config.lines:
        hint = "leave out lines=1: what else changes is reported"
        raise SpecError("lines=1: directives name the folders of each set, so all files would differ", hint)
    # A backend's files include others by this folder.
    before = _before(build, {**variables, "generated": build.config.generated}, _code)
    return compare_code(before, _code(build))


def _before(build: Build, variables: dict[str, str], read: Callable[[Build], S]) -> S:
    """What is read of the set to compare with; of a revision it is in the report as `set at revision`."""
    result = read_other(build, variables, read, *_SHARED, *_OF_CODE)
    named = variables.get("against", "")
    if not named.startswith(REVISION):
        return result
    return replace(result, side=replace(result.side, specs=f"{result.side.specs} at {named.removeprefix(REVISION)}"))


def _facts(build: Build) -> Autograd:
    """The facts of one side, read completely before the other side opens: both may share one store."""
    families = generated(build.db)
    checks = [each.check for each in COMPARED if each.check is not None and each.family in families]
    check(build, [build.stages.root("match"), *((query, *key) for query, key in checks)])
    facts = read_autograd(build.db, build.config.specs.version, families)
    keep(build)
    return facts


def _code(build: Build) -> Code:
    """The generated code of one side, read likewise."""
    check(build, build.stages.roots())
    code = read_code(build.db, build.layout, build.config.specs.version)
    keep(build)
    return code


def _rendered(report: Report | CodeReport, format_: str) -> bytes:
    """The report as text, JSON, HTML or, of code, Markdown, UTF-8 encoded."""
    if format_ == "json":
        return json_text(report)
    from pipeline.reports.diff import code_html, code_text, html, text

    if isinstance(report, Report):
        return (html.render(report) if format_ == "html" else text.render(report)).encode()
    renders = {"html": code_html.render, _MARKDOWN: code_text.markdown}
    return renders.get(format_, code_text.render)(report).encode()
