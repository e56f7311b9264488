"""Where the bytes of an input are: a file, or a member of a zip file."""

from __future__ import annotations

import os
from errno import EFBIG, EINVAL, EIO
from functools import lru_cache
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from msgspec import Struct

from pipeline.io.files import Stat, stat_of
from pipeline.specs.text import MAX_BYTES

if TYPE_CHECKING:
    from zipfile import ZipFile

NAME = "specset.toml"  # of the description of a set
DESCRIPTION = "set"  # its key among the files
DIFF = "diff of the base/"  # in the keys of diffs
# The folder of templates in the comments of generated files: its path from `torchgen`, where upstream's generator is.
PACKAGED_TEMPLATES = "packaged/autograd/templates"
CHECKOUT_TEMPLATES = "../tools/autograd/templates"


def packages_around(folder: str) -> str:
    """The folder of packages, `torch` among them, whose `torchgen/packaged` a folder is; "" where it is none."""
    above, name = os.path.split(os.path.abspath(folder))
    packages, package = os.path.split(above)
    return packages if (package, name) == ("torchgen", "packaged") else ""


class Location(Struct, frozen=True):
    """A file, or a member of a zip file."""

    path: str
    member: str = ""

    def __str__(self) -> str:
        return f"{self.path}!{self.member}" if self.member else self.path

    def exists(self) -> bool:
        """Whether there is such a file or member."""
        if not self.member:
            return os.path.exists(self.path)
        try:
            return bool(self.read())
        except (OSError, KeyError):
            return False

    def read(self) -> bytes:
        """The bytes; OSError or KeyError when there are none that can be read, or more than a spec file may have."""
        return _read_member(self.path, self.member) if self.member else _read_file(self.path)


def _read_file(path: str) -> bytes:
    status = os.stat(path)
    if not S_ISREG(status.st_mode) and not S_ISDIR(status.st_mode):
        raise OSError(EINVAL, "it is no regular file")
    _check_size(status.st_size)
    with open(path, "rb") as file:
        data = file.read(status.st_size + 1)  # an unlikely larger bound would be allocated first
        while len(data) > status.st_size and (more := file.read(len(data))):  # it grew
            data += more
            _check_size(len(data))
    return data


def _read_member(path: str, member: str) -> bytes:
    try:
        archive = _archive(path, stat_of(path))
        _check_size(archive.getinfo(member).file_size)
        with archive.open(member) as file:
            data = file.read(MAX_BYTES + 1)
    except (KeyError, OSError):
        raise
    except Exception as error:  # encrypted, damaged, or compressed in a way that this Python does not know
        raise OSError(EIO, f"{error}") from error
    _check_size(len(data))
    return data


@lru_cache(maxsize=1)
def _archive(path: str, stat: Stat | None) -> ZipFile:
    """A zip file, as it is now. A wheel of torch lists 12,000 members, and two dozen of them are read in turn."""
    from zipfile import ZipFile

    return ZipFile(path)


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise OSError(EFBIG, f"it has {size} bytes, and a spec file may have {MAX_BYTES}")
