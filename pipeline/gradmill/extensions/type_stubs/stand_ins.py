"""Runs a checkout's gen_pyi.py without PyTorch, in the process of hooks: the names of functions are in place of their
signatures, so the script's own rules give the lists of names, the order of hints and what is written by hand.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from functools import reduce
from importlib.machinery import BuiltinImporter, ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any, cast

GENERATED, DEPRECATED = "\0", "\1"  # the beginnings of places of what signatures give: all, or deprecated ones alone
FUNCTIONS, METHODS, CLASSES = "function_hints", "tensor_method_hints", "structseq_defs"  # the holes for units
SCRIPT = "gen_pyi"  # and its main function
_IMPORTED = "torchgen.api.python. torchgen.gen. torchgen.model. torchgen.utils. tools.autograd.gen_python_functions."
TABLES = {  # modules of names -> the table in the main function, the hole, and what docstrings call the module
    "torch": ("unsorted_function_hints", FUNCTIONS, "torch."),
    "Tensor": ("unsorted_tensor_method_hints", METHODS, "torch._C.TensorBase."),
}


class StandIn(SimpleNamespace):
    """What the script imports of PyTorch, or computes from it, with known attributes. To use it as a text, a list or
    a condition is an error, so that no hint can be missing in silence."""

    def __getattr__(self, name: str) -> "StandIn":
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return StandIn()

    __eq__ = __ne__ = __bool__ = __str__ = __call__
    __hash__ = object.__hash__  # type: ignore[assignment]


class Place(str):
    """The place of what the signatures of a name give. It keeps what the script replaces in it."""

    def __init__(self, text: str) -> None:
        self.replaced: dict[Any, None] = {}

    def replace(self, *pair: Any) -> str:
        self.replaced[pair] = None
        return self


def _find(name: str, *_: Any) -> ModuleSpec | None:
    """A stand-in for a module that scripts import: its loader is one. To import others is an ImportError: after a
    ModuleNotFoundError, scripts go on without docstrings."""
    if f" {name}." in f" {_IMPORTED}":
        return ModuleSpec(name, cast(Any, StandIn()), is_package=True)
    is_absent = name.startswith("_") or name.partition(".")[0] in sys.stdlib_module_names
    return None if is_absent else ModuleSpec(name, cast(Any, BuiltinImporter))


def signature_lines(name: str, arguments: Sequence[str] = (), return_type: str | None = None, width: int = 80) -> str:
    """A function without a body, on several lines if it is wider: as upstream formats it since 2.8."""
    arguments, returns = list(arguments), "" if return_type is None else f" -> {return_type}"
    line = f"def {name}({', '.join(arguments)}){returns}: ..."
    if len(line) <= width or arguments in ([], ["self"]):
        return line
    lines = [f"def {name}(", *(f"    {each}," for each in arguments), f"){returns}: ..."]
    text = "\n".join(lines)
    return text if max(map(len, lines)) <= width else f"{text.removesuffix(' ...')}  # fmt: skip\n    ..."


def stubs(
    tags: Sequence[str],
    keys: Mapping[str, Sequence[str]],
    names: Mapping[str, tuple[bool, bool]],
    slots: Mapping[str, str],
) -> tuple[Any, ...]:
    """The fields of a StubScript. `keys`: the members of enumerations. `names`: of all functions, each with whether it
    has deprecated forms, and named results. `slots`: of each `FILE from TEMPLATE`, the hole for units. Raises what
    the script raises, and LookupError if it makes files in another way than gradmill."""
    known: dict[str, dict[str, Any]] = {
        "api.python": {"format_function_signature": signature_lines, "returns_structseq_pyi": lambda own: own.named},
        "gen": {"parse_tags_yaml": lambda path: tags, "parse_native_yaml": lambda *_: StandIn(native_functions=())},
        "model": {name: [SimpleNamespace(name=each) for each in members] for name, members in keys.items()},
    }
    sys.modules |= {f"torchgen.{name}": cast(ModuleType, StandIn(**own)) for name, own in known.items()}
    sys.meta_path.append(cast(Any, StandIn(find_spec=_find)))
    script = vars(importlib.import_module(SCRIPT))
    groups = _groups(names)
    docstrings = _item(script, "gather_docstrs")()
    script["gather_docstrs"] = dict
    script["get_py_torch_functions"] = lambda found, method=False: groups["Tensor" if method else "torch"]
    files: list[tuple[str, str, dict[str, Any]]] = []
    manager = SimpleNamespace(write_with_template=lambda name, template, own: files.append((name, template, own())))
    own = _locals(_item(script, SCRIPT), "", "", "", manager)
    written, documented, units = {}, {}, dict[str, Any]()
    for module, (table, hole, prefix) in TABLES.items():
        lines, units_of_module = units[hole] = list[str](), list[str]()
        tried = [each.replaced for hints in _item(own, table).values() for each in hints if isinstance(each, Place)]
        corrections = [pair for pair in (tried or [{}])[0] if all(pair in each for each in tried)]
        for name, hints in sorted(own[table].items()):
            unit = f"{module}.{name}"
            texts = [reduce(lambda text, pair: text.replace(*pair), corrections, each) for each in hints]
            lines += [f"@overload\n{each}" for each in texts] if len(texts) > 1 else texts
            places = [each for each in texts if isinstance(each, Place)]
            listed = [each[0] if each in places else each for each in texts if each not in places[1:]]
            if listed:
                written[unit] = listed, [*dict.fromkeys(pair for each in places for pair in each.replaced)]
                units_of_module.append(unit)
            if prefix + name in docstrings:
                sample = f"{GENERATED} ..." if places or "..." in "".join(hints) else GENERATED  # or an attribute
                documented[unit] = script["add_docstr_to_hint"](docstrings[prefix + name], sample)
    classes = {name.rpartition(".")[2]: name for name in sorted(names) if names[name][1]}  # methods first
    filled = {}
    for name, template, holes in files:
        slot = _item(slots, f"{name} from {template}", "gradmill does not know")
        filled[name] = _holes(holes, slot, units, classes)
    return {**{name: ([], []) for name in classes.values()}, **written}, filled, documented


def _groups(names: Mapping[str, tuple[bool, bool]]) -> dict[str, list[SimpleNamespace]]:
    """Stand-ins for the signatures of each module: of a name one for all, and one more for deprecated ones."""
    groups: dict[str, list[SimpleNamespace]] = {module: [] for module in TABLES}
    for name, (deprecated, has_class) in names.items():
        module, _, plain = name.rpartition(".")
        for each, place in enumerate((Place(GENERATED + plain), Place(DEPRECATED + plain))[: 1 + deprecated]):
            own = SimpleNamespace(name=plain, deprecated=bool(each), named=(plain, plain) if has_class else None)
            own.signature_str_pyi, own.signature_str_pyi_vararg = (lambda place=place, **_: place), lambda **_: None
            groups[module].append(SimpleNamespace(signature=own, outplace=None))
    return groups


def _holes(own: Mapping[str, Any], slot: str, units: Mapping[str, Any], classes: Mapping[str, str]) -> dict[str, Any]:
    """What fills the holes of a file: text, or in the slot for units their names."""
    holes = {hole: text for hole, text in own.items() if hole not in (FUNCTIONS, METHODS, CLASSES)}
    for hole, text in holes.items():
        if not all(isinstance(each, str) for each in text):
            raise LookupError(f"no text fills {hole}")
    if slot == CLASSES:
        holes[slot] = [classes[each.strip()] for each in _item(own, slot)]
    elif slot:
        lines, holes[slot] = units[slot]
        if _item(own, slot) != lines:
            raise LookupError(f"of the same tables gradmill makes other {slot}")
    return holes


def _item(of: Mapping[str, Any], name: str, problem: str = "it has no") -> Any:
    if name not in of:
        raise LookupError(f"{problem} {name}")
    return of[name]


def _locals(function: Any, *arguments: Any) -> dict[str, Any]:
    """Calls a function; returns its local names."""
    found: dict[str, Any] = {}
    sys.setprofile(lambda frame, _, __: found.update(frame.f_locals) if frame.f_code is function.__code__ else None)
    function(*arguments)
    sys.setprofile(None)
    return found
