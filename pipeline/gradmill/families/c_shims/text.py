"""Renders the C functions of one operator: for each device the `#include`, the declarations, the definitions.

torchgen: `gen_aoti_c_shim.gen_declaration_and_definition`, `gen_aoti_c_shim.gen_arguments`,
`gen_aoti_c_shim.gen_returns`.
"""

from __future__ import annotations

from gradmill.cpp.defaults import default_expression
from gradmill.families.c_shims.c_types import c_argument, c_return
from gradmill.families.c_shims.devices import ATEN, callee, devices_of
from gradmill.families.family import DECLARATION, DEFINITION, INCLUDE
from gradmill.families.sections import Sections, Text
from gradmill.grammar.names import unambiguous_name
from gradmill.model.schema import Argument, Schema
from gradmill.model.shims import FALLBACKS, SHIMIFIED, Shimmed, ShimVersion
from gradmill.releases.model import Release

TEXT = Text("c_shims/c_shims.cpp", phrases=True)
_RETURNED = {"Tensor": "returned_tensor", "SymInt": "returned_symint", "Scalar": "returned_scalar"}


def render(shimmed: Shimmed, release: Release) -> dict[str, str]:
    """All pieces of the operator. Raises SpecError for a list that C does not have. An operator with an argument or a
    return of another type than C has is only included."""
    schema, pieces = shimmed.function.func, {}
    for device, key in devices_of(release).items():
        versions = shimmed.versions.get(SHIMIFIED if device == ATEN else FALLBACKS)
        called = callee(shimmed, device, key, release)
        if versions is None or called is None:
            continue
        call, header = called
        declarations, definitions = [], []
        skipped: set[str] = set()
        for version in versions:  # the newest first
            texts = _version(schema=schema, device=device, call=call, version=version, skipped=skipped, release=release)
            if texts is None:
                break
            declarations.append(texts[0])
            definitions.append(texts[1])
            skipped.update(version.added)
        pieces[f"{device} {INCLUDE}"] = f"#include <{header}>"
        pieces[f"{device} {DECLARATION}"] = "\n".join(declarations)
        pieces[f"{device} {DEFINITION}"] = "\n".join(definitions)
    return pieces


def _version(
    schema: Schema, device: str, call: str, version: ShimVersion, skipped: set[str], release: Release
) -> tuple[str, str] | None:
    """The declaration and the definition of a version, which is without some arguments; None for a type that C does not
    have. Out arguments come first."""
    text, parameters, arguments = TEXT.of(release), list[str](), []
    for argument in (*schema.out, *schema.inputs):
        if argument.name in skipped:
            arguments.append(_skipped(argument, text, release))
            continue
        own = c_argument(argument.type, argument.name, text["string"].fill({}), write=argument.is_write)
        if own is None:
            return None
        parameters += [f"{type_} {name}" for type_, name in zip(own.types, own.names)]
        values = {"name": own.names[0], "second": own.names[-1], "cpp": own.cpp, "inner": own.inner}
        arguments.append(text[own.form].fill(values))
    assignments: list[str] = []
    if not (schema.out or schema.name.inplace):  # upstream ignores the returns of these
        types = [c_return(each.type) for each in schema.returns]
        if not all(types):
            return None
        parameters += [f"{type_}* ret{i}" for i, type_ in enumerate(types)]
        assignments = _assignments(schema, text, release)
    suffix = f"_v{version.number}" if version.number != 1 else ""
    name = unambiguous_name(schema.name) + suffix
    declared = text["declared"].fill({"device": device, "name": name, "parameters": parameters})
    declaration = text["declaration"].fill({"declared": declared})
    if version.since:
        declaration = text["gated"].fill({"since": version.since, "declaration": declaration})
    definition = text["definition"].fill(
        {
            "declared": declared,
            "result": "auto tmp_result = " if assignments else "",
            "call": call,
            "arguments": " " * 12 + ", ".join(arguments) if arguments else "",
            "statements": "".join([f"\n        {each}" for each in assignments]),
            "lines": "\n".join([f"\t\t{each}" for each in assignments]),
        }
    )
    return declaration, definition


def _skipped(argument: Argument, text: Sections, release: Release) -> str:
    """What a version passes for an argument that it lacks."""
    if argument.default is None or not release.shims_pass_defaults:
        return text["skipped"].fill({})
    return default_expression(argument.default, argument.type, release, symint=False)


def _assignments(schema: Schema, text: Sections, release: Release) -> list[str]:
    name = unambiguous_name(schema.name)
    section = "assignment_if" if any(part in name for part in release.shims_with_optional_returns) else "assignment"
    found = []
    for i, each in enumerate(schema.returns):
        value = "tmp_result" if len(schema.returns) == 1 else f"std::get<{i}>(tmp_result)"
        value = text[_RETURNED.get(each.type, "value")].fill({"name": value, "value": value})
        found.append(text[section].fill({"name": f"ret{i}", "value": value}))
    return found
