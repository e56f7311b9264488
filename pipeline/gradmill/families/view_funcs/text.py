"""The text of a ViewFunc, a class that replays a view: the `#include` of its operator's header, the declaration, the
definition.

A ViewFunc saves the arguments of the view function except the base. Its users can get and replace the symbolic integers
and the tensors among them.

torchgen: `gen_view_funcs.process_function`, `gen_view_funcs.generate_state_getter_setter`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import check_default, passing_of
from gradmill.cpp.dispatcher import Parameter, signature_of
from gradmill.cpp.types import OWNED_LISTS, argument_type
from gradmill.cpp.view_funcs import view_func, view_func_macro
from gradmill.families.family import DECLARATION, DEFINITION, INCLUDE
from gradmill.families.sections import Sections, Text
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, is_tensor_like
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_TEXT = Text("view_funcs/view_funcs.cpp")
_INDEX = "view_idx"
_COUNTS = {"one": "1", "list": "{}.size()", "optional": "({}.has_value() ? 1 : 0)"}  # of values, by shape


def render(function: NativeFunction, release: Release) -> dict[str, str]:
    """All pieces of a class. A function may return several views; the class replays one, and has its index. Raises
    SpecError for a view that no ViewFunc can replay."""
    _check(function, release)
    text, schema, signature = _TEXT.of(release), function.func, signature_of(function, release)
    own = [p for p in signature.parameters if p.name != "self"]
    members = [_member(a, function, release) for a in schema.arguments[1:]]
    is_list = "[" in schema.returns[0].type and is_tensor_like(schema.returns[0].type)
    index, names = [f"int64_t {_INDEX}"] if is_list else [], [p.name for p in own]
    initializers = [f"{name}({expression})" for name, (_, expression) in zip(names, members)]
    initializers += [f"{_INDEX}({_INDEX})"] if is_list else []
    values = {
        "view_func": view_func(str(schema.name)),
        "macro": view_func_macro(str(schema.name)),
        "struct": signature.struct,
    }
    constructor = text["constructor"].fill(
        {
            **values,
            "parameters": [*(f"{p.type} {p.name}" for p in own), *index],
            "initializers": f": {', '.join(initializers)}" if initializers else "",
        }
    )
    declaration = text["declaration"].fill(
        {
            **values,
            "constructor": constructor,
            "clone_and_set": text["clone_and_set"].fill({}),
            "members": [*(f"{m.type} {m.name};" for m, _ in members), *(f"{member};" for member in index)],
        }
    )
    replaceable = [a for a in schema.arguments if a.name != "self"]
    symints = [a for a in replaceable if a.type.startswith("SymInt")]
    tensors = [a for a in replaceable if is_tensor_like(a.type)]
    definition = text["definition"].fill(
        {
            **values,
            "arguments": names,
            "index": f"[{_INDEX}]" if is_list else "",
            "clone_arguments": [*names, *([_INDEX] if is_list else [])],
            "num_symints": _count(symints),
            "get_symints": _get(symints, "symints", "c10::SymInt", text),
            "set_symints": _set(symints, "symints", text),
            "num_tensors": _count(tensors),
            "get_tensors": _get(tensors, "tensors", "at::Tensor", text),
            "set_tensors": _set(tensors, "tensors", text),
        }
    )
    include = text["include"].fill({"header": signature.header})
    return {INCLUDE: include, DECLARATION: declaration, DEFINITION: definition}


def _check(function: NativeFunction, release: Release) -> None:
    """Raises SpecError for a view that upstream's class cannot represent."""
    schema, how = function.func, passing_of(function, release, symint=True)
    if len(schema.returns) != 1:
        raise SpecError(
            f"view '{schema.name}' returns {len(schema.returns)} values", "let it return Tensor or Tensor[]"
        )
    for argument in schema.arguments:
        if argument.default is not None:
            check_default(argument, how)
        if argument.is_write or argument.type.startswith("Tensor["):
            raise SpecError(
                f"view '{schema.name}' takes '{argument}', which cannot be saved to replay the view",
                "of tensors, views take only Tensor and Tensor?",
                needle=str(argument),
            )
    if any(a.name == "self" for a in schema.arguments[1:]):
        raise SpecError(f"'self' is not the first argument of view '{schema.name}'", "let it come first", needle="self")


def _member(argument: Argument, function: NativeFunction, release: Release) -> tuple[Parameter, str]:
    """The member for an argument, and its initializer. A reference to a list is copied."""
    value = argument_type(argument.type, passing_of(function, release, symint=True), mutable=False).value
    if value in OWNED_LISTS:
        return Parameter(argument.name, OWNED_LISTS[value]), f"{argument.name}.vec()"
    return Parameter(argument.name, value), argument.name


def _shape(argument: Argument) -> str:
    """Whether a replaceable argument has one value, a list of a fixed length, or an optional value."""
    return "list" if "[" in argument.type else "optional" if argument.type.endswith("?") else "one"


def _counted(argument: Argument) -> str:
    return _COUNTS[_shape(argument)].format(argument.name)


def _count(own: list[Argument]) -> str:
    return " + ".join(map(_counted, own)) or "0"


def _get(own: list[Argument], held: str, type_: str, text: Sections) -> list[str]:
    """The body of a getter, which collects all values in one vector."""
    reserve = [f"{held}.reserve({_count(own)});"] if own else []
    insertions = [text[f"get_{_shape(a)}"].fill({"held": held, "name": a.name}) for a in own]
    return [f"::std::vector<{type_}> {held};", *reserve, *insertions, f"return {held};"]


def _set(own: list[Argument], held: str, text: Sections) -> list[str]:
    """The body of a setter, which assigns the values of one vector; the values of the next argument begin at `i`."""
    statements = ["auto i = 0;"] if own else []
    for argument in own:
        statements.append(text[f"set_{_shape(argument)}"].fill({"held": held, "name": argument.name}))
        if argument is not own[-1]:
            statements.append(f"i += {_counted(argument)};")
    return statements
