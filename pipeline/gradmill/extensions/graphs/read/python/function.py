"""Reads one function of a graph file: its parameters by their annotations, then its body."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from gradmill.extensions.graphs.model import Function, Input, Place, Ref, Value
from gradmill.extensions.graphs.operator import Ops
from gradmill.extensions.graphs.read.python.source import Context
from gradmill.extensions.graphs.read.python.statements import TOO_DEEP, Body, Reader
from gradmill.extensions.graphs.read.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.read.resolve.operands import Operand, Spoiled, TypedValue, converted, described
from gradmill.problems.problem import SpecError, TextError

ALIAS = "alias:"  # `Annotated[Tensor, "alias:base"]`: inputs of one name may share their storage

_TYPES = {
    **dict.fromkeys(("torch.Tensor", "Tensor", "torch.nn.Parameter"), "Tensor"),
    **{name: name for name in ("int", "float", "bool", "str", "None")},
    "torch.dtype": "ScalarType",
}
_LISTS = ("list", "typing.List", "typing.Sequence", "collections.abc.Sequence")
_OPTIONAL = {*_TYPES.values(), "Scalar", "int[]", "float[]"} - {"None"}  # the types that may also be None
_LISTED = ("Tensor", "int", "float", "bool", "str")
_INPUT = "make it an input, or a constant: a number, a string, a dtype, a tuple or a list of these"
_TENSORS = "name inputs that are tensors"
_HINT = "write Tensor, int, float, bool, list[int], list[Tensor], or one of these | None"


class Definition:
    """Reads the parameters of a function."""

    def __init__(self, reader: Reader, names: Mapping[str, str]) -> None:
        self.reader = reader
        self.names = names  # of the inputs, by those of the parameters
        self.types: dict[str, str] = {}  # the schema types of parameters
        self.inputs: list[Input] = []
        self.groups: dict[str, list[str]] = {}

    def read(self, parameters: ast.arguments) -> None:
        """Reads all parameters. Those with errors are in the scope as well, without a value."""
        for extra in (parameters.vararg, parameters.kwarg):
            if extra is not None:
                self.reader.scope[extra.arg] = None
                self.reader.say(extra, f"the parameter '*{extra.arg}' is not supported in a graph", "name each input")
        plain = [*parameters.posonlyargs, *parameters.args]
        defaults = [None] * (len(plain) - len(parameters.defaults)) + list(parameters.defaults)
        for parameter, default in zip(plain, defaults):
            self._parameter(parameter, default, keyword_only=False)
        for parameter, default in zip(parameters.kwonlyargs, parameters.kw_defaults):
            self._parameter(parameter, default, keyword_only=True)

    def _parameter(self, parameter: ast.arg, default: ast.expr | None, *, keyword_only: bool) -> None:
        self.reader.scope[parameter.arg] = None
        try:
            type_ = self._annotated(parameter)
            value = self._default(parameter, default, type_)
        except SpecError as error:
            self.reader.errors.append(self.reader.located(parameter, error))
            return
        except Spoiled:
            return
        name = self.names[parameter.arg]
        self.types[parameter.arg] = type_
        self.reader.scope[parameter.arg] = TypedValue(Ref(name), type_)
        place = Place(*self.reader.where(parameter))
        self.inputs.append(Input(name, type_, place, default=value, keyword_only=keyword_only))

    def _default(self, parameter: ast.arg, default: ast.expr | None, type_: str) -> Value | None:
        if default is None:
            return None
        operand = self.reader.read(default)
        value = converted(operand, type_)
        if value is None:
            what = f"the default of '{parameter.arg}' is {described(operand)}, not {type_}"
            raise self.reader.error(default, what)
        return value

    def _annotated(self, parameter: ast.arg) -> str:
        node = parameter.annotation
        if node is None:
            raise SpecError(f"the parameter '{parameter.arg}' has no annotation", f"{_HINT}: {parameter.arg}: Tensor")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = _parsed(node)
        if isinstance(node, ast.Subscript) and self._name(node.value) == "typing.Annotated":
            assert isinstance(node.slice, ast.Tuple)
            for extra in node.slice.elts[1:]:
                self._extra(parameter.arg, extra)
            node = node.slice.elts[0]
        type_ = self.type_of(node)
        if type_ == "None":
            raise self.reader.error(node, "'None' is not a supported input type", _HINT)
        return type_

    def _extra(self, name: str, node: ast.expr) -> None:
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and text.startswith(ALIAS):
            self.groups.setdefault(text.removeprefix(ALIAS).strip(), []).append(name)
        elif isinstance(text, str) and "alias" in text.lower():
            hint = f"write '{ALIAS}name', one name for all that may share"
            self.reader.say(node, f"the annotation '{text}' does not declare aliasing", hint)

    def _name(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and node.value is None:
            return "None"
        path = self.reader.path(node)
        return path or (node.id if isinstance(node, ast.Name) and node.id not in self.reader.imports else "")

    def type_of(self, node: ast.expr) -> str:
        """The schema type of an annotation. Raises a TextError if an input cannot have it."""
        type_ = self._type_of(node)
        inner = type_.removesuffix("[]")
        unknown = not type_ or (type_.endswith("?") and type_[:-1] not in _OPTIONAL)
        if unknown or (inner != type_ and inner not in _LISTED):
            raise self.reader.error(node, f"'{ast.unparse(node)}' is not a supported input type", _HINT)
        return type_

    def _type_of(self, node: ast.expr) -> str:
        """The schema type of an annotation; "" for an unknown one."""
        name = self._name(node)
        if name in _TYPES:
            return _TYPES[name]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return _union([self.type_of(node.left), self.type_of(node.right)])
        if isinstance(node, ast.Subscript):
            outer = self._name(node.value)
            if outer == "typing.Optional":
                return f"{self.type_of(node.slice)}?"
            if outer == "typing.Union" and isinstance(node.slice, ast.Tuple):
                return _union([self.type_of(item) for item in node.slice.elts])
            if outer in _LISTS:
                return f"{self.type_of(node.slice)}[]"
        return ""


def _union(types: list[str]) -> str:
    """The schema type of one of these, "" if an input cannot have it."""
    plain = [type_ for type_ in types if type_ != "None"]
    optional = "?" if "None" in types else ""
    if len(plain) == 1:
        return plain[0] + optional
    return f"Scalar{optional}" if plain and set(plain) <= {"int", "float", "bool", "Scalar"} else ""


def _parsed(node: ast.Constant) -> ast.expr:
    assert isinstance(node.value, str)
    try:
        annotation: ast.expr = ast.parse(node.value, mode="eval").body
    except (SyntaxError, ValueError):
        raise SpecError(f"the annotation {node.value!r} cannot be read", _HINT) from None
    for inner in ast.walk(annotation):
        ast.copy_location(inner, node)
    return annotation


def read_function(text: str, context: Context, ops: Ops) -> tuple[Function | None, list[TextError]]:
    """The function that `text` defines, or None and its errors. Places count from the first line of `text`."""
    node = ast.parse(text).body[0]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    try:
        return _read(node, context, ops)
    except RecursionError:
        return None, [TextError(*TOO_DEEP, 1, 1)]


def _read(
    node: ast.FunctionDef | ast.AsyncFunctionDef, context: Context, ops: Ops
) -> tuple[Function | None, list[TextError]]:
    parameters = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    builder = GraphBuilder(ops, [name for name in parameters if name.isascii()])
    names = {name: name if name.isascii() else builder.new_name(name) for name in parameters}
    reader = Reader(builder, {k: v for k, v in context.imports.items() if k not in parameters}, {})
    reader.functions = frozenset(context.functions)
    reader.first_line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    _constants(reader, node, context)
    definition = Definition(reader, names)
    if isinstance(node, ast.AsyncFunctionDef):
        reader.say(node, "'async' is not supported in a graph", "write def")
    definition.read(node.args)
    _decorators(node, reader)
    body = Body(reader, definition.types)
    body.read(node.body)
    if node.returns is not None and body.is_complete:
        _check_outputs(body.returned or node, node.returns, body)
    groups = _groups(definition)
    if reader.errors:
        return None, reader.errors
    doc = (ast.get_docstring(node) or "").partition("\n")[0]
    inputs, calls = tuple(definition.inputs), tuple(builder.calls)
    place = Place(*reader.where(node))
    enables = builder.enables_grad
    return Function(node.name, place, inputs, calls, body.outputs, body.single, groups, doc, enables_grad=enables), []


def _constants(reader: Reader, node: ast.AST, context: Context) -> None:
    """Puts the constants of the file that a function names into its scope, with those that they are made from."""
    used = _names_in(node)
    for name, text in reversed(context.constants.items()):
        if name in used and text:
            used |= _names_in(ast.parse(text))
    for name, text in context.constants.items():
        if name in used:
            try:
                reader.scope[name] = _constant(reader, text)
            except SpecError as error:
                reader.unusable[name] = SpecError(error.problem, _INPUT)


def _names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _constant(reader: Reader, text: str) -> Operand:
    """The value of a constant of the file. Raises a SpecError if a graph cannot have it."""
    if not text:
        raise SpecError("it is not assigned by NAME = value alone")
    value = reader.read(ast.parse(text, mode="eval").body)
    if reader.builder.calls:
        reader.builder.calls.clear()
        raise SpecError("it is a tensor, which a graph does not keep")
    return value


def _decorators(node: ast.FunctionDef | ast.AsyncFunctionDef, reader: Reader) -> None:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if reader.path(called) == "torch.no_grad":
            reader.builder.grad = False
        else:
            reader.say(decorator, "a decorator is not supported in a graph", "write the function without it")


def _check_outputs(node: ast.stmt, annotation: ast.expr, body: Body) -> None:
    """Adds an error at a node, the return, if a function returns something else than its annotation declares."""
    reader = body.reader
    none = isinstance(annotation, ast.Constant) and annotation.value is None
    name = reader.path(annotation) or getattr(annotation, "id", "")
    if none and body.outputs:
        reader.say(node, "this returns a value, but the annotation is None", "write -> Tensor")
    elif not none and not body.outputs:
        reader.say(node, "nothing is returned, but the annotation is not None", "write -> None, or return it")
    elif not body.single and _TYPES.get(name) == "Tensor":
        hint = "drop the comma at its end" if len(body.outputs) == 1 else "write -> tuple[Tensor, ...]"
        reader.say(node, "a tuple is returned, but the annotation is Tensor", hint)


def _groups(definition: Definition) -> tuple[tuple[str, ...], ...]:
    """The groups of inputs that may share their storage. Adds an error for each that is no tensor."""
    for name in (name for group in definition.groups.values() for name in group):
        if not definition.types.get(name, "Tensor").startswith("Tensor"):
            what = f"'{name}' is declared to alias, but is not a tensor input"
            definition.reader.errors.append(TextError(what, _TENSORS, 1, 1))
    named = (tuple(definition.names[name] for name in group) for group in definition.groups.values())
    return tuple(group for group in named if len(group) > 1)
