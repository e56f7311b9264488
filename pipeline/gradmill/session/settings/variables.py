"""The variables of the command line: the one table that the configuration, help, completion, exported rules and the
worker read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, ValidationError, convert

from gradmill.doors import loaded
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.subsets import ALL, SUBSETS, TREES
from gradmill.problems.problem import SpecError, nearest
from gradmill.releases import KNOWN, minor, resolve

REVISION = "git:"  # in `against=`: a revision of the repository around the set
REGISTRATIONS = ("none", "schemas")
LAYOUTS = ("upstream", "split")
MAX_SHARDS = 512
NEAR = 0.7  # the least difflib ratio of a suggestion: a word of another kind is no misspelt one
Flag = Literal[0, 1]
Shards = Annotated[int, Meta(ge=1, le=MAX_SHARDS)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
_SETS = ("core", "torch")
SET = "<set>"  # in `generated=`: the name of the spec set
GENERATED = f"generated/{SET}"
_FILE, _FOLDER = ("",), ()
_NO_COMPARISON = "an action compares no sets"
_HINTS: dict[Any, str] = {
    Flag: "write {name}=0 or {name}=1",
    Shards: f"write a number from 1 to {MAX_SHARDS}",
    Fraction: "write a number from 0 to 1, such as {name}=0.5",
}


class Need(Struct, frozen=True):
    """Another variable, without which one means nothing."""

    name: str
    value: str  # "" if any will do
    why: str
    hint: str


class Variable(Struct, frozen=True):
    """One variable."""

    meaning: str  # for help, with the default value
    default: str = ""
    type: Any = str  # that its text is converted to
    words: Callable[[], Iterable[str]] = tuple  # values that completion offers
    closed: bool = False  # whether it has no other values
    many: bool = False  # whether it has several values, with commas between them
    path: tuple[str, ...] | None = None  # if it may name a path: the endings of files; none for a folder
    output: bool = False  # whether it names a file that a run writes for other builds
    exported: bool = True  # whether an exported rule keeps it
    not_in_actions: str = ""  # why an action of the worker refuses it
    needs: Need | None = None
    since: str = ""  # the first release that has what it is about

    def is_path(self, text: str) -> bool:
        """Whether a value is the path of a file or a folder."""
        return self.path is not None and bool(text) and text not in self.words() and not text.startswith(REVISION)

    def hint(self, name: str) -> str:
        """How to write a value of its type."""
        return _HINTS.get(self.type, "write it as text").format(name=name)

    def read(self, name: str, text: str) -> Any:
        """The value. SpecError if it is not valid."""
        try:
            value = convert(text, self.type, strict=False)
        except (ValidationError, UnicodeEncodeError):
            raise SpecError(f"{name}={text}", self.hint(name)) from None
        if self.closed and text != self.default and text not in (words := tuple(self.words())):
            raise SpecError(f"{name}={text}", nearest(text, words) or f"write one of {', '.join(words)}")
        return value == 1 if self.type is Flag else value


def flag(meaning: str, default: str = "0", **more: Any) -> Variable:
    """A variable that is 0 or 1."""
    return Variable(meaning, default, Flag, lambda: ("0", "1"), **more)


def _backends() -> Iterable[str]:
    return resolve(minor(KNOWN[-1])).optional_backends


def _kernel_keys() -> Iterable[str]:
    return sorted(resolve(minor(KNOWN[-1])).kernel_keys)


def _formats() -> Iterable[str]:
    from gradmill.problems.formats import FORMATS

    return FORMATS


VARIABLES = {
    "specs": Variable(
        "core (included, the default), torch (the installed one), a checkout, folder, wheel or specset.toml",
        "core",
        words=lambda: _SETS,
        path=(".toml", ".whl"),
    ),
    "release": Variable("the PyTorch release, if the set does not specify it", words=lambda: map(minor, KNOWN)),
    "generated": Variable("the folder for generated files; generated/<set> by default", GENERATED, path=_FOLDER),
    "cache": Variable("the folder of results and state; cache by default", "cache", path=_FOLDER),
    "strict": flag("strict=1: warnings are errors"),
    "families": Variable(
        "the outputs to generate: nodes, variable_type, …, a subset such as libtorch, or all",
        words=lambda: (ALL, *FAMILY_ROWS, *SUBSETS),
        many=True,
    ),
    "tree": Variable(
        "tree=checkout, csrc or aten: subfolders as PyTorch's builds have them", words=lambda: TREES, closed=True
    ),
    "operator_headers": flag(
        "operator_headers=0: ATen without headers for each operator; 1: lazy kernels include some"
    ),
    "backends": Variable(
        "for ATen's files: backends to include besides CPU and CUDA: mps, xpu, mtia",
        words=_backends,
        many=True,
    ),
    "static_dispatch": Variable(
        "for ATen's files: keys whose kernels operators call without the dispatcher",
        words=_kernel_keys,
        many=True,
    ),
    "dispatch_keys": Variable(
        "for ATen's files: the only keys to register kernels for, besides composite ones",
        words=_kernel_keys,
        many=True,
    ),
    "registrations": Variable(
        "for ATen's files: registrations=none; schemas: the schemas of all operators",
        words=lambda: REGISTRATIONS,
        closed=True,
    ),
    "operator_names": Variable(
        "names in place of operators=FILE: aten::add,aten::mul.out; a comma for none", many=True
    ),
    "headeronly": Variable(
        "the folder of enum_tag.h, if it is not core in the folder of ATen's files",
        path=_FOLDER,
        needs=Need("tree", "aten", "only ATen's files have enum_tag.h", "also write tree=aten"),
        since="2.12",
    ),
    "shims": Variable(
        "the folder of AOTInductor's C functions, with headers to compare, unless they are generated",
        path=_FOLDER,
        needs=Need("tree", "aten", "they are written next to ATen's files", "also write tree=aten"),
    ),
    "extend_shims": flag("extend_shims=1: AOTInductor's C functions call only kernels of their device", since="2.6"),
    "native_aot": Variable(
        "a folder with aot.py of operators, which declare kernels compiled ahead of time, since 2.15",
        path=_FOLDER,
        since="2.15",
    ),
    "backend_yaml": Variable(
        "a YAML file of a backend outside of PyTorch, to generate its stubs from", path=(".yaml",)
    ),
    "backend_kernels": Variable(
        "a C++ file that must define the kernels of this backend",
        path=(".cpp",),
        needs=Need("backend_yaml", "", "no file lists these kernels", "also write backend_yaml=FILE"),
    ),
    "operators": Variable("a file of selected operators, the only ones with kernels", path=_FILE),
    "autograd": flag("autograd=0: no kernels", "1"),
    "layout": Variable(
        "layout=split: sources that an edit recompiles one by one", "upstream", words=lambda: LAYOUTS, closed=True
    ),
    "shards": Variable("the number of sources of the split layout; 16 by default", "16", Shards),
    "lines": flag(
        "lines=1: #line directives that name the YAML",
        needs=Need(
            "layout",
            "split",
            "files of the upstream layout are what torchgen writes, without #line",
            "also write layout=split",
        ),
    ),
    "stamp": Variable(
        "a file for the digest of all results",
        path=_FILE,
        output=True,
        exported=False,
        not_in_actions="other build systems compare the outputs themselves",
    ),
    "depfile": Variable("a file for a rule that lists all inputs", path=_FILE, output=True),
    "outputs": Variable("a file for the list of generated files, as CMake variables", path=_FILE, output=True),
    "cmake_lists": Variable(
        "a file for torchgen's list of ATen's files; others are next to it",
        path=_FILE,
        output=True,
        exported=False,
        needs=Need("tree", "aten", "the lists are about the folder of ATen's files", "also write tree=aten"),
    ),
    "against": Variable(
        "for diff, page and verify: the set to compare with",
        words=lambda: (*_SETS, REVISION),
        path=(".toml", ".whl"),
        exported=False,
        not_in_actions=_NO_COMPARISON,
    ),
    "against_release": Variable(
        "the release to read that set as",
        words=lambda: map(minor, KNOWN),
        exported=False,
        not_in_actions=_NO_COMPARISON,
    ),
    "hooks": flag(
        "for lsp: hooks=1 runs the hooks of a description, which are code; all other commands do",
        exported=False,
        not_in_actions="an action runs hooks",
    ),
    "format": Variable("the format of reports: text, json, github, sarif", "text", words=_formats, closed=True),
    "fix": flag("for check: fix=1 applies certain fixes", not_in_actions="an action does not change its inputs"),
    **{name: row for variables in loaded("variables") for name, row in variables().items()},
    "settings": Variable(
        "settings=none: no defaults from gradmill.toml or pyproject.toml",
        "nearest",
        words=lambda: ("nearest", "none"),
        closed=True,
        exported=False,
        not_in_actions="an action reads no settings file",
    ),
}
FILES = tuple(name for name, variable in VARIABLES.items() if variable.output)


def check_names(given: Mapping[str, str]) -> None:
    """SpecError for an unknown variable."""
    for name, text in given.items():
        if name not in VARIABLES:
            raise SpecError(*no_such_variable(name, text))


def no_such_variable(name: str, value: str) -> tuple[str, str]:
    """The error for an unknown variable: the problem, and a hint with the nearest name."""
    hint = nearest(name, VARIABLES, near=NEAR) or f"variables: {', '.join(VARIABLES)}"
    return f"{name}={value}: there is no such variable", hint


def read_variables(given: Mapping[str, str]) -> dict[str, Any]:
    """The values of all variables. SpecError for an unknown name, a value that is not valid, and a variable without
    the one that it needs."""
    check_names(given)
    values = {name: variable.read(name, given.get(name, variable.default)) for name, variable in VARIABLES.items()}
    for name, text in given.items():
        need = VARIABLES[name].needs
        if not need or text == VARIABLES[name].default:
            continue
        if need.name not in given or need.value not in ("", given[need.name]):
            raise SpecError(f"{name}={text}: {need.why}", need.hint)
    return values
