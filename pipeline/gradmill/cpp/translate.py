"""Calls between the C++ interfaces of an operator: expressions for the arguments of one from the parameters of another.

What a value means is its name in the schema, and its C++ type is text. `options` and the four options, integers and
SymInts, optional tensors and references to them convert; a tensor takes what `out` or the method's object has.

torchgen: `translate.translate`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gradmill.cpp.bindings import REDUNDANT_MEMORY_FORMAT
from gradmill.cpp.types import TENSOR_OPTIONS, optional
from gradmill.problems.problem import SpecError

Goal = tuple[str, str]  # the meaning of an argument, and its C++ type


class Value(Struct, frozen=True, gc=False, array_like=True):
    """A value in scope."""

    meaning: str  # the name of the argument in the schema
    type: str
    text: str  # the expression


_INTS, _SYMINTS = "at::IntArrayRef", "c10::SymIntArrayRef"
_OPTIONAL_INTS, _OPTIONAL_SYMINTS = "at::OptionalIntArrayRef", "at::OptionalSymIntArrayRef"
_TENSOR_REF, _SCALAR_REF = "at::OptionalTensorRef", "at::OptionalScalarRef"
_IF_ANY = "{0}.has_value() ? ::std::make_optional(%s) : ::std::nullopt"
_SELF = "const_cast<Tensor&>(*this)"

# Each type of a value in scope -> the type and expression that the value also has.
_ALSO = {
    "const ::std::optional<at::Tensor> &": (
        _TENSOR_REF,
        f"(({{0}}.has_value() && (*{{0}}).defined()) ? {_TENSOR_REF}(*{{0}}) : {_TENSOR_REF}())",
    ),
    "const ::std::optional<at::Scalar> &": (
        _SCALAR_REF,
        f"({{0}}.has_value() ? {_SCALAR_REF}(&({{0}}.value())) : {_SCALAR_REF}())",
    ),
    "const c10::List<::std::optional<at::Tensor>> &": ("at::IOptTensorListRef", "at::IOptTensorListRef({0})"),
    "const at::Scalar &": ("opmath_t", "({0}).to<opmath_t>()"),
    "scalar_t": ("opmath_t", "static_cast<opmath_t>({0})"),
}
# Each wanted type -> the types that convert to it, each with the conversion. The first one in scope is taken.
_FROM = {
    _INTS: (("::std::vector<int64_t>", "{0}"), (_SYMINTS, "C10_AS_INTARRAYREF_SLOW({0})")),
    _SYMINTS: ((_INTS, "c10::fromIntArrayRefSlow({0})"), ("::std::vector<c10::SymInt>", "{0}")),
    "c10::SymInt": (("int64_t", "{0}"),),
    "int64_t": (("c10::SymInt", "{0}.guard_int(__FILE__, __LINE__)"),),
    optional("c10::SymInt"): ((optional("int64_t"), _IF_ANY % "c10::SymInt(*{0})"),),
    optional("int64_t"): ((optional("c10::SymInt"), _IF_ANY % "{0}->guard_int(__FILE__, __LINE__)"),),
    _OPTIONAL_INTS: (
        (optional("::std::vector<int64_t>"), "{0}"),
        (_OPTIONAL_SYMINTS, _IF_ANY % "C10_AS_INTARRAYREF_SLOW(*{0})"),
    ),
    _OPTIONAL_SYMINTS: ((_OPTIONAL_INTS, _IF_ANY % "c10::fromIntArrayRefSlow(*{0})"),),
    _SCALAR_REF: ((optional("at::Scalar"), "{0}"),),
    _TENSOR_REF: ((optional("at::Tensor"), "{0}"),),
    "at::Tensor &": (("const at::Tensor &", "const_cast<Tensor&>({0})"),),
}
_MEMORY_FORMAT = optional("at::MemoryFormat")
_OPTIONS = ("options", f"const {TENSOR_OPTIONS} &")
_OUT = ("out", "const at::Tensor &")
# Each option -> how `options` and `out` provide it.
_OPTION = {
    ("dtype", optional("at::ScalarType")): ("c10::optTypeMetaToScalarType({0}.dtype_opt())", "{0}.scalar_type()"),
    ("layout", optional("at::Layout")): ("{0}.layout_opt()", "{0}.layout()"),
    ("device", optional("at::Device")): ("{0}.device_opt()", "{0}.device()"),
    ("pin_memory", optional("bool")): ("{0}.pinned_memory_opt()", "::std::nullopt"),
}
_GROUPED = "TensorOptions().dtype({0}).layout({1}).device({2}).pinned_memory({3})"  # in the order of these
_CHECKED = "c10::impl::check_tensor_options_and_extract_memory_format({0}, {1})"


def translate(scope: Iterable[Value], goals: Iterable[Goal], *, method: bool = False) -> list[str]:
    """An expression for each goal from the values in scope. `method`: the scope is a method of Tensor. Raises SpecError
    for a goal that no value in scope converts to."""
    known: dict[Goal, str] = {}
    for value in scope:
        known[value.meaning, value.type] = value.text
        if value.type in _ALSO:
            type_, form = _ALSO[value.type]
            known[value.meaning, type_] = form.format(value.text)
    if method:
        known["self", "at::Tensor &"] = known["self", "const at::Tensor &"] = _SELF
    return [known.get(goal) or _translated(known, goal) for goal in goals]


def _translated(known: dict[Goal, str], goal: Goal) -> str:
    """The value of a goal: one in scope, else that of a form of it by a conversion."""
    direct = _direct(known, goal)
    if direct is not None:
        return direct
    for form in reversed(_forms(goal)):
        if made := _made(known, form):
            return made
    problem = f"argument '{goal[0]}' cannot be passed on as '{goal[1]}'"
    raise SpecError(problem, "torchgen cannot either: give it another type", field=("func",), needle=goal[0])


def _direct(known: dict[Goal, str], goal: Goal) -> str | None:
    """The value of a goal that is in scope: a constant reference may be a mutable one or a value."""
    for each in _forms(goal):
        if each in known:
            return known[each]
    return None


def _forms(goal: Goal) -> list[Goal]:
    """A goal, and those whose values are of its type, too."""
    meaning, type_ = goal
    forms = [goal]
    if type_.endswith(" &"):
        value = type_.removeprefix("const ").removesuffix(" &")
        forms += [(meaning, f"{value} &")] * type_.startswith("const ") + [(meaning, value)]
    return [*forms, (meaning, _INTS)] if forms[-1][1] == "at::ArrayRef<int64_t>" else forms


def _made(known: dict[Goal, str], goal: Goal) -> str | None:
    """The value of a goal by a conversion."""
    if goal == ("memory_format", _MEMORY_FORMAT):
        return _memory_format(known)
    if goal in _OPTION:
        of_options, of_out = _OPTION[goal]
        options = _direct(known, _OPTIONS)
        out = _direct(known, _OUT) if options is None else None
        return of_options.format(options) if options is not None else out and of_out.format(out)
    if goal == ("options", TENSOR_OPTIONS):
        each = [text for text in (_direct(known, option) for option in _OPTION) if text is not None]
        return _GROUPED.format(*each) if len(each) == len(_OPTION) else None
    values = ((form, _direct(known, (goal[0], type_))) for type_, form in _FROM.get(goal[1], ()))
    return next((form.format(value) for form, value in values if value is not None), None)


def _memory_format(known: dict[Goal, str]) -> str | None:
    """The memory format of a call: that of `options` and the one next to them must not be two."""
    own = _direct(known, (REDUNDANT_MEMORY_FORMAT, _MEMORY_FORMAT))
    options = _direct(known, _OPTIONS)
    return own if own is None or options is None else _CHECKED.format(options, own)
