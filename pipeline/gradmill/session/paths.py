"""The folders of one build: the paths of its files there, and which spec set owns a folder.

The file `set` in a set's folder of the cache names its owner, and so does the record of a folder of generated files.
Both name it by a path from their folder, which a copy of a whole project has as well. Another set is refused as long as
the owner exists. In a folder of the cache without an owner, a store and a manifest, files with the names of gradmill's
own are those of others: they are refused as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from gradmill.io.checked import checked, with_checksum
from gradmill.io.decoding import decode_json
from gradmill.io.files import files_in, is_file, read_file, replace_file
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError, all_of
from gradmill.query.memo import digest, encode
from gradmill.session.answer import ANSWER, OWNER
from gradmill.session.output.folder_record import ALL_IGNORED, IGNORE, FolderRecord, owner_at, owner_from
from gradmill.session.output.outputs import is_manifest, refusal, refused
from gradmill.session.settings.config import Config
from gradmill.specs.find import former_owner
from gradmill.specs.location import EXTERNAL, EXTERNAL_KERNELS

RECORD = "last-"  # the prefix of the names of records of runs
_WRITTEN = "written-"  # the prefix of the names of records of trees
TASKS = "doit-"  # the prefix of the names of doit's databases
_DIGITS = 12  # followed by so many hexadecimal digits
PAGES = "page"  # the folder of a set's pages, both in the cache and beneath the generated files
VERIFIED = "verify"  # the folder of verdicts about formulas, in the cache
_STORE = "rows-"  # the prefix of the names of stores; the digest of gradmill's code follows
_CODE = 16  # hexadecimal digits of it
FAILED = ".failed"  # after the name of a store that led to a bug
_SQLITE = b"SQLite format 3\0"  # the first bytes of a database of doit's
_A_STORE = rf"{_STORE}[0-9a-f]{{{_CODE}}}"
_IS_STORE = regex(_A_STORE)
_OWN = regex(
    rf"(?:{_A_STORE}(?:-wal|-shm|{FAILED})?|(?:{RECORD}|{ANSWER}|{_WRITTEN}|{TASKS})[0-9a-f]{{{_DIGITS}}}"
    rf"|lock|{OWNER}|\{IGNORE}|manifest\.json(?:\.d)?|units\.json)(?![^.])"
)
# Settings that are not in the name of a record: those that change no file, and those that it has in another form.
_UNRECORDED = "specs cache strict warning format fix more options stamp added layout shards".split()
_PATHS = ("generated", "depfile", "outputs", "cmake_lists", "operators", "native_aot")


class Paths:
    """The files of a build. `cache`: the folder of gradmill's own files, the store among them. `generated`: that of the
    generated files. `record`: the record of the last run of this configuration. `written`: the record of the files in a
    tree, "" for one in the folder of the generated files."""

    def __init__(self, cache: str, generated: str, record: str, written: str = "") -> None:
        self.cache = cache
        self.generated = generated
        self.record = record
        self.written = written
        name = os.path.basename(record).removeprefix(RECORD)
        self.answer = os.path.join(cache, ANSWER + name)  # to the command line of that run
        self.tasks = os.path.join(cache, TASKS + name)  # what doit keeps about the tasks of this configuration
        self.manifest = os.path.join(cache, "manifest.json")  # of the generated files
        self.units = os.path.join(cache, "units.json")  # the list of units
        self.of_manifest = self.manifest, f"{self.manifest}.d", self.units
        self.lock = os.path.join(cache, "lock")  # that a run locks if it writes to the cache

    def store(self, code: bytes) -> str:
        """The path of the store. `code`: the digest of gradmill's own code."""
        return os.path.join(self.cache, f"{_STORE}{code.hex()[:_CODE]}")


def paths_of(config: Config) -> Paths:
    """The places of the store and the output of a configuration, and of its record."""
    record = os.path.join(config.folder, _record(config))
    return Paths(config.folder, config.generated, record, _written(config))


def paths_of_pages(config: Config, against: str) -> Paths:
    """The paths of a set's pages, which have a separate store. `against`: the name of the set that this one is compared
    with, "" for none."""
    folder = os.path.join(config.folder, PAGES)
    record = os.path.join(folder, _record(config, against))
    return Paths(folder, os.path.join(config.generated, PAGES), record)


def _record(config: Config, against: str = "") -> str:
    """The name of a record: one for each configuration, so that two whose files differ never share one."""
    values = {name: getattr(config, name) for name in config.__struct_fields__ if name not in _UNRECORDED}
    paths = {name: os.path.abspath(path) for name in _PATHS if (path := values[name])}
    stamp = os.path.abspath(config.stamp) if config.stamp and config.depfile else ""  # it is in the depfile
    located = [
        os.path.abspath(at.path) for key, at in config.specs.files.items() if key in (EXTERNAL, EXTERNAL_KERNELS)
    ]
    added = {name: (os.path.abspath(each.root), replace(each, root="")) for name, each in config.added.items()}
    more = (stamp, located, added, config.arrangement, config.includes, config.line_paths, against)
    return RECORD + digest(encode(({**values, **paths}, more))).hex()[:_DIGITS]


def _written(config: Config) -> str:
    """The record of a tree: one for all that builds write there."""
    tree = os.path.relpath(os.path.realpath(config.generated), os.path.realpath(config.folder))
    return os.path.join(config.folder, _WRITTEN + digest(encode(tree)).hex()[:_DIGITS]) if config.requested.tree else ""


def own_files(folder: str) -> Iterator[str]:
    """The names of gradmill's own files in a set's folder of the cache, also where there is only a temporary one."""
    names = os.listdir(folder) if os.path.isdir(folder) else ()
    return (found[0] for name in names if (found := _OWN.match(name)))


def stores_in(folder: str) -> list[str]:
    """The paths of the stores in a folder, the last used first."""
    paths = [path for path in files_in(folder) if _IS_STORE.fullmatch(os.path.basename(path))]
    return sorted(paths, key=os.path.getmtime, reverse=True)


def code_of(store: str) -> str:
    """The digest of gradmill's code in the path of a store."""
    return os.path.basename(store).removeprefix(_STORE)


# ---- which set owns them


def check_claims(config: Config) -> None:
    """SpecError if the set's cache folder or output folder belongs to another existing set, or if the former has files
    of others where gradmill's own belong. Called before any work: a run replaces damaged files one by one."""
    check_cache(config)
    check_owners(config)


def check_owners(config: Config) -> None:
    """SpecError if one of these folders belongs to another existing set."""
    _check(config, config.folder, owner_of(config.folder), "cache=DIR")
    if not config.requested.tree:
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
            if not os.path.lexists(ignore := os.path.join(config.folder, IGNORE)):
                replace_file(ignore, ALL_IGNORED)
            place = owner_from(owner, os.path.realpath(config.folder))  # with a checksum: damage names no other one
            replace_file(os.path.join(config.folder, OWNER), with_checksum(msgspec.json.encode(place)) + b"\n")
        except OSError:
            return  # a cache that cannot be written has no owner


def owner_of(folder: str) -> str:
    """The owner of a set's folder in the cache, as `SpecSet.owner` has it; "" if it is not known or damaged."""
    data = read_file(os.path.join(folder, OWNER)) or b""
    try:
        return owner_at(decode_json(checked(data.removesuffix(b"\n")) or b"", str), os.path.realpath(folder))
    except ValueError:
        return ""


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
    from gradmill.store.sqlite import is_store

    heads = {path: read_file(path, 100) or b"" for path in paths if is_file(path)}
    if any(
        is_store(head) or is_manifest(head) or (head.startswith(_SQLITE) and os.path.basename(path).startswith(TASKS))
        for path, head in heads.items()
    ):
        return
    problems = [(path, refusal(path, frozenset(), by_head=lambda head: not head)) for path in paths]
    errors = [refused(path, problem, "cache=DIR") for path, problem in problems if problem]
    if errors:
        raise all_of(errors)
