"""One entry of native_functions.yaml to a `NativeFunction`: its keys, their types, and the rules between them.

torchgen: `model.NativeFunction.from_yaml`, `model.NativeFunction.validate_unstructured`,
`gen.parse_native_yaml_struct`.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from contextlib import suppress

from pipeline.grammar.schema import SchemaParser
from pipeline.model.keys import KEYS, LINE, SHARED
from pipeline.model.native import Kernel, NativeFunction, UfuncLoop
from pipeline.model.schema import Schema, schema_kind
from pipeline.problems.problem import SpecError, nearest
from pipeline.releases.model import Release
from pipeline.rules.derivatives.definition import no_such_key
from pipeline.rules.native.dispatch import IMPLICIT, IMPLICIT_NESTED, parse_dispatch
from pipeline.rules.native.precompute import parse_precompute
from pipeline.rules.native.settings import check_name, settings_of
from pipeline.rules.native.ufunc import parse_ufunc

Entry = Mapping[str, object]


_FOREIGN = "if it is the vendor's, list it in `drop` of this file in the description"


def parse_entry(
    entry: Entry, tags: frozenset[str], release: Release, parser: SchemaParser, *, layered: bool = False
) -> NativeFunction:
    """The function that `entry` declares. `tags` are the names declared in tags.yaml; `layered`: whether a layer's
    file has the entry. Raises a SpecError."""
    known, entry = KEYS["native"], {key: value for key, value in entry.items() if key != LINE}
    unknown = [key for key in entry if key not in known]
    if unknown and "func" in entry:
        hint = nearest(unknown[0], known) or (_FOREIGN if layered else "")
        raise SpecError(f"unknown key '{unknown[0]}'", hint, field=(unknown[0],), at_key=True)
    namespace, schema = _schema(entry, parser)
    variants = _variants(entry)
    settings = settings_of(entry)
    structured, delegate = settings.get("structured", False), settings.get("structured_delegate")
    if settings.get("python_module") is not None and "method" in variants:
        raise SpecError("functions in a python_module cannot be methods", "drop 'method'", field=("variants",))
    ufunc = parse_ufunc(entry.get("ufunc_inner_loop", {}), release)
    dispatch = _dispatch(entry, schema, structured, delegate, ufunc, release)
    function = NativeFunction(
        schema,
        namespace,
        variants,
        dispatch,
        _tags(entry, _automatic_tags(namespace, schema, tags, release), tags, release, parser),
        _autogen(entry),
        precomputed=parse_precompute(entry.get("precomputed"), structured, parser),
        ufunc_inner_loop=ufunc,
        is_abstract=delegate is not None or not composite_implicit_only(dispatch),
        **settings,
    )
    if function.use_const_ref_for_mutable_tensors and schema.out and release.const_ref_refuses_out:
        key = "use_const_ref_for_mutable_tensors"
        raise SpecError(f"{key} on an op with out arguments", field=(key,))
    if release.check_keywords:
        _check_keywords(schema, release)
    check_function(function, release)
    return function


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
    if len(namespaces) > 1:
        raise SpecError(
            f"more than one level of namespace: '{'::'.join(namespaces)}'", "write namespace::name(…)", field=("func",)
        )
    try:
        return (namespaces[0] if namespaces and namespaces[0] else "aten"), parser.parse(schema)
    except SpecError as error:
        error.field = ("func",)
        raise


def _variants(entry: Entry) -> tuple[str, ...]:
    if "variants" not in entry:
        return ("function",)
    text = entry["variants"]
    if not isinstance(text, str):
        raise SpecError(f"not text: {text!r}", field=("variants",))
    names = text.split(", ")
    for name in names:
        if name not in KEYS["native"]["variants"].words:
            raise SpecError(
                f"unknown variant '{name}'", "write function, method or both", field=("variants",), needle=name
            )
    return tuple(sorted(set(names)))


def _autogen(entry: Entry) -> tuple[str, ...]:
    text = entry.get("autogen", "")
    if not isinstance(text, str):
        raise SpecError(f"not text: {text!r}", field=("autogen",))
    names = text.split(", ") if text else []
    for name in names:
        check_name(name, "autogen")
    return tuple(names)


def _dispatch(
    entry: Entry,
    schema: Schema,
    structured: bool,
    delegate: str | None,
    ufunc: Mapping[str, UfuncLoop],
    release: Release,
) -> dict[str, Kernel]:
    manual = bool(entry.get("manual_kernel_registration"))
    dispatch = parse_dispatch(entry.get("dispatch"), schema, structured, delegate is not None, manual, release)
    if ufunc:
        if not structured:
            raise SpecError("ufunc_inner_loop on an op that is not structured", field=("ufunc_inner_loop",))
        if not schema.out:
            raise SpecError("ufunc_inner_loop on an op without out arguments", field=("ufunc_inner_loop",))
        for key in release.ufunc_keys:
            if key in dispatch:
                raise SpecError(f"dispatch names {key}, which ufunc_inner_loop fills in", field=("dispatch", key))
            dispatch[key] = Kernel(f"ufunc_{schema.name.unqualified}_{key}", structured=True)
    if delegate is not None:
        for key in dispatch:
            if key in release.structured_keys:
                raise SpecError(
                    f"dispatch names {key}, but the op is delegated", "drop the row", field=("dispatch",), needle=key
                )
    return dispatch


def _tags(
    entry: Entry, automatic: Iterable[str], known: frozenset[str], release: Release, parser: SchemaParser
) -> tuple[str, ...]:
    raw = entry.get("tags", [])
    names = [raw] if isinstance(raw, str) else raw
    if not isinstance(names, list):
        raise SpecError(f"tags is neither a name nor a list of names: {raw!r}", field=("tags",))
    shared = [each[SHARED] for each in names if isinstance(each, dict) and SHARED in each]
    names = [each for each in names if not (isinstance(each, dict) and SHARED in each)]
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise SpecError(
                f"unknown tag '{name}'",
                nearest(str(name), known) or "declare it in tags.yaml",
                field=("tags",),
                needle=str(name),
            )
    automatic = set(automatic)
    for func in shared:  # errors are reported in the entry of this schema
        with suppress(SpecError):
            automatic.update(_automatic_tags(*_schema({"func": func}, parser), known, release))
    return tuple(sorted({*names, *automatic}))


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
        raise SpecError(
            "structured on an op that is not an out variant", "did you mean structured_delegate?", field=("structured",)
        )
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
            raise SpecError(
                f"argument '{argument.name}' is a Python keyword", "rename it", field=("func",), needle=str(argument)
            )


def _check_seeded(function: NativeFunction, release: Release) -> None:
    """Refuses an op that draws random numbers, judging by its name and arguments, without the tag for that."""
    if "nondeterministic_seeded" in function.tags:
        return
    schema = function.func
    name = str(schema.name)
    random = "rand" in name and not any(part in name for part in release.seeded_exempt)
    if "dropout" in name or any("dropout" in a.name for a in schema.arguments):
        random |= "backward" not in name and schema.name.unqualified != "_cudnn_init_dropout_state"
    random |= any(a.type.startswith("Generator") for a in schema.inputs)
    if random:
        raise SpecError(
            f"'{name}' looks random but is not tagged nondeterministic_seeded",
            "add tags: nondeterministic_seeded",
            field=("func",),
        )
