"""Slim headers: torch's headers without `IValue`, with which most sources of formulas compile in half the time.

    slim.py headers TORCH/include GENERATED FOLDER    writes FOLDER/slim/ and FOLDER/torch/
    slim.py compile FOLDER PRELUDE COMPILER WORD...   a compiler launcher

With GCC, half of the time of a small source is spent on templates that inline functions of torch's headers use, even
if these are precompiled. Two thirds of that comes from `ATen/core/ivalue.h`, which formulas hardly need. `headers`
writes copies of the headers that declare operators and helpers of formulas, without the `#include`s that lead there.
Nothing in them is written by hand: a few declarations are copied from headers that are left out.

`compile` puts them in front of a source of formulas, with PRELUDE in place of the build's precompiled header. If the
source needs more, it does not compile; `compile` then runs the command unchanged, and prints why. All other sources
are compiled unchanged. So no list of sources is kept, and errors are those of the unchanged command.

GENERATED is the folder of the generated files; torch's headers include its `Functions.h` by FOLDER/torch/.
"""

from __future__ import annotations

import os
import re
import sys

# What leads here is left out: what makes headers slow, and what is of no use without it.
ROOTS = (
    "ATen/core/ivalue.h",
    "ATen/core/jit_type.h",
    "ATen/Context.h",
    "ATen/Dispatch.h",
    "torch/csrc/autograd/edge.h",
)
MANUAL = "torch/csrc/autograd/FunctionsManual.h"
FUNCTIONS = "torch/csrc/autograd/generated/Functions.h"
PRELUDE = "formulas.h"
COPIED = ("ATen/ATen.h", "ATen/Functions.h", "ATen/TensorOperators.h", MANUAL)  # and ATen/ops/
# Headers of Nodes, which are left out, and what formulas use of them: (namespace, name, the headers that may have it).
NODES = tuple(f"torch/csrc/autograd/{name}.h" for name in ("node", "function", "variable", "saved_variable"))
DECLARED = (
    ("torch::autograd", "Variable", NODES),
    ("torch::autograd", "variable_list", NODES),
    ("torch::autograd", "IndexRange", NODES),
    ("torch::autograd", "TypeAndSize", NODES),
    ("c10", "OptionalArray", ("ATen/core/ivalue.h",)),
    ("torch", "List", ("ATen/core/List.h",)),
)

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"].*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once.*$", re.MULTILINE)


class Headers:
    """The headers of an installed torch, by name."""

    def __init__(self, include: str) -> None:
        self.include = include
        self._texts: dict[str, str] = {}
        self._heavy: dict[str, bool] = dict.fromkeys(ROOTS, True)

    def text(self, name: str) -> str:
        """A header's text; "" if torch has none of this name."""
        if name not in self._texts:
            path = os.path.join(self.include, name)
            self._texts[name] = _read(path) if os.path.isfile(path) else ""
        return self._texts[name]

    def includes(self, name: str) -> list[str]:
        return _INCLUDE.findall(self.text(name))

    def heavy(self, name: str) -> bool:
        """Whether a header includes one of ROOTS, directly or not."""
        if name not in self._heavy:
            self._mark(name)
        return self._heavy[name]

    def _mark(self, name: str) -> None:
        """Finds all headers that `name` leads to, and marks those that lead to ROOTS."""
        users: dict[str, list[str]] = {}
        reached, todo = {name}, [name]
        while todo:
            user = todo.pop()
            for used in self.includes(user):
                users.setdefault(used, []).append(user)
                if used not in reached:
                    reached.add(used)
                    todo.append(used)
        heavy, todo = set(ROOTS), [*ROOTS]
        while todo:
            new = set(users.get(todo.pop(), ())) - heavy
            heavy |= new
            todo += new
        self._heavy |= {header: header in heavy for header in reached}

    def slim(self, name: str, copied: frozenset[str]) -> str:
        """A header without the includes of heavy ones that are not copied too."""

        def kept(include: re.Match[str]) -> str:
            return include[0] if include[1] in copied or not self.heavy(include[1]) else ""

        text = _ONCE.sub("", _INCLUDE.sub(kept, self.text(name)))
        return f'{_TOP}#line 1 "{os.path.join(self.include, name)}"\n{text}'

    def declaration(self, name: str, places: tuple[str, ...]) -> str:
        """The text of an alias or a struct. Raises `LookupError` if no header of `places` has it."""
        alias = rf"^ *(?:template ?<[^\n]*> )?using {name} = [^;]*;"
        struct = rf"^(?:template ?<[^\n]*\n)?struct {name} {{\n.*?^}};"
        for place in places:
            if match := re.search(f"{alias}|{struct}", self.text(place), re.MULTILINE | re.DOTALL):
                return match[0]
        raise LookupError(f"{name} is not declared in {' or '.join(places)}")


_TOP = "#pragma once\n#pragma GCC system_header\n"


def slim_headers(include: str) -> dict[str, str]:
    """Each slim header's name and text, for torch's folder of headers.

    Raises `LookupError` if torch's headers lack a declaration: then there are no slim headers for this release.
    """
    headers = Headers(include)
    missing = [name for name in (*COPIED, FUNCTIONS, ROOTS[0]) if not headers.text(name)]
    if missing:
        raise LookupError(f"{include} has no {missing[0]}")
    operators = [name for name in headers.includes("ATen/Functions.h") if name.startswith("ATen/ops/")]
    copied = frozenset(name for name in (*COPIED, FUNCTIONS, *operators) if headers.heavy(name))
    texts = {name: headers.slim(name, copied) for name in sorted(copied - {FUNCTIONS})}
    texts[FUNCTIONS] = _functions(headers, copied)
    texts[PRELUDE] = f'#define GRADMILL_SHARD -1\n#include "{MANUAL}"\n'
    return texts


def _functions(headers: Headers, copied: frozenset[str]) -> str:
    """In place of the generated header: what it and the headers of Nodes give to formulas."""
    names = dict.fromkeys(name for header in (FUNCTIONS, *NODES) for name in headers.includes(header))
    lines = [f"#include <{name}>" for name in names if name in copied or not headers.heavy(name)]
    for namespace, name, places in DECLARED:
        lines += [f"namespace {namespace} {{", headers.declaration(name, places), "}"]
    using = re.findall(r"^using [\w:]+;", headers.text(FUNCTIONS), re.MULTILINE)
    return "\n".join([_TOP, *lines, "namespace torch::autograd::generated {", *using, "}", ""])


def write(include: str, generated: str, folder: str) -> None:
    """Writes the headers; unchanged files keep their times."""
    for name, text in slim_headers(include).items():
        _write(os.path.join(folder, "slim", name), text)
    _write(os.path.join(folder, FUNCTIONS), f'#include "{os.path.join(os.path.abspath(generated), "Functions.h")}"\n')


def launch(folder: str, prelude: str, command: list[str]) -> int:
    """Compiles, and returns the exit status."""
    if prelude in command:  # to precompile it
        return _run(_in_front(folder, command))
    source = next((word for word in command if word.endswith("_formulas.cpp")), "")
    if not source or "-o" not in command:
        return _run(command)
    log = f"{command[command.index('-o') + 1]}.slim.log"
    status = _run(slim_command(folder, prelude, command), log)
    report = _read(log)
    os.unlink(log)
    if status == 0:
        sys.stderr.write(report)
        return 0
    status = _run(command)
    if status == 0:
        reason = re.search(r"error: (.*)", report)
        print(f"{os.path.basename(source)}: compiled with torch's own headers: {reason[1] if reason else report}")
    return status


def slim_command(folder: str, prelude: str, command: list[str]) -> list[str]:
    """The command with the slim headers in front, and their prelude in place of a precompiled header."""
    words: list[str] = []
    rest = iter(command)
    for word in rest:
        if word == "-Xclang":
            option = next(rest)
            if option in ("-include", "-include-pch"):
                next(rest)
                next(rest)
            else:
                words += [word, option]
        elif word == "-include":
            next(rest)
        else:
            words.append(word)
    return [*_in_front(folder, words), "-include", prelude, "-Wfatal-errors"]


def _in_front(folder: str, command: list[str]) -> list[str]:
    first = next(k for k, word in enumerate(command) if word.startswith("-"))
    return [*command[:first], f"-I{os.path.join(folder, 'slim')}", *command[first:]]


def _run(command: list[str], log: str = "") -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, 2, log, flags, 0o666)] if log else []
    try:
        process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    except OSError as error:
        sys.stderr.write(f"slim.py: {command[0]}: {error.strerror}\n")
        return 127
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) & 0xFF


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    if not os.path.exists(path) or _read(path) != text:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def main(words: list[str]) -> int:
    match words:
        case ["headers", include, generated, folder]:
            try:
                write(include, generated, folder)
            except (LookupError, OSError) as error:
                sys.stderr.write(f"slim.py: no slim headers for this torch: {error}\n")
                return 1
            return 0
        case ["compile", folder, prelude, _, *_]:
            return launch(folder, prelude, words[3:])
        case _:
            sys.stderr.write(__doc__ or "")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
