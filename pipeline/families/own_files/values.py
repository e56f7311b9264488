"""What the texts of a description may say of a function: its C++ types, its arguments, its signatures, its kernels.

torchgen: `dispatcher.arguments`, `native.arguments`, `signatures.CppSignatureGroup`, `translate.translate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from pipeline.cpp.backend_kernels import to_kernel
from pipeline.cpp.bindings import cpp_name, passing_of
from pipeline.cpp.dispatcher import Parameter, goals, parameters, returns_type
from pipeline.cpp.native import native_defaults, native_parameters
from pipeline.cpp.signatures import cpp_signatures, passed
from pipeline.families.overrides import FunctionFacts
from pipeline.model.native import Kernel, NativeFunction
from pipeline.model.schema import Argument, has_symint, is_list, is_tensor_like
from pipeline.releases.model import Release
from pipeline.specs.layers.description import Text

# The lists of arguments, by the names that texts use.
ARGUMENTS: dict[str, Callable[[NativeFunction], tuple[Argument, ...]]] = {
    "arguments": lambda of: of.func.arguments,
    "self": lambda of: (of.func.self_argument,) if of.func.self_argument is not None else (),
    "positional": lambda of: of.func.positional,
    "keyword": lambda of: of.func.kwarg_only,
    "out": lambda of: of.func.out,
}
SIGNATURES, DISPATCH = "signatures", "dispatch"
LISTS = (*ARGUMENTS, SIGNATURES, DISPATCH)
NAMES = (
    *("cpp_name", "kernel", "schema", "returns", "names", "passed"),
    *("parameters", "declared", "kernel_parameters", "kernel_declared"),
)
ITEM_NAMES = {  # the values of an item, by list
    **dict.fromkeys(ARGUMENTS, ("name", "type", "default", "kernel_type", "kernel_default", "passed")),
    SIGNATURES: ("name", "parameters", "declared", "names", "passed"),
    DISPATCH: ("key", "kernel", "namespace"),
}
TYPE = "type:"  # begins the word of an argument's type in the schema
SHARED = "as:"  # begins the word of a key that has the same kernel
KEY = "key_"  # begins the name of a value that a list has
ITEM_WORDS = ("default", "tensor", "list", "optional", "symint", "written", "converted")
WORDS = ("void", "tuple", "tensor", "outs", "overload", "unchecked", "unguarded")


class Item(Struct, frozen=True, gc=False, array_like=True):
    """An argument, a signature, or a kernel: the values of its names, and the words that are true of it."""

    values: dict[str, str]
    words: tuple[str, ...] = ()


class Described(Struct, frozen=True):
    """A function with the texts of a description."""

    function: NativeFunction
    facts: FunctionFacts
    texts: dict[str, tuple[Text, ...]]  # by name, each with its alternatives
    wanted: tuple[str, ...]  # the names of those that are pieces
    symint: bool  # whether its kernel takes SymInt
    keys: dict[str, str]  # those that lists have for it


class Values:
    """The values of a function, each computed when a text uses it. A SpecError for a type without C++."""

    def __init__(self, of: Described, release: Release) -> None:
        self.of, self._function, self.release = of, of.function, release
        self.symint = of.symint and has_symint(of.function.func)
        self._values = dict(of.facts.names)

    def value(self, name: str, default: str) -> str:
        """The value of a name that is not an item's; `default` for another name."""
        if name in NAMES and name not in self._values:
            self._values[name] = self._computed(name)
        return self._values.get(name, default)

    def _computed(self, name: str) -> str:
        schema, named = self._function.func, cpp_name(self._function.func)
        values: dict[str, Callable[[], str]] = {
            "cpp_name": lambda: named,
            "kernel": lambda: named + ("_symint" if self.symint else ""),
            "schema": lambda: str(schema),
            "returns": lambda: returns_type(self._function, self.release),
            "names": lambda: ", ".join(a.name for a in schema.arguments),
            "passed": lambda: ", ".join(self._passed),
            "parameters": lambda: _declared(self._dispatched),
            "declared": lambda: _declared(self._dispatched, self._defaults(symint=True)),
            "kernel_parameters": lambda: _declared(self._kernel),
            "kernel_declared": lambda: _declared(self._kernel, self._defaults(symint=self.symint)),
        }
        return values[name]()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words that are true of the function, those of selections included."""
        schema = self._function.func
        words = {
            "void": not schema.returns,
            "tuple": len(schema.returns) > 1,
            "tensor": any(is_tensor_like(a.type) for a in (*schema.positional, *schema.out)),
            "outs": len(schema.out) > 1,
            "overload": bool(schema.name.overload),
            "unchecked": self._function.device_check == "NoCheck",
            "unguarded": not self._function.device_guard,
        }
        return (*self.of.facts.words, *(word for word, is_true in words.items() if is_true))

    def items(self, listed: str) -> list[Item]:
        """The items of lists, one after the other."""
        return [item for name in listed.split() if name in LISTS for item in self._items(name)]

    def _items(self, name: str) -> Iterable[Item]:
        if name == SIGNATURES:
            return self._signatures
        if name == DISPATCH:
            kernels = self._function.dispatch
            return [_kernel_item(key, kernel, kernels) for key, kernel in kernels.items()]
        return [self._arguments[argument.name] for argument in ARGUMENTS[name](self._function)]

    @cached_property
    def _dispatched(self) -> tuple[Parameter, ...]:
        return parameters(self._function.func, passing_of(self._function, self.release, symint=True))

    @cached_property
    def _kernel(self) -> tuple[Parameter, ...]:
        return native_parameters(self._function, self.release, symint=self.symint)

    @cached_property
    def _passed(self) -> list[str]:
        return to_kernel(self._function, self.release, symint=self.symint)

    def _defaults(self, *, symint: bool) -> list[str]:
        return native_defaults(self._function, self.release, symint=symint)

    @cached_property
    def _arguments(self) -> dict[str, Item]:
        defaults = zip(self._defaults(symint=True), self._defaults(symint=self.symint))
        listed = zip(self._function.func.arguments, self._dispatched, self._kernel, self._passed, defaults)
        return {
            argument.name: Item(
                {
                    "name": argument.name,
                    "type": taken.type,
                    "default": default.removeprefix("="),
                    "kernel_type": kernel.type,
                    "kernel_default": own_default.removeprefix("="),
                    "passed": expression,
                },
                _words_of(argument, converted=expression != argument.name, default=bool(default)),
            )
            for argument, taken, kernel, expression, (default, own_default) in listed
        }

    @cached_property
    def _signatures(self) -> list[Item]:
        return [
            Item(
                {
                    "name": each.name,
                    "parameters": ", ".join(each.declared(defaults=False)),
                    "declared": ", ".join(each.declared()),
                    "names": ", ".join(p.name for p in each.parameters),
                    "passed": passed(each, goals(self._dispatched)),
                }
            )
            for each in cpp_signatures(self._function, self.release)
        ]


def _kernel_item(key: str, kernel: Kernel, dispatch: Mapping[str, Kernel]) -> Item:
    words = [f"{SHARED}{other}" for other, own in dispatch.items() if own == kernel]
    words += ["symint"] if kernel.supports_symint else []
    return Item({"key": key, "kernel": kernel.name, "namespace": kernel.namespace}, (key, *words))


def _words_of(argument: Argument, *, converted: bool, default: bool) -> tuple[str, ...]:
    words = {
        "default": default,
        "tensor": is_tensor_like(argument.type),
        "list": is_list(argument.type.removesuffix("?")),
        "optional": argument.type.endswith("?"),
        "symint": "SymInt" in argument.type,
        "written": argument.is_write,
        "converted": converted,
    }
    return (f"{TYPE}{argument.type}", *(word for word, is_true in words.items() if is_true))


def _declared(of: Iterable[Parameter], defaults: Iterable[str] = ()) -> str:
    ends = iter(defaults)
    return ", ".join(f"{p.type} {p.name}{next(ends, '')}" for p in of)


def plan(subject: Described, release: Release) -> Values:
    """The values of a function."""
    return Values(subject, release)
