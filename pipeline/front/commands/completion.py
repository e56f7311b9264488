"""`gradmill completion bash`: a script for a shell. It asks `gradmill completion --line=…` for the possible words.

Names of operators, units and files are those of the last complete run's manifest, so nothing is computed.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from doit.cmd_base import Command
from doit.exceptions import InvalidCommand

from pipeline.front.commands.bases import Options, option
from pipeline.front.run.paths import paths_of
from pipeline.front.settings.config import Config, read_config
from pipeline.front.settings.hints import GROUPS, two_lines
from pipeline.front.settings.reader import read_settings
from pipeline.front.settings.variables import REVISION, VARIABLES
from pipeline.io.decoding import decode_json
from pipeline.io.files import read_file
from pipeline.model.manifest import Manifest, ManifestUnit, Units
from pipeline.problems.catalog.table import RULES
from pipeline.problems.plain import escaped
from pipeline.problems.problem import SpecError, nearest
from pipeline.specs.find import mark_of_set

SCRIPTS = {
    "bash": """\
# gradmill completion bash > ~/.local/share/bash-completion/completions/gradmill
_gradmill() {
    local line=${COMP_LINE:0:COMP_POINT} word IFS=$'\\n'
    word=${line##* }
    COMPREPLY=($(gradmill completion --line="$line" 2> /dev/null))
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[=:]}"}"}")  # bash completes what follows the last = or :
    [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY != *[=:/] ]] && COMPREPLY="$COMPREPLY "
}
complete -o nospace -F _gradmill gradmill
""",
    "zsh": """\
#compdef gradmill
# gradmill completion zsh > a folder of $fpath/_gradmill
_gradmill() {
    local -a words_
    words_=("${(@f)$(gradmill completion --line="$LBUFFER" 2> /dev/null)}")
    compadd -Q -S '' -- ${(M)words_:#*[=:/]}
    compadd -Q -- ${words_:#*[=:/]}
}
compdef _gradmill gradmill
""",
    "fish": """\
# gradmill completion fish > ~/.config/fish/completions/gradmill.fish
complete -c gradmill -f -a '(gradmill completion --line=(commandline -cp) 2> /dev/null)'
""",
}


class Completion(Options, Command):  # type: ignore[misc]
    """Prints a script, or the words that may complete a command line."""

    name = "completion"
    doc_purpose = "print a completion script for bash, zsh or fish"
    doc_usage = "bash|zsh|fish"
    doc_description = "The first line of the script says where to put it."
    cmd_options = (
        option("line", "print the words that may follow at the end of a command line instead; scripts do this"),
    )

    def __init__(self, cmds: Any = None, **kwargs: Any) -> None:
        super().__init__(cmds=cmds, **kwargs)
        self._commands: list[str] = sorted(cmds or ())

    def execute(self, opt_values: Any, pos_args: list[str]) -> int:
        if opt_values["line"]:
            words = candidates(opt_values["line"], self._commands)
            sys.stdout.write("".join(f"{word}\n" for word in words if _fits(word)))
            return 0
        shell = " ".join(pos_args)
        if shell not in SCRIPTS:
            problem = f"completion: no script for '{shell}'" if shell else "completion: name a shell"
            raise InvalidCommand(two_lines(problem, nearest(shell, SCRIPTS) or f"write one of {', '.join(SCRIPTS)}"))
        sys.stdout.write(SCRIPTS[shell])
        return 0


def _fits(word: str) -> bool:
    """Whether a word is one for a shell: without spaces and what it would interpret."""
    return escaped(word) == word and not set(word) & set(" '\"\\$`;&|<>(){}!")


def candidates(line: str, commands: Iterable[str]) -> list[str]:
    """The words that may stand at the end of a command line in place of the last one. `commands`: the names of all."""
    before, last = line.split()[1:], ""
    if not line[-1:].isspace():
        before, last = before[:-1], (before or [""])[-1]
    name, sign, value = last.partition("=")
    if sign and name in VARIABLES:
        return [f"{name}={each}" for each in _values(name, value)]
    named = [word for word in before if "=" not in word and not word.startswith("-")]
    commands = list(commands)
    if last.startswith("-"):
        return [word for word in _options(named, commands, name if sign else "") if word.startswith(last)]
    given = {word.partition("=")[0] for word in before if "=" in word}
    words = [*_words(named, before, commands), *(f"{each}=" for each in VARIABLES if each not in given)]
    return _grouped([word for word in words if word.startswith(last)], last)


def _grouped(words: list[str], last: str) -> list[str]:
    """The words, with the units and files only if their group is typed already: there are thousands."""
    if last.startswith(GROUPS):
        return words
    return list(dict.fromkeys(next((group for group in GROUPS if word.startswith(group)), word) for word in words))


def _options(named: list[str], commands: Iterable[str], valued: str = "") -> list[str]:
    """The options of a command, or of gradmill itself if none is named; with `valued`, the name of an option, those of
    its values that are listed."""
    from pipeline.front.doit.plugins import PLUGINS

    if not named:
        return ["--help", "--version"]
    place = PLUGINS["COMMAND"].get(named[0])
    if place is None:
        return ["--help"] if named[0] in commands else []
    module, _, name = place.partition(":")
    command = getattr(import_module(module), name)
    options = {f"--{option['long']}": option for option in command.cmd_options if option.get("long")}
    if valued:
        return [f"{valued}={value}" for value, _ in options.get(valued, {}).get("choices", ())]
    return [*options, "--help"]


def _values(name: str, value: str) -> list[str]:
    """The values of a variable that begin with `value`."""
    if name == "against" and value.startswith(REVISION):
        return [each for each in _revisions() if each.startswith(value)]
    head, comma, last = value.rpartition(",") if name == "families" else ("", "", value)
    variable = VARIABLES[name]
    values = [*variable.words(), *([os.curdir] if name == "specs" and mark_of_set(os.curdir) else [])]
    known = [f"{head}{comma}{each}" for each in values if each.startswith(last)]
    return known + (_files(value, variable.path) if variable.path is not None else [])


def _revisions() -> list[str]:
    """HEAD, and the branches and tags of the repository around the current folder."""
    from pipeline.front.run.revision import references

    return [f"{REVISION}{each}" for each in ("HEAD", *references(os.curdir))]


def _files(start: str, ends: tuple[str, ...]) -> list[str]:
    """The folders that begin with `start`, and the files with one of these endings."""
    paths = sorted(glob.glob(f"{glob.escape(start)}*"))
    return [f"{path}/" if os.path.isdir(path) else path for path in paths if os.path.isdir(path) or path.endswith(ends)]


def _words(named: list[str], before: list[str], commands: Iterable[str]) -> list[str]:
    """The names that may follow the words of a command line that are not variables."""
    if not named:
        return [*commands, *_tasks(before)]
    if named == ["help"]:
        return [*commands]
    if named[0] in _NAMES:
        return _NAMES[named[0]](named, before)
    return _tasks(before) if named[0] in (*_OF_TASKS, *_STAGES, "manifest") or ":" in named[0] else []


def _tasks(before: list[str]) -> list[str]:
    units, files = _made(before)
    named = [f"emit:{unit.unit}" for unit in units] or ["emit:"], [f"shard:{path}" for path in files] or ["shard:"]
    return [*_STAGES, *named[0], *named[1], "manifest"]


def _known(before: list[str]) -> list[str]:
    """The names of operators, units, files and stages."""
    units, files = _made(before)
    operators = (unit.schema.partition("(")[0] for unit in units)
    return list(dict.fromkeys((*_STAGES, *operators, *(unit.unit for unit in units), *files)))


def _explained(before: list[str]) -> list[str]:
    """The names that `explain` knows: also the files of the set, for a line of them, and the helpers."""
    config = _config(before)
    if config is None:
        return _known(before)
    files = (os.path.basename(location.path) for location in config.specs.files.values() if not location.member)
    lines = (f"{name}:" for name in files)
    return list(dict.fromkeys((*_known(before), "manifest", *lines, *_helpers(config))))


def _helpers(config: Config) -> Iterable[str]:
    """The functions that formulas may call: those of the set's headers, and the release's."""
    from pipeline.cpp.header import declared_at
    from pipeline.releases.names import names_of

    for location in config.specs.headers.values():
        with suppress(OSError, KeyError, UnicodeDecodeError):
            yield from declared_at(location.read().decode())
    yield from names_of(config.release).helpers


def _config(before: list[str]) -> Config | None:
    """The configuration that the variables of a command line name, None if they are wrong."""
    variables = dict(word.split("=", 1) for word in before if "=" in word)
    with suppress(SpecError, OSError):
        return read_config(read_settings({name: value for name, value in variables.items() if name in VARIABLES}))
    return None


def _made(before: list[str]) -> tuple[Sequence[ManifestUnit], list[str]]:
    """The units and the files of the set that the variables of a command line name; none if no run wrote them."""
    config = _config(before)
    with suppress(OSError, ValueError):
        if config is not None:
            paths = paths_of(config)
            files = decode_json(read_file(paths.manifest) or b"", Manifest).files
            return decode_json(read_file(paths.units) or b"", Units).units, [file.path for file in files]
    return (), []


def _shown(named: list[str], before: list[str]) -> list[str]:
    from pipeline.reports.show import STAGES

    return [*STAGES, *(name for name in _tasks(before) if ":" in name)] if len(named) == 1 else _known(before)


def _schemas(named: list[str], before: list[str]) -> list[str]:
    from pipeline.front.commands.printed import PRINTED
    from pipeline.reports.editor.spec_schemas import FILES
    from pipeline.reports.json_schemas import types

    return [*FILES, *PRINTED, *types()]


_STAGES = ("specs", "schemas", "derivatives", "infos", "foreach", "match", "emit", "shard")
_OF_TASKS = ("run", "list", "info", "clean", "forget", "ignore", "reset-dep")
_NAMES: Mapping[str, Callable[[list[str], list[str]], list[str]]] = {
    "explain": lambda named, before: _explained(before),
    "coverage": lambda named, before: _known(before),
    "verify": lambda named, before: _known(before),
    "show": _shown,
    "schema": _schemas,
    "rule": lambda named, before: list(RULES),
    "export": lambda named, before: ["ninja", "cmake", "bazel", "cmakedir", "specsdir"],
    "completion": lambda named, before: list(SCRIPTS),
}
