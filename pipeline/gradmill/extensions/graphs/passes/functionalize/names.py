"""Names of values: unique C++ identifiers."""

from __future__ import annotations

import re
import unicodedata

from gradmill.cpp.identifiers import KEYWORDS

_OTHER = re.compile(r"\W")
_RESERVED = KEYWORDS | frozenset(
    """
    at c10 std torch formulas gradmill graph main int64_t size_t Edge Node SavedVariable Tensor TensorGeometry
    strides_or_error to_args_scalartypes to_args_sizes to_args_sizes_symint variable_list
    """.split()
)
# Macros in the headers of torch and of the system, other than those that _MACRO matches.
_MACROS = frozenset(
    """
    DEFINE_ST_ENUM_VAL_ I L_ctermid L_cuserid L_tmpnam MaxTypeIndex P_tmpdir alloca assert assert_perror be16toh be32toh
    be64toh errno htobe16 htobe32 htobe64 htole16 htole32 htole64 issubnormal le16toh le32toh le64toh linux
    math_errhandling offsetof pthread_cleanup_pop pthread_cleanup_pop_restore_np pthread_cleanup_push
    pthread_cleanup_push_defer_np sched_priority stderr stdin stdout strdupa strndupa timeradd timerclear timercmp
    timerisset timersub unix
    """.split()
)
# Names in the generated functions and Nodes: print/graph.cpp and the statements of this package.
_GENERATED = frozenset(
    """
    all base found given grads inputs_ kept kept_ list made maybe_unused needed needs next node results saved
    shared_results values_ view views
    """.split()
)
_DERIVED = re.compile(r"(gate|grad_of|layout|length|like|likes|record|the)_.*")  # names derived from a value's name
_MACRO = re.compile(r"[A-Z][A-Z0-9_]*[A-Z0-9]|(C10|M|SYS|TORCH)_\w*[a-zA-Z0-9]")
_VIEW = re.compile(r".*_of_base")


def is_reserved(name: str) -> bool:
    """Whether the generated C++, or C++ itself, already uses a name."""
    used = name in _RESERVED or name in _GENERATED or may_be_macro(name)
    return used or any(pattern.fullmatch(name) for pattern in (_DERIVED, _VIEW))


def may_be_macro(name: str) -> bool:
    """Whether C++ may have a macro of a name."""
    return name in _MACROS or _MACRO.fullmatch(name) is not None


def identifier(name: str) -> str:
    """The C++ name of a function: C++ keywords and names like macros get a trailing underscore."""
    plain = name.rstrip("_")
    return f"{name}_" if plain in _RESERVED or may_be_macro(plain) else name


def namespace_of(stem: str) -> str:
    """The C++ namespace of a file of functions. At the beginning of a name, `__` and `_X` are the compiler's."""
    return identifier(re.sub("^_(?=[_A-Z])_*", "", stem) or "graphs")


def in_ascii(name: str) -> str:
    """A name in letters, digits and underscores: `e` for é, `lamda` for λ, an underscore for any other character."""
    return "".join(each if each.isascii() and (each.isalnum() or each == "_") else _letter(each) for each in name)


def _letter(other: str) -> str:
    plain = unicodedata.normalize("NFKD", other.casefold()).encode("ascii", "ignore").decode()
    called = unicodedata.name(other, "").partition(" LETTER ")[2].partition(" ")[0].lower()
    return next((text for text in (plain, called) if text.isalnum()), "_")


class Names:
    """Creates unique names."""

    def __init__(self) -> None:
        self._plain: dict[str, str] = {}  # each created name, and the same name without its number
        self._numbers: dict[str, int] = {}  # the last number appended to a name, 1 for none

    def new(self, wanted: str) -> str:
        """A new name like `wanted`. If `wanted` was created here, the number at its end is replaced."""
        plain = self._plain.get(wanted) or _plain(wanted)
        number = self._numbers.get(plain, 1)
        name = plain if number == 1 else f"{plain}_{number}"
        while name in self._plain or is_reserved(name):
            number += 1
            name = f"{plain}_{number}"
        self._plain[name] = plain
        self._numbers[plain] = number
        return name


def _plain(wanted: str) -> str:
    plain = re.sub(r"__+", "_", _OTHER.sub("_", wanted)).strip("_") or "value"
    if plain[0].isdigit() or _DERIVED.fullmatch(plain) or may_be_macro(plain):
        return f"v{plain}" if plain[0].isdigit() else f"v_{plain}"
    return plain
