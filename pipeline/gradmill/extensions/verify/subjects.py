"""The formulas of a spec set as subjects to verify, each with its C++."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec import json
from msgspec.structs import replace

from gradmill.cpp.bindings import passing_of, return_names
from gradmill.cpp.dispatcher import declared, signature_of
from gradmill.cpp.identifiers import uses
from gradmill.cpp.types import TENSOR, TENSOR_VECTOR, argument_type, return_value_type
from gradmill.extensions.verify.model import Code, Subject, Tangent, names_of
from gradmill.families.nodes.plan import plan
from gradmill.families.nodes.split import formula as gradient_function
from gradmill.families.nodes.text import parameters
from gradmill.families.sections import Text
from gradmill.families.variable_type.steps.forward import in_loop
from gradmill.model.autograd import ForwardDerivative, Info
from gradmill.model.native import NativeFunction
from gradmill.model.nodes import NodeRow
from gradmill.model.schema import schema_kind
from gradmill.problems.problem import SpecError, nearest
from gradmill.query.database import Database
from gradmill.query.memo import digest
from gradmill.releases.model import Release
from gradmill.reports.served import served
from gradmill.reports.show import operator_name
from gradmill.rules.matching.foreach import PREFIX
from gradmill.specs.text import decode_text
from gradmill.stages.emit import upstream_pieces
from gradmill.stages.match import info, nodes
from gradmill.stages.schemas import function
from gradmill.stages.set import header_label, release, spec_set, template_label

OLDEST = "2.6.0"  # the first release whose Nodes have a gradient function
_TEXT = Text(Path(__file__).parent / "cpp" / "formulas.cpp")
_INCLUDED = re.compile(r'^#include "([^"/]+\.h)"', re.MULTILINE)
_INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)
_NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
_NOT_IMPLEMENTED = re.compile(r"\bnot_implemented(_list)?\(")


def codes(db: Database, names: Collection[str] = ()) -> Iterator[Code]:
    """The C++ of the formulas of a set without errors, in the order of the Nodes: of those Nodes and operators, with or
    without overload, or of all without names. SpecError for a name that has none, and for a release whose Nodes have no
    gradient functions."""
    names = [operator_name(name, db) for name in names]
    variants = served(db)
    rows = [(name, row, tuple(variants.get((row.function, row.dispatch_key), ()))) for name, row in nodes(db)]
    called = [names_of(row.node or name, (row.op, *others)) for name, row, others in rows]
    known = set().union(*called)
    for name in names:
        if name not in known:
            raise SpecError(f"verify: nothing with formulas is called '{name}'", nearest(name, known))
    for (name, row, others), own_names in zip(rows, called):
        if names and own_names.isdisjoint(names):
            continue
        native, own = function(db, row.function), info(db, row.function, row.dispatch_key)
        if native is None or own is None:
            continue
        facts = release(db)
        if not facts.functional_apply:
            raise SpecError(
                f"formulas of PyTorch {facts.version} cannot be verified", f"{OLDEST} or a newer release can"
            )
        definition = upstream_pieces(db, "nodes", name).get("definition", "")
        yield _code(row, native, own, definition, others, facts)


def helpers(db: Database) -> str:
    """The text of the headers of the set that its Functions.cpp includes, without their own includes: their functions
    may be in formulas. "" for a set that has none."""
    templates = [name for name in spec_set(db).templates if name.rpartition("/")[2] == "Functions.cpp"]
    read = (decode_text(db.input(template_label(name)) or b"") for name in templates)
    names = {name for text in read for name in _INCLUDED.findall(text)}
    own = [name for name in spec_set(db).headers if name.rpartition("/")[2] in names]
    texts = [_INCLUDE.sub("", decode_text(db.input(header_label(name)) or b"")) for name in own]
    texts = [text.replace("#pragma once", "", 1) for text in texts if "${" not in text]
    namespaces = dict.fromkeys(name for text in texts for name in _NAMESPACE.findall(text))
    return "".join((*texts, *(f"using namespace {name};\n" for name in namespaces)))


def _code(
    row: NodeRow, native: NativeFunction, own: Info, definition: str, variants: tuple[str, ...], facts: Release
) -> Code:
    symbol = f"gradmill_{re.sub('[^0-9A-Za-z_]', '_', row.node or '')}"
    subject = Subject(
        row.node or "",
        f"{native.namespace}::{native.func.name}",
        row.definition,
        str(native.func),
        _written(own),
        tuple(each.name for each in own.args_with_derivatives),
        outputs(native),
        _differentiable(native, own),
        _read(native, own),
        tuple(name for each in own.derivatives if _NOT_IMPLEMENTED.search(each.formula) for name in each.var_names),
        symbol if own.derivatives else "",
        tuple(
            Tangent(f"{symbol}_{each.var_names[0]}", each.var_names, each.required_inputs_fw_grad or ())
            for each in own.forward_derivatives
        ),
        schema_kind(native.func) == "inplace",
        variants,
        row.dispatch_key,
        native.namespace != "aten" and native.func.name.base not in facts.complex_differentiable,
    )
    functions = [backward(symbol, row, native, own, definition, facts)] if own.derivatives else []
    pairs = zip(subject.tangents, own.forward_derivatives)
    functions += [forward(tangent.symbol, each, native, own, facts) for tangent, each in pairs]
    text = "\n".join(functions)
    return Code(subject, text, digest(json.encode(subject) + text.encode()).hex())


def _written(own: Info) -> tuple[tuple[str, str], ...]:
    backward = [(", ".join(each.var_names), each.original_formula) for each in own.derivatives]
    return (*backward, *((", ".join(each.var_names), each.formula) for each in own.forward_derivatives))


def _differentiable(native: NativeFunction, own: Info) -> tuple[bool, ...]:
    """Of each output whether it takes a gradient: a tensor that the definition does not except."""
    declared = own.output_differentiability or (True,) * len(native.func.returns)
    return tuple(
        each.type.startswith("Tensor") and is_declared for each, is_declared in zip(native.func.returns, declared)
    )


def _read(native: NativeFunction, own: Info) -> tuple[bool, ...]:
    """Of each output whether a backward formula reads its gradient, by `grad`, `grads` or a name."""
    outputs = _differentiable(native, own)
    formulas = " ".join(each.formula for each in own.derivatives)
    if uses(formulas, "grads") or not own.derivatives:
        return outputs
    if uses(formulas, "grad"):
        first = outputs.index(True) if True in outputs else -1
        return tuple(i == first for i in range(len(outputs)))
    named = dict(zip(own.available_named_gradients, (i for i, flag in enumerate(outputs) if flag)))
    read = {named[name] for name in own.used_named_gradients}
    return tuple(i in read for i in range(len(outputs)))


def backward(symbol: str, row: NodeRow, native: NativeFunction, own: Info, definition: str, facts: Release) -> str:
    node = row.node or ""
    node_plan = plan(replace(own.reverse, node=node), facts)
    saved = {each.name: each.expr for each in (*own.all_saved_inputs, *own.all_saved_outputs)}
    lines, words = [], []
    for name, type_ in parameters(node_plan):
        held = type_.removesuffix("&").strip()
        if name == "retain_variables":
            expression = "true"
        elif name not in saved:  # the size of a list
            expression = f"{name.removesuffix('_size_')}.size()"
        else:
            expression = f"gradmill::Held<{held}>::of({saved[name]})"
        lines.append(f"{held} saved_{name} = {expression};")
        words.append(f"saved_{name}")
    return _TEXT.of(facts)["backward"].fill(
        {
            "symbol": symbol,
            "node": node,
            "function": gradient_function(definition).replace("C10_HIDDEN", "static", 1),
            "arguments": _declared(native, facts),
            "results": _results(native, facts),
            "saved": lines,
            "count": len(own.args_with_derivatives),
            "passed": words,
        }
    )


def outputs(native: NativeFunction) -> tuple[str, ...]:
    """The names of a function's outputs in formulas."""
    names = return_names(native.func)
    return names if len(names) != 1 or native.func.returns[0].name else (native.func.returns[0].name or "result",)


def _declared(native: NativeFunction, facts: Release) -> list[str]:
    how = passing_of(native, facts, symint=True)
    types = [(a.name, argument_type(a.type, how, mutable=a.is_write).value) for a in native.func.arguments]
    lines = [
        f"[[maybe_unused]] {type_} {name} = gradmill::get<{type_}>(args[{i}], arena);"
        for i, (name, type_) in enumerate(types)
    ]
    if native.func.options_index is not None:
        options = "dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory)"
        lines.append(f"[[maybe_unused]] auto options = at::TensorOptions().{options};")
    return lines


def _results(native: NativeFunction, facts: Release) -> list[str]:
    """The outputs as variables; an in-place function's output has the name of the argument, which it replaces."""
    own = {a.name for a in native.func.arguments}
    lines = []
    for i, (name, returned) in enumerate(zip(outputs(native), native.func.returns)):
        type_ = return_value_type(returned.type, facts.base_types)
        value = f"gradmill::get<{type_}>(results[{i}], arena)"
        lines.append(f"{name} = {value};" if name in own else f"[[maybe_unused]] {type_} {name} = {value};")
    return lines


def forward(symbol: str, derivative: ForwardDerivative, native: NativeFunction, own: Info, facts: Release) -> str:
    """The function of a formula for tangents, and one of the operator if the formula calls that and torch lacks it."""
    by_member = native.func.name.base.startswith(PREFIX)
    formula = in_loop(derivative.formula) if by_member else derivative.formula
    own_call = rf"\bat::{re.escape(native.func.name.base)}(_symint)?\("  # of an operator that torch does not declare
    calls_itself = native.namespace != "aten" and re.search(own_call, formula)
    required = derivative.required_inputs_fw_grad or ()  # of a foreach function's reference: some may be numbers here
    with_tangents = [each.name for each in own.args_with_derivatives if each.name in required]
    return _TEXT.of(facts)["forward_by_member" if by_member else "forward"].fill(
        {
            "operator": [_operator(f"{symbol}_operator", native, facts)] if calls_itself else [],
            "symbol": symbol,
            "arguments": _declared(native, facts),
            "results": _results(native, facts),
            "tangents": _tangents(native, own, by_member=by_member),
            "type": TENSOR if by_member else _type_of(derivative),
            "formula": re.sub(own_call, f"{symbol}_operator(", formula) if calls_itself else formula,
            "condition": " || ".join(f"{name}_t_raw.defined()" for name in with_tangents),
            "written": ["gradmill::check_written(self_t_raw, computed);"]
            if schema_kind(native.func) == "inplace"
            else [],
        }
    )


def _tangents(native: NativeFunction, own: Info, *, by_member: bool) -> list[str]:
    """The inputs' values and tangents as variables; `by_member`: those of the member `i` of a list."""
    places = {a.name: i for i, a in enumerate(native.func.arguments)}
    inplace = schema_kind(native.func) == "inplace"
    listed = {a.name for a in native.func.arguments if "[" in a.type}
    lines = []
    for each in own.args_with_derivatives:
        name, i = each.name, places[each.name]
        if name in listed and not by_member:
            continue
        primal = f"{name}[i]._fw_primal(0)" if name in listed else f"gradmill::primal({name})"
        tangent = f"{name}[i]._fw_grad(0)" if name in listed else f"gradmill::get<at::Tensor>(tangents[{i}], arena)"
        in_place = str(inplace and name == "self").lower()
        lines += [
            f"[[maybe_unused]] at::Tensor {name}_p = {primal};",
            f"[[maybe_unused]] at::Tensor {name}_t_raw = {tangent};",
            f"[[maybe_unused]] at::Tensor {name}_t = gradmill::tangent({name}_t_raw, {name}_p, {in_place});",
        ]
    if inplace:
        lines += [
            f"[[maybe_unused]] at::Tensor original_self_p = gradmill::get<at::Tensor>(args[{places['self']}], arena);",
            "[[maybe_unused]] at::Tensor original_self_t = self_t.clone();",
        ]
    return lines


def _operator(name: str, native: NativeFunction, facts: Release) -> str:
    """A C++ function that calls an operator by its name."""
    signature = signature_of(native, facts)
    return _TEXT.of(facts)["operator"].fill(
        {
            "name": name,
            "returns": signature.returns,
            "parameters": declared(signature.parameters),
            "types": ", ".join(each.type for each in signature.parameters),
            "operator": f"{native.namespace}::{native.func.name.base}",
            "overload": native.func.name.overload,
            "passed": ", ".join(each.name for each in signature.parameters),
        }
    )


def _type_of(derivative: ForwardDerivative) -> str:
    """The C++ type of what a formula computes."""
    if len(derivative.var_types) == 1:
        return f"::std::optional<{TENSOR_VECTOR if '[' in derivative.var_types[0] else TENSOR}>"
    return f"::std::optional<::std::tuple<{','.join([TENSOR] * len(derivative.var_types))}>>"
