"""Type stubs as data: what the script of a checkout writes by hand, and the hints of one Python name."""

from msgspec import Struct

from gradmill.model.bindings import Binding

GENERATED = "\0"  # in a list of hints: the place of those that signatures give


class StubRules(Struct, frozen=True, array_like=True):
    """What gen_pyi.py does to hints from signatures."""

    by_hand: list[str] = []  # names that get none, but deprecated ones
    replaced: list[tuple[str, str]] = []  # what it replaces in hints of functions, with the replacements


class StubScript(Struct, frozen=True, array_like=True):
    """What gen_pyi.py writes, without the text of units."""

    hints: dict[str, list[str]]  # `torch.add` or `Tensor.add_` -> its hints, some written by hand
    rules: StubRules
    holes: dict[str, dict[str, str | list[str]]]  # file -> hole -> text; the names of units if these fill it


class Hint(Struct, frozen=True, array_like=True):
    """A function of the module torch or a method of Tensor, with all that its stub needs."""

    hints: list[str]  # written by hand, with GENERATED between them
    binding: Binding | None  # what Python calls by this name, if there is something
    order: list[int]  # the places of its signatures; none if there is one
    by_hand: bool  # whether it gets no hints from signatures, but deprecated ones
    replaced: list[tuple[str, str]]
    docstring: str | None
