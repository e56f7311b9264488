"""The hints of a Python name as text, in the types of Python, and the class of its named results.

torchgen: `python.PythonSignature.signature_str_pyi`, `python.PythonSignature.signature_str_pyi_vararg`,
`python.argument_type_str_pyi`, `python.return_type_str_pyi`, `python.returns_structseq_pyi`,
`python.format_function_signature`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gradmill.extensions.type_stubs.model import Hint
from gradmill.extensions.type_stubs.stand_ins import DEPRECATED, GENERATED, signature_lines
from gradmill.families.bindings.order import SignatureGroup, blamed, grouped
from gradmill.families.bindings.signature import NONE, Parameter, PythonSignature
from gradmill.families.sections import Text
from gradmill.families.template import Value
from gradmill.grammar.types import element
from gradmill.model.schema import Schema
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.structseqs import named_results

_HERE = Path(__file__).parent
_TYPES, _CLASSES = Text(_HERE / "types.txt", phrases=True), Text(_HERE / "classes.txt")
_NAMES = {  # of types that have one name in all releases
    **{name: name for name in ("Tensor", "Generator", "Stream", "str")},
    **{"int": "_int", "DeviceIndex": "_int", "float": "_float", "bool": "_bool", "ScalarType": "_dtype"},
    **{"QScheme": "_qscheme", "Layout": "_layout", "MemoryFormat": "memory_format", "returned_Device": "_device"},
}
_DEFAULTS = {
    **dict.fromkeys(NONE, "None"),
    **dict.fromkeys(("MemoryFormat::Contiguous", "c10::MemoryFormat::Contiguous"), "contiguous_format"),
    "QScheme::PER_TENSOR_AFFINE": "per_tensor_affine",
}


def render(hint: Hint, release: Release) -> dict[str, str]:
    """The pieces by name. Raises SpecError as `grouped`."""
    groups = grouped(hint.binding, release) if hint.binding is not None else []
    groups = [groups[place] for place in hint.order] if len(hint.order) == len(groups) else groups
    hints: list[str] = []
    for each in hint.written.hints:
        own = [group for group in groups if each == GENERATED or group.signature.deprecated]
        generated = [text for group in own for text in _signatures(group, release)]
        for old, new in hint.written.replaced:
            generated = [text.replace(old, new) for text in generated]
        hints += generated if each in (GENERATED, DEPRECATED) else [each]
    if len(hints) > 1:
        hints = [f"@overload\n{text}" for text in hints]
    if hint.docstring is not None:
        hints = [hint.docstring.replace(GENERATED, text.removesuffix("...").rstrip()) for text in hints]
    return {"hints": "\n".join(hints), "class": _class(groups, release)}


def _signatures(group: SignatureGroup, release: Release) -> Iterator[str]:
    """The hints of a signature: without `out` if it is deprecated, then as it is, then with its sizes as arguments."""
    signature, has_out = group.signature, group.out is not None
    for out in (False, True) if signature.deprecated and has_out else (has_out,):
        yield _signature(group, release, out=out)
    sizes = signature.parameters[0] if len(signature.positional) == 1 and not signature.deprecated else None
    if sizes is not None and sizes.type.endswith("]") and element(sizes.type) in ("int", "SymInt"):
        yield _signature(group, release, out=has_out, sizes=sizes)


def _signature(group: SignatureGroup, release: Release, *, out: bool, sizes: Parameter | None = None) -> str:
    """A hint. `sizes`: the parameter that takes any number of arguments."""
    signature = group.signature
    parameters = signature.parameters if out else signature.inputs
    texts = [_parameter(each, signature, release) for each in parameters]
    if sizes is not None:
        texts[0] = f"*{sizes.name}: {_filled('variadic', argument_type(element(sizes.type) or '', release), release)}"
    elif len(texts) > len(signature.positional):
        texts.insert(len(signature.positional), "*")
    if signature.method and not signature.deprecated:
        texts.insert(0, "self")
    returns = _returns(group, release)
    text = signature_lines(signature.name, texts, returns, 80 if release.spaces_docstrings else sys.maxsize)
    schema = _schema(group)
    own = _filled("inplace_foreach", argument_type(schema.inputs[0].type, release), release) if schema.inputs else ""
    is_foreach = schema.name.unqualified.startswith("_foreach_") and schema.name.inplace
    return text.replace(") -> None:", f") -> {own}:") if is_foreach and own else text


def _parameter(each: Parameter, signature: PythonSignature, release: Release) -> str:
    type_, deprecated = argument_type(each.type, release), signature.deprecated
    name = {"from": "from_"}.get(each.name, each.name)  # a keyword of Python
    if name == "self" and type_ == "Tensor" and not signature.method and not deprecated:
        name = "input"
    if name == "out" and not deprecated:
        type_ = _filled("optional", type_, release) if type_ == "Tensor" else _filled("out_list", type_, release)
    if each.default is None or (deprecated and each.outputs and each.default == "None"):
        return f"{name}: {type_}"
    return f"{name}: {type_} = {_default(each.default, each.type, release)}"


def _default(default: str, type_: str, release: Release) -> str:
    if type_.endswith("]") and element(type_) == "int" and default.startswith("{") and default.endswith("}"):
        raw = default[1:-1]
        return _TYPES.of(release)["tuple"].fill({"raw": raw, "items": ", ".join(map(str.strip, raw.split(",")))})
    return _DEFAULTS.get(default, default)


def _filled(section: str, type_: str, release: Release) -> str:
    return _TYPES.of(release)[section].fill({"type": type_}).replace(" | None | None", " | None")


def argument_type(type_: str, release: Release) -> str:
    """The Python type of an argument; "" for a type that stubs do not know."""
    types, inner = _TYPES.of(release), element(type_)
    if inner is None:
        return types[type_].fill({}) if type_ in types else _NAMES.get(type_, "")
    if type_.endswith("?"):
        return _filled("optional", argument_type(inner, release), release)
    name = f"optional_{inner[:-1]}_list" if inner.endswith("?") else f"{inner}_list"
    name = name if type_.endswith("[]") else f"sized_{name}"
    return types[name if name in types else "list"].fill({"type": argument_type(inner, release)})


def return_type(type_: str, release: Release) -> str:
    """The Python type of a result."""
    inner = element(type_)
    if inner is None:
        return argument_type(f"returned_{type_}", release) or argument_type(type_, release)
    return _filled("optional" if type_.endswith("?") else "returned_list", return_type(inner, release), release)


def _schema(group: SignatureGroup) -> Schema:
    own = group.out or group.base
    return own.function.func if own.form is None else own.form.schema


def _returns(group: SignatureGroup, release: Release) -> str:
    schema = _schema(group)
    if named_results(schema):
        return f"torch.return_types.{group.signature.name}"
    types = [return_type(each.type, release) for each in schema.returns]
    return _filled("results", ", ".join(types), release) if len(types) > 1 else "".join(types) or "None"


def _class(groups: Sequence[SignatureGroup], release: Release) -> str:
    """The class of named results; "" if the results have no names. SpecError if overloads have different ones."""
    found = ""
    for group in groups:
        with blamed(group.base):
            schema = _schema(group)
            names = named_results(schema) if group.base.form is None else ()
            if not names:
                continue
            types = [return_type(each.type, release) for each in schema.returns]
            properties = [f"@property\ndef {name}(self) -> {own}: ..." for name, own in zip(names, types)]
            values: dict[str, Value] = {"name": group.signature.name, "count": len(names), "properties": properties}
            values["results"] = _filled("results", ", ".join(types), release)
            text = _CLASSES.of(release)["class"].fill(values) + "\n"
            if found not in ("", text):
                hint = "give the returns of all overloads the same names and types, or none a name"
                raise SpecError("its named results differ from those of another overload", hint)
            found = text
    return found
