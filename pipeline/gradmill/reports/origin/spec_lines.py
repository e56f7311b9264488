"""Explains a line of a file of the spec set: its entry or its key in the description, and what is made from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from gradmill.io.files import read_file
from gradmill.model.layers import entry_operator, role_of
from gradmill.problems.locate import field_lines
from gradmill.problems.problem import Role, SpecError
from gradmill.query.memo import INPUT, Name
from gradmill.reports.explain import Explainer, Explanation
from gradmill.reports.helpers import declared_at_line
from gradmill.reports.trail import entry_end
from gradmill.specs.entries import Piece
from gradmill.specs.layers.reading import meaning_of
from gradmill.specs.location import DESCRIPTION
from gradmill.specs.spec_set import ROLES
from gradmill.specs.text import decode_text
from gradmill.specs.toml_text import path_at
from gradmill.stages.set import (
    DESCRIBED,
    header_label,
    place_of_key,
    source,
    source_keys,
    sources,
    spec_label,
    spec_set,
)
from gradmill.stages.specs import entries, keys_of, texts_of

_VALUE = re.compile(r"\s*-\s+(?:func|name|tag)\s*:\s*")


class SpecLines:
    """Explains lines of the files of one spec set."""

    def __init__(self, explainer: Explainer) -> None:
        self._db = explainer.db
        self._files = explainer.paths.specs  # the path of each spec file, by key
        self._explainer = explainer

    @property
    def names(self) -> list[str]:
        """The names of the files without folders."""
        return list(dict.fromkeys(_parts(path)[-1] for path in (*self._files.values(), *spec_set(self._db).headers)))

    def explain(self, path: str, line: int) -> list[Explanation] | None:
        """Explains line `line` of the file at `path`; None if the set has no file of this name. A SpecError if the file
        is another one, has no such line, or has nothing to explain there."""
        key, label = self._key(path), ""
        if key:
            label = spec_label(key)
        elif path in self.names or _parts(path)[-1] in spec_set(self._db).headers:
            label = header_label(_parts(path)[-1])
        if not label:
            return None
        text = self._text(path, label)
        if not 0 < line <= text.count("\n") + (not text.endswith("\n")):
            raise SpecError(f"explain: {path} has no line {line}", "lines are numbered from 1 to the last")
        if not key:
            return self._of_header(path, line)
        if role_of(key) == DESCRIPTION:
            return [self._of_description(path, line, text)]
        return [self._of_entries(path, line, key)]

    def _key(self, path: str) -> str:
        """The key of the file whose path ends as `path` does; "" if there is none. A SpecError for several of them."""
        shared = {key: _shared(path, file) for key, file in self._files.items()}
        most = max(shared.values(), default=0)
        keys = [key for key, number in shared.items() if number == most] if most else []
        if len({self._files[key] for key in keys}) > 1:
            places = ", ".join(dict.fromkeys(self._files[key] for key in keys))
            raise SpecError(f"explain: the set has several files {path}", f"name one by its path: {places}")
        return keys[0] if keys else ""

    def _text(self, path: str, label: str) -> str:
        """The text of an input. A SpecError if there is a file at `path` with other bytes."""
        data, own = read_file(path), self._db.input(label) or b""
        if data is not None and data != own:
            raise SpecError(f"explain: {path} is not a file of this spec set", "name the set with specs=")
        return decode_text(own)

    # ---- entries

    def _of_entries(self, path: str, line: int, key: str) -> Explanation:
        if role_of(key) == "hooks":
            hint = "gradmill explain UNIT names the hook that changed its text; explain FILE, the one that wrote it"
            raise SpecError(f"explain: {path} has hooks, which may change any unit: a line has no entry", hint)
        if role_of(key) not in ROLES:
            raise SpecError(f"explain: {path} has no entries", "explain knows lines of the YAML files with entries")
        role = role_of(key)
        own = self._line_of_source(key, line)
        found = [(at, line_of) for at in own for line_of in [self._entry_at(role, *at)] if line_of is not None]
        if not found:
            raise SpecError(f"explain: line {line} of {path} belongs to no entry", self._next(role, key, line))
        (_, at), (entry, piece) = found[0]
        fields = field_lines(piece.text)
        field = max((name for name in fields if fields[name] <= at - piece.line), key=lambda f: fields[f], default="")
        what = f"{field}, in the entry of" if field and at > piece.line else "the entry of"
        return self._explainer.entries(f"{path}:{line}", f"{what} {_title(entry, piece)}", [entry_end(role, entry)])

    def _line_of_source(self, key: str, line: int) -> list[tuple[str, int]]:
        """The keys of sources, and the lines of their texts, that a line of a file stands for: diffs move lines."""
        from gradmill.stages.layered.files import changed

        moved = []
        for each in (source(self._db, name) for name in source_keys(self._db, role_of(key))):
            files = (each.key, *each.diffs)
            if key in files and each.diffs:
                place = files.index(key)
                lines = changed(self._db, each.key) or []
                moved += [(each.key, at) for at, of in enumerate(lines, 1) if (of.file, of.line) == (place, line)]
            elif key == each.key:
                moved.append((key, line))
        return moved

    def _entry_at(self, role: Role, key: str, line: int) -> tuple[str, Piece] | None:
        """The entry around a line of a source's text."""
        return next((each for each in self._pieces(role, key) if each[1].line <= line <= each[1].last), None)

    def _pieces(self, role: Role, key: str) -> Iterable[tuple[str, Piece]]:
        keys = keys_of(self._db, role)
        return zip((name for name in self._db.names(entries, role) if keys[name] == key), texts_of(self._db, key))

    def _next(self, role: Role, key: str, line: int) -> str:
        """A hint with the entry after a line."""
        after = [(piece.line, entry) for entry, piece in self._pieces(role, key) if piece.line > line]
        start, entry = min(after, default=(0, ""))
        return (
            f"the next entry is that of {entry_operator(entry)}, at line {start}" if start else "it is after the last"
        )

    # ---- the description and headers

    def _of_description(self, path: str, line: int, text: str) -> Explanation:
        key = path_at(text, line)
        if not key:
            raise SpecError(
                f"explain: line {line} of {path} has no key", "name a line with a key or the head of a table"
            )
        what = ": ".join(filter(None, (f"the key {_dotted(key)}", meaning_of(key).rstrip("."))))
        ends: dict[Name, None] = {}
        files = []
        for each in sources(self._db):
            at = place_of_key(self._db, each.at)
            if at and (at[: len(key)] == key or key[: len(at)] == at):
                names = [name for name, key in keys_of(self._db, role_of(each.key)).items() if key == each.key]
                files.append(f"{each.file}: {len(names)} {'entry' if len(names) == 1 else 'entries'}")
                ends |= dict.fromkeys(entry_end(role_of(each.key), name) for name in names)
        where = f"{path}:{line}"
        return self._explainer.entries(where, what, ends, made_from=tuple(files), also=(INPUT, DESCRIBED))

    def _of_header(self, path: str, line: int) -> list[Explanation]:
        names = declared_at_line(self._db, _parts(path)[-1], line)
        if not names:
            hint = "name the line with the function's name"
            raise SpecError(f"explain: line {line} of {path} declares no function", hint)
        return [each for name in names for each in self._explainer.explain(name)]


def _parts(path: str) -> list[str]:
    return [part for part in re.split(r"[/\\!]", path) if part not in ("", ".")]


def _shared(path: str, file: str) -> int:
    """How many parts at their ends two paths share."""
    pairs = zip(reversed(_parts(path)), reversed(_parts(file)))
    return len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])


def _title(entry: str, piece: Piece) -> str:
    """The schema or name of an entry, as its first line has it."""
    head = _VALUE.sub("", piece.text.partition("\n")[0]).strip("\"' ")
    return head or entry_operator(entry)


def _dotted(key: Sequence[str]) -> str:
    """A path of keys with indices in brackets: `layer[0].native`."""
    return "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in key).removeprefix(".")
