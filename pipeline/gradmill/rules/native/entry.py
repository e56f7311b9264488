"""One entry of native_functions.yaml to a `NativeFunction`: its keys, their types, and the rules between them.

torchgen: `model.NativeFunction.from_yaml`, `model.NativeFunction.validate_unstructured`,
`gen.parse_native_yaml_struct`.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from gradmill.grammar.checks import unwritten_out
from gradmill.grammar.schema import SchemaParser
from gradmill.model.keys import KEYS, LINE, SHARED
from gradmill.model.native import Kernel, NativeFunction, UfuncLoop
from gradmill.model.schema import Schema, schema_kind
from gradmill.problems.problem import Errors, SpecError, at_field, nearest
from gradmill.releases.elsewhere import dated
from gradmill.releases.model import Release
from gradmill.rules.derivatives.definition import no_such_key
from gradmill.rules.native.dispatch import IMPLICIT, IMPLICIT_NESTED, check_factory, kernels_of
from gradmill.rules.native.heads import is_view
from gradmill.rules.native.settings import Known, settings_of

_FOREIGN = "if it is the vendor's, list it in `drop` of this file in the description"


def parse_entry(
    value: object, tags: frozenset[str], release: Release, parser: SchemaParser, *, layered: bool = False
) -> NativeFunction:
    """The function that the value of an entry declares. `tags` are the names declared in tags.yaml; `layered`: whether
    a layer's file has the entry. Raises a SpecError."""
    if not isinstance(value, Mapping):
        raise SpecError("not a mapping", "write - func: name(arguments) -> returns")
    errors, entry = Errors(), {key: each for key, each in value.items() if key != LINE}
    if "func" in entry:
        _check_keys(entry, errors, layered=layered)
    with errors:
        if entry.get("func") is None:
            hint = "write func: name.overload(arguments) -> returns"
            raise no_such_key(entry, "func", "the entry has no func", hint)
        with at_field("func"):
            namespace, schema = _schema(entry["func"], parser)
    with errors:
        settings = settings_of(entry, Known(tags, release, parser))
    errors.check()  # the rules between keys are about valid values

    structured, delegated = settings.get("structured", False), settings.get("structured_delegate") is not None
    rows, names = settings.pop("dispatch", None), settings.pop("tags", ())
    if settings.get("python_module") is not None and "method" in settings.get("variants", ()):
        errors.add(SpecError("functions in a python_module cannot be methods", "drop 'method'", field=("variants",)))
    if entry.get("precomputed") is not None and not structured:
        problem, hint = "precomputed on an op that is not structured", "add structured: True"
        errors.add(SpecError(problem, hint, field=("precomputed",)))
    dispatch: dict[str, Kernel] = {}
    manual = settings.get("manual_kernel_registration", False)
    with errors:
        if rows is None and not structured and not delegated:
            with at_field("func"):
                check_factory(schema)
        with at_field("dispatch"):
            dispatch = kernels_of(rows, schema, structured, delegated, manual, release)
        _add_loops(dispatch, schema, structured, settings.get("ufunc_inner_loop", {}), release)
        if delegated:
            _check_delegated(dispatch, release)
    function = NativeFunction(
        func=schema,
        namespace=namespace,
        dispatch=dispatch,
        tags=tuple(sorted({*_tags(names, tags, release, parser), *_automatic_tags(namespace, schema, tags, release)})),
        is_abstract=delegated or not composite_implicit_only(dispatch),
        **settings,
    )
    if function.use_const_ref_for_mutable_tensors and schema.out and release.const_ref_refuses_out:
        key = "use_const_ref_for_mutable_tensors"
        error = SpecError(f"{key} on an op with out arguments", field=(key,))
        errors.add(dated(error, lambda other: not other.const_ref_refuses_out))
    with errors:
        if release.check_keywords:
            _check_keywords(schema, release)
    with errors:
        check_function(function, release)
    errors.check()
    if schema.name.inplace and "inplace_view" not in function.tags and is_view(function):
        problem = f"'{schema.name}' is an in-place view but is not tagged so"
        raise SpecError(problem, "add tags: inplace_view", field=("func",))
    return function


def _check_keys(entry: Mapping[str, object], errors: Errors, *, layered: bool) -> None:
    known = KEYS["native"]
    for key in entry:
        if key not in known:
            hint = nearest(key, known) or (_FOREIGN if layered else "")
            errors.add(SpecError(f"unknown key '{key}'", hint, field=(key,), at_key=True))


def composite_implicit_only(dispatch: Mapping[str, Kernel]) -> bool:
    """True if the op has only composite-implicit kernels: such an op is not abstract."""
    return bool(dispatch) and dispatch.keys() <= {IMPLICIT, IMPLICIT_NESTED}


def _schema(text: object, parser: SchemaParser) -> tuple[str, Schema]:
    """The namespace and the schema of a function."""
    if not isinstance(text, str):
        raise SpecError(f"not text: {text!r}")
    *namespaces, schema = text.split("::")
    if "(" in "".join(namespaces):  # a type is written as in C++
        parser.parse(text.partition("(")[0].rpartition("::")[2] + text[text.index("(") :])
    elif len(namespaces) > 1:
        raise SpecError(f"more than one level of namespace: '{'::'.join(namespaces)}'", "write namespace::name(…)")
    return (namespaces[0] if namespaces and namespaces[0] else "aten"), parser.parse(schema)


def _add_loops(
    dispatch: dict[str, Kernel], schema: Schema, structured: bool, ufunc: Mapping[str, UfuncLoop], release: Release
) -> None:
    """Adds the kernels that loops of a ufunc are."""
    if not ufunc:
        return
    if not structured:
        raise SpecError("ufunc_inner_loop on an op that is not structured", field=("ufunc_inner_loop",))
    if not schema.out:
        raise SpecError("ufunc_inner_loop on an op without out arguments", field=("ufunc_inner_loop",))
    for key in release.ufunc_keys:
        if key in dispatch:
            raise SpecError(f"dispatch names {key}, which ufunc_inner_loop fills in", field=("dispatch", key))
        dispatch[key] = Kernel(f"ufunc_{schema.name.unqualified}_{key}", structured=True)


def _check_delegated(dispatch: Mapping[str, Kernel], release: Release) -> None:
    for key in dispatch:
        if key in release.structured_keys:
            problem = f"dispatch names {key}, but the op is delegated"
            raise SpecError(problem, "drop the row", field=("dispatch",), needle=key)


def _tags(listed: Iterable[object], known: frozenset[str], release: Release, parser: SchemaParser) -> Iterator[str]:
    """The tags of an entry; in place of the schema of another one with the same list, those that it receives."""
    for each in listed:
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            with suppress(SpecError):  # errors are reported in the entry of this schema
                yield from _automatic_tags(*_schema(each[SHARED], parser), known, release)


def _automatic_tags(namespace: str, schema: Schema, known: frozenset[str], release: Release) -> list[str]:
    """The tags that a function receives, whatever its entry says."""
    applies = {"pt2_compliant_tag": namespace == "aten", "out": bool(schema.out), "inplace": schema.name.inplace}
    return [tag for tag in release.automatic_tags if applies.get(tag, True) and tag in known]


def check_function(function: NativeFunction, release: Release) -> None:
    """Checks the rules between the keys of one function, declared or generated. Raises a SpecError with its field."""
    schema = function.func
    if schema.out and function.variants != ("function",):
        raise SpecError("an op with out arguments has variants other than function", field=("variants",))
    if function.structured and schema_kind(schema) != "out":
        unwritten = unwritten_out(schema)
        hint = f"write Tensor(a!) {unwritten}, and return it" if unwritten else "did you mean structured_delegate?"
        raise SpecError("structured on an op that is not an out variant", hint, field=("structured",))
    if function.structured_delegate is not None and schema_kind(schema) == "out":
        problem = "structured_delegate on an out variant"
        raise SpecError(problem, "did you mean structured?", field=("structured_delegate",))
    if function.part_of_structured_group and not function.device_guard:
        raise SpecError("structured kernels always guard the device", "drop device_guard", field=("device_guard",))
    if function.structured_inherits is not None and not function.structured:
        problem = "structured_inherits on an op that is not structured"
        raise SpecError(problem, "add structured: True", field=("structured_inherits",))
    for name in function.cpp_no_default_args:
        defaulted = [a.name for a in schema.arguments if a.default is not None]
        if name not in defaulted:
            problem = f"argument '{name}' has no default"
            raise SpecError(problem, nearest(name, defaulted), field=("cpp_no_default_args",), needle=name)
    if schema.name.base.startswith("_foreach") and function.device_check != "NoCheck":
        raise SpecError("a foreach op checks devices", "add device_check: NoCheck", field=("func",))
    _check_seeded(function, release)


def _check_keywords(schema: Schema, release: Release) -> None:
    for argument in schema.arguments:
        if keyword.iskeyword(argument.name) and f"{schema.name}.{argument.name}" not in release.keyword_arguments:
            problem = f"argument '{argument.name}' is a Python keyword"
            raise SpecError(problem, "rename it", field=("func",), needle=str(argument))


def _check_seeded(function: NativeFunction, release: Release) -> None:
    """Refuses an op that draws random numbers, judging by its name and arguments, without the tag for that."""
    if "nondeterministic_seeded" in function.tags:
        return
    schema = function.func
    name = str(schema.name)
    random = any(a.type.startswith("Generator") for a in schema.inputs)
    if "dropout" in name or any("dropout" in a.name for a in schema.arguments):
        random |= "backward" not in name and schema.name.unqualified != "_cudnn_init_dropout_state"

    def accepts(one: Release) -> bool:
        return not random and ("rand" not in name or any(part in name for part in one.seeded_exempt))

    if not accepts(release):
        problem = f"'{name}' looks random but is not tagged nondeterministic_seeded"
        raise dated(SpecError(problem, "add tags: nondeterministic_seeded", field=("func",)), accepts)
