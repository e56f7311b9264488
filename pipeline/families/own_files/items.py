"""The items of the lists that texts of a description are repeated for: arguments, results, signatures, kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from pipeline.model.native import Kernel, NativeFunction
from pipeline.model.schema import Argument, is_list, is_tensor_like

# The lists of arguments, by the names that texts use.
ARGUMENTS: dict[str, Callable[[NativeFunction], tuple[Argument, ...]]] = {
    "arguments": lambda of: of.func.arguments,
    "self": lambda of: (of.func.self_argument,) if of.func.self_argument is not None else (),
    "positional": lambda of: of.func.positional,
    "keyword": lambda of: of.func.kwarg_only,
    "out": lambda of: of.func.out,
}
SIGNATURES, DISPATCH = "signatures", "dispatch"
META, IMPL, RESULTS = "meta", "impl", "results"  # of the structured kernel that a function is implemented by
FUNCTIONAL, PRIMARY = "functional", "primary"  # lists of one function, a variant
VARIANTS = (FUNCTIONAL, PRIMARY)
ITEM_NAMES = {  # the values of an item, by list
    **dict.fromkeys(ARGUMENTS, ("name", "schema", "type", "default", "kernel_type", "kernel_default", "passed")),
    SIGNATURES: ("name", "parameters", "declared", "names", "passed", "kernel_passed"),
    DISPATCH: ("key", "kernel", "namespace", "passed"),
    **dict.fromkeys((META, IMPL), ("name", "schema", "type", "passed")),
    RESULTS: ("name", "type", "index"),
    **dict.fromkeys(VARIANTS, ()),
}
LISTS = tuple(ITEM_NAMES)
WITH_WORDS = (*ARGUMENTS, DISPATCH, META, IMPL)  # lists whose items have words
TYPE = "type:"  # begins the word of an argument's type in the schema
KERNEL = "kernel:"  # begins the word of a function that has a kernel for a key
SHARED = "as:"  # begins the word of a key that has the same kernel
LISTED = "listed:"  # begins the word of a key in `marks` whose value is the kernel
ITEM_WORDS = ("default", "tensor", "list", "optional", "symint", "written", "converted", "precomputed")


class Item(Struct, frozen=True, gc=False, array_like=True):
    """An argument, a signature, or a kernel: the values of its names, and the words that are true of it."""

    values: dict[str, str]
    words: tuple[str, ...] = ()


NO_ITEM = Item({})


def kernel_item(key: str, dispatch: Mapping[str, Kernel], listed: Mapping[str, str], passed: str) -> Item:
    """The kernel of a dispatch key. `dispatch`: those of all keys; `listed`: the keys that lists have."""
    kernel = dispatch[key]
    words = [f"{SHARED}{other}" for other, own in dispatch.items() if own == kernel]
    words += [f"{LISTED}{name}" for name, value in listed.items() if value == kernel.name]
    words += ["symint"] if kernel.supports_symint else []
    values = {"key": key, "kernel": kernel.name, "namespace": kernel.namespace, "passed": passed}
    return Item(values, (key, *words))


def argument_item(argument: Argument, values: dict[str, str], more: Iterable[str] = ()) -> Item:
    """An argument. `more`: the words that are true of it besides those of its schema."""
    words = {
        "tensor": is_tensor_like(argument.type),
        "list": is_list(argument.type.removesuffix("?")),
        "optional": argument.type.endswith("?"),
        "symint": "SymInt" in argument.type,
        "written": argument.is_write,
        "converted": values["passed"] != argument.name,
    }
    true = (word for word, is_true in words.items() if is_true)
    named = {"name": argument.name, "schema": str(argument)}
    return Item({**named, **values}, (f"{TYPE}{argument.type}", *true, *more))
