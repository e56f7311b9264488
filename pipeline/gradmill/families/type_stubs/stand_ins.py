"""Runs a checkout's gen_pyi.py without PyTorch, in the process of hooks: the names of functions are in place of their
signatures, so the script's own rules give the lists of names, the order of hints and what is written by hand.
"""

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any, cast

GENERATED, DEPRECATED = "\0", "\1"  # the places of what signatures give: all, or deprecated ones alone
FUNCTIONS, METHODS, CLASSES = "function_hints", "tensor_method_hints", "structseq_defs"  # the holes for units
SCRIPT, _CORRECTING = "gen_pyi", "replace_special_case"  # the script and its main function, one in it, tables in it
TABLES = {  # modules of names -> the table, and what docstrings call the module
    "torch": ("unsorted_function_hints", "torch."),
    "Tensor": ("unsorted_tensor_method_hints", "torch._C.TensorBase."),
}


class StandIn(SimpleNamespace):
    """What the script imports of PyTorch, or computes from it, with known attributes. It is no text, and not true."""

    def __getattr__(self, name: str) -> "StandIn":
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return StandIn()

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    __add__ = __radd__ = __getitem__ = __bool__ = __str__ = __call__
    __hash__ = object.__hash__  # type: ignore[assignment]


def _find(name: str, *_: Any) -> ModuleSpec | None:
    """A stand-in for a module that is neither Python's nor one of docstrings: its loader is one, too."""
    is_known = name.startswith("_") or name.partition(".")[0] in sys.stdlib_module_names
    return None if is_known else ModuleSpec(name, cast(Any, StandIn()), is_package=True)


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
    has deprecated forms, and named results. `slots`: of each file, the hole for units. Raises what it raises."""
    known: dict[str, dict[str, Any]] = {
        "api.python": {"format_function_signature": signature_lines, "returns_structseq_pyi": lambda own: own.named},
        "gen": {"parse_tags_yaml": lambda path: tags},
        "model": {name: [SimpleNamespace(name=each) for each in members] for name, members in keys.items()},
    }
    sys.modules |= {f"torchgen.{name}": cast(ModuleType, StandIn(**own)) for name, own in known.items()}
    sys.meta_path.append(cast(Any, StandIn(find_spec=_find)))
    script = vars(importlib.import_module(SCRIPT))
    groups = _groups(names)
    docstrings = script.get("gather_docstrs", dict)()
    script["gather_docstrs"] = dict
    script["get_py_torch_functions"] = lambda found, method=False: groups["Tensor" if method else "torch"]
    files: dict[str, dict[str, Any]] = {}
    manager = SimpleNamespace(write_with_template=lambda name, template, holes: files.update({name: holes()}))
    own = _locals(_item(script, SCRIPT), "", "", "", manager)
    hint, replaced = StandIn(), dict[Any, StandIn]()
    hint.replace = lambda *pair: replaced.setdefault(pair, hint)
    own.get(_CORRECTING, id)(hint)
    written, documented = {}, {}
    for module, (table, prefix) in TABLES.items():
        for name, hints in sorted(_item(own, table).items()):
            places = [at for at, each in enumerate(hints) if each in (GENERATED, DEPRECATED)]
            listed = [each for at, each in enumerate(hints) if at not in places[1:]]
            if listed:
                written[f"{module}.{name}"] = listed, [*replaced] if module == "torch" else []
            if prefix + name in docstrings:
                sample = f"{GENERATED} ..." if places or "..." in "".join(hints) else GENERATED  # or an attribute
                documented[f"{module}.{name}"] = script["add_docstr_to_hint"](docstrings[prefix + name], sample)
    classes = {name.rpartition(".")[2]: name for name in sorted(names) if names[name][1]}  # methods first
    for name, holes in files.items():
        files[name] = _holes(holes, _item(slots, name, "gradmill does not know"), written, classes)
    return {**{name: ([], []) for name in classes.values()}, **written}, files, documented


def _groups(names: Mapping[str, tuple[bool, bool]]) -> dict[str, list[SimpleNamespace]]:
    """Stand-ins for the signatures of each module: of a name one for all, and one more for deprecated ones."""
    groups: dict[str, list[SimpleNamespace]] = {module: [] for module in TABLES}
    for name, (deprecated, has_class) in names.items():
        module, _, plain = name.rpartition(".")
        for each, text in ((False, GENERATED), (True, DEPRECATED))[: 1 + deprecated]:
            own = SimpleNamespace(name=plain, deprecated=each, named=(plain, plain) if has_class else None)
            own.signature_str_pyi, own.signature_str_pyi_vararg = (lambda text=text, **_: text), lambda **_: None
            groups[module].append(SimpleNamespace(signature=own, outplace=None))
    return groups


def _holes(written: Mapping[str, Any], slot: str, hints: Iterable[str], classes: Mapping[str, str]) -> dict[str, Any]:
    """What fills the holes of a file: text, or in the slot for units their names."""
    holes = {hole: text for hole, text in written.items() if hole not in (FUNCTIONS, METHODS, CLASSES)}
    for hole, text in holes.items():
        if not all(isinstance(each, str) for each in text):
            raise LookupError(f"no text fills {hole}")
    if slot == CLASSES:
        holes[slot] = [classes[each.strip()] for each in _item(written, slot)]
    elif slot and _item(written, slot) is not None:
        holes[slot] = [name for name in hints if name.startswith("torch." if slot == FUNCTIONS else "Tensor.")]
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
