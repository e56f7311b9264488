"""Units: the Nodes or functions that a family prints one by one."""

from msgspec import Struct

from gradmill.problems.problem import Role


class Unit(Struct, frozen=True, gc=False, array_like=True):
    """One Node or function that a family prints."""

    name: str  # unique in its family
    title: str  # its name in C++
    shard_key: str  # decides the shard, as upstream does
    overload: str  # the operator with its overload; in a file of an extension, the function
    role: Role  # of the file with its entry
    entry: str
    dispatch_key: str = ""
    # a foreach Node without its own entry: the entry is that of its reference; a wrapper without a declared kernel
    synthesized: bool = False
    function: str = ""
    functions: tuple[str, ...] = ()  # all of them, if the unit is of several
