"""Ownership of folders: keeps two spec sets apart that have the same name or the same output folder.

Notes record the owner of each folder. A note is JSON followed by a checksum, so that a damaged note never assigns a
folder to another set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from pipeline.front.settings.config import Config, default_folder
from pipeline.io.decoding import decode_json
from pipeline.io.files import read_file, replace_file
from pipeline.problems.problem import SpecError
from pipeline.query.memo import digest

_OWNERS = ".owners"  # a note in it, for sets with another cache


class _Note(Struct, frozen=True):
    """A note with the owner of `folder`, at `key`. `remedy`: the option that selects another folder."""

    path: str
    key: str
    folder: str
    remedy: str


def _of_cache(config: Config) -> _Note:
    return _Note(os.path.join(config.folder, "set"), "", config.folder, "cache=DIR")


def _of_output(config: Config) -> Iterator[_Note]:
    for folder in config.families_by_folder:
        output, generated = os.path.abspath(folder), os.path.realpath(folder)
        owners = os.path.join(os.path.dirname(output), _OWNERS)
        if output == os.path.abspath(default_folder(config.specs.name)) or os.path.exists(owners):
            yield _Note(owners, generated, generated, "generated=DIR")
        yield _Note(os.path.join(config.cache, "outputs"), generated, generated, "generated=DIR")


def check_cache(config: Config) -> None:
    """SpecError if the set's cache folder belongs to another existing set."""
    _check(config, _of_cache(config))


def check_claims(config: Config) -> None:
    """SpecError if the set's cache folder or output folder belongs to another existing set."""
    for each in (_of_cache(config), *_of_output(config)):
        _check(config, each)


def claim_cache(config: Config) -> None:
    """Records the set as the owner of its cache folder, unless the folder belongs to another set."""
    noted = _of_cache(config)
    if not _other(config, noted):
        _claim(noted, config.specs.owner)


def claim_places(config: Config) -> None:
    """Records the set as the owner of its cache and output folders. SpecError if they belong to another set."""
    check_claims(config)
    for each in (_of_cache(config), *_of_output(config)):
        _claim(each, config.specs.owner)


def _check(config: Config, noted: _Note) -> None:
    other = _other(config, noted)
    if other:
        name = "give one of them another name" + (": name= in its specset.toml" if config.specs.described else "")
        raise SpecError(
            f"{noted.folder} belongs to another spec set, that of {other}",
            f"{name}; or name another place: {noted.remedy}",
        )


def _other(config: Config, noted: _Note) -> str:
    """The other set that owns a folder, "" if none does. The same set without its description is no other set."""
    owner = owners_in(read_file(noted.path) or b"").get(noted.key, "")
    known = owner in ("", config.specs.owner) or not os.path.exists(owner) or owner == config.specs.former_owner()
    return "" if known else owner


def _claim(noted: _Note, owner: str) -> None:
    known = owners_in(read_file(noted.path) or b"")
    if known.get(noted.key) != owner:
        try:
            replace_file(noted.path, note({**known, noted.key: owner}))
        except OSError:
            return  # without a writable cache there are no notes


def note(owners: Mapping[str, str]) -> bytes:
    """The bytes of a note. `owners`: from a folder's key to its owner."""
    text = msgspec.json.format(msgspec.json.encode(owners), indent=1)
    return b"%s\n%s\n" % (text, digest(text).hex().encode())


def owners_in(data: bytes) -> dict[str, str]:
    """The owners in the bytes of a note, empty if the note is damaged."""
    text, _, checksum = data.removesuffix(b"\n").rpartition(b"\n")
    if digest(text).hex().encode() != checksum:
        return {}
    try:
        return decode_json(text, dict[str, str])
    except ValueError:
        return {}
