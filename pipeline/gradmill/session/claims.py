"""Which spec set owns a folder: keeps two sets apart that have the same name, or the same folder of generated files.

The file `set` in a set's folder of the cache names its owner, and so does the record of a folder of generated files.
Both name it by a path from their folder, which a copy of a whole project has as well. Another set is refused as long as
the owner exists. In a folder of the cache without an owner, a store and a manifest, files with the names of gradmill's
own are those of others: they are refused as well.
"""

from __future__ import annotations

import os

import msgspec

from gradmill.io.checked import checked, with_checksum
from gradmill.io.decoding import decode_json
from gradmill.io.files import is_file, read_file, replace_file
from gradmill.problems.problem import SpecError, all_of
from gradmill.session.answer import OWNER
from gradmill.session.output.folder_record import FolderRecord, owner_at, owner_from
from gradmill.session.output.ownership import is_manifest, refusal, refused
from gradmill.session.paths import PAGES, TASKS, own_files
from gradmill.session.settings.config import Config
from gradmill.specs.find import former_owner

_SQLITE = b"SQLite format 3\0"  # the first bytes of a database of doit's


def check_claims(config: Config) -> None:
    """SpecError if the set's cache folder or output folder belongs to another existing set, or if the former has files
    of others where gradmill's own belong. Called before any work: a run replaces damaged files one by one."""
    check_cache(config)
    check_owners(config)


def check_owners(config: Config) -> None:
    """SpecError if one of these folders belongs to another existing set."""
    _check(config, config.folder, owner_of(config.folder), "cache=DIR")
    if not config.places.tree:
        for folder in (config.generated, os.path.join(config.generated, PAGES)):
            written = FolderRecord(folder)
            _check(config, written.folder, written.owner, config.option("generated", "DIR"))


def check_cache(config: Config) -> None:
    """The same of the set's cache folder alone."""
    check_files(config.folder)
    _check(config, config.folder, owner_of(config.folder), "cache=DIR")


def claim_cache(config: Config) -> None:
    """Records the set as the owner of its cache folder, unless the folder belongs to another set."""
    owner, known = config.specs.owner, owner_of(config.folder)
    if known != owner and not _is_other(config, known):
        try:
            replace_file(os.path.join(config.folder, OWNER), claim(owner, config.folder))
        except OSError:
            return  # a cache that cannot be written has no owner


def owner_of(folder: str) -> str:
    """The owner of a set's folder in the cache, as `SpecSet.owner` has it; "" if it is not known or damaged."""
    data = read_file(os.path.join(folder, OWNER)) or b""
    try:
        return owner_at(decode_json(checked(data.removesuffix(b"\n")) or b"", str), os.path.realpath(folder))
    except ValueError:
        return ""


def claim(owner: str, folder: str) -> bytes:
    """The bytes of the file in `folder` that names an owner: with a checksum, so that damage names no other one."""
    return with_checksum(msgspec.json.encode(owner_from(owner, os.path.realpath(folder)))) + b"\n"


# ---- other sets


def _check(config: Config, folder: str, owner: str, remedy: str) -> None:
    if _is_other(config, owner):
        name = "give one of them another name" + (": name= in its specset.toml" if config.specs.described else "")
        raise SpecError(
            f"{folder} belongs to another spec set, that of {owner}",
            f"{name}; or name another place: {remedy}",
        )


def _is_other(config: Config, owner: str) -> bool:
    """Whether `owner` is another set that exists. The same set without its description is no other one."""
    if owner in ("", config.specs.owner):
        return False
    if os.path.isabs(owner) and not os.path.exists(owner):
        return False
    return _resolved(owner) not in map(_resolved, (config.specs.owner, former_owner(config.specs)))


def _resolved(owner: str) -> str:
    """An owner without links in the path to its folder."""
    folder, name = os.path.split(owner)
    return os.path.join(os.path.realpath(folder), name) if os.path.isabs(owner) else owner


# ---- files of others


def check_files(folder: str) -> None:
    """SpecError with the files of others in a set's folder of the cache, unless it has an owner, a store, a manifest or
    a database of doit's: then the folder is gradmill's, and a file that looks like one of others is damaged."""
    if owner_of(folder):
        return
    own = (os.path.join(each, name) for each in (folder, os.path.join(folder, PAGES)) for name in own_files(each))
    paths = list(filter(os.path.lexists, own))
    if not paths:
        return
    from gradmill.store.sqlite import is_store

    heads = {path: read_file(path, 100) or b"" for path in paths if is_file(path)}
    if any(is_store(head) or is_manifest(head) for head in heads.values()):
        return
    if any(head.startswith(_SQLITE) and os.path.basename(path).startswith(TASKS) for path, head in heads.items()):
        return
    problems = [(path, refusal(path, frozenset(), by_head=lambda head: not head)) for path in paths]
    errors = [refused(path, problem, "cache=DIR") for path, problem in problems if problem]
    if errors:
        raise all_of(errors)
