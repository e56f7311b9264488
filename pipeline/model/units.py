"""Units: what a family prints one by one, a Node or a function."""

from msgspec import Struct

from pipeline.problems.problem import Role


class Unit(Struct, frozen=True, gc=False, array_like=True):
    """One thing that a family prints."""

    name: str  # different for every unit of a family
    title: str  # what it is called in C++
    operator: str  # upstream's shards go by it
    op: str  # the operator with its overload; a graph's function
    role: Role  # the file and the entry that it is from
    entry: str
    dispatch_key: str = ""
    synthesized: bool = False  # a foreach Node without an entry of its own: the entry is that of its reference
    function: str = ""
