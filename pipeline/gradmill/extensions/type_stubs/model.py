"""Type stubs as data: what the script of a checkout writes by hand, and the hints of one Python name."""

from msgspec import Struct

from gradmill.model.bindings import Binding


class Written(Struct, frozen=True, array_like=True):
    """What gen_pyi.py says of the hints of a name."""

    hints: list[str]  # with one place for all that signatures give
    replaced: list[tuple[str, str]]  # what is replaced in those that signatures give, with the replacements


class StubScript(Struct, frozen=True, array_like=True):
    """What gen_pyi.py writes, without the text of units."""

    names: dict[str, Written]  # by `torch.add` or `Tensor.add_`
    holes: dict[str, dict[str, str | list[str]]]  # file -> hole -> text; the names of units if these fill it
    docstrings: dict[str, str]  # by the same names: a hint with its docstring, with a place for its text


class Hint(Struct, frozen=True, array_like=True):
    """A function of the module torch or a method of Tensor, with all that its stub needs."""

    written: Written
    binding: Binding | None  # what Python calls by this name, if there is something
    order: list[int]  # the places of its signatures; none if there is one
    docstring: str | None  # as in StubScript
