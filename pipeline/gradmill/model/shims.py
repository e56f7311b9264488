"""AOTInductor's C functions of operators as data: which operators have them, in which versions."""

from msgspec import Struct

from gradmill.model.native import Kernel, NativeFunction

# The lists of operators, by their names in the Python module that has them.
FALLBACKS, SHIMIFIED = "inductor_fallback_ops", "aten_shimified_ops"


class ShimVersion(Struct, frozen=True, gc=False, array_like=True):
    """A version of an operator's C function. Each lacks the arguments that later ones added."""

    number: int
    added: tuple[str, ...]  # the arguments that it added
    since: str = ""  # the macro of the release that has it first: `TORCH_VERSION_2_12_0`; "": every one


class Shimmed(Struct, frozen=True, gc=False, array_like=True):
    """A function with C functions. For each list that it is in, its versions, the newest first."""

    function: NativeFunction
    versions: dict[str, tuple[ShimVersion, ...]]
    structured: dict[str, Kernel]  # the kernels of the out variant that it delegates to
