"""The keys of entries in spec files. A new key is a row: the parser's checks and messages, completion and other answers
of the editor, and the exported JSON Schemas are derived from it.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from gradmill.problems.problem import Role

Value = Literal[
    "schema",  # name.overload(arguments) -> returns
    "text",  # any, or none
    "unqualified",  # a name without namespace, or none
    "operator",  # the name of one, or none
    "operators",  # names with commas
    "flag",
    "choice",  # one of some words, or none for the default
    "variants",  # some words with commas
    "names",  # a list
    "tag",
    "tags",  # one, or a list
    "kernels",  # by dispatch key
    "formulas",  # by dispatch key
    "differentiability",  # of each output; or a condition
    "precomputed",
    "loops",  # of a ufunc
    "call",  # function(arguments)
]


class Key(Struct, frozen=True):
    """A key of an entry: what its value is; the words that the value may have, or for a name that completion offers."""

    name: str
    value: Value
    about: str = ""
    words: tuple[str, ...] = ()
    default: str = ""  # of a choice


def _table(*keys: Key) -> dict[str, Key]:
    return {key.name: key for key in keys}


# By the file's role. The first key of an entry names it.
KEYS: dict[Role, dict[str, Key]] = {
    "native": _table(
        Key("func", "schema", "name.overload(arguments) -> returns"),
        Key("variants", "variants", words=("function", "method")),
        Key("tags", "tags"),
        Key("dispatch", "kernels", "kernels by dispatch key; several keys with commas"),
        Key("structured", "flag"),
        Key("structured_delegate", "operator"),
        Key("structured_inherits", "unqualified", words=("TensorIteratorBase",)),
        Key("autogen", "operators", "operators to generate, with commas"),
        Key("precomputed", "precomputed"),
        Key("ufunc_inner_loop", "loops"),
        Key("device_check", "choice", words=("NoCheck", "ExactSame"), default="ExactSame"),
        Key("device_guard", "flag"),
        Key("use_const_ref_for_mutable_tensors", "flag"),
        Key("python_module", "text"),
        Key("category_override", "text"),
        Key("manual_kernel_registration", "flag"),
        Key("manual_cpp_binding", "flag"),
        Key("cpp_no_default_args", "names"),
    ),
    "derivatives": _table(
        Key("name", "schema", "the operator's schema"),
        Key(
            "output_differentiability",
            "differentiability",
            "for each output whether it has a gradient; or one condition, in C++",
        ),
        Key("dispatch", "formulas", "formulas by dispatch key"),
    ),
    "tags": _table(Key("tag", "tag"), Key("desc", "text")),
    "deprecated": _table(
        Key("name", "schema", "name(arguments) -> returns"), Key("aten", "call", "function(arguments)")
    ),
}
SHARED = "\0"  # the key of the schema of an entry that has the same list of tags, by an alias
LINE = "__line__"  # the key to which PyTorch's loader sets the line of each mapping, also where it is written
# The key that names an entry.
ENTRY_KEY: dict[Role, str] = {role: next(iter(keys)) for role, keys in KEYS.items()}


def keys_with(*values: Value) -> list[str]:
    """The names of the keys with a value of one of these kinds, in files of any role; each once."""
    return list(dict.fromkeys(key.name for keys in KEYS.values() for key in keys.values() if key.value in values))
