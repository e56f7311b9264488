"""`gradmill diff specs=A against=B`: what changed in autograd from B to A; with `--code`, in the generated code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from gradmill.cli.commands.report import format_of, json_text, read_other, write_output
from gradmill.cli.commands.request import Request, check
from gradmill.doors import extensions, load
from gradmill.problems.problem import SpecError
from gradmill.reports.diff.code import Code, read_code
from gradmill.reports.diff.code_changes import CodeReport, compare_code
from gradmill.reports.diff.compare import compare
from gradmill.reports.diff.entries import COMPARED
from gradmill.reports.diff.facts import Autograd, read_autograd
from gradmill.reports.diff.model import Report
from gradmill.session.session import Session
from gradmill.session.settings.variables import REVISION
from gradmill.stages.requested import families as generated

S = TypeVar("S", Autograd, Code)  # what is read of a set
# The variables that decide what is generated from either set, besides `families`.
_OF_CODE = (
    *"autograd tree operator_headers layout shards".split(),
    *(name for each in extensions().values() if each.reads for name in load(each.variables)()),
)
_SHARED = ("generated", "families", "backend_yaml", "backend_kernels")
_MARKDOWN = "markdown"


def main(request: Request) -> int:
    """Compares the derivatives, or the generated code, of two spec sets."""
    request.expect_none("gradmill diff specs=SET against=SET")
    variables, output = request.settings(), request.options["output"]
    with request.open(owned=False) as session:  # it reads two sets, which may have the same name
        format_ = format_of(request.options, session)
        if request.options["code"]:
            changes = code_report(session, variables)
            write_output(session, _rendered(changes, format_), output)
            return int(bool(changes.files))
        if format_ == _MARKDOWN:
            raise SpecError("--format=markdown is for generated code", "also write --code, or another format")
        others = {name: value for name, value in variables.items() if name not in _OF_CODE}
        report = compare(_before(session, others, _facts), _facts(session))
        write_output(session, _rendered(report, format_), output)
    return 0


def code_report(session: Session, variables: Mapping[str, str]) -> CodeReport:
    """The changes of generated code from the set in `against` to that of a session. SpecError with `lines=1`, Failed if
    either set has errors."""
    if session.config.lines:
        hint = "leave out lines=1: what else changes is reported"
        raise SpecError("lines=1: directives name the folders of each set, so all files would differ", hint)
    # A backend's files include others by this folder.
    before = _before(session, {**variables, "generated": session.config.generated}, _code)
    return compare_code(before, _code(session))


def _before(session: Session, variables: Mapping[str, str], read: Callable[[Session], S]) -> S:
    """What is read of the set to compare with; of a revision it is in the report as `set at revision`."""
    result = read_other(session, variables, read, *_SHARED, *_OF_CODE)
    named = variables.get("against", "")
    if not named.startswith(REVISION):
        return result
    return replace(result, side=replace(result.side, specs=f"{result.side.specs} at {named.removeprefix(REVISION)}"))


def _facts(session: Session) -> Autograd:
    """The facts of one side, read completely before the other side opens: both may share one store."""
    families = generated(session.db)
    checks = [each.check for each in COMPARED if each.check is not None and each.family in families]
    check(session, [session.stages.root("match"), *((query, *key) for query, key in checks)])
    facts = read_autograd(session.db, session.config.specs.version, families)
    session.save_if_first()
    return facts


def _code(session: Session) -> Code:
    """The generated code of one side, read likewise."""
    check(session, session.stages.roots())
    code = read_code(session.db, session.layout, session.config.specs.version)
    session.save_if_first()
    return code


def _rendered(report: Report | CodeReport, format_: str) -> bytes:
    """The report as text, JSON, HTML or, of code, Markdown, UTF-8 encoded."""
    if format_ == "json":
        return json_text(report)
    from gradmill.reports.diff import code_html, code_text, html, text

    if isinstance(report, Report):
        return (html.render(report) if format_ == "html" else text.render(report)).encode()
    renders = {"html": code_html.render, _MARKDOWN: code_text.markdown}
    return renders.get(format_, code_text.render)(report).encode()
