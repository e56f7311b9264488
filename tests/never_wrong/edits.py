"""Kinds of edits that people make to specs, each a function of a set and a source of choices that edits the set.

A kind that does not fit what was chosen changes nothing. Most edits are right ones; a few that often are not, such as a
schema changed on one side only, are wanted too: both builds must then refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from . import bound
from .specset import DERIVATIVES, NATIVE, Specs

Kind = Callable[[Specs, Random], object]
OfEntry = Callable[[str, Random], str]

_ROW = re.compile(r"(?m)^(?P<lead>  (?:    )?)(?P<field>[a-z_][\w, ]*): (?P<text>[^\s|>\"'\[{].*)$")
_NO_FORMULA = ("name", "dispatch", "output_differentiability", "result", "non_differentiable")
_SCHEMA = re.compile(r"- (?:func|name): ([\w:.]+)(\(.*\)) -> ")
_ARGUMENT = re.compile(r"([A-Z]\w+(?:\([^)]*\))?[?\[\]\d]*|int|float|bool|str)([?\[\]\d]*) ([a-z_]\w*)")
_SIZES = ("sym_sizes()", "sym_size(0)", "sym_numel()", "options()", "dim()", "is_conj()", "layout()")


def formulas(entry: str) -> list[re.Match[str]]:
    """The one-line backward formulas of a derivative entry."""
    result = [m for m in _ROW.finditer(entry) if m["field"] not in _NO_FORMULA]
    return [m for m in result if not m["text"].startswith(("auto_", "non_differentiable", "not_implemented"))]


def arguments(entry: str) -> list[str]:
    """The names of the arguments of an entry's schema."""
    match = _SCHEMA.match(entry)
    return [m[3] for m in _ARGUMENT.finditer(match[2])] if match else []


def tensors(entry: str) -> list[str]:
    """The names of its arguments that are tensors."""
    match = _SCHEMA.match(entry)
    return [m[3] for m in _ARGUMENT.finditer(match[2]) if m[1] == "Tensor" and not m[2]] if match else []


def in_entry(name: str, change: OfEntry, file: str = NATIVE) -> Kind:
    """An edit of one entry of a file."""

    def edit(specs: Specs, random: Random) -> None:
        entries = specs.entries[file]
        at = random.randrange(len(entries))
        entries[at] = change(entries[at], random)

    edit.__name__ = name
    return edit


def _put_after_first_line(entry: str, line: str) -> str:
    first, newline, rest = entry.partition("\n")
    return f"{first}\n{line}{newline and ''}\n{rest}" if newline else f"{first}\n{line}"


# ---- formulas: of an entry and the text of one, another text


def _plus(text: str, what: str, names: list[str], random: Random) -> str:
    return f"{text} + {what.format(random.choice(names))}" if names else text


def _dropped(entry: str, text: str, random: Random) -> str:
    used = [name for name in arguments(entry) if re.search(rf"\b{name}\b", text)]
    return re.sub(rf"\b{random.choice(used)}\b[.\w]*(\(\))?", "grad", text) if used else text


_FORMULAS: dict[str, Callable[[str, str, Random], str]] = {
    "formula": lambda entry, text, random: f"{random.randint(2, 99)} * ({text})",
    "saved_attribute_added": lambda entry, text, random: _plus(text, "0 * {}", arguments(entry), random),
    "saved_sizes_added": lambda entry, text, random: _plus(
        text, f"f({{}}.{random.choice(_SIZES)})", tensors(entry), random
    ),
    "saved_result_added": lambda entry, text, random: f"{text} + 0 * result",
    "saved_attribute_dropped": _dropped,
    "other_gradient": lambda entry, text, random: text.replace("grad,", "grads[0],").replace("grad ", "grads[0] "),
    "non_differentiable": lambda entry, text, random: "non_differentiable",
}


def _of_formula(change: Callable[[str, str, Random], str]) -> OfEntry:
    def edit(entry: str, random: Random) -> str:
        found = formulas(entry)
        if not found:
            return entry
        match = random.choice(found)
        return entry[: match.start("text")] + change(entry, match["text"], random) + entry[match.end("text") :]

    return edit


# ---- entries


def _without_forward(entry: str, random: Random) -> str:
    return re.sub(r"(?m)^  result: [^|>\s].*\n?", "", entry)


def _forward_formula(entry: str, random: Random) -> str:
    text = random.choice(["auto_linear", "auto_element_wise", "self_t * 2", "self_t + self_p", "other_t", "result * 3"])
    rest = _without_forward(entry, random)
    has_more = re.search(r"(?m)^  (result|dispatch):", rest)
    return entry if has_more else _put_after_first_line(rest, f"  result: {text}")


def _dispatch_key(entry: str, random: Random) -> str:
    """Puts the formulas under `dispatch:`, for one key or for two; or renames a key."""
    if re.search(r"(?m)^    (Default|Autograd\w+):", entry):
        key = random.choice(["AutogradCUDA", "AutogradNestedTensor", "AutogradMeta", "Default"])
        return re.sub(r"(?m)^    (Default|Autograd\w+):", f"    {key}:", entry, count=1)
    rows = [f"    {line}" for line in entry.split("\n")[1:] if line.strip() and not line.lstrip().startswith("#")]
    rows = [row for row in rows if not row.strip().startswith("output_differentiability")]
    if not rows or not formulas(entry):
        return entry
    keys = random.sample(["AutogradCUDA", "AutogradNestedTensor", "AutogradXPU"], random.randint(0, 2))
    keys = sorted(["Default", *keys], key=lambda _: random.random())
    under = "\n".join(f"    {key}:\n" + "\n".join(rows) for key in keys)
    return f"{entry.partition(chr(10))[0]}\n  dispatch:\n{under}\n\n"


def _output_differentiability(entry: str, random: Random) -> str:
    if "output_differentiability" in entry:
        return re.sub(r"(?m)^  output_differentiability:.*\n?", "", entry)
    value = random.choice(["[True]", "[False]", "[True, False]"])
    return _put_after_first_line(entry, f"  output_differentiability: {value}")


def _key_order(entry: str, random: Random) -> str:
    """The rows of an entry in another order, where each is one line."""
    first, *rows = [line for line in entry.split("\n") if line.strip()]
    if len(rows) < 2 or not all(re.match(r"  [a-z].*: \S", row) for row in rows):
        return entry
    return "\n".join([first, *random.sample(rows, len(rows))]) + "\n\n"


def _comment(entry: str, random: Random) -> str:
    lines = entry.split("\n")
    text = random.choice(["# see above", "# - name: nothing(Tensor self) -> Tensor", "#", "# \u2026 \u00e9\u4e2d"])
    return "\n".join([lines[0], random.choice(["", "  "]) + text, *lines[1:]])


def _white_space(entry: str, random: Random) -> str:
    lines = entry.split("\n")
    lines[random.randrange(len(lines))] += random.choice([" ", "   ", "\n", "\n\n", "  # end"])
    return "\n".join(lines)


def _kernel_key(entry: str, random: Random) -> str:
    key = random.choice(["CPU", "CUDA", "Meta", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "SparseCPU"])
    if "  dispatch:\n" in entry:
        return re.sub(r"(?m)^    [A-Z][\w, ]*:", f"    {key}:", entry, count=1)
    return _ended(entry.rstrip("\n")) + f"  dispatch:\n    {key}: gm_kernel\n\n"


# ---- files


def _ended(entry: str) -> str:
    return entry if entry.endswith("\n") else f"{entry}\n"


def entry_added(specs: Specs, random: Random) -> None:
    """A new overload of the same operator in front of it, so that the numbers of later Nodes move."""
    at = random.randrange(len(specs.derivatives))
    match = _SCHEMA.match(specs.derivatives[at])
    if match is not None:
        name = f"{match[1].partition('.')[0].rstrip('_')}.gm{random.randint(0, 10**6)}"
        schema = f"{name}(Tensor self, Scalar by) -> Tensor"
        specs.native.append(f"- func: {schema}\n  dispatch:\n    CompositeExplicitAutograd: gm\n")
        specs.derivatives.insert(at, f"- name: {schema}\n  self: grad * by\n  result: auto_linear\n\n")


def entry_removed(specs: Specs, random: Random) -> None:
    del specs.derivatives[random.randrange(len(specs.derivatives))]


def entries_swapped(specs: Specs, random: Random) -> None:
    entries = specs.derivatives
    at = random.randrange(len(entries))
    to = min(len(entries) - 1, max(0, at + random.choice([-40, -3, -1, 1, 2, 30])))
    entries[at], entries[to] = _ended(entries[to]), _ended(entries[at])


def entry_duplicated(specs: Specs, random: Random) -> None:
    entry = _ended(random.choice(specs.derivatives))
    specs.derivatives.insert(random.randint(0, len(specs.derivatives)), entry)
    specs.derivatives[-1] = _ended(specs.derivatives[-1])


def function_removed(specs: Specs, random: Random) -> None:
    match = _SCHEMA.match(specs.native.pop(random.randrange(len(specs.native))))
    if match is not None and random.random() < 0.8:
        start = f"- name: {match[1]}("
        specs.derivatives[:] = [entry for entry in specs.derivatives if not entry.startswith(start)]


_OF_DERIVATIVES: dict[str, OfEntry] = {
    **{name: _of_formula(change) for name, change in _FORMULAS.items()},
    "forward_formula": _forward_formula,
    "forward_formula_dropped": _without_forward,
    "dispatch_key": _dispatch_key,
    "output_differentiability": _output_differentiability,
    "comment": _comment,
    "white_space": _white_space,
    "key_order": _key_order,
}
_OF_NATIVE = {
    "kernel_key": _kernel_key,
    "native_comment": _comment,
    "native_white_space": _white_space,
}
KINDS: tuple[Kind, ...] = (
    *(in_entry(name, change, DERIVATIVES) for name, change in _OF_DERIVATIVES.items()),
    *(entry_added, entry_removed, entries_swapped, entry_duplicated),
    *(in_entry(name, change) for name, change in _OF_NATIVE.items()),
    function_removed,
    *bound.EDITS,
)


def edit(specs: Specs, random: Random) -> str:
    """Makes an edit of some kind, and says of which."""
    for kind in random.sample(KINDS, len(KINDS)):
        tried = specs.copy()
        kind(tried, random)
        if tried.texts() != specs.texts():
            specs.entries = tried.entries
            return kind.__name__
    raise AssertionError("some kind fits every set")
