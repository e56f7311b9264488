"""The hints of a Python name as text, in the types of Python, and the class of its named results.

torchgen: `python.PythonSignature.signature_str_pyi`, `python.PythonSignature.signature_str_pyi_vararg`,
`python.argument_type_str_pyi`, `python.return_type_str_pyi`, `python.returns_structseq_pyi`,
`python.format_function_signature`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import cleandoc

from gradmill.families.bindings.order import SignatureGroup, blamed, grouped
from gradmill.families.bindings.signature import NONE, Parameter, PythonSignature
from gradmill.families.sections import Text
from gradmill.families.template import Value
from gradmill.grammar.types import element
from gradmill.model.schema import Schema
from gradmill.model.type_stubs import GENERATED, Hint
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.structseqs import named_results

_TYPES, _CLASSES = Text("type_stubs/types.txt", phrases=True), Text("type_stubs/classes.txt")
_NAMES = {  # of types that have one name in all releases
    **{name: name for name in ("Tensor", "Generator", "Stream", "str")},
    **{"int": "_int", "DeviceIndex": "_int", "float": "_float", "bool": "_bool", "ScalarType": "_dtype"},
    **{"QScheme": "_qscheme", "Layout": "_layout", "MemoryFormat": "memory_format"},
}
_WIDTH = 80  # of a line of code
_DEFAULTS = {
    **dict.fromkeys(NONE, "None"),
    "MemoryFormat::Contiguous": "contiguous_format",
    "c10::MemoryFormat::Contiguous": "contiguous_format",
    "QScheme::PER_TENSOR_AFFINE": "per_tensor_affine",
}


def plan(hint: Hint, release: Release) -> Hint:
    """The name with what its stub needs."""
    return hint


def render(hint: Hint, release: Release) -> dict[str, str]:
    """The pieces by name. Raises SpecError as `grouped`."""
    groups = grouped(hint.binding, release) if hint.binding is not None else []
    groups = [groups[place] for place in hint.order] if len(hint.order) == len(groups) else groups
    generated = [text for group in groups for text in _signatures(group, hint, release)]
    hints = [text for each in hint.written.hints for text in (generated if each == GENERATED else [each])]
    for old, new in hint.written.replaced:
        hints = [text.replace(old, new) for text in hints]
    if len(hints) > 1:
        hints = [f"@overload\n{text}" for text in hints]
    if hint.docstring is not None:
        hints = [_documented(text, hint.docstring, release) for text in hints]
    return {"hints": "\n".join(hints), "class": _class(groups, release)}


def _documented(text: str, docstring: str, release: Release) -> str:
    """A hint with the docstring of the name."""
    if release.spaces_docstrings:
        docstring = cleandoc(docstring).strip()
    if "..." not in text:  # an attribute
        return f'{text}\nr"""{docstring}"""\n'
    lines = [text.removesuffix("..."), *(f"    {line}" for line in ('r"""', *docstring.split("\n"), '"""', "..."))]
    if release.spaces_docstrings:
        lines = [lines[0].rstrip(), *lines[1:-1]]
    return "\n".join(lines)


def _signatures(group: SignatureGroup, hint: Hint, release: Release) -> Iterator[str]:
    """The hints of a signature: without `out` if it is deprecated, then as it is, then with its sizes as arguments."""
    signature, has_out = group.signature, group.out is not None
    if hint.written.by_hand and not signature.deprecated:
        return
    if signature.deprecated and has_out:
        yield _signature(group, release, out=False)
    yield _signature(group, release, out=has_out)
    sizes = (signature.parameters or (Parameter("", ""),))[0]
    if not signature.deprecated and len(signature.positional) == 1 and _is_list_of_ints(sizes.type):
        yield _signature(group, release, out=has_out, sizes=sizes)


def _is_list_of_ints(type_: str) -> bool:
    return type_.endswith("]") and element(type_) in ("int", "SymInt")


def _signature(group: SignatureGroup, release: Release, *, out: bool, sizes: Parameter | None = None) -> str:
    """A hint. `sizes`: the parameter that takes any number of arguments."""
    signature = group.signature
    parameters = signature.parameters if out else signature.inputs
    texts = [_parameter(each, signature, release) for each in parameters]
    if sizes is not None:
        of = argument_type(element(sizes.type) or "", release)
        texts[0] = f"*{sizes.name}: {_TYPES.of(release)['variadic'].fill({'type': of})}"
    elif len(texts) > len(signature.positional):
        texts.insert(len(signature.positional), "*")
    if signature.method and not signature.deprecated:
        texts.insert(0, "self")
    returns = _returns(group, release)
    plain = f"def {signature.name}({', '.join(texts)}) -> {returns}: ..."
    text = signature_lines(signature.name, texts, returns) if release.spaces_docstrings else plain
    schema = _schema(group)
    own = _filled("inplace_foreach", argument_type(schema.inputs[0].type, release), release) if schema.inputs else ""
    is_foreach = schema.name.unqualified.startswith("_foreach_") and schema.name.inplace
    return text.replace(") -> None:", f") -> {own}:") if is_foreach and own else text


def signature_lines(name: str, arguments: Sequence[str] = (), return_type: str | None = None) -> str:
    """A function without a body, on several lines if it is long: as upstream formats it since 2.8."""
    arguments, returns = list(arguments), "" if return_type is None else f" -> {return_type}"
    line = f"def {name}({', '.join(arguments)}){returns}: ..."
    if len(line) <= _WIDTH or arguments in ([], ["self"]):
        return line
    lines = [f"def {name}(", *(f"    {each}," for each in arguments), f"){returns}: ..."]
    text = "\n".join(lines)
    return text if max(map(len, lines)) <= _WIDTH else f"{text.removesuffix(' ...')}  # fmt: skip\n    ..."


def _parameter(each: Parameter, signature: PythonSignature, release: Release) -> str:
    type_, name, deprecated = argument_type(each.type, release), each.name, signature.deprecated
    if name == "self" and type_ == "Tensor" and not signature.method and not deprecated:
        name = "input"
    if name == "from":  # a keyword of Python
        name = "from_"
    if name == "out" and not deprecated:
        type_ = _optional(type_, release) if type_ == "Tensor" else _filled("out_list", type_, release)
    if each.default is None or (deprecated and each.outputs and each.default == "None"):
        return f"{name}: {type_}"
    return f"{name}: {type_} = {_default(each.default, each.type, release)}"


def _default(default: str, type_: str, release: Release) -> str:
    if type_.endswith("]") and element(type_) == "int" and default.startswith("{") and default.endswith("}"):
        raw = default[1:-1]
        return _TYPES.of(release)["tuple"].fill({"raw": raw, "items": ", ".join(map(str.strip, raw.split(",")))})
    return _DEFAULTS.get(default, default)


def _optional(type_: str, release: Release) -> str:
    return _filled("optional", type_, release)


def _filled(section: str, type_: str, release: Release) -> str:
    return _TYPES.of(release)[section].fill({"type": type_}).replace(" | None | None", " | None")


def argument_type(type_: str, release: Release) -> str:
    """The Python type of an argument; "" for a type that stubs do not know."""
    types, inner = _TYPES.of(release), element(type_)
    if inner is None:
        return types[type_].fill({}) if type_ in types else _NAMES.get(type_, "")
    if type_.endswith("?"):
        return _optional(argument_type(inner, release), release)
    name = f"optional_{inner[:-1]}_list" if inner.endswith("?") else f"{inner}_list"
    name = name if type_.endswith("[]") else f"sized_{name}"
    return types[name if name in types else "list"].fill({"type": argument_type(inner, release)})


def return_type(type_: str, release: Release) -> str:
    """The Python type of a result."""
    types, inner = _TYPES.of(release), element(type_)
    if inner is None:
        named = f"returned_{type_}"
        return types[named].fill({}) if named in types else argument_type(type_, release)
    if type_.endswith("?"):
        return _optional(return_type(inner, release), release)
    return types["returned_list"].fill({"type": return_type(inner, release)})


def _schema(group: SignatureGroup) -> Schema:
    own = group.out or group.base
    return own.function.func if own.form is None else own.form.schema


def _returns(group: SignatureGroup, release: Release) -> str:
    schema = _schema(group)
    if named_results(schema):
        return f"torch.return_types.{group.signature.name}"
    types = [return_type(each.type, release) for each in schema.returns]
    return _tuple(types, release) if len(types) > 1 else "".join(types) or "None"


def _tuple(types: Sequence[str], release: Release) -> str:
    return _TYPES.of(release)["results"].fill({"types": ", ".join(types)})


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
            values: dict[str, Value] = {"name": group.signature.name, "results": _tuple(types, release)}
            values |= {"count": len(names), "properties": properties}
            text = _CLASSES.of(release)["class"].fill(values) + "\n"
            if found not in ("", text):
                hint = "give the returns of all overloads the same names and types, or none a name"
                raise SpecError("its named results differ from those of another overload", hint)
            found = text
    return found


def comment(template: str, release: Release) -> str:
    """The comment of a file that names its template."""
    return "@" + _TYPES.of(release)["comment"].fill({"template": template})
