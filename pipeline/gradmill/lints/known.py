"""The names that formulas may use: functions with their numbers of arguments, methods, constants."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from gradmill.cpp.declared import DeclaredOverload

CALL, METHOD, CONSTANT = "call ", "method ", "constant "  # prefixes of a name: what it is used as
ATEN = "aten "  # a function called with the prefix `at::`, which is not a helper

# Constants of C++'s own headers, and those of c10 that are not dtypes.
CONSTANTS = frozenset(
    """
    M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 INFINITY NAN
    HUGE_VAL INT_MAX INT_MIN LONG_MAX LONG_MIN DBL_MAX DBL_MIN DBL_EPSILON FLT_MAX FLT_MIN FLT_EPSILON NULL kStrided
    kSparse kSparseCsr kSparseCsc kSparseBsr kSparseBsc kMkldnn kJagged kCPU kCUDA kHIP kXLA kMPS kXPU kMeta
    kPrivateUse1 kFloat kDouble kHalf kBFloat16 kLong kInt kShort kChar kByte kBool kComplexFloat kComplexDouble
    kComplexHalf
    """.split()
)
TYPES = tuple(
    """
    Tensor Scalar SymInt SymFloat SymBool IntArrayRef SymIntArrayRef ArrayRef TensorList TensorOptions TensorGeometry
    ScalarType Generator Storage Layout Device MemoryFormat OptionalArrayRef OptionalIntArrayRef OptionalSymIntArrayRef
    OptionalTensorRef IValue
    """.split()
)
# Methods of other types than tensors, of those that some type has.
_OF_LIST = frozenset(
    """
    at back begin cbegin cend clear data emplace_back empty end equals erase front insert pop_back push_back rbegin
    rend reserve resize size slice swap vec
    """.split()
)
_OF_OPTIONAL = frozenset("emplace has_value reset swap value value_or".split())
_OF_STR = _OF_LIST.union("append assign c_str capacity count find length substr".split())
_CONVERSIONS = frozenset(  # of numbers, by a macro
    """
    toBFloat16 toBool toByte toChar toComplex toComplexDouble toComplexFloat toComplexHalf toDouble toFloat toHalf
    toInt toLong toShort
    """.split()
)
_OWN: dict[str, frozenset[str]] = {
    **dict.fromkeys(("int", "float", "bool"), frozenset()),
    "SymInt": frozenset("clone expect_int guard_int has_hint is_symbolic max maybe_as_int min".split()),
    "Scalar": _CONVERSIONS.union(
        """
        conj equal isBoolean isComplex isFloatingPoint isIntegral isSymBool isSymFloat isSymInt isSymbolic log to
        toSymFloat toSymInt type
        """.split()
    ),
    "str": _OF_STR,
}
# Methods that no header declares by name: also of tuples and of complex numbers, and a rewritten call.
METHODS = _OF_STR | _OF_OPTIONAL | _CONVERSIONS | frozenset("first get imag real second sym_blocksize".split())
# Methods of other types that a tensor does not have.
NO_TENSOR_METHODS = (_OF_LIST | _OF_OPTIONAL | _CONVERSIONS).difference(
    "data empty reset resize size slice swap".split()
)


def methods_of(type_: str) -> frozenset[str] | None:
    """The methods of a type of `gradmill.cpp.conversions`, of those that some type has; None if unknown."""
    if type_.endswith("?"):
        return _OF_OPTIONAL
    if type_.endswith("]"):
        return _OF_LIST
    return frozenset() if type_.startswith("(") else _OWN.get(type_)


class Variables(Struct, frozen=True):
    """The variables that a formula may use."""

    types: Mapping[str, str]  # by name, "" if unknown
    optional: Collection[str] = ()  # the names of optional tensors, which may also be used as pointers
    floats: Collection[str] = ()  # of tensors that have a derivative
    written: Collection[str] = ()  # of those that the formula may change


class KnownNames(Protocol):
    """The names that a formula may use."""

    def arity(self, kind: str, name: str) -> tuple[int, int] | None:
        """The least and the most arguments of a name used as a `kind`; None if the name is unknown."""

    def names(self, kind: str) -> Sequence[str]:
        """All names that may be used as a `kind`."""

    def overloads(self, kind: str, name: str) -> Sequence[DeclaredOverload] | None:
        """The known overloads of a name used as a `kind`; there may be more. None if none is known."""

    def all_overloads(self, kind: str, name: str) -> Sequence[DeclaredOverload] | None:
        """All overloads of a name used as a `kind`; None if there may be more than the known ones."""

    def most(self, kind: str, name: str) -> int:
        """The most arguments that any overload of the release or of the set takes; ANY if unknown."""

    def is_whole(self) -> bool:
        """Whether all names are known, so that an unknown one is an error."""
