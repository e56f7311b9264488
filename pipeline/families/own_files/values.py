"""What the texts of a description may say of a function: its C++ types, its arguments, its signatures, its kernels.

torchgen: `dispatcher.arguments`, `native.arguments`, `signatures.CppSignatureGroup`, `translate.translate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from msgspec import Struct

from pipeline.cpp.backend_kernels import to_kernel
from pipeline.cpp.bindings import cpp_name, passing_of
from pipeline.cpp.dispatcher import Parameter, goals, parameters, returns_type
from pipeline.cpp.native import native_defaults, native_parameters
from pipeline.cpp.signatures import cpp_signatures, passed
from pipeline.families.overrides import FunctionFacts
from pipeline.families.own_files.items import (
    ARGUMENTS,
    DISPATCH,
    FUNCTIONAL,
    IMPL,
    KERNEL,
    LISTS,
    META,
    NO_ITEM,
    RESULTS,
    SIGNATURES,
    VARIANTS,
    Item,
    argument_item,
    kernel_item,
)
from pipeline.families.own_files.structured import impl_items, meta_items, result_items
from pipeline.model.native import NativeFunction
from pipeline.model.schema import has_symint, is_tensor_like
from pipeline.releases.model import Release
from pipeline.specs.layers.description import Text

NAMES = (
    *("cpp_name", "kernel", "schema", "returns", "result_count", "names", "passed"),
    *("parameters", "declared", "kernel_parameters", "kernel_declared"),
)
KEY = "key_"  # begins the name of a value that a list has
WORDS = (
    *("void", "tuple", "tensor", "outs", "overload", "unchecked", "unguarded"),
    *("structured", "inherits", "precomputes"),
)


class Described(Struct, frozen=True):
    """A function with the texts of a description."""

    function: NativeFunction
    facts: FunctionFacts
    texts: dict[str, tuple[Text, ...]]  # by name, each with its alternatives
    symint: bool  # whether its kernel takes SymInt
    keys: dict[str, str]  # those that lists have for it
    wanted: tuple[str, ...] = ()  # the names of the texts that are pieces
    group: tuple[Described, Described] | None = None  # its functional and its out variant; None for a function alone


class Values:
    """The values of a function, each computed when a text uses it. A SpecError for a type without C++."""

    def __init__(self, of: Described, release: Release, group: tuple[Described, Described] | None = None) -> None:
        self.of, self._function, self.release = of, of.function, release
        self._group = group or of.group or (of, of)
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
            "result_count": lambda: str(len(schema.returns)),
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
        """The words that are true of the function and, after their names, of its variants."""
        variants = zip(VARIANTS, self._group)
        return (
            *self.own_words,
            *(f"{name}:{word}" for name, of in variants for word in Values(of, self.release).own_words),
        )

    @property
    def own_words(self) -> tuple[str, ...]:
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
            "structured": self._function.structured,
            "inherits": self._function.structured_inherits is not None,
            "precomputes": self._function.precomputed is not None,
        }
        kernels = (f"{KERNEL}{key}" for key in self._function.dispatch)
        return (*self.of.facts.words, *(word for word, is_true in words.items() if is_true), *kernels)

    def items(self, listed: str) -> list[tuple[Values, Item]]:
        """The items of lists, one after the other, each with the values of its function: this one or a variant."""
        found: list[tuple[Values, Item]] = []
        for name in (name for name in listed.split() if name in LISTS):
            if name in VARIANTS:
                variant = self._group[0 if name == FUNCTIONAL else 1]
                found.append((Values(variant, self.release, self._group), NO_ITEM))
            else:
                found += [(self, item) for item in self._items(name)]
        return found

    def _items(self, name: str) -> Iterable[Item]:
        if name in ARGUMENTS:
            return [self._arguments[argument.name] for argument in ARGUMENTS[name](self._function)]
        functional, primary = (of.function for of in self._group)
        lists: dict[str, Callable[[], Iterable[Item]]] = {
            SIGNATURES: lambda: self._signatures,
            DISPATCH: lambda: self._kernels,
            META: lambda: meta_items(functional, self._kernel, self.release),
            IMPL: lambda: impl_items(primary, self._kernel, self.release),
            RESULTS: lambda: result_items(primary, self.release),
        }
        return lists[name]()

    @property
    def _kernels(self) -> Iterable[Item]:
        kernels = self._function.dispatch
        passed = {
            symint: ", ".join(to_kernel(self._function, self.release, symint=symint))
            for symint in {k.supports_symint for k in kernels.values()}
        }
        return [kernel_item(key, kernels, self.of.keys, passed[own.supports_symint]) for key, own in kernels.items()]

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
            argument.name: argument_item(
                argument,
                {
                    "type": taken.type,
                    "default": default.removeprefix("="),
                    "kernel_type": kernel.type,
                    "kernel_default": own_default.removeprefix("="),
                    "passed": expression,
                },
                ["default"] if default else (),
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
                    "kernel_passed": passed(each, goals(self._kernel)),
                }
            )
            for each in cpp_signatures(self._function, self.release)
        ]


def _declared(of: Iterable[Parameter], defaults: Iterable[str] = ()) -> str:
    ends = iter(defaults)
    return ", ".join(f"{p.type} {p.name}{next(ends, '')}" for p in of)


def plan(subject: Described, release: Release) -> Values:
    """The values of a function."""
    return Values(subject, release)
