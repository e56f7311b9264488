"""How torchgen.gen parses its arguments: reads lists of words as JSON, one a line, and prints the options of each; None
if it refuses the words. The first line that it prints has all options: their names, and the words for a value.
"""

import argparse
import contextlib
import io
import json
import sys

from torchgen import gen

ORIGINAL = argparse.ArgumentParser.parse_args


class Made(Exception):
    """Carries torchgen's parser."""


def main() -> None:
    parser = made_parser()
    actions = [each for each in parser._actions if each.dest != "help"]
    print(json.dumps([[each.option_strings, values_for(each)] for each in actions]))
    for line in sys.stdin:
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                print(json.dumps(vars(ORIGINAL(parser, json.loads(line)))))
        except SystemExit:
            print("null")


def made_parser() -> argparse.ArgumentParser:
    def parse_args(parser, *_):
        raise Made(parser)

    argparse.ArgumentParser.parse_args = parse_args
    try:
        gen.main()
    except Made as made:
        return made.args[0]
    raise AssertionError("torchgen.gen parses no arguments")


def values_for(action: argparse.Action) -> list[list[str]]:
    """The words that may follow an option."""
    if action.nargs == 0:
        return [[]]
    return [[], [*(action.choices or ("A", "B"))]] if action.nargs == "*" else [["A"]]


if __name__ == "__main__":
    main()
