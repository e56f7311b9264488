"""Chains of edits over described sets: descriptions, vendors' files, templates; files that come and go.

    python -m tests.campaigns chains --set layers|toy

`layers` is the set of tests/vendors, `toy` examples/vendor, each over a small base.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from pairs.sets import SETS

from gradmill.releases import KNOWN

Texts = dict[str, str]
Kind = Callable[["Files", Random], bool]

TOML = "specset.toml"
RELEASES = {"layers": KNOWN[-4:-1], "toy": KNOWN[-4:]}  # that their own files list
_ENTRY = re.compile(r"(?m)^(?=\s*- (?:func|name): )")
_FORMULA = re.compile(r"(?m)^( +(?:self|other|self, other|result)): (?!auto_)(.+)$")
_SCHEMA = re.compile(r"(?m)^(\s*- (?:func|name): [\w:.]+\()(.*)(\) -> .*)$")
_RELEASE = re.compile(r"v2\.1[2-5]")
_HOLE = re.compile(r"(?m)^[ \t]*\$\{(?!generated_comment)\w+\}$")

_NODES, _KERNELS = "[family.nodes]\n", "[family.variable_type]\n"
# What a description may say one way or the other: an edit swaps the two.
_SWAPS = [
    ('take = "defined"', 'take = ["own", "defined"]'),
    ('order = "file"', 'order = "name"'),
    ("shards = 2", "shards = 3"),
    ("shards = 1", "shards = 40"),
    ("foreach_bindings = true", "foreach_bindings = false"),
    ('from = "_symint"', 'from = "sym_sizes"'),
    ("raw = true\n", ""),
    (_NODES, f'{_NODES}files = ["Functions.h", "Functions.cpp"]\n'),
    (_NODES, f'{_NODES}functions = "own"\n'),
    (_NODES, f'{_NODES}replace = [{{ from = "grad_inputs", to = "found" }}]\n'),
    (_NODES, f'{_NODES}file."Functions.cpp".slots.autograd_function_definitions = "definition"\n'),
    (_KERNELS, f"{_KERNELS}everything = false\n"),
    (_KERNELS, f'{_KERNELS}comment = "@generated for ${{template}}"\n'),
    (_KERNELS, f'{_KERNELS}in_templates = [{{ from = "namespace", to = "namespace  " }}]\n'),
    ('of = ["mm"]', 'of = ["exp"]'),
    ('pieces = ["registration"]', 'pieces = ["definition"]'),
    ('missing = "dropped"', 'missing = "held"'),
    ('keys = ["slow", "fast"]', 'keys = ["slow"]'),
    ('keys = "version"', 'keys = "versoin"'),
    ('to = "Tensor other" }', 'to = "Tensor third" }'),
    ('since = "2.7"', 'since = "2.14"'),
    (', "boxed_fallback"]', "]"),
    ('leave_out = ["jit_decomposition"]\n', ""),
    ('functions = ["swish", "plugin::add.Tensor"]', 'functions = "own"'),
    ('{ from = "at::redispatch", to', '{ from = "at::redispach", to'),
    ('"toy::_ops::${name}::redispatch("', '"toy::_ops::${name}::redispatched("'),
    ('of = "own out"', 'of = "out"'),
    ('add.complex_differentiable = ["swish"]', "add.complex_differentiable = []"),
    ('add.views = { row = "self" }', 'add.views = { row = "self", cubed = "self" }'),
    ('slots.ops_headers = { text = "" }\n', 'slots.ops_headers = { text = "// none" }\n'),
    ('derivatives = "alone"', 'derivatives = "add"'),
    ('name = "more${shard}.cc"', 'name = "less${shard}.cc"'),
    ('name = "more${shard}.cc"', 'name = "more/more${shard}.cc"'),
]


class Files:
    """The files of a set, as text by name."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    def copy(self) -> Files:
        return Files(dict(self.texts))

    def write(self, folder: Path) -> None:
        """Writes the files whose text is another one, and removes those that are no longer there."""
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            if path.relative_to(folder).as_posix() not in self.texts:
                path.unlink()
        for name, text in self.texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)

    def edited(self, name: str, text: str) -> bool:
        """Puts another text into a file; says whether it is another one."""
        changed = self.texts[name] != text
        self.texts[name] = text
        return changed

    def specs(self, random: Random) -> str:
        """One of the spec files."""
        return random.choice([name for name in self.texts if name.endswith(".yaml")])

    def template(self, random: Random) -> str:
        """One of the templates."""
        return random.choice([name for name in self.texts if name.startswith("templates/")])


def begin(name: str, folder: Path) -> Files:
    """A described set to edit, whose base is next to it and may be read as any release."""
    SETS[name].make(folder, KNOWN[-1])
    (folder / "base" / "RELEASE").unlink()
    made = folder / "set"
    texts = {path.relative_to(made).as_posix(): path.read_text() for path in sorted(made.rglob("*")) if path.is_file()}
    return Files({**texts, TOML: re.sub(r"(?m)^name = .*\n", "", texts[TOML], count=1)})  # the folder names it


def _change(
    files: Files, name: str, pattern: re.Pattern[str], to: Callable[[re.Match[str]], str], random: Random
) -> bool:
    text = files.texts[name]
    result = list(pattern.finditer(text))
    if not result:
        return False
    match = random.choice(result)
    return files.edited(name, text[: match.start()] + to(match) + text[match.end() :])


def formula(files: Files, random: Random) -> bool:
    number = random.randint(2, 99)
    return _change(files, files.specs(random), _FORMULA, lambda m: f"{m[1]}: {number} * ({m[2]})", random)


def argument_added(files: Files, random: Random) -> bool:
    name = f"extra_{random.randint(0, 3)}"

    def more(match: re.Match[str]) -> str:
        first, star, rest = match[2].partition(", *")
        return f"{match[1]}{first}, int {name}=0{star}{rest}{match[3]}"

    return _change(files, files.specs(random), _SCHEMA, more, random)


def entry_removed(files: Files, random: Random) -> bool:
    name = files.specs(random)
    head, *entries = _ENTRY.split(files.texts[name])
    if entries:
        entries.pop(random.randrange(len(entries)))
    return files.edited(name, head + "".join(entries))


def entries_swapped(files: Files, random: Random) -> bool:
    name = files.specs(random)
    head, *entries = _ENTRY.split(files.texts[name])
    random.shuffle(entries)
    return files.edited(name, head + "".join(each if each.endswith("\n") else f"{each}\n" for each in entries))


def release_changed(files: Files, random: Random) -> bool:
    return _change(files, files.specs(random), _RELEASE, lambda m: f"v2.{random.randint(12, 15)}", random)


def comment_added(files: Files, random: Random) -> bool:
    name = random.choice([name for name in files.texts if name.endswith((".yaml", ".toml"))])
    return files.edited(name, f"# {random.random()}\n{files.texts[name]}")


def description(files: Files, random: Random) -> bool:
    old, new = random.choice(_SWAPS)
    text = files.texts[TOML]
    if new and new in text:
        old, new = new, old
    return old in text and files.edited(TOML, text.replace(old, new, 1))


def template(files: Files, random: Random) -> bool:
    name = files.template(random)
    return files.edited(name, f"{files.texts[name]}// {random.random()}\n")


def hole_renamed(files: Files, random: Random) -> bool:
    return _change(files, files.template(random), _HOLE, lambda m: m[0].replace("}", "_too}"), random)


def file_removed(files: Files, random: Random) -> bool:
    name = random.choice([name for name in files.texts if name != TOML])
    return files.texts.pop(name) is not None


def file_moved(files: Files, random: Random) -> bool:
    """A spec file under another name, in the description too."""
    name = files.specs(random)
    folder, _, own = name.rpartition("/")
    moved = f"{folder}/{'more_' if not own.startswith('more_') else ''}{own.removeprefix('more_')}".lstrip("/")
    files.texts[moved] = files.texts.pop(name)
    return files.edited(TOML, files.texts[TOML].replace(f'"{name}"', f'"{moved}"'))


def layer_added(files: Files, random: Random) -> bool:
    name = f"layer_{random.randint(0, 3)}"
    if f'name = "{name}"' in files.texts[TOML]:
        return False
    schema = f"{name}(Tensor self) -> Tensor"
    files.texts[f"{name}.yaml"] = f"- func: {schema}\n"
    files.texts[f"{name}_too.yaml"] = f"- name: {schema}\n  self: grad * 2\n  result: auto_linear\n"
    layer = f'\n[[layer]]\nname = "{name}"\nnative = "{name}.yaml"\nderivatives = "{name}_too.yaml"\n'
    return files.edited(TOML, files.texts[TOML].replace("\n[functions]\n", f"{layer}\n[functions]\n", 1))


def file_of_its_own(files: Files, random: Random) -> bool:
    """A file that PyTorch does not have, or one fewer."""
    table = '\n[family.variable_type.file."more.cc"]\ntemplate = "more.cc"\nsharded = true\nname = "more${shard}.cc"\n'
    table += 'slots.found = "registration"\n'
    text = files.texts[TOML]
    if table in text:
        return files.edited(TOML, text.replace(table, ""))
    if "more.cc" in text:
        return False  # under another name
    files.texts["more.cc"] = random.choice(["// ${generated_comment}\n", "// without a mark\n"]) + "${found}\n"
    return files.edited(TOML, text + table)


KINDS: list[Kind] = [
    *(formula, formula, argument_added, entry_removed, entries_swapped, release_changed, comment_added),
    *(description, description, description, template, hole_renamed, file_removed, file_moved),
    *(layer_added, file_of_its_own),
]


def edit(files: Files, random: Random) -> str:
    """Makes an edit of some kind, and says of which."""
    for _ in range(50):
        kind = random.choice(KINDS)
        before = dict(files.texts)
        if kind(files, random):
            return kind.__name__
        files.texts = before
    raise AssertionError("no edit fits")
