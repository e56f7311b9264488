"""A function without mutation, as data: steps that make values of values, and what the wrapper does with them.

Every value has a name that is a C++ identifier, and is made once. `Ref` and `Item` in arguments are such values.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.graphs.model import Function, Item, Many, Place, Ref, Result, Value


class Apply(Struct, frozen=True, tag_field="step", tag="apply"):
    """A call of an operator: of its functional variant, where it is an in-place one."""

    identity: str  # of the operator, as it was written
    arguments: dict[str, Value]
    results: tuple[Result, ...]
    place: Place
    grad: bool = True  # whether it has a gradient: False under no_grad
    written: Value | None = None  # the value that it overwrites: the result is to look like it
    view: bool = False  # whether the result is one of the argument it views: only memory in common, no computation
    clones: tuple[tuple[str, str], ...] = ()  # arguments that it writes to, and what their copies are called
    sized: dict[str, bool] = {}  # those of them that it must not resize, and whether it may if they are empty
    shares: tuple[Value, ...] = ()  # values that its result may be, or be a view of, though it counts as computed


SAME_MEMORY = "graph::same_memory"  # whether what may be a copy is a view


class Number(Struct, frozen=True, tag_field="step", tag="number"):
    """A call to what makes numbers: `python::add`."""

    op: str
    arguments: dict[str, Value]
    result: Result
    place: Place


class Link(Struct, frozen=True):
    """One step from a base to a view: the operator, its arguments without what is viewed, which of several views.

    Without an operator and without an item it is the base itself.
    """

    identity: str
    viewed: str  # the name of the argument that is viewed
    arguments: dict[str, Value]
    grad: bool
    item: int | None = None
    place: Place = Place()
    conditional: bool = False  # whether it may be a copy
    inplace: bool = False  # whether it stands for an in-place operator: `t_`
    cut: bool = False  # whether it has no gradient whatever the mode is: `detach`
    operand: int | None = None  # the place of what is viewed, where the argument is a list
    listed: bool = False  # whether the operator gives a list then, with the view in the same place

    @property
    def is_itself(self) -> bool:
        """Whether it leads nowhere else: an operator gave its argument."""
        return not self.identity and self.item is None

    def all_arguments(self, viewed: Value) -> dict[str, Value]:
        """All arguments of the operator."""
        if self.operand is None:
            return {**self.arguments, self.viewed: viewed}
        others = self.arguments[self.viewed]
        assert isinstance(others, Many)
        values = (*others.values[: self.operand], viewed, *others.values[self.operand :])
        return {**self.arguments, self.viewed: Many(values)}


class Scatter(Struct, frozen=True, tag_field="step", tag="scatter"):
    """`base` with `value` where its view is."""

    base: Value
    value: Value
    chain: tuple[Link, ...]
    result: str
    place: Place
    grad: bool = True  # False: the result keeps the history of the base
    flags: tuple[str, ...] = ()  # numbers that say whether it is a view at all; if not, the result is the base
    same: bool = False  # whether elements of the view that are one in memory have one value


class Choose(Struct, frozen=True, tag_field="step", tag="choose"):
    """One of two values: of a view that may be a copy, what its memory holds, or what was copied."""

    flags: tuple[str, ...]  # numbers that say whether it is a view
    then: Value
    otherwise: Value
    result: str
    place: Place


class Refuse(Struct, frozen=True, tag_field="step", tag="refuse"):
    """An error at run time where eager has one: when one of the values needs a gradient."""

    values: tuple[Value, ...]
    message: str
    place: Place


class Forbid(Struct, frozen=True, tag_field="step", tag="forbid"):
    """An error at run time where a number is true."""

    flag: str
    message: str
    place: Place


Step = Apply | Number | Scatter | Choose | Refuse | Forbid


class Update(Struct, frozen=True):
    """New contents of an input, copied into it afterwards."""

    input: str
    value: Value
    grad: tuple[tuple[str, ...], ...]  # code in grad mode wrote to it where one of these holds; () holds
    conditions: tuple[tuple[str, ...], ...] = ()  # any code wrote to it where one of these holds
    silent: bool = False  # whether autograd is not to know: an operator wrote to it that does not say so


class Check(Struct, frozen=True):
    """An input, or a view of it, that eager would refuse to have written to."""

    input: str
    chain: tuple[Link, ...]
    values: tuple[Value, ...]  # if one of these needs a gradient
    flags: tuple[str, ...] = ()  # and if these hold, where it may be a copy


class Copied(Struct, frozen=True, array_like=True):
    """A tensor on the way to a view that may be a copy: what is behind it is then made of its value."""

    step: int  # how many links of the chain lead to it
    flag: str  # the number that says whether it is a view
    value: Value


class Shown(Struct, frozen=True, array_like=True, tag="shown"):
    """An output that is a tensor: an input or a value, or a view of it that is made again."""

    base: Value
    is_input: bool
    chain: tuple[Link, ...] = ()
    listed: bool = False  # whether it is a list of views, or of values
    which: tuple[
        int, ...
    ] = ()  # of each step of the chain, the tensor that it makes: one that is made twice is the same
    copies: tuple[Copied, ...] = ()  # where the chain may begin anew
    early: int = 0  # links that are made before its input comes to look otherwise, as autograd counts that as a write


class Shared(Struct, frozen=True, array_like=True, tag="shared"):
    """An output that is a list of tensors."""

    items: tuple[Shown, ...]


OutputValue = Shown | Shared | Value


class Functional(Struct, frozen=True):
    """A function without mutation."""

    function: Function
    names: dict[str, str]  # what inputs are called
    steps: tuple[Step, ...]
    updates: tuple[Update, ...] = ()
    metadata: tuple[tuple[str, Link], ...] = ()  # in-place views of inputs, in order
    checks: tuple[Check, ...] = ()
    outputs: tuple[OutputValue, ...] = ()
    bumped: tuple[str, ...] = ()  # inputs whose version moves, and nothing else of them
    written: tuple[str, ...] = ()  # inputs that are written to


def names_in(part: object) -> set[str]:
    """The values that a part of a function names."""
    if isinstance(part, (Ref, Item)):
        return {part.name}
    if isinstance(part, Many):
        return {name for each in part.values for name in names_in(each)}
    if isinstance(part, dict):
        return {name for each in part.values() for name in names_in(each)}
    if isinstance(part, tuple):
        return {part_name for each in part for part_name in names_in(each)}
    if isinstance(part, (Choose, Scatter)):
        inside = (part.then, part.otherwise) if isinstance(part, Choose) else (part.base, part.value, part.chain)
        return names_in(inside) | set(part.flags)
    if isinstance(part, Forbid):
        return {part.flag}
    if isinstance(part, Copied):
        return {part.flag, *names_in(part.value)}
    if isinstance(part, (Apply, Number, Link, Refuse, Update, Check, Shown, Shared)):
        return {name for field in part.__struct_fields__ for name in names_in(getattr(part, field))}
    return set()
