"""Kinds of edits that people make to specs, each a small function: `kind(specs, at, random)` edits the entry at `at`.

A kind that does not fit the entry gives False and has changed nothing. Most edits are right ones; a few that often
are not, such as a schema changed on one side only, are wanted too: both builds must then refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from .specset import DERIVATIVES, NATIVE, Specs

Kind = Callable[[Specs, int, Random], bool]

_ROW = re.compile(r"(?m)^(?P<lead>  (?:    )?)(?P<field>[a-z_][\w, ]*): (?P<text>[^\s|>\"'\[{].*)$")
_NO_FORMULA = ("name", "dispatch", "output_differentiability", "result", "non_differentiable")
_SCHEMA = re.compile(r"- (?:func|name): ([\w:.]+)(\(.*\)) -> ")
_ARGUMENT = re.compile(r"([A-Z]\w+(?:\([^)]*\))?[?\[\]\d]*|int|float|bool|str)([?\[\]\d]*) ([a-z_]\w*)")


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


def _set_formula(specs: Specs, at: int, random: Random, change: Callable[[str], str | None]) -> bool:
    entry = specs.derivatives[at]
    all_formulas = formulas(entry)
    if not all_formulas:
        return False
    match = random.choice(all_formulas)
    text = change(match["text"])
    if text is None:
        return False
    specs.derivatives[at] = entry[: match.start("text")] + text + entry[match.end("text") :]
    return True


def _put_after_first_line(entry: str, line: str) -> str:
    first, newline, rest = entry.partition("\n")
    return f"{first}\n{line}{newline and ''}\n{rest}" if newline else f"{first}\n{line}"


# ---- derivatives


def formula(specs: Specs, at: int, random: Random) -> bool:
    return _set_formula(specs, at, random, lambda text: f"{random.randint(2, 99)} * ({text})")


def saved_attribute_added(specs: Specs, at: int, random: Random) -> bool:
    names = arguments(specs.derivatives[at])
    return bool(names) and _set_formula(specs, at, random, lambda text: f"{text} + 0 * {random.choice(names)}")


def saved_sizes_added(specs: Specs, at: int, random: Random) -> bool:
    names = tensors(specs.derivatives[at])
    what = random.choice(["sym_sizes()", "sym_size(0)", "sym_numel()", "options()", "dim()", "is_conj()", "layout()"])
    return bool(names) and _set_formula(specs, at, random, lambda text: f"{text} + f({random.choice(names)}.{what})")


def saved_result_added(specs: Specs, at: int, random: Random) -> bool:
    return _set_formula(specs, at, random, lambda text: f"{text} + 0 * result")


def saved_attribute_dropped(specs: Specs, at: int, random: Random) -> bool:
    def drop(text: str) -> str | None:
        used = [name for name in arguments(specs.derivatives[at]) if re.search(rf"\b{name}\b", text)]
        return re.sub(rf"\b{random.choice(used)}\b[.\w]*(\(\))?", "grad", text) if used else None

    return _set_formula(specs, at, random, drop)


def other_gradient(specs: Specs, at: int, random: Random) -> bool:
    return _set_formula(
        specs, at, random, lambda text: text.replace("grad,", "grads[0],").replace("grad ", "grads[0] ")
    )


def non_differentiable(specs: Specs, at: int, random: Random) -> bool:
    return _set_formula(specs, at, random, lambda _: "non_differentiable")


def forward_formula(specs: Specs, at: int, random: Random) -> bool:
    entry = re.sub(r"(?m)^  result: [^|>\s].*\n?", "", specs.derivatives[at])
    if re.search(r"(?m)^  (result|dispatch):", entry):
        return False
    text = random.choice(["auto_linear", "auto_element_wise", "self_t * 2", "self_t + self_p", "other_t", "result * 3"])
    specs.derivatives[at] = _put_after_first_line(entry, f"  result: {text}")
    return True


def forward_formula_dropped(specs: Specs, at: int, random: Random) -> bool:
    entry = re.sub(r"(?m)^  result: [^|>\s].*\n?", "", specs.derivatives[at])
    changed = entry != specs.derivatives[at]
    specs.derivatives[at] = entry
    return changed


def dispatch_key(specs: Specs, at: int, random: Random) -> bool:
    """Puts the formulas under `dispatch:`, for one key or for two; or renames a key."""
    entry = specs.derivatives[at]
    if re.search(r"(?m)^    (Default|Autograd\w+):", entry):
        key = random.choice(["AutogradCUDA", "AutogradNestedTensor", "AutogradMeta", "Default"])
        specs.derivatives[at] = re.sub(r"(?m)^    (Default|Autograd\w+):", f"    {key}:", entry, count=1)
        return True
    rows = [f"    {line}" for line in entry.split("\n")[1:] if line.strip() and not line.lstrip().startswith("#")]
    rows = [row for row in rows if not row.strip().startswith("output_differentiability")]
    if not rows or not formulas(entry):
        return False
    keys = random.sample(["AutogradCUDA", "AutogradNestedTensor", "AutogradXPU"], random.randint(0, 2))
    keys = sorted(["Default", *keys], key=lambda _: random.random())
    under = "\n".join(f"    {key}:\n" + "\n".join(rows) for key in keys)
    specs.derivatives[at] = f"{entry.partition(chr(10))[0]}\n  dispatch:\n{under}\n\n"
    return True


def output_differentiability(specs: Specs, at: int, random: Random) -> bool:
    entry = specs.derivatives[at]
    if "output_differentiability" in entry:
        specs.derivatives[at] = re.sub(r"(?m)^  output_differentiability:.*\n?", "", entry)
    else:
        value = random.choice(["[True]", "[False]", "[True, False]"])
        specs.derivatives[at] = _put_after_first_line(entry, f"  output_differentiability: {value}")
    return True


def entry_added(specs: Specs, at: int, random: Random) -> bool:
    """A new overload of the same operator in front of it, so that the numbers of later Nodes move."""
    match = _SCHEMA.match(specs.derivatives[at])
    if match is None:
        return False
    name = f"{match[1].partition('.')[0].rstrip('_')}.gm{random.randint(0, 10**6)}"
    schema = f"{name}(Tensor self, Scalar by) -> Tensor"
    specs.native.append(f"- func: {schema}\n  dispatch:\n    CompositeExplicitAutograd: gm\n")
    specs.derivatives.insert(at, f"- name: {schema}\n  self: grad * by\n  result: auto_linear\n\n")
    return True


def entry_removed(specs: Specs, at: int, random: Random) -> bool:
    del specs.derivatives[at]
    return True


def _swap(entries: list[str], at: int, random: Random) -> bool:
    to = min(len(entries) - 1, max(0, at + random.choice([-40, -3, -1, 1, 2, 30])))
    entries[at], entries[to] = _ended(entries[to]), _ended(entries[at])
    return at != to


def _ended(entry: str) -> str:
    return entry if entry.endswith("\n") else f"{entry}\n"


def entries_swapped(specs: Specs, at: int, random: Random) -> bool:
    return _swap(specs.derivatives, at, random)


def entry_duplicated(specs: Specs, at: int, random: Random) -> bool:
    specs.derivatives.insert(random.randint(0, len(specs.derivatives)), _ended(specs.derivatives[at]))
    specs.derivatives[-1] = _ended(specs.derivatives[-1])
    return True


def _comment(entries: list[str], at: int, random: Random) -> bool:
    lines = entries[at].split("\n")
    text = random.choice(["# see above", "# - name: nothing(Tensor self) -> Tensor", "#", "# \u2026 \u00e9\u4e2d"])
    lines.insert(1, random.choice(["", "  "]) + text)
    entries[at] = "\n".join(lines)
    return True


def _white_space(entries: list[str], at: int, random: Random) -> bool:
    lines = entries[at].split("\n")
    where = random.randrange(len(lines))
    lines[where] += random.choice([" ", "   ", "\n", "\n\n", "  # end"])
    entries[at] = "\n".join(lines)
    return True


def comment(specs: Specs, at: int, random: Random) -> bool:
    return _comment(specs.derivatives, at, random)


def white_space(specs: Specs, at: int, random: Random) -> bool:
    return _white_space(specs.derivatives, at, random)


def key_order(specs: Specs, at: int, random: Random) -> bool:
    """The rows of an entry in another order, where each is one line."""
    first, *rows = [line for line in specs.derivatives[at].split("\n") if line.strip()]
    if len(rows) < 2 or not all(re.match(r"  [a-z].*: \S", row) for row in rows):
        return False
    specs.derivatives[at] = "\n".join([first, *random.sample(rows, len(rows))]) + "\n\n"
    return True


# ---- native functions


def _rewrite_schema(specs: Specs, at: int, random: Random, change: Callable[[str], str]) -> bool:
    """Changes the arguments in the schema of a function, of its variants, and where its derivative says it."""
    match = _SCHEMA.match(specs.native[at])
    if match is None:
        return False
    changed = change(match[2])
    if changed == match[2]:
        return False
    specs.native[at] = specs.native[at].replace(match[2], changed, 1)
    for i, entry in enumerate(specs.derivatives):
        if entry.startswith(f"- name: {match[1]}(") and random.random() < 0.9:
            specs.derivatives[i] = entry.replace(match[2], changed, 1)
    inner, base = match[2][1:-1], match[1].partition(".")[0].rstrip("_")
    for i, entry in enumerate(specs.native):
        other = _SCHEMA.match(entry)
        if other is not None and i != at and other[1].partition(".")[0].rstrip("_") == base and inner in other[2]:
            specs.native[i] = entry.replace(inner, changed[1:-1], 1)
            for k, derivative in enumerate(specs.derivatives):
                if derivative.startswith(f"- name: {other[1]}("):
                    specs.derivatives[k] = derivative.replace(inner, changed[1:-1], 1)
    return True


def schema_default(specs: Specs, at: int, random: Random) -> bool:
    def change(text: str) -> str:
        kinds = [
            (r"=(True|False)\b", random.choice(["=True", "=False"])),
            (r"=-?\d+\b", f"={random.randint(-3, 9)}"),
            (r"=None\b", ""),
            (r"(bool [a-z_]\w*)(?=\))", r"\1=True"),
            (r"(int [a-z_]\w*)(?=\))", r"\1=7"),
        ]
        pattern, new = random.choice(kinds)
        return re.sub(pattern, new, text, count=1)

    return any(_rewrite_schema(specs, at, random, change) for _ in range(6))


def schema_type(specs: Specs, at: int, random: Random) -> bool:
    def change(text: str) -> str:
        kinds = [
            (r"\bint(?=[ \[?])", "SymInt"),
            (r"\bSymInt(?=[ \[?])", "int"),
            (r"\bScalar(?=[ ?])", "float"),
            (r"\bfloat(?=[ ?])", "Scalar"),
            (r"\bTensor (?!self)", "Tensor? "),
            (r"\bTensor\? ", "Tensor "),
            (r"\bbool ", "int "),
            (r"\bTensor\[\] ", "Tensor "),
        ]
        pattern, new = random.choice(kinds)
        return re.sub(pattern, new, text, count=1)

    return any(_rewrite_schema(specs, at, random, change) for _ in range(8))


def argument_renamed(specs: Specs, at: int, random: Random) -> bool:
    names = [name for name in arguments(specs.native[at]) if name not in ("self", "out")]
    if not names:
        return False
    name = random.choice(names)
    return _rewrite_schema(specs, at, random, lambda text: re.sub(rf"\b{name}\b", f"{name}_x", text))


def function_removed(specs: Specs, at: int, random: Random) -> bool:
    match = _SCHEMA.match(specs.native[at])
    del specs.native[at]
    if match is not None and random.random() < 0.8:
        start = f"- name: {match[1]}("
        specs.derivatives[:] = [entry for entry in specs.derivatives if not entry.startswith(start)]
    return True


def function_added(specs: Specs, at: int, random: Random) -> bool:
    name = f"gm_op{random.randint(0, 10**6)}"
    specs.native.insert(at, f"- func: {name}(Tensor self, int n=2) -> Tensor\n  variants: function, method\n\n")
    return True


def functions_swapped(specs: Specs, at: int, random: Random) -> bool:
    return _swap(specs.native, at, random)


def variants_changed(specs: Specs, at: int, random: Random) -> bool:
    entry = re.sub(r"(?m)^  variants:.*\n", "", specs.native[at])
    specs.native[at] = _put_after_first_line(entry, f"  variants: {random.choice(['function', 'method, function'])}")
    return True


def native_dispatch_key(specs: Specs, at: int, random: Random) -> bool:
    entry = specs.native[at]
    keys = ["CPU", "CUDA", "Meta", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "SparseCPU"]
    if "  dispatch:\n" in entry:
        specs.native[at] = re.sub(r"(?m)^    [A-Z][\w, ]*:", f"    {random.choice(keys)}:", entry, count=1)
    else:
        specs.native[at] = _ended(entry.rstrip("\n")) + f"  dispatch:\n    {random.choice(keys)}: gm_kernel\n\n"
    return True


def native_comment(specs: Specs, at: int, random: Random) -> bool:
    return _comment(specs.native, at, random)


def native_white_space(specs: Specs, at: int, random: Random) -> bool:
    return _white_space(specs.native, at, random)


DERIVATIVE_KINDS: tuple[Kind, ...] = (
    formula,
    saved_attribute_added,
    saved_sizes_added,
    saved_result_added,
    saved_attribute_dropped,
    other_gradient,
    non_differentiable,
    forward_formula,
    forward_formula_dropped,
    dispatch_key,
    output_differentiability,
    entry_added,
    entry_removed,
    entries_swapped,
    entry_duplicated,
    comment,
    white_space,
    key_order,
)

NATIVE_KINDS: tuple[Kind, ...] = (
    schema_default,
    schema_type,
    argument_renamed,
    function_removed,
    function_added,
    functions_swapped,
    variants_changed,
    native_dispatch_key,
    native_comment,
    native_white_space,
)

KINDS = {DERIVATIVES: DERIVATIVE_KINDS, NATIVE: NATIVE_KINDS}


def edit(specs: Specs, name: str, at: int, random: Random) -> str:
    """Edits one entry of the file `name` by a kind that fits it; gives the kind's name."""
    kinds = KINDS[name]
    for kind in random.sample(kinds, len(kinds)):
        tried = specs.copy()
        if kind(tried, at, random):
            specs.heads, specs.entries = tried.heads, tried.entries
            return kind.__name__
    raise AssertionError("some kind fits every entry")
