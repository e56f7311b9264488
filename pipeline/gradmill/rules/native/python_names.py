"""The Python names of a function, and the deprecated forms that stand for a call of it.

torchgen: `gen_python_functions.get_pycname`, `gen_python_functions.should_generate_py_binding`,
`gen_python_functions.load_deprecated_signatures`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from re import Pattern

from gradmill.grammar.schema import SchemaParser
from gradmill.model.bindings import DeprecatedForm
from gradmill.model.keys import KEYS
from gradmill.model.native import FunctionSummary
from gradmill.model.regex import regex
from gradmill.model.schema import Schema
from gradmill.problems.problem import SpecError, at_field, nearest
from gradmill.releases.model import Release
from gradmill.rules.derivatives.definition import no_such_key

METHODS = "Tensor"  # in place of a module
_MODULES = ("nn", "fft", "linalg", "nested", "sparse", "special")
_CALL = regex(r"(\w+)(?:\.\w+)?\((.*)\)")
OUT = "_out"
_KEYS = KEYS["deprecated"]
_CONSTANTS = {"1": "Scalar"}  # of calls, with their types


def is_bound(head: FunctionSummary, release: Release) -> bool:
    """Whether a function has a generated Python binding. Of generated functions, only copies of views have one."""
    if head.generated and not head.view_copy:
        return False
    return head.schema not in release.unbound_schemas and not _unbound(release.skip_python_bindings).fullmatch(
        head.cpp_name
    )


@lru_cache(maxsize=8)
def _unbound(patterns: frozenset[str]) -> Pattern[str]:
    return regex("|".join(sorted(patterns)))


def python_names(head: FunctionSummary) -> tuple[str, ...]:
    """The names of a bound function: in a module, as a method of Tensor, or both."""
    if head.python_module is not None:
        return (f"torch.{head.python_module}.{head.unqualified}",) if head.python_module in _MODULES else ()
    function = (f"torch.{head.unqualified}",) if head.callable else ()
    return (*function, f"{METHODS}.{head.unqualified}") if head.method else function


def parse_form(value: object, schemas: SchemaParser) -> DeprecatedForm:
    """An entry of deprecated.yaml. Raises SpecError if it is malformed."""
    if not isinstance(value, Mapping):
        raise SpecError("not a mapping", "write - name: name(arguments) -> returns")
    for key, row in _KEYS.items():
        if key not in value:
            raise no_such_key(value, key, f"no '{key}'", f"write {key}: {row.about}")
        if not isinstance(value[key], str):
            raise SpecError(f"'{key}' must be text", f"write {key}: {row.about}", field=(key,))
    with at_field("name"):
        schema = schemas.parse(value["name"])
    match = _CALL.match(value["aten"])
    if match is None:
        raise SpecError(f"not a call: '{value['aten']}'", "write name(arguments)", field=("aten",))
    out = match[1].endswith(OUT)
    call = tuple(match[2].split(", "))
    known = [a.name for a in schema.arguments]
    for name in call:
        if name not in known and name not in _CONSTANTS:
            hint = nearest(name, known) or f"the deprecated signature has: {', '.join(known)}"
            raise SpecError(f"unknown argument '{name}'", hint, field=("aten",), needle=name)
    return DeprecatedForm(schema, match[1].replace(OUT, "") if out else match[1], out, call)


def ignored_keys(value: object) -> list[SpecError]:
    """A warning for each key of an entry of deprecated.yaml that is ignored."""
    ignored = [str(key) for key in value if key not in _KEYS] if isinstance(value, Mapping) else []
    hint = f"remove it: the keys are {' and '.join(_KEYS)}"
    problems = ((key, f"unknown key '{key}'") for key in ignored)
    return [SpecError(problem, hint, field=(key,), at_key=True, rule="ignored-key") for key, problem in problems]


def stands_for(form: DeprecatedForm, schema: Schema) -> bool:
    """Whether a form is a call of the function with this schema: types, aliases and returns are the same, and all
    arguments that it does not pass have a default."""
    own = {a.name: a for a in form.schema.arguments}
    arguments = chain(schema.out, schema.inputs) if form.out else iter(schema.arguments)
    for argument, name in zip_longest(arguments, form.call):
        if argument is None:  # upstream ignores what is passed in addition
            break
        if name is None:
            if argument.default is None:
                return False
            continue
        passed = own.get(name)
        type_ = _CONSTANTS[name] if passed is None else passed.type
        if (type_, passed and passed.annotation) != (argument.type, argument.annotation):
            return False
    return form.schema.returns == schema.returns


def uncalled(form: DeprecatedForm, schemas: Sequence[Schema], names: Iterable[str]) -> SpecError:
    """The error for a form that calls none of the functions of its name, which have these schemas. `names` are those of
    other functions."""
    name = form.operator + (OUT if form.out else "")
    problem = f"no function '{form.operator}' takes and returns what this one does"
    hint = f"its schemas: {'; '.join(map(str, schemas))}"
    if not schemas:
        problem = f"there is no function '{form.operator}' with a Python binding"
        near = nearest(form.operator, [each for each in names if each != form.operator])
        hint = near or "name a function that Python code can call"
    return SpecError(problem, hint, field=("aten",), needle=name)
