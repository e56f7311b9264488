"""Completes at the cursor: keys, operators, arguments, tags, dispatch keys, helpers. One table per file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

from gradmill.cpp.bindings import return_names
from gradmill.extensions.browse.editor.cursor import Cursor, operator_at
from gradmill.extensions.browse.editor.hover import WORDS, schema_of
from gradmill.extensions.browse.editor.outline import outline
from gradmill.lints.known import METHODS
from gradmill.model.keys import ENTRY_KEY, KEYS, Value
from gradmill.model.schema import Schema
from gradmill.query.database import Database
from gradmill.reports.calls import method_calls
from gradmill.reports.helpers import all_helpers
from gradmill.stages import schemas
from gradmill.stages.set import release
from gradmill.stages.tags import tags

Kind = Literal["key", "operator", "argument", "tag", "dispatch key", "helper", "value"]
MOST = 300  # choices that are offered at once; typing more letters leaves fewer

_MEMBER = re.compile(r"(?:\.|->)\s*\w*$")
_ATEN = re.compile(r"\bat::\s*\w*$")


class Choice(Struct, frozen=True):
    """One completion."""

    label: str
    kind: Kind
    detail: str = ""
    insert: str = ""  # the text to insert, if it is not the label

    @property
    def text(self) -> str:
        """The text to insert."""
        return self.insert or self.label


class Choices(Struct, frozen=True):
    """The completions between two columns of the cursor's line. `more` is set if `MOST` cut the list."""

    start: int
    end: int
    choices: tuple[Choice, ...]
    more: bool = False


class Context(Struct, frozen=True):
    """The place of a completion, and what is known about it."""

    db: Database
    cursor: Cursor
    lines: tuple[str, ...]  # of the file


def complete(context: Context) -> Choices:
    """The completions at a place, those that start with the typed letters first."""
    cursor = context.cursor
    whole = cursor.role == "derivatives" and cursor.value == "schema"
    operators = cursor.value in ("operator", "operators") or (cursor.value == "schema" and cursor.role != "native")
    word, start, _ = operator_at(cursor) if operators else cursor.word
    if whole:
        start = _value_start(cursor)
        word = cursor.text[start : cursor.column]
    typed = word[: max(cursor.column - start, 0)]
    end = len(cursor.text) if whole else cursor.column
    choices = [choice for choice in _choices(context) if _matches(choice.label, typed)]
    choices.sort(key=lambda choice: not choice.label.startswith(typed))
    return Choices(start, end, tuple(choices[:MOST]), len(choices) > MOST)


def _matches(label: str, typed: str) -> bool:
    """Whether a label starts with the typed letters, or contains them in either case."""
    if not typed or label.startswith(typed):
        return True
    return typed.lower() in label.lower()


def _value_start(cursor: Cursor) -> int:
    after = cursor.text.find(":") + 1
    return after + len(cursor.text[after:]) - len(cursor.text[after:].lstrip())


def _choices(context: Context) -> Iterable[Choice]:
    cursor = context.cursor
    if cursor.needs_space:
        return ()
    if cursor.role == "tags" or cursor.entry is None or cursor.is_at_margin:
        return _first_keys(cursor)
    if cursor.role == "native":
        return _native(context)
    return _form(context) if cursor.role == "deprecated" else _derivatives(context)


def _first_keys(cursor: Cursor) -> Iterator[Choice]:
    """The first key of an entry, with a dash if the line has none; for a tag also the others."""
    key = ENTRY_KEY[cursor.role]
    if cursor.is_behind_dash:
        yield Choice(key, "key", insert=f"{key}: ")
    elif not cursor.word[1]:
        yield Choice(key, "key", insert=f"- {key}: ")
    if cursor.role == "tags" and cursor.word[1]:
        yield from (Choice(other, "key", insert=f"{other}: ") for other in KEYS["tags"] if other != key)


# ---- native_functions.yaml


def _keys(context: Context) -> Iterator[Choice]:
    assert context.cursor.entry is not None
    present = {*context.cursor.entry.body.keys} - {context.cursor.word[0]}
    return (Choice(key, "key", insert=f"{key}: ") for key in sorted(KEYS["native"].keys() - present))


def _operators(context: Context) -> Iterator[Choice]:
    listed = schemas.all_heads(context.db)
    if not listed:  # the text is not valid YAML at the moment
        typed = (block.body.head for block in outline(context.lines))
        return (Choice(head.partition("(")[0], "operator", head) for head in typed)
    return (Choice(head.name, "operator", head.schema) for _, head in listed)


def _types(context: Context) -> Iterator[Choice]:
    return (Choice(type_, "value") for type_ in release(context.db).base_types)


def _flags(context: Context) -> Iterable[Choice]:
    return (Choice(word, "value") for word in ("True", "False"))


def _native(context: Context) -> Iterable[Choice]:
    cursor = context.cursor
    if not cursor.path:
        return () if cursor.in_value else _keys(context)
    key = KEYS["native"].get(cursor.path[0])
    if key is None or (key.value == "kernels") == cursor.in_value:  # the keys of kernels are offered, no kernels
        return ()
    offer = _OFFERS.get(key.value)
    return offer(context) if offer is not None else (Choice(word, "value") for word in key.words)


# Values of native_functions.yaml other than words that their row names.
_OFFERS: dict[Value, Callable[[Context], Iterable[Choice]]] = {
    "schema": _types,
    "tags": lambda context: (Choice(tag, "tag") for tag in tags(context.db)),
    "kernels": lambda context: (
        Choice(key, "dispatch key", insert=f"{key}: ") for key in sorted(release(context.db).kernel_keys)
    ),
    "operator": _operators,
    "operators": _operators,
    "flag": _flags,
}


# ---- deprecated.yaml


def _form(context: Context) -> Iterable[Choice]:
    """The keys of a deprecated form; in its call the functions, and within brackets the form's arguments."""
    cursor = context.cursor
    assert cursor.entry is not None
    if not cursor.in_value:
        present = {*cursor.entry.body.keys} - {cursor.word[0]}
        return [Choice(key, "key", insert=f"{key}: ") for key in KEYS["deprecated"] if key not in present]
    if cursor.value == "schema":
        return _types(context)
    if "(" not in cursor.text[: cursor.column]:
        return dict.fromkeys(Choice(head.unqualified, "operator") for _, head in schemas.all_heads(context.db))
    schema = schema_of(context.db, cursor.entry.body.head)
    return [Choice(each.name, "argument", str(each)) for each in schema.arguments] if schema is not None else []


# ---- derivatives.yaml


def _derivatives(context: Context) -> Iterable[Choice]:
    cursor = context.cursor
    assert cursor.entry is not None
    if cursor.line == cursor.entry.line and cursor.is_behind_dash:
        return _first_keys(cursor)
    if cursor.value == "schema":
        heads = (head for _, head in schemas.all_heads(context.db) if not head.generated and head.kind != "out")
        return (Choice(head.name, "operator", head.schema, head.schema) for head in heads)
    if cursor.value == "differentiability":
        return _flags(context)
    schema = schema_of(context.db, cursor.entry.body.head)
    in_dispatch = cursor.value == "formulas" and len(cursor.path) == 1
    if in_dispatch and cursor.in_value:
        return ()
    if cursor.in_value:
        return _formula(context, schema)
    if in_dispatch:
        keys = sorted(release(context.db).autograd_keys)
        return (Choice(key, "dispatch key", insert=f"{key}:") for key in ("Default", *keys))
    own = () if cursor.path else [key for key in KEYS["derivatives"] if key != ENTRY_KEY["derivatives"]]
    present = {*cursor.entry.body.keys} - {cursor.word[0]} if not cursor.path else set()
    inputs = [each.name for each in schema.inputs if each.type.startswith("Tensor")] if schema is not None else []
    names = [*inputs, *_outputs(schema), *own]
    return (Choice(name, "key", insert=f"{name}: ") for name in names if name not in present)


def _outputs(schema: Schema | None) -> list[str]:
    if schema is None:
        return []
    named = [name for name in return_names(schema) if name != "self"]
    return named or ["result"]


def _formula(context: Context, schema: Schema | None) -> Iterator[Choice]:
    """Completions in a formula. After a dot, only methods; after `at::`, only functions."""
    before = context.cursor.text[: context.cursor.column]
    if _MEMBER.search(before):
        yield from _methods(context.db)
        return
    if not _ATEN.search(before):
        yield from _names(context, schema)
        for name, (first, *_) in all_helpers(context.db).items():
            yield Choice(name, "helper", first.text)
    listed = (head for _, head in schemas.all_heads(context.db) if head.callable)
    for name, text in {head.unqualified: head.schema for head in listed}.items():
        yield Choice(name, "operator", text)


def _methods(db: Database) -> list[Choice]:
    """The methods of tensors and other values, those first that the set's formulas call most often."""
    texts = {head.unqualified: head.schema for _, head in schemas.all_heads(db) if head.method}
    called = method_calls(db)
    names = sorted({*texts, *called, *METHODS}, key=lambda name: (-called[name], name not in texts, name))
    return [Choice(name, "operator", texts.get(name, "")) for name in names]


def _names(context: Context, schema: Schema | None) -> Iterator[Choice]:
    """Arguments, outputs and gradients; in a forward formula tangents and primals."""
    if schema is None:
        return
    cursor = context.cursor
    outputs = _outputs(schema)
    forward = bool({*cursor.path} & {"result", *outputs}) and not {*cursor.path} & {a.name for a in schema.inputs}
    for argument in schema.arguments:
        yield Choice(argument.name, "argument", str(argument))
        if forward and argument.type.startswith("Tensor"):
            yield Choice(f"{argument.name}_t", "argument", f"the tangent of {argument.name}")
            yield Choice(f"{argument.name}_p", "argument", f"the primal of {argument.name}")
    for name in outputs:
        yield Choice(name, "argument", "an output")
        if not forward and len(outputs) > 1:
            yield Choice(f"grad_{name}", "argument", f"the gradient of {name}")
    for word, meaning in WORDS.items():
        if word in outputs:
            continue
        if word.startswith("auto_") == forward or word in ("result", "grad_input_mask"):
            yield Choice(word, "value", meaning)
