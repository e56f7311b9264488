"""Who owns a folder: two spec sets of one name, or two that are given one place to write to, are kept apart.

A note is JSON with a checksum below it: damage must not give a folder to another set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from pipeline.front.settings.config import Config
from pipeline.io.files import read_file, replace_file
from pipeline.problems.problem import SpecError
from pipeline.query.memo import digest

_SHARED = "generated"  # the folder in which every set has its own, unless another one is given
_OWNERS = ".owners"  # a note in it, for those who have another cache


class _Note(NamedTuple):
    """A file that says who owns a folder, by what the folder is called there."""

    path: str
    key: str
    folder: str
    remedy: str


def _of_cache(config: Config) -> _Note:
    return _Note(os.path.join(config.folder, "set"), "", config.folder, "cache=DIR")


def _of_output(config: Config) -> Iterator[_Note]:
    given, generated = os.path.abspath(config.generated), os.path.realpath(config.generated)
    beside = os.path.join(os.path.dirname(given), _OWNERS)
    if given == os.path.abspath(os.path.join(_SHARED, config.specs.name)) or os.path.exists(beside):
        yield _Note(beside, generated, generated, "generated=DIR")
    yield _Note(os.path.join(config.cache, "outputs"), generated, generated, "generated=DIR")


def check_cache(config: Config) -> None:
    """Refuses a set whose folder in the cache belongs to another one that still exists: a SpecError."""
    _check(config, _of_cache(config))


def check_claims(config: Config) -> None:
    """The same, also for the folder of the generated files."""
    for each in (_of_cache(config), *_of_output(config)):
        _check(config, each)


def claim_cache(config: Config) -> None:
    """Notes that the folder in the cache is the set's, unless it is another one's."""
    noted = _of_cache(config)
    if not _other(config, noted):
        _claim(noted, config.specs.owner)


def claim_places(config: Config) -> None:
    """Notes that the folders of the cache and of the output are the set's; SpecError where they are another one's."""
    check_claims(config)
    for each in (_of_cache(config), *_of_output(config)):
        _claim(each, config.specs.owner)


def is_claimed(config: Config) -> bool:
    """Whether a run of this set noted that the folder of the generated files is the set's."""
    owner = config.specs.owner
    return any(owners_in(read_file(each.path) or b"").get(each.key) == owner for each in _of_output(config))


def _check(config: Config, noted: _Note) -> None:
    other = _other(config, noted)
    if other:
        name = "give one of them another name" + (": name= in its specset.toml" if config.specs.described else "")
        raise SpecError(
            f"{noted.folder} belongs to another spec set, that of {other}",
            f"{name}; or name another place: {noted.remedy}",
        )


def _other(config: Config, noted: _Note) -> str:
    """The other set that owns a folder, "" where none does: what a set was before it was described is no other."""
    owner = owners_in(read_file(noted.path) or b"").get(noted.key, "")
    known = owner in ("", config.specs.owner) or not os.path.exists(owner) or owner == config.specs.former_owner()
    return "" if known else owner


def _claim(noted: _Note, owner: str) -> None:
    known = owners_in(read_file(noted.path) or b"")
    if known.get(noted.key) != owner:
        try:
            replace_file(noted.path, note({**known, noted.key: owner}))
        except OSError:
            return  # a cache that cannot be written to remembers nothing


def note(owners: Mapping[str, str]) -> bytes:
    """What is noted of owners."""
    text = msgspec.json.format(msgspec.json.encode(owners), indent=1)
    return b"%s\n%s\n" % (text, digest(text).hex().encode())


def owners_in(data: bytes) -> dict[str, str]:
    """What was noted; nothing where that is damaged."""
    text, _, checksum = data.removesuffix(b"\n").rpartition(b"\n")
    if digest(text).hex().encode() != checksum:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
