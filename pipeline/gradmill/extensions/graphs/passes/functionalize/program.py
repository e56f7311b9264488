"""A functionalized function as data: steps that compute values, and what the wrapper does with these values.

Every value has a name, which is a C++ identifier, and is assigned once. `Ref` and `Item` in arguments are such values.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gradmill.extensions.graphs.model import Function, Input, Item, Many, Place, Ref, Result, Value

Flags = tuple[Ref, ...]  # bools that are all true at run time


class Apply(Struct, frozen=True, tag_field="step", tag="apply"):
    """A call of an operator; of its functional variant for an in-place operator."""

    identity: str  # the operator as written
    arguments: dict[str, Value]
    results: tuple[Result, ...]
    place: Place
    grad: bool = True  # whether it has a gradient: False under no_grad
    written: Value | None = None  # the value that it overwrites; the result gets its sizes and dtype
    view: bool = False  # whether the result is a view of an argument, without computation
    clones: tuple[tuple[str, str], ...] = ()  # arguments that it writes to, with the names of their copies
    sized: dict[str, bool] = {}  # those of them that it must not resize, and whether it may resize an empty one
    shares: tuple[Value, ...] = ()  # values that its result may alias, although it counts as computed
    assigns: bool = False  # whether it is `x[…] = value`
    autocast: tuple[str, ...] = ()  # the device and the dtype of a region of autocast that it is called in

    @property
    def values(self) -> list[str]:
        """The names of its results, or else of the copies that it writes to."""
        return [each.name for each in self.results] or [clone for _, clone in self.clones]

    def named(self, names: Iterable[str]) -> dict[str, Value]:
        """These values by their names in formulas."""
        return {name: Ref(value) for name, value in zip(names, self.values)}


SAME_LAYOUT = "graph::same_layout"  # computes whether a result that may be its argument may be so
SAME_MEMORY = "graph::same_memory"  # computes whether a result that may be a copy is a view


class Number(Struct, frozen=True, tag_field="step", tag="number"):
    """A computation of numbers: `python::add`."""

    op: str
    arguments: dict[str, Value]
    result: Result
    place: Place


class Link(Struct, frozen=True):
    """One step from a base to a view: the operator, its arguments without the viewed one, and the item of a list.

    Without an operator and without an item, the view is the base itself.
    """

    identity: str
    viewed: str  # the name of the viewed argument
    arguments: dict[str, Value]
    grad: bool
    item: int | None = None
    place: Place = Place()
    conditional: bool = False  # whether it may be a copy
    inplace: bool = False  # whether it represents an in-place operator: `t_`
    cut: bool = False  # whether it has no gradient in any grad mode: `detach`
    operand: int | None = None  # if the viewed argument is a list: the index of the viewed tensor
    listed: bool = False  # if so, whether the operator returns a list, with the view at the same index

    @property
    def is_itself(self) -> bool:
        """Whether the view is the base itself: an operator returned its argument."""
        return not self.identity and self.item is None

    def all_arguments(self, viewed: Value) -> dict[str, Value]:
        """All arguments of the operator, with `viewed` as the viewed tensor."""
        if self.operand is None:
            return {**self.arguments, self.viewed: viewed}
        others = self.arguments[self.viewed]
        assert isinstance(others, Many)
        values = (*others.values[: self.operand], viewed, *others.values[self.operand :])
        return {**self.arguments, self.viewed: Many(values)}


class Scatter(Struct, frozen=True, tag_field="step", tag="scatter"):
    """`base` with `value` written to the view that `chain` makes."""

    base: Value
    value: Value
    chain: tuple[Link, ...]
    result: str
    place: Place
    grad: bool = True  # False: the result keeps the history of the base
    flags: Flags = ()  # if it is a view; if not, the result is the base
    same: bool = False  # whether elements of the view that overlap in memory have equal values


class Choose(Struct, frozen=True, tag_field="step", tag="choose"):
    """One of two values of a tensor that may be a copy: `then` if it is a view, `otherwise` the copy."""

    flags: Flags  # if it is a view
    then: Value
    otherwise: Value
    result: str
    place: Place


class ErrorIfRequiresGrad(Struct, frozen=True, tag_field="step", tag="error_if_requires_grad"):
    """An error at run time, as in eager, if one of the values needs a gradient."""

    values: tuple[Value, ...]
    message: str
    place: Place


class ErrorIf(Struct, frozen=True, tag_field="step", tag="error_if"):
    """An error at run time if the flag is true."""

    flag: Ref
    message: str
    place: Place


class Overlap(Struct, frozen=True, tag_field="step", tag="overlap"):
    """An error at run time, as in eager, if a written and a read view of one tensor overlap in memory."""

    base: Value  # whose layout is that of the memory
    common: tuple[Link, ...]  # from the base to the tensor that both are views of
    written: tuple[Link, ...]
    read: tuple[Link, ...]
    every: bool  # whether any overlap is an error; False: one that is not the whole of both
    assigns: bool  # whether the read tensor is the value of `x[…] = value`
    flags: Flags  # if both are views, and no copies
    place: Place


Step = Apply | Number | Scatter | Choose | ErrorIfRequiresGrad | ErrorIf | Overlap


class Update(Struct, frozen=True):
    """New contents of an input, which the wrapper copies into it."""

    input: str
    value: Value
    grad: tuple[Flags, ...]  # code in grad mode wrote to it if one of these is true; () is
    conditions: tuple[Flags, ...] = ()  # the same for any code
    silent: bool = False  # whether autograd must not notice: the operator that wrote to it does not declare the write


class Check(Struct, frozen=True):
    """A write to an input, or to a view of it, that eager may refuse."""

    input: str
    chain: tuple[Link, ...]
    values: tuple[Value, ...]  # the check runs if one of these needs a gradient
    flags: Flags = ()  # and if these are true: of a tensor that may be a copy, of a write on demand


class Copied(Struct, frozen=True, array_like=True):
    """A tensor on the chain to a view that may be a copy. If it is one, the rest of the chain starts from its value."""

    step: int  # the number of links before it
    flag: Ref  # true at run time if it is a view
    value: Value


class Shown(Struct, frozen=True, array_like=True, tag="shown"):
    """An output that is a tensor: an input or a value, or a view of it that the wrapper recomputes."""

    base: Value
    is_input: bool
    chain: tuple[Link, ...] = ()
    listed: bool = False  # whether it is a list of views, or of values
    # for each link of the chain, the number of the tensor that it makes; equal numbers are the same tensor
    which: tuple[int, ...] = ()
    copies: tuple[Copied, ...] = ()  # tensors of the chain that may be copies
    early: int = 0  # the links before the last metadata mutation of the input, which autograd counts as a write


class Shared(Struct, frozen=True, array_like=True, tag="shared"):
    """An output that is a list of tensors."""

    items: tuple[Shown, ...]


OutputValue = Shown | Shared | Value


class Functional(Struct, frozen=True):
    """A functionalized function."""

    function: Function
    names: dict[str, str]  # the C++ names of inputs
    steps: tuple[Step, ...]
    updates: tuple[Update, ...] = ()
    metadata: tuple[tuple[str, Link], ...] = ()  # in-place views of inputs, in order
    checks: tuple[Check, ...] = ()
    outputs: tuple[OutputValue, ...] = ()
    # inputs that get a new version, because the metadata of a view was mutated: if one of these is true
    bumped: dict[str, tuple[Flags, ...]] = {}
    written: tuple[str, ...] = ()  # inputs that are written to

    @property
    def inputs(self) -> dict[str, Input]:
        """The inputs by their C++ names."""
        return {self.names[each.name]: each for each in self.function.inputs}

    @property
    def changed(self) -> list[str]:
        """The inputs whose contents, versions or metadata change."""
        return [*self.written, *self.bumped, *(name for name, _ in self.metadata)]


def values_of(step: Step) -> dict[str, str]:
    """The types in the schema language of the values that a step computes, by name."""
    if isinstance(step, Apply):
        return {each.name: each.type for each in step.results} | {clone: "Tensor" for _, clone in step.clones}
    if isinstance(step, Number):
        return {step.result.name: step.result.type}
    return {step.result: "Tensor"} if isinstance(step, (Scatter, Choose)) else {}


def tensors_of(value: Value) -> list[Ref | Item]:
    """The values in an argument that may be tensors: itself, or those of a list."""
    if isinstance(value, Many):
        return [tensor for each in value.values for tensor in tensors_of(each)]
    return [value] if isinstance(value, (Ref, Item)) else []


def names_in(part: object) -> set[str]:
    """The names of all values in a part of a program: a value, a step, a link, a tuple of these."""
    if isinstance(part, (Ref, Item)):
        return {part.name}
    if isinstance(part, Struct):
        part = tuple(getattr(part, field) for field in part.__struct_fields__)
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, tuple) else ()
    return {name for each in inside for name in names_in(each)}
