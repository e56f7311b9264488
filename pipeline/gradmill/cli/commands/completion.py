"""`gradmill completion bash`: a script for a shell, with the words of the tables of commands and variables. It asks
`gradmill list` for the names of units and files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from msgspec import Struct

from gradmill.cli.commands.request import Request
from gradmill.cli.commands.table import COMMANDS
from gradmill.families.table import FAMILIES
from gradmill.problems.catalog.table import RULES
from gradmill.problems.problem import SpecError, nearest
from gradmill.session.selection import GROUPS
from gradmill.session.settings.variables import VARIABLES

# `_gradmill_words LINE` prints what may stand in the place of its last word. Nothing of a subshell stays in the shell.
_SH = r"""_gradmill_words() (
    [ -z "$ZSH_VERSION" ] || emulate sh
    unset IFS
    set -f
    word="${1##* }" command= given= start= words= ends= names=
    set -- ${1% *}
    shift
    for each; do
        case $each in
            *=*) given="$given $each" ;;
            -*) ;;
            *) command="${command:-$each}" ;;
        esac
    done
    case $word in *=*,*) start="${word%,*}," word="${word%%=*}=${word##*,}" ;; esac
    case "$command $word" in
@CASES@
    esac
    [ -z "$names" ] || words="$words $(gradmill list --all --quiet $given 2> /dev/null)"
    for each in $words; do
        [ "$names" != plain ] || each="${each#emit:}" each="${each#shard:}"
        case $each in "$word"*) [ -z "$start" ] || each="$start${each#*=}"; printf '%s\n' "$each" ;; esac
    done
    set +f
    [ -z "$ends" ] || set -- "${word#*=}"*
    set -f
    for end in $ends; do
        for each; do
            case $each in *$end) [ ! -f "$each" ] || printf '%s\n' "${word%%=*}=$each" ;; esac
            [ "$end" != / ] || [ ! -d "$each" ] || printf '%s\n' "${word%%=*}=$each/"
        done
    done
)
"""
_BASH = """# gradmill completion bash > ~/.local/share/bash-completion/completions/gradmill
@WORDS@
_gradmill() {
    local line=${COMP_LINE:0:COMP_POINT} word IFS=$'\\n'
    word=${line##* }
    COMPREPLY=($(_gradmill_words "$line"))
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[=:]}"}"}")  # bash completes what follows the last = or :
    [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY != *[=:/] ]] && COMPREPLY="$COMPREPLY "
}
complete -o nospace -F _gradmill gradmill
"""
_ZSH = """#compdef gradmill
# gradmill completion zsh > a folder of $fpath/_gradmill
@WORDS@
_gradmill() {
    local -a words_
    words_=("${(@f)$(_gradmill_words "$LBUFFER")}")
    compadd -Q -S '' -- ${(M)words_:#*[=:/]}
    compadd -Q -- ${words_:#*[=:/]}
}
compdef _gradmill gradmill
"""
_FISH = """# gradmill completion fish > ~/.config/fish/completions/gradmill.fish
set -g _gradmill_words '@WORDS@_gradmill_words "$1"'
complete -c gradmill -f -a '(sh -c "$_gradmill_words" sh (commandline -cp))'
"""


class Case(Struct, frozen=True):
    """What may stand at the place `COMMAND WORD` if it matches a pattern; the first of several counts. `paths`: whether
    folders may, and files with these ends; `names`: what `gradmill list` prints, `plain` without groups."""

    pattern: str
    words: Sequence[str] = ()
    paths: tuple[str, ...] | None = None
    names: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """The variables of the scripts that it sets."""
        ends = " ".join(("/", *(end or "*" for end in self.paths))) if self.paths is not None else ""
        found = {"words": " ".join(self.words), "ends": ends, "names": self.names}
        return {name: value for name, value in found.items() if value}


_STAGES = ("specs", "schemas", "derivatives", "infos", "foreach", "match", "emit", "shard", "manifest")
SHELLS = ("bash", "zsh", "fish")


def cases() -> Iterator[Case]:
    """All cases: of the tables of commands and variables."""
    from gradmill.reports.show import stages

    for name, variable in VARIABLES.items():
        yield Case(f"* {name}=*", [f"{name}={word}" for word in variable.words()], variable.path)
    for name, command in COMMANDS.items():
        for option in command.options:
            if option.values:
                yield Case(f"{name} {option.name}=*", [f"{option.name}={value}" for value in option.values])
        yield Case(f"{name} -*", [*(option.name for option in command.options), "--help"])
    yield Case(" -*", ("--help", "--version", "--show-settings"))
    yield from (Case(f"* {group}*", names="grouped") for group in GROUPS)
    variables = [f"{name}=" for name in VARIABLES]
    for name, words in _arguments().items():
        yield Case(f"{name} *", [*words, *variables])
    unlisted = [stage for stage in stages() if stage not in _STAGES]
    for name in ("explain", "coverage", "verify", "show"):
        yield Case(f"{name} *", [*(unlisted if name == "show" else ()), *variables], names="plain")
    for name in ("run", "list", "clean"):
        yield Case(f"{name} *", [*_STAGES, *GROUPS, *variables])
    yield Case(" *", [*COMMANDS, *_STAGES, *GROUPS, *variables])
    yield Case("*", variables)


def _arguments() -> dict[str, Sequence[str]]:
    """The words that may follow the commands that take some of a list."""
    from gradmill.cli.commands.export import FORMATS
    from gradmill.cli.commands.schema import TYPES
    from gradmill.reports.spec_schemas import FILES

    return {
        "completion": SHELLS,
        "export": (*FORMATS, "cmakedir", "specsdir"),
        "help": tuple(COMMANDS),
        "families": tuple(FAMILIES),
        "rule": tuple(RULES),
        "schema": (*FILES, *TYPES),
    }


def _in_sh(case: Case) -> str:
    values = " ".join(f'{name}="{value}"' for name, value in case.settings.items())
    return f"        {case.pattern.replace(' ', chr(92) + ' ')}) {values} ;;"


def script(shell: str) -> str:
    """The script for a shell."""
    words = _SH.replace("@CASES@", "\n".join(map(_in_sh, cases()))).rstrip()
    if shell == "fish":  # which has sh find the words
        words = f"{words}\n".replace("\\", "\\\\").replace("'", "\\'")
    return {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}[shell].replace("@WORDS@", words)


def main(request: Request) -> int:
    """Prints a script."""
    shell = " ".join(request.names)
    if shell not in SHELLS:
        problem = f"completion: no script for '{shell}'" if shell else "completion: name a shell"
        raise SpecError(problem, nearest(shell, SHELLS) or f"write one of {', '.join(SHELLS)}")
    sys.stdout.write(script(shell))
    return 0
