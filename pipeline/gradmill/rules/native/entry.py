"""One entry of native_functions.yaml to a `NativeFunction`: its keys, their types, and the rules between them.

torchgen: `model.NativeFunction.from_yaml`, `model.NativeFunction.validate_unstructured`,
`gen.parse_native_yaml_struct`.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from contextlib import suppress

from gradmill.grammar.checks import unwritten_out
from gradmill.grammar.names import parse_operator_name
from gradmill.grammar.schema import SchemaParser
from gradmill.model.keys import KEYS, LINE, SHARED
from gradmill.model.native import Kernel, NativeFunction, UfuncLoop
from gradmill.model.schema import Schema, schema_kind
from gradmill.problems.problem import Errors, SpecError, at_field, nearest
from gradmill.releases.elsewhere import dated
from gradmill.releases.model import Release
from gradmill.rules.derivatives.definition import no_such_key
from gradmill.rules.native.dispatch import IMPLICIT, IMPLICIT_NESTED, kernels_of, parse_dispatch
from gradmill.rules.native.heads import is_view
from gradmill.rules.native.precompute import parse_precompute
from gradmill.rules.native.settings import settings_of
from gradmill.rules.native.ufunc import parse_ufunc

Entry = Mapping[str, object]


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
        namespace, schema = _schema(entry, parser)
    with errors:
        variants = _variants(entry)
    with errors:
        settings = settings_of(entry)
    with errors:
        ufunc = parse_ufunc(entry.get("ufunc_inner_loop", {}), release)
    with errors:
        rows = parse_dispatch(entry.get("dispatch"), release)
    with errors:
        names = _tags(entry, tags, release, parser)
    with errors:
        autogen = _autogen(entry)
    with errors:
        precomputed = parse_precompute(entry.get("precomputed"), parser)
    errors.check()  # the rules between keys are about valid values

    structured, delegate = settings.get("structured", False), settings.get("structured_delegate")
    if settings.get("python_module") is not None and "method" in variants:
        errors.add(SpecError("functions in a python_module cannot be methods", "drop 'method'", field=("variants",)))
    if entry.get("precomputed") is not None and not structured:
        problem, hint = "precomputed on an op that is not structured", "add structured: True"
        errors.add(SpecError(problem, hint, field=("precomputed",)))
    dispatch: dict[str, Kernel] = {}
    with errors:
        manual = bool(entry.get("manual_kernel_registration"))
        dispatch = kernels_of(
            rows=rows,
            schema=schema,
            structured=structured,
            delegated=delegate is not None,
            manual=manual,
            release=release,
        )
        _add_loops(dispatch, schema, structured, ufunc, release)
        _check_delegated(dispatch, delegate, release)
    function = NativeFunction(
        func=schema,
        namespace=namespace,
        variants=variants,
        dispatch=dispatch,
        tags=tuple(sorted({*names, *_automatic_tags(namespace, schema, tags, release)})),
        autogen=autogen,
        precomputed=precomputed,
        ufunc_inner_loop=ufunc,
        is_abstract=delegate is not None or not composite_implicit_only(dispatch),
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


def _check_keys(entry: Entry, errors: Errors, *, layered: bool) -> None:
    known = KEYS["native"]
    for key in entry:
        if key not in known:
            hint = nearest(key, known) or (_FOREIGN if layered else "")
            errors.add(SpecError(f"unknown key '{key}'", hint, field=(key,), at_key=True))


def composite_implicit_only(dispatch: Mapping[str, Kernel]) -> bool:
    """True if the op has only composite-implicit kernels: such an op is not abstract."""
    return bool(dispatch) and dispatch.keys() <= {IMPLICIT, IMPLICIT_NESTED}


def _schema(entry: Entry, parser: SchemaParser) -> tuple[str, Schema]:
    text = entry.get("func")
    if text is None:
        hint = "write func: name.overload(arguments) -> returns"
        raise no_such_key(entry, "func", "the entry has no func", hint)
    if not isinstance(text, str):
        raise SpecError(f"not text: {text!r}", field=("func",))
    *namespaces, schema = text.split("::")
    if len(namespaces) > 1 and "(" not in "".join(namespaces):
        raise SpecError(
            f"more than one level of namespace: '{'::'.join(namespaces)}'", "write namespace::name(…)", field=("func",)
        )
    with at_field("func"):
        if "(" in "".join(namespaces):  # a type is written as in C++
            parser.parse(text.partition("(")[0].rpartition("::")[2] + text[text.index("(") :])
        return (namespaces[0] if namespaces and namespaces[0] else "aten"), parser.parse(schema)


def _variants(entry: Entry) -> tuple[str, ...]:
    if "variants" not in entry:
        return ("function",)
    text = entry["variants"]
    if not isinstance(text, str):
        raise SpecError(f"not text: {text!r}", "write function, method or both", field=("variants",))
    names = text.split(", ")
    errors = Errors()
    for name in names:
        if name not in KEYS["native"]["variants"].words:
            hint = "write function, method or both"
            errors.add(SpecError(f"unknown variant '{name}'", hint, field=("variants",), needle=name))
    errors.check()
    return tuple(sorted(set(names)))


def _autogen(entry: Entry) -> tuple[str, ...]:
    text = entry.get("autogen", "")
    if not isinstance(text, str):
        raise SpecError(f"not text: {text!r}", field=("autogen",))
    names = text.split(", ") if text else []
    with at_field("autogen"):
        for name in names:
            parse_operator_name(name)
    return tuple(names)


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


def _check_delegated(dispatch: Mapping[str, Kernel], delegate: str | None, release: Release) -> None:
    for key in dispatch if delegate is not None else ():
        if key in release.structured_keys:
            raise SpecError(
                f"dispatch names {key}, but the op is delegated", "drop the row", field=("dispatch",), needle=key
            )


def _tags(entry: Entry, known: frozenset[str], release: Release, parser: SchemaParser) -> set[str]:
    raw = entry.get("tags", [])
    names = [raw] if isinstance(raw, str) else raw
    if not isinstance(names, list):
        raise SpecError(f"tags is neither a name nor a list of names: {raw!r}", field=("tags",))
    shared = [each[SHARED] for each in names if isinstance(each, dict) and SHARED in each]
    names = [each for each in names if not (isinstance(each, dict) and SHARED in each)]
    errors = Errors()
    for name in names:
        if not isinstance(name, str) or name not in known:
            hint = nearest(str(name), known) or "declare it in tags.yaml"
            if isinstance(name, str) and "," in name:
                hint = f"write a list: [{name}]"
            errors.add(SpecError(f"unknown tag '{name}'", hint, field=("tags",), needle=str(name)))
    errors.check()
    found = set(names)
    for func in shared:  # errors are reported in the entry of this schema
        with suppress(SpecError):
            found.update(_automatic_tags(*_schema({"func": func}, parser), known, release))
    return found


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
        raise SpecError(
            "structured_delegate on an out variant", "did you mean structured?", field=("structured_delegate",)
        )
    if function.part_of_structured_group and not function.device_guard:
        raise SpecError("structured kernels always guard the device", "drop device_guard", field=("device_guard",))
    if function.structured_inherits is not None and not function.structured:
        raise SpecError(
            "structured_inherits on an op that is not structured",
            "add structured: True",
            field=("structured_inherits",),
        )
    for name in function.cpp_no_default_args:
        defaulted = [a.name for a in schema.arguments if a.default is not None]
        if name not in defaulted:
            raise SpecError(
                f"argument '{name}' has no default",
                nearest(name, defaulted),
                field=("cpp_no_default_args",),
                needle=name,
            )
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
