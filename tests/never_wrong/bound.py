"""Mutations of what Python bindings are made from: schemas and attributes of functions.

Each is a function of a set and a source of choices, and edits the set. Most sets remain right.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from .specset import DEPRECATED, DERIVATIVES, FILES, Specs, family, of_families
from .values import key_with_value

FILES_OF_PYTHON = (*FILES, DEPRECATED)
FAMILIES = "bindings,return_types,enum_tag,annotated_args,view_meta_bindings"
ATEN = "ViewMetaClassesPythonBinding.cpp"

_FUNC = re.compile(r"- (?:func|name): ([\w:]+)([.\w]*)\((.*)\) -> (.*)")
_OPTIONS = ("ScalarType? dtype=None", "Layout? layout=None", "Device? device=None", "bool? pin_memory=None")
_NAMES = (
    "input", "out", "output", "dtype", "layout", "device", "pin_memory", "options", "names", "args", "kwargs", "_r",
    "x", "names_", "memory_format", "generator", "dim", "other", "result", "size", "n", "alpha", "weight", "mode",
)  # fmt: skip
_ODD_NAMES = ("self", "requires_grad", "lambda", "from", "class", "x-y", "1", "None", "default")
_TYPES = (
    "Tensor", "Tensor?", "Tensor[]", "Tensor[2]", "Tensor?[]", "int", "int?", "int[]", "int[2]", "int[1]", "int[1]?",
    "int[]?", "SymInt", "SymInt?", "SymInt[]", "SymInt[3]", "SymInt[1]?", "SymInt[]?", "float", "float?", "float[]?",
    "bool", "bool?", "bool[3]", "Scalar", "Scalar?", "Scalar[]", "ScalarType", "ScalarType?", "Layout?", "Device?",
    "Generator?", "MemoryFormat?", "str", "str?", "Stream", "Storage",
)  # fmt: skip
_ODD_TYPES = (
    "Tensor[]?", "Tensor(a!)", "Tensor(a!)[]", "float[]", "bool[]", "Layout", "Device", "DeviceIndex", "Generator",
    "MemoryFormat", "str[]", "QScheme", "SymBool", "Dimname", "Dimname[]?", "GraphModule", "Any", "Device[]",
    "Layout[]", "Scalar?[]", "int?[]", "SymInt[2]?", "Scalar[2]", "Tensor?[2]", "ScalarType[]", "Generator[]",
    "Stream?", "Storage?", "bool[3]?", "bool?[]", "int[][]", "Tensor[][]", "float[2]", "DeviceIndex?", "str[2]", "Int",
    "number", "SymBool?",
)  # fmt: skip
_DEFAULTS = (
    "None", "True", "False", "[]", "[0,1]", "[1]", "[None]", "0", "1", "-1", "100", "9223372036854775807", "1.0", "1.",
    ".5", "1e-5", "0.00001", "1e3", "1e300", "1e400", "inf", "nan", "-0.0", "long", "float", "strided", "Mean", "Sum",
    "contiguous_format", "preserve_format", "'text'", "'a b'", '"text"', "''", "{}", "()", "cpu", "'cuda'", "1_000",
    "0x10", "010", "+1", "--1", "true", "none",
)  # fmt: skip
_SUFFIXES = ("_backward", "_out", "_like", "_", "_forward", "_jvp", "_copy", "_overrideable", "_outer", "2")
_PREFIXES = ("new_", "_", "_cumsum", "_th_", "_foreach_", "lift_", "range_", "is_", "to_")
_RETURNS = (
    "Tensor", "()", "bool", "int", "SymInt", "float", "Scalar", "ScalarType", "QScheme", "Tensor[]", "Tensor(a!)",
    "(Tensor, Tensor)", "(Tensor values, Tensor indices)", "(Tensor a, Tensor)", "(Tensor, Tensor[])", "Tensor result",
    "(Tensor a, Tensor b, Tensor c, int d)", "(Tensor, Tensor, float, int)", "(float, int)", "(Tensor, int)", "Stream",
    "(Tensor a, Tensor a)", "(Tensor, Tensor, Tensor, Tensor, SymInt, SymInt, Tensor, Tensor, Tensor)", "int[]", "str",
    "(Tensor U, Tensor S, Tensor Vh, Tensor info, Tensor x, Tensor y, Tensor z)", "Tensor?", "(Tensor values, int n)",
)  # fmt: skip
_VARIANTS = (
    "function",
    "method",
    "function, method",
    "method, function",
    *("function, method",) * 3,
    "method,function",
)

Mutation = Callable[[Specs, Random], None]


class Text:
    """A schema in an entry, cut into its name, arguments and returns."""

    def __init__(self, entry: str) -> None:
        match = _FUNC.match(entry)
        self.found = match is not None
        self._old = match[0] if match else ""
        self.name, self.overload, inner, self.returns = match.groups() if match else ("", "", "", "")
        self.arguments = inner.split(", ") if inner else []

    def put_in(self, entry: str) -> str:
        return entry.replace(self._old, f"{self._old[:8]}{self}", 1)

    def __str__(self) -> str:
        return f"{self.name}{self.overload}({', '.join(self.arguments)}) -> {self.returns}"


def base(specs: Specs, random: Random) -> Specs:
    """A few operators of each kind: with deprecated forms, named results, modules, options. All deprecated forms of
    these, and the derivatives of `add` and `mul` only."""
    entries = specs.entries
    kinds = (
        (4, entries[DEPRECATED]),
        (4, [each for each in specs.native if re.match(r"- func: .*\) -> \(Tensor \w", each)]),
        (4, [each for each in specs.native if "python_module:" in each]),
        (3, [each for each in specs.native if "ScalarType? dtype" in each]),
        (2, [each for each in specs.native if "-> Tensor(a)" in each]),
        (6, specs.native),
    )
    chosen = {family(entry) for count, listed in kinds for entry in random.sample(listed, count)}
    kept = of_families(specs, {*chosen, "add", "mul"})
    kept.entries[DERIVATIVES] = of_families(specs, ("add", "mul")).derivatives
    names = {Text(entry).name for entry in kept.native}
    kept.entries[DEPRECATED] = [entry for entry in entries[DEPRECATED] if _called(entry) in names]
    return kept


def add_templates(folder: Path, source: Path) -> None:
    """Adds those that are not autograd's to the templates of a flat set, from the folder `source` of a package."""
    (folder / "ATen").mkdir()
    shutil.copyfile(source / "ATen" / "templates" / ATEN, folder / "ATen" / ATEN)


def _called(form: str) -> str:
    match = re.search(r"  aten: (\w+)\(", form)
    return match[1].replace("_out", "") if match else ""


def _schema(change: Callable[[Text, Random], None]) -> Mutation:
    """A mutation of the schema of a function, often of its variants, and of the derivative's."""

    def mutate(specs: Specs, random: Random) -> None:
        at = random.randrange(len(specs.native))
        text, seed = Text(specs.native[at]), random.random()
        if not text.found:
            return
        everywhere = random.random() < 0.7
        for i, entry in enumerate(specs.native):
            other = Text(entry)
            if i == at or (everywhere and other.found and other.name.rstrip("_") == text.name.rstrip("_")):
                change(other, Random(seed))  # the same choices
                specs.native[i] = other.put_in(entry)
        for i, entry in enumerate(specs.derivatives):
            other = Text(entry)
            if other.found and other.name == text.name and random.random() < 0.95:
                change(other, Random(seed))
                specs.derivatives[i] = other.put_in(entry)

    mutate.__name__ = change.__name__.removeprefix("_")
    return mutate


def _one(text: Text, random: Random) -> int:
    """The place of an argument that variants share, not the first one as a rule; -1 if there is none."""
    known = [i for i, each in enumerate(text.arguments) if each != "*" and not _is_out(each)]
    return random.choice(known[1:] or known or [-1])


def _is_out(argument: str) -> bool:
    head = argument.partition("=")[0]
    return re.match(r"Tensor\(\w!\)", head) is not None and not head.endswith(" self")


def _a_name(random: Random) -> str:
    return random.choice(_NAMES if random.random() < 0.85 else _ODD_NAMES)


def _a_type(random: Random) -> str:
    return random.choice(_TYPES if random.random() < 0.8 else _ODD_TYPES)


def _default(text: Text, random: Random) -> None:
    at = _one(text, random)
    if at >= 0:
        head, equals, old = text.arguments[at].partition("=")
        odd = random.random() < (0.2 if "[" in head else 0.5)
        new = random.choice([*_DEFAULTS, old, ""]) if odd else _fitting(head, random)
        text.arguments[at] = f"{head}={new}" if new and not (equals and random.random() < 0.2) else head


def _fitting(head: str, random: Random) -> str:
    """A default that fits the type."""
    fits = {
        "int": ("0", "-1", "7", "1_0"), "SymInt": ("0", "-1", "9"), "bool": ("True", "False"), "float": ("1e-3", "0.5"),
        "Scalar": ("1", "0.1", "1e-4"), "ScalarType": ("long", "float"), "str": ("'a'", '"b"', "'a\"b'"),
        "Layout": ("strided",), "MemoryFormat": ("contiguous_format",), "Device": ("cpu", "'cpu'"),
    }  # fmt: skip
    type_ = head.partition(" ")[0]
    if "[" in type_:
        return random.choice(["[]", "[0,1]", "[1]", "1" if type_.rstrip("?")[-2:] != "[]" else "[2]"])
    return "None" if "?" in type_ and random.random() < 0.5 else random.choice(fits.get(type_.rstrip("?"), ("None",)))


def _keyword_only(text: Text, random: Random) -> None:
    if "*" in text.arguments:
        text.arguments.remove("*")
    end = next((i for i, each in enumerate(text.arguments) if _is_out(each)), len(text.arguments))
    if random.random() < 0.8 or end < len(text.arguments):
        text.arguments.insert(random.randint(min(1, end), end), "*")


def _argument_name(text: Text, random: Random) -> None:
    at = _one(text, random)
    if at >= 0:
        head, equals, default = text.arguments[at].partition("=")
        type_, _, name = head.rpartition(" ")
        new = random.choice([_a_name(random), f"{name}2", name.title()])
        text.arguments[at] = f"{type_} {new}{equals}{default}"


def _argument_type(text: Text, random: Random) -> None:
    at = _one(text, random)
    if at >= 0:
        head, equals, default = text.arguments[at].partition("=")
        new = f"{_a_type(random)} {head.rpartition(' ')[2]}"
        if equals and random.random() < 0.7:
            default = _fitting(new, random)
        text.arguments[at] = f"{new}{equals}{default}"


def _argument_added(text: Text, random: Random) -> None:
    """Mostly behind the others, and with a name that none of them has."""
    taken = {each.partition("=")[0].rpartition(" ")[2] for each in text.arguments}
    name = random.choice([each for each in _NAMES if each not in taken] if random.random() < 0.9 else _ODD_NAMES)
    head = f"{_a_type(random)} {name}"
    if random.random() < 0.6:
        head += f"={_fitting(head, random)}"
    end = next((i for i, each in enumerate(text.arguments) if _is_out(each)), len(text.arguments))
    text.arguments.insert(random.choice([end, random.randint(min(1, end), end)]), head)


def _argument_removed(text: Text, random: Random) -> None:
    at = _one(text, random)
    if at >= 0:
        del text.arguments[at]


def _arguments_swapped(text: Text, random: Random) -> None:
    if len(text.arguments) > 1:
        a, b = random.sample(range(len(text.arguments)), 2)
        text.arguments[a], text.arguments[b] = text.arguments[b], text.arguments[a]


def _options_changed(text: Text, random: Random) -> None:
    """The four fields of TensorOptions added, one of them removed, or in another order."""
    own = [
        each for each in text.arguments if each.partition("=")[0].rpartition(" ")[2] in ("dtype", "layout", "device")
    ]
    if not own:
        text.arguments += [*(() if "*" in text.arguments else ("*",)), *_OPTIONS]
    elif random.random() < 0.5:
        text.arguments.remove(random.choice(own))
    else:
        new = random.choice(["ScalarType dtype", "ScalarType dtype=long", "Device device='cpu'", "Layout? layout"])
        name = new.partition("=")[0].rpartition(" ")[2]
        text.arguments = [new if re.search(rf" {name}\b", each) else each for each in text.arguments]


def _out_changed(text: Text, random: Random) -> None:
    """Out arguments renamed, reordered, retyped, one more, or no keyword-only ones."""
    outs = [i for i, each in enumerate(text.arguments) if re.match(r"Tensor\(\w!\)", each)]
    if not outs:
        return
    at, what = random.choice(outs), random.randrange(5)
    if what == 0:
        text.arguments[at] = text.arguments[at].rpartition(" ")[0] + f" {_a_name(random)}"
    elif what == 1:
        text.arguments[at] = text.arguments[at].replace("!)", "!)[]")
    elif what == 2:
        text.arguments.append("Tensor(z!) more")
        text.returns = f"({text.returns.strip('()') if text.returns == '()' else text.returns}, Tensor(z!))"
    elif what == 3 and "*" in text.arguments:
        text.arguments.remove("*")
    else:
        text.arguments.insert(0, text.arguments.pop(at))


def _returns_named(text: Text, random: Random) -> None:
    """Names of returns: added, removed, renamed, partly."""
    several = text.returns.startswith("(")
    parts = text.returns.strip("()").split(", ") if several else [text.returns]
    names = ["values", "indices", "a", "b", "result", "self", "out", "x1", "class"]
    changed = [
        f"{each.partition(' ')[0]} {random.choice(names)}" if random.random() < 0.7 else each.partition(" ")[0]
        for each in parts
    ]
    if any(changed):
        text.returns = f"({', '.join(changed)})" if several else changed[0]


def _returns_changed(text: Text, random: Random) -> None:
    text.returns = random.choice(_RETURNS)


def _overload_name(text: Text, random: Random) -> None:
    text.overload = random.choice(["", ".other", ".out", ".Tensor", ".Scalar", f"{text.overload}2"])


def _base_name(text: Text, random: Random) -> None:
    changes = [text.name + random.choice(_SUFFIXES), random.choice(_PREFIXES) + text.name]
    changes += [f"__{text.name.strip('_')}__", f"__i{text.name.strip('_')}__", text.name.title()]
    text.name = random.choice(changes)


_OF_SCHEMAS = (
    *(_default for _ in range(3)), *(_argument_type for _ in range(4)), _keyword_only, _keyword_only, _argument_name,
    _argument_name, _argument_added, _argument_added, _argument_removed, _arguments_swapped, _options_changed,
    _options_changed, _out_changed, _out_changed, _returns_named, _returns_named, _returns_changed, _overload_name,
    _base_name, _base_name,
)  # fmt: skip


def key_removed(specs: Specs, random: Random) -> None:
    """`python_module`, `category_override`, `tags` or `variants` removed, of one function."""
    key = random.choice(["python_module", "category_override", "tags", "variants"])
    having = [i for i, entry in enumerate(specs.native) if f"\n  {key}: " in entry]
    if having:
        at = random.choice(having)
        specs.native[at] = re.sub(rf"(?m)^  {key}:.*\n", "", specs.native[at])


def variants_changed(specs: Specs, random: Random) -> None:
    """A function as a method, as a function, or as both."""
    at = random.randrange(len(specs.native))
    entry = re.sub(r"(?m)^  variants:.*\n", "", specs.native[at])
    specs.native[at] = entry.replace("\n", f"\n  variants: {random.choice(_VARIANTS)}\n", 1)


def overloads_moved(specs: Specs, random: Random) -> None:
    """The functions of one name in another order, or elsewhere in the file."""
    names = [Text(entry).name for entry in specs.native]
    name = random.choice(names)
    places = [i for i, each in enumerate(names) if each == name]
    if len(places) > 1:
        moved = random.sample(places, len(places))
        specs.native[:] = [specs.native[dict(zip(places, moved)).get(i, i)] for i in range(len(names))]
    else:
        specs.native.insert(random.randrange(len(names)), specs.native.pop(places[0]))


def overload_added(specs: Specs, random: Random) -> None:
    """One more function of a name that there is, often with the same signature in Python."""
    at = random.randrange(len(specs.native))
    text = Text(specs.native[at])
    if text.found:
        text.overload = f".gm{random.randrange(100)}"
        random.choice([_default, _argument_type, _argument_name, _keyword_only, _argument_added])(text, random)
        entry = f"{text.put_in(specs.native[at]).rstrip()}\n\n"
        specs.native.insert(random.choice([at, at + 1, 0]), re.sub(r"(?m)^  (structured|autogen).*\n", "", entry))


def function_added(specs: Specs, random: Random) -> None:
    """A new function with arguments of any types."""
    text = Text("- func: gm() -> Tensor")
    text.name = random.choice(
        ["gm", "gm_", "gm_like", "new_gm", "_foreach_gm", "_foreach_gm_", "__gm__", "add", "gm_out"]
    )
    inplace, foreach = text.name.endswith("gm_"), "foreach" in text.name
    annotation, brackets = "(a!)" * inplace, "[]" * foreach
    own = f"Tensor{annotation}{brackets} self"
    text.arguments = [own] if inplace or random.random() < 0.6 else random.choice([[], ["Tensor[] self"], ["int n"]])
    if inplace:
        text.returns = "()" if foreach else "Tensor(a!)"
    for _ in range(random.randrange(5)):
        _argument_added(text, random)
    if random.random() < 0.4:
        _keyword_only(text, random)
    if random.random() < 0.4 and not inplace:
        _returns_changed(text, random)
    if random.random() < 0.3:
        _options_changed(text, random)
    keys = f"  variants: {random.choice(_VARIANTS[:3])}\n" + "  device_check: NoCheck\n" * foreach
    specs.native.append(f"\n- func: {text}\n{keys}  dispatch:\n    CompositeExplicitAutograd: gm\n")


EDITS = (  # such as people make
    *map(_schema, (_default, _argument_type, _argument_name)),
    variants_changed,
    overloads_moved,
    function_added,
)
MUTATIONS: tuple[Mutation, ...] = (
    *(_schema(change) for change in _OF_SCHEMAS),
    *(key_with_value for _ in range(4)),
    key_removed,
    *(variants_changed for _ in range(2)),
    *(overloads_moved for _ in range(2)),
    *(overload_added for _ in range(3)),
    *(function_added for _ in range(4)),
)
