"""Tables read from the packages of PyTorch releases.

The first four are the names that formulas may call, for spec sets without all files of their release:

- `functions.txt`: ATen's functions, each with its maximum number of arguments.
- `others.txt`: other names in ATen's headers.
- `methods.txt`: the methods of tensors, numbers, lists and optional values; those of tensors alone have a maximum
  number of arguments.
- `helpers.txt`: the functions of `FunctionsManual.h`, each with its minimum and maximum number of arguments.

`generator.txt` lists the files of PyTorch's own generator that decide the output, each with its digest: gradmill's
output is known to equal that of these files.

A row is valid for all releases, or for those that it names: `2.8-` means 2.8 and later, `2.8-2.9` from 2.8 to 2.9.
`python -m tests.add_release` reads these facts from the packages of releases. A later release has the names of the
newest release that was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from msgspec import Struct

from gradmill.query.memo import digest
from gradmill.releases.spans import rows_of, texts_in

_TEXTS = texts_in(__file__)


class Names(Struct, frozen=True):
    """The names of one release."""

    functions: dict[str, int | None]  # of native_functions.yaml -> maximum number of arguments, None if unknown
    others: tuple[str, ...]  # other names of ATen
    methods: dict[str, int | None]  # -> maximum number of arguments, None if unknown
    helpers: dict[str, tuple[int, int]]  # -> minimum and maximum number of arguments


@cache
def names_of(version: str) -> Names:
    """The names of a known minor release."""
    return read_names(version, _TEXTS)


def read_names(version: str, texts: Mapping[str, str]) -> Names:
    """The names of a minor release. `texts` are the tables functions, others, methods and helpers."""

    def counted(table: str) -> dict[str, int | None]:
        return {name: int(most[0]) if most else None for name, *most in _rows(texts[table], version)}

    others = tuple(name for (name,) in _rows(texts["others"], version))
    helpers = {name: (int(least), int(most)) for name, least, most in _rows(texts["helpers"], version)}
    return Names(counted("functions"), others, counted("methods"), helpers)


@lru_cache(maxsize=2)
def generator_of(version: str, text: str = _TEXTS["generator"]) -> dict[str, str]:
    """The files of a minor release's generator, by their path in a checkout, each with its digest."""
    return {path: hexadecimal for path, hexadecimal in _rows(text, version)}  # noqa: C416 mypy knows no pairs


def digest_of_source(data: bytes) -> str:
    """The digest of a source file, whatever its line ends: git may convert them."""
    return digest(data.replace(b"\r\n", b"\n")).hex()


def _rows(text: str, version: str) -> list[list[str]]:
    """The rows of a table that are valid for a release, each as its columns."""
    return [row.split() for row in rows_of(text.splitlines(), version)]
