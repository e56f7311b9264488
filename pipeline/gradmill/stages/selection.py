"""The functions that `operators=` selects: only their autograd kernels and synthesized Nodes are printed, and only
their schemas and kernels are registered.

Part of the stage `match`. Upstream (gen_autograd) filters functions before it matches them. Definitions keep their
Nodes, and tracing and factory functions are never filtered. Files of extensions may call all functions.

torchgen: `gen_autograd.gen_autograd`, `selector.SelectiveBuilder.is_native_function_selected`.
"""

from msgspec.structs import replace

from gradmill.model.native import FunctionSummary
from gradmill.model.operators import OVERLOADS, ListedOperator, patterns_of
from gradmill.problems.problem import Problem, Role, nearest
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.specs.location import OPERATORS
from gradmill.stages.schemas import bucket_of_function, buckets, heads
from gradmill.stages.set import aten_request, spec_set
from gradmill.stages.spec_files import parse_file


@query
def listed(db: Database) -> list[ListedOperator] | None:
    """The selected operators; None without a list, or if the file selects all. Reports the file's errors."""
    names = aten_request(db).operator_names
    if names is not None:
        return [
            ListedOperator(
                name=name, pattern=name + OVERLOADS if "." not in name else name, trained=True, line=0, column=0
            )
            for name in names
        ]
    if OPERATORS not in spec_set(db).files:
        return None
    from gradmill.specs.operators import read_operators  # reads YAML

    return parse_file(db, OPERATORS, read_operators)


@query
def is_selective(db: Database) -> bool:
    """Whether a file selects operators."""
    return listed(db) is not None


@query
def selected(db: Database, bucket: str) -> list[str] | None:
    """The functions of a bucket that are selected for training; None if all are selected."""
    operators = listed(db)
    return None if operators is None else _chosen(db, bucket, {each.pattern for each in operators if each.trained})


@query
def registered(db: Database, bucket: str) -> list[str] | None:
    """The selected functions of a bucket, for training or not; None if all are selected."""
    operators = listed(db)
    return None if operators is None else _chosen(db, bucket, {each.pattern for each in operators})


def with_kernels(db: Database, bucket: str) -> list[str] | None:
    """The functions of a bucket whose kernels are registered by dispatch key; None for all."""
    return [] if registers_nothing(db) else registered(db, bucket)


def with_schemas(db: Database, bucket: str) -> list[str] | None:
    """The functions of a bucket whose schemas are registered; None for all."""
    if registers_nothing(db):
        return []
    return None if aten_request(db).registrations == "schemas" else registered(db, bucket)


def registers_nothing(db: Database) -> bool:
    """Whether a build of ATen registers neither schemas nor kernels by dispatch key."""
    return aten_request(db).registrations == "none"


def _chosen(db: Database, bucket: str, patterns: set[str]) -> list[str]:
    return [name for name, head in heads(db, bucket) if not patterns.isdisjoint(patterns_of(_operator(head)))]


def is_selected(db: Database, function: str) -> bool:
    """Whether a function is among those that `operators=` selects; all are if nothing is selected."""
    names = selected(db, bucket_of_function(function))
    return names is None or function in names


@query
def checked(db: Database) -> int:
    """Reports the listed operators that no function has, which upstream ignores; returns the number of operators."""
    operators = listed(db) or []
    if not operators:
        return 0
    names = {_operator(head) for bucket in db.names(buckets) for _, head in heads(db, bucket)}
    known = set().union(*map(patterns_of, names))
    for each in operators:
        if each.pattern not in known:
            hint = _hint(each, names, known)
            problem = f"no function is called '{each.name}'"
            role: Role = "operators" if each.line else "native"  # without a file of names
            unknown = Problem(role, "", "", problem, hint, warning=True, rule="unknown-operator")
            db.report(replace(unknown, line=each.line, column=each.column))
    return len(operators)


def _hint(operator: ListedOperator, names: set[str], known: set[str]) -> str:
    if "::" not in operator.name and f"aten::{operator.pattern}" in known:
        return f"write 'aten::{operator.name}'"
    if operator.name + OVERLOADS in known:
        return "name an overload, or write include_all_overloads: true"
    base = operator.name.partition(".")[0]
    if base + OVERLOADS in known:
        return f"its overloads: {', '.join(sorted(name for name in names if name.partition('.')[0] == base))}"
    return nearest(operator.name, sorted(names | {name.partition(".")[0] for name in names}))


def _operator(head: FunctionSummary) -> str:
    """The name of a function with namespace and overload."""
    return f"{head.namespace}::{head.name}"
