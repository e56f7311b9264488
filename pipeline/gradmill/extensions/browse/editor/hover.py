"""The hover text for the word at the cursor, as Markdown."""

from __future__ import annotations

from collections.abc import Callable

from gradmill.extensions.browse.editor.cursor import Cursor, operator_at
from gradmill.extensions.browse.editor.operators import NodeFacts, OperatorFacts, facts_of, name_of
from gradmill.grammar.schema import parser
from gradmill.model.schema import Schema
from gradmill.problems.problem import SpecError
from gradmill.query.database import Database
from gradmill.reports.helpers import declared
from gradmill.rules.native.dispatch import IMPLICIT
from gradmill.stages.set import release
from gradmill.stages.specs import entries, value

_LINES = 12  # of C++ per Node that no generated file has
_MANY = 6  # Nodes with their C++
Link = Callable[[NodeFacts], str]  # Markdown that leads to a Node's C++ in a generated file; "" if no file has it
_COMPOSITE = "no own Node: its gradients are those of the functions that it calls"

WORDS = {
    "grad": "the gradient of the first output that has one",
    "grads": "the gradients of all outputs: `grads[0]`, `grads[1]`, …",
    "result": "the operator's output in the forward pass",
    "grad_input_mask": "which inputs of this formula need a gradient",
    "retain_variables": "whether the graph is kept for another backward pass",
    "non_differentiable": "this input has no gradient",
    "auto_element_wise": "the forward formula is derived from the backward one: the operator is elementwise",
    "auto_linear": "the forward formula is the operator itself: it is linear in this input",
}


def hover(db: Database, cursor: Cursor, link: Link) -> str:
    """The hover text at the cursor, "" if there is none."""
    if cursor.entry is None:
        return ""
    word = cursor.word[0]
    if cursor.role == "tags" or (cursor.role == "native" and cursor.value == "tags"):
        return _tag(db, word)
    if cursor.is_in_operators:
        return _operator(db, name_of(operator_at(cursor)[0]), link)
    if cursor.role == "native" or cursor.value == "schema" or not cursor.path or not word:
        return _operator(db, cursor.entry.body.operator, link)
    return _in_formula(db, cursor, link)


def _in_formula(db: Database, cursor: Cursor, link: Link) -> str:
    assert cursor.entry is not None
    word, _, end = cursor.word
    schema = schema_of(db, cursor.entry.body.head)
    if not cursor.in_value:
        return _operator(db, cursor.entry.body.operator, link)
    if cursor.text[end : end + 1] == "(" and (helpers := declared(db, word)):
        return _cpp("\n".join(helper.text for helper in helpers))
    argument = _argument(schema, word)
    if argument or word in WORDS:
        return argument or f"`{word}`: {WORDS[word]}"
    return _operator(db, word, link)


def schema_of(db: Database, text: str) -> Schema | None:
    """The schema in the text of an entry's `name` or `func`; None if it cannot be parsed."""
    try:
        return parser(frozenset(release(db).base_types)).parse(text.rpartition("::")[2])
    except SpecError:
        return None


def _argument(schema: Schema | None, word: str) -> str:
    """The text for an argument, an output, a tangent (`self_t`), a primal (`self_p`) or a gradient; "" for others."""
    if schema is None:
        return ""
    for suffix, what in (("", "an argument"), ("_t", "the tangent of an argument"), ("_p", "an argument's primal")):
        for argument in schema.arguments:
            if word == f"{argument.name}{suffix}":
                return f"`{argument}`: {what} of `{schema.name}`"
    for place, each in enumerate(schema.returns):
        name = each.name or (f"result{place}" if len(schema.returns) > 1 else "result")
        if word in (name, f"result{place}"):
            return f"`{each}`: output {place} of `{schema.name}`"
        if word == f"grad_{name}":
            return f"the gradient of output {place} of `{schema.name}`"
    return ""


def _operator(db: Database, name: str, link: Link) -> str:
    facts = facts_of(db, name) if name else None
    return _operator_text(facts, link) if facts is not None else ""


def _operator_text(facts: OperatorFacts, link: Link) -> str:
    """The Markdown for an operator: schema, kind, tags, dispatch and Nodes."""
    namespace = "" if facts.namespace == "aten" else f"{facts.namespace}::"
    lines = [f"```\n{namespace}{facts.schema}\n```"]
    remarks = [facts.kind]
    if facts.generated_from:
        remarks.append(f"generated from `{name_of(facts.generated_from)}`")
    if facts.tags:
        remarks.append(f"tags: {', '.join(facts.tags)}")
    lines.append(" · ".join(remarks))
    if facts.dispatch:
        lines.append("dispatch: " + ", ".join(f"{key}: `{kernel}`" for key, kernel in facts.dispatch))
    if facts.served_by:
        lines.append(f"differentiated by the formulas of `{facts.served_by}`")
    if not facts.nodes:
        composite = any(key == IMPLICIT for key, _ in facts.dispatch)
        lines.append(_COMPOSITE if composite else "no Node: it has no derivatives")
    shown = [_node(node, link if place < _MANY else None) for place, node in enumerate(facts.nodes)]
    return "\n\n".join((*lines, *shown))


def _node(facts: NodeFacts, link: Link | None) -> str:
    key = "" if facts.dispatch_key == "Default" else f" under {facts.dispatch_key}"
    saved = ", ".join(f"`{name}` ({type_})" for name, type_ in facts.saved) or "nothing"
    lines = [
        f"**{facts.node}**{key}: gradients of {', '.join(f'`{name}`' for name in facts.inputs)}",
        f"saves {saved}",
        f"forward mode: {', '.join(facts.tangents) or 'no formula'}",
    ]
    if link is not None and facts.function:
        lines.append(link(facts) or _cpp(facts.function))
    return "\n\n".join(lines)


def _tag(db: Database, word: str) -> str:
    for entry in db.names(entries, "tags"):
        declared = value(db, "tags", entry)
        if isinstance(declared, dict) and declared.get("tag") == word:
            return f"**{word}**\n\n{declared.get('desc', '')}"
    return ""


def _cpp(text: str) -> str:
    lines = text.split("\n")
    shown = lines if len(lines) <= _LINES else [*lines[:_LINES], f"// … {len(lines) - _LINES} more lines"]
    return "\n".join(("```cpp", *shown, "```"))
