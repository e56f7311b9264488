"""What generated files and reports say: read as texts, without anything of gradmill's."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

_SHARD = re.compile(r"_(?:\d+|Everything)(?=[_.]|$)|Everything(?=\.)")
_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
_UPSTREAM = "torch/csrc/autograd/generated/"


def kind(name: str) -> str:
    """What a file and the other shards of it have in common: its name without the shard."""
    return _SHARD.sub("", name)


def is_compiled(name: str) -> bool:
    """Whether a generated file is one that is compiled: not one with all shards, nor a template of shards."""
    return "Everything" not in name and not name.startswith("templates/")


def compiled(files: Mapping[str, bytes]) -> dict[str, str]:
    """The texts of those files."""
    return {name: data.decode() for name, data in files.items() if is_compiled(name)}


def includes(text: str) -> list[str]:
    """The files that a text includes; of upstream's folder of generated files by their names there."""
    return [name.removeprefix(_UPSTREAM) for name in _INCLUDE.findall(text)]


# ---- reports


class Said(NamedTuple):
    """One problem as a report says it: the file within the case's folder, where, what."""

    file: str
    line: int
    column: int
    message: str


class Report(NamedTuple):
    """What a run reported: the problems, and notes that are about no file."""

    problems: frozenset[Said]
    notes: frozenset[str]


def report(format_: str, text: str, cwd: Path, folder: Path) -> Report:
    """A report in one of the formats. `cwd`: what its paths are relative to; `folder`: what they are to be."""
    result = _READERS[format_](text, lambda path: _within(path, cwd, folder))
    return result._replace(notes=frozenset(_note_within(note, cwd, folder) for note in result.notes))


def _note_within(note: str, cwd: Path, folder: Path) -> str:
    """A note, with the path of the file that it begins with, if any, as it is from `folder`."""
    path, colon, rest = note.partition(": ")
    result = _within(path, cwd, folder) if colon and (cwd / path).is_file() else path
    return f"{result}{colon}{rest}".replace(f"{folder}/", "")


def _within(path: str, cwd: Path, folder: Path) -> str:
    path, mark, member = path.partition("!")  # of a wheel
    return os.path.relpath(os.path.realpath(cwd / path), os.path.realpath(folder)) + mark + member


_LINE = re.compile(r"^(?P<file>\S[^\n]*?)(?::(?P<line>\d+):(?P<column>\d+))?: (?:warning|error): (?P<message>.*)$")


_RULE = re.compile(r" \[[a-z]+(-[a-z]+)*\]$")  # of a warning; JSON and SARIF have it apart


def _text(text: str, within: Any) -> Report:
    problems, notes = set(), set()
    for line in text.splitlines():
        if line.startswith("warning: "):
            notes.add(line.removeprefix("warning: "))
        elif match := _LINE.match(line):
            place = int(match["line"] or 0), int(match["column"] or 0)
            problems.add(Said(within(match["file"]), *place, _RULE.sub("", match["message"])))
    return Report(frozenset(problems), frozenset(notes))


def _json(text: str, within: Any) -> Report:
    problems, notes = set(), set()
    for line in filter(None, text.splitlines()):
        data = json.loads(line)
        notes.update(data["notes"])
        for each in data["problems"]:
            message = ": ".join(filter(None, (each["op"], ": ".join(each["field"]), each["problem"])))
            problems.add(Said(within(each["file"]), each["line"], each["column"], message))
    return Report(frozenset(problems), frozenset(notes))


_COMMAND = re.compile(r"^::(?P<level>\w+) ?(?P<properties>[^:]*)::(?P<message>.*)$")


def _github(text: str, within: Any) -> Report:
    problems, notes = set(), set()
    for line in text.splitlines():
        match = _COMMAND.match(line)
        if match is None:
            notes.add(line.removeprefix("warning: "))
            continue
        message = _unescaped(match["message"])
        if match["level"] == "notice":
            notes.add(message)
            continue
        values = dict(pair.partition("=")[::2] for pair in match["properties"].split(","))
        place = int(values.get("line", 0)), int(values.get("col", 0))
        problems.add(Said(within(_unescaped(values["file"])), *place, _RULE.sub("", message.partition("\nhint: ")[0])))
    return Report(frozenset(problems), frozenset(notes))


def _unescaped(text: str) -> str:
    for escape, char in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, char)
    return text


def _sarif(text: str, within: Any) -> Report:
    problems, notes = set(), set()
    for run in (run for log in _documents(text) for run in log["runs"]):
        for invocation in run["invocations"]:
            notes.update(each["message"]["text"] for each in invocation.get("toolConfigurationNotifications", ()))
        for result in run["results"]:
            (location,) = result["locations"]
            place = location["physicalLocation"]
            region = place.get("region", {})
            at = region.get("startLine", 0), region.get("startColumn", 0)
            path = unquote(place["artifactLocation"]["uri"]).removeprefix("file://")
            problems.add(Said(within(path), *at, result["message"]["text"].partition("\n")[0]))
    return Report(frozenset(problems), frozenset(notes))


def _documents(text: str) -> Iterator[Any]:
    decoder, text = json.JSONDecoder(), text.strip()
    while text:
        result, end = decoder.raw_decode(text)
        yield result
        text = text[end:].strip()


_READERS = {"text": _text, "json": _json, "github": _github, "sarif": _sarif}
