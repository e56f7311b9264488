"""The keys of a shared cache: of results for equal inputs, and of results for similar ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256

from pipeline.front.settings.config import Config
from pipeline.io import zstd
from pipeline.query.memo import Input, encode
from pipeline.stages.set import CODE, RELEASE
from pipeline.store.archive import DEFLATE, FORMATS, ZSTD

_KEY = "gradmill/3"  # of the keys' own format
_BASIS = (CODE, RELEASE)  # what any row may depend on


def compression() -> str:
    """How this machine compresses archives, and the only way that it can surely read. A part of each key."""
    return ZSTD if zstd.is_usable() else DEFLATE


def key_of_equal(inputs: Mapping[str, Input], arrangement: Iterable[object]) -> str:
    """The key of results for exactly these inputs, in hexadecimal."""
    return _key_of("equal", arrangement, [(label, inputs[label]) for label in sorted(inputs)])


def key_of_similar(inputs: Mapping[str, Input], arrangement: Iterable[object], name: str) -> str:
    """The key of results whose memos may be valid for these inputs: of a set of this name, of whatever contents. Which
    are valid is what the engine finds out."""
    return _key_of(f"similar/{name}", arrangement, [(label, inputs[label]) for label in _BASIS])


def has_same_basis(theirs: Mapping[str, bytes], ours: Mapping[str, bytes]) -> bool:
    """Whether memos of a store may be valid for a run. Both: digests of inputs by label."""
    return all(theirs.get(label) == ours[label] for label in _BASIS)


def names_paths(config: Config) -> bool:
    """Whether results have absolute paths, which are of this machine: `#line` directives, includes of a tree."""
    folders = (config.includes or {}).get("folders", {})
    specs = (config.line_paths or {}).get("specs", {})
    assert isinstance(folders, dict) and isinstance(specs, dict)
    named = [*folders.values(), *specs.values(), *([config.generated] if specs else [])]
    return any(map(os.path.isabs, named))


def _key_of(kind: str, arrangement: Iterable[object], inputs: Iterable[tuple[str, Input]]) -> str:
    contents = []
    for label, each in inputs:
        data = each.data
        contents.append((label, None if data is None else sha256(data).digest()))
    return sha256(encode((_KEY, kind, FORMATS, compression(), tuple(arrangement), contents))).hexdigest()
