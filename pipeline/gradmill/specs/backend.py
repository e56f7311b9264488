"""Reads the file of a backend outside of ATen, as `ts_native_functions.yaml`, or one for stubs.

Upstream: torchgen.gen_backend_stubs, parse_backend_yaml, and torchgen.gen_lazy_tensor, parse_native_functions_keys.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gradmill.grammar.names import parse_operator_name
from gradmill.grammar.schema import SchemaParser
from gradmill.model.backends import (
    AUTOGRAD,
    DEFINE_META,
    KERNELS,
    LISTS,
    STRUCTURED,
    UNGUARDED,
    Backend,
    BackendFile,
    Item,
    List,
    OwnNode,
)
from gradmill.problems.problem import SpecError, TextError, all_of, nearest
from gradmill.specs.values import PlainValues, load_node, text_error

_BACKEND, _CLASS, _NAMESPACE, _NODES = "backend", "class_name", "cpp_namespace", "non_native"
_GUARD, _OUT = "device_guard", "use_out_as_primary"
_KEYS = (_BACKEND, _CLASS, _NAMESPACE, _GUARD, _OUT, *LISTS, _NODES)
_LISTED: dict[str, List] = {name: name for name in LISTS}  # key -> what its items are
_LISTED_OF_STUBS: dict[str, List] = {
    "supported": "supported",
    "full_codegen": "supported",
    "autograd": AUTOGRAD,
    "symint": "symint",
}
_MAY_BE_EMPTY = ("supported", "symint")  # lists for which upstream accepts a key without a value
_FEWEST = "write the key of the backend, as backend: Lazy"
_MOST_NAMESPACES, _MOST_OF_STUBS = 2, 3  # upstream: two
_OPTIONS: dict[str, tuple[bool, List]] = {  # of an operator, none of them upstream -> the value that says what
    "structured": (True, STRUCTURED),
    "define_meta": (True, DEFINE_META),
    _GUARD: (False, UNGUARDED),
}


class Key(NamedTuple):
    """A key of the file, with its nodes and its value."""

    at: ScalarNode
    node: Node
    value: object


class _Reader:
    """Collects the errors of one file."""

    def __init__(self, schemas: SchemaParser, *, lazy: bool) -> None:
        self.errors: list[TextError] = []
        self._schemas = schemas
        self._lazy = lazy

    def error(self, node: Node, problem: str, hint: str) -> None:
        self.errors.append(text_error(node, problem, hint))

    def refused(self, node: Node, error: SpecError) -> None:
        """Adds an error of a rule."""
        self.error(node, error.problem, error.hint)

    def text(self, keys: dict[str, Key], root: Node, name: str, hint: str) -> str:
        """The value of a key that must be text."""
        key = keys.get(name)
        if key is None or key.value is None:
            self.error(root if key is None else key.at, f"the file has no value for '{name}'", hint)
            return ""
        if not isinstance(key.value, str):
            self.error(key.node, f"{name} is not text", hint)
            return ""
        return key.value

    def flag(self, keys: dict[str, Key], name: str) -> bool:
        """The value of a key that must be true or false."""
        key = keys.get(name)
        if key is not None and not isinstance(key.value, bool):
            self.error(key.node, f"{name} is neither true nor false", f"write {name}: true, or leave it out")
        return key is not None and key.value is True

    def items(self, keys: dict[str, Key], name: str) -> list[tuple[Node, object]]:
        """The items of a list; none if the key is missing."""
        key = keys.get(name)
        if key is None or (key.value is None and name in _MAY_BE_EMPTY):
            return []
        if not isinstance(key.node, SequenceNode) or not isinstance(key.value, list):
            self.error(key.at if key.value is None else key.node, f"{name} is not a list", f"write {name}: []")
            return []
        return list(zip(key.node.value, key.value))

    def entry(self, node: Node, value: object, listed: List) -> list[Item]:
        """What an item of a list of operators says: the list that its operator is in, and its options."""
        (name, options), *others = value.items() if isinstance(value, dict) and value else [(value, None)]
        with_options = isinstance(node, MappingNode) and (not others or options is None)
        if self._lazy or listed not in KERNELS or not with_options:
            item = self.operator(node, value, listed)
            return [] if item is None else [item]
        key, own = node.value[0]
        item = self.operator(key, name, listed)
        marks = self._options(own, str(name), dict(others) if others else options)
        return [] if item is None else [item, *(replace(item, listed=mark) for mark in marks)]

    def _options(self, node: Node, name: str, options: object) -> list[List]:
        """What the options of an operator say of it."""
        hint = f"write - {name}: {{structured: true}}, or - {name}"
        if not isinstance(options, dict) or not options:
            self.error(node, f"'{name}' has no options", hint)
            return []
        for option, value in options.items():
            if option not in _OPTIONS:
                self.error(node, f"unknown option '{option}'", nearest(str(option), _OPTIONS) or hint)
            elif not isinstance(value, bool):
                self.error(node, f"{option} is neither true nor false", hint)
        marks = [mark for option, (value, mark) in _OPTIONS.items() if options.get(option) is value]
        if DEFINE_META in marks and STRUCTURED not in marks:
            self.error(node, f"'{name}' has define_meta, and is not structured", "write structured: true, too")
        return marks

    def operator(self, node: Node, value: object, listed: List) -> Item | None:
        """An item of a list of operators; None if it does not name one."""
        if isinstance(value, str):
            try:
                name = value if listed == "symint" else str(parse_operator_name(value))
                mark = node.start_mark
                return Item(name, listed, mark.line + 1, mark.column + 1)
            except SpecError as error:
                self.refused(node, error)
                return None
        if listed != "symint" or isinstance(value, (list, dict)):
            options = "" if self._lazy or listed not in KERNELS else ", or - add.out: {structured: true}"
            self.error(node, f"an item of {listed} is not the name of an operator", f"write - add.Tensor{options}")
        return None

    def own_node(self, node: Node, value: object) -> OwnNode | None:
        """An item of `non_native`; None if it is invalid."""
        if not isinstance(value, dict) or not isinstance(value.get("func"), str):
            self.error(node, "a node needs a schema", "write - func: name(arguments) -> returns")
            return None
        properties, kind = value.get("properties", []), value.get("opkind")
        if not isinstance(properties, list) or not all(isinstance(each, str) for each in properties):
            self.error(node, "properties is not a list of names", "write properties: [ShapeCompute], or leave it out")
            return None
        try:
            return OwnNode(self._schemas.parse(value["func"]), str(kind) if kind else "", tuple(properties))
        except SpecError as error:
            self.refused(next(each for key, each in node.value if key.value == "func"), error)
            return None


def read_backend(text: str, schemas: SchemaParser, *, lazy: bool) -> BackendFile:
    """The file of a backend. `schemas`: the parser of the release; `lazy`: whether it is one of lazy tensors. In other
    files `class_name` counts, `full_codegen` is more of `supported`, upstream ignores other keys of lazy tensors, and
    an operator may have options, which upstream rejects.
    Raises a TextError with all errors of its form."""
    root = load_node(text)
    if root is None:
        raise TextError("the file is empty", "write backend: Lazy, cpp_namespace: torch::lazy, supported: […]", 1, 1)
    value = PlainValues(text, "tags").of(root)
    if not isinstance(root, MappingNode) or not isinstance(value, dict):
        raise text_error(root, "the file is not a mapping", "write backend: Lazy, and lists of operators")
    reader = _Reader(schemas, lazy=lazy)
    keys = {str(at.value): Key(at, node, value[str(at.value)]) for at, node in root.value}
    for name, key in keys.items():
        if name not in _KEYS:
            reader.error(key.at, f"unknown key '{name}'", nearest(name, _KEYS) or f"keys: {', '.join(_KEYS)}")
    items = [
        item
        for name, listed in (_LISTED if lazy else _LISTED_OF_STUBS).items()
        for each in reader.items(keys, name)
        for item in reader.entry(*each, listed)
    ]
    listed_nodes = reader.items(keys, _NODES) if lazy else []
    nodes = [(own, node) for node, each in listed_nodes if (own := reader.own_node(node, each))]
    class_name = keys[_CLASS].value if _CLASS in keys else None  # printed as it is
    backend = Backend(
        key=reader.text(keys, root, _BACKEND, _FEWEST),
        namespace=_namespace(reader, keys, root, _MOST_NAMESPACES if lazy else _MOST_OF_STUBS),
        device_guard=reader.flag(keys, _GUARD),
        out_as_primary=reader.flag(keys, _OUT),
        kernels=any(item.listed in KERNELS for item in items),
        autograd=any(item.listed == AUTOGRAD for item in items),
        own_class=None if lazy or class_name is None else str(class_name),
        structured=any(item.listed == STRUCTURED for item in items),
        class_words=tuple(map(str, class_name)) if isinstance(class_name, list) and not lazy else None,
    )
    if reader.errors:
        raise all_of([*reader.errors])
    marks = [node.start_mark for _, node in nodes]
    at = keys[_BACKEND].node.start_mark
    places = ((at.line + 1, at.column + 1), *((mark.line + 1, mark.column + 1) for mark in marks))
    return BackendFile(backend, tuple(own for own, _ in nodes), tuple(items), places)


def _namespace(reader: _Reader, keys: dict[str, Key], root: Node, most: int) -> str:
    name = reader.text(keys, root, _NAMESPACE, "write the namespace of the kernels, as cpp_namespace: torch::lazy")
    if len(name.split("::")) > most:
        reader.error(keys[_NAMESPACE].node, f"'{name}' is more than {most} namespaces", f"write {most} or fewer")
    return name
