"""The formulas of a spec set as subjects to verify, each with its C++."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec import json

from gradmill.cpp.identifiers import uses
from gradmill.extensions.verify.functions import arguments, backward, forward, outputs
from gradmill.extensions.verify.model import Code, Subject, Tangent, names_of
from gradmill.model.autograd import Info
from gradmill.model.native import NativeFunction
from gradmill.model.nodes import NodeRow
from gradmill.model.schema import schema_kind
from gradmill.problems.problem import SpecError, nearest
from gradmill.query.database import Database
from gradmill.query.memo import digest
from gradmill.releases.model import Release
from gradmill.reports.served import served
from gradmill.reports.show import operator_name
from gradmill.specs.text import decode_text
from gradmill.stages.emit import upstream_pieces
from gradmill.stages.match import info, nodes
from gradmill.stages.schemas import function
from gradmill.stages.set import header_label, release, spec_set, template_label

OLDEST = "2.6.0"  # the first release whose Nodes have a gradient function
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
    own_nodes = list(nodes(db))
    called = [
        names_of(row.node or name, (row.op, *variants.get((row.function, row.dispatch_key), ())))
        for name, row in own_nodes
    ]
    known = set().union(*called)
    for name in names:
        if name not in known:
            raise SpecError(f"verify: nothing with formulas is called '{name}'", nearest(name, known))
    for (name, row), own_names in zip(own_nodes, called):
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
        yield _code(row, native, own, definition, tuple(variants.get((row.function, row.dispatch_key), ())), facts)


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
    row: NodeRow, native: NativeFunction, own: Info, definition: str, variants: Sequence[str], facts: Release
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
        tuple(variants),
        row.dispatch_key,
        native.namespace != "aten" and native.func.name.base not in facts.complex_differentiable,
    )
    functions = [backward(symbol, row, native, own, definition, facts)] if own.derivatives else []
    pairs = zip(subject.tangents, own.forward_derivatives)
    functions += [forward(tangent.symbol, each, native, own, facts) for tangent, each in pairs]
    text = "\n".join(functions)
    types = frozenset(type_ for _, type_ in arguments(native, own, facts))
    return Code(subject, text, types, digest(json.encode(subject) + text.encode()).hex())


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
