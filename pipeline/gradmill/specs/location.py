"""Location of an input: a file, or a member of a zip file."""

from __future__ import annotations

import os
from errno import EFBIG, EINVAL, EIO
from functools import lru_cache
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from msgspec import Struct

from gradmill.io.files import Stat, stat_of
from gradmill.problems.problem import nearest
from gradmill.specs.text import MAX_BYTES

if TYPE_CHECKING:
    from zipfile import ZipFile

NAME = "specset.toml"  # file name of a set's description
DESCRIPTION = "set"  # key of the description among the set's files
OPERATORS = "operators"  # key of the file of selected operators among the set's files
SHIM_HEADER = "shim_header"  # role of headers of AOTInductor's C functions that are compared; the name follows
NATIVE_AOT = "native_aot"  # begins the keys of modules of operators among the set's files, before a colon
AOT_MODULE = "aot.py"  # the name of such a module in the operator's folder
BACKEND = "backend"  # key of the file of lazy tensors among the set's files
EXTERNAL, EXTERNAL_KERNELS = "external_backend", "external_kernels"  # keys of a backend's file and of its kernels
DIFF = "diff of the base/"  # in the keys of diffs, after the role
# The folder of templates in the comments of generated files, relative to upstream's generator, `torchgen`.
PACKAGED_TEMPLATES = "packaged/autograd/templates"
CHECKOUT_TEMPLATES = "../tools/autograd/templates"


def packages_around(folder: str) -> str:
    """The site-packages folder if `folder` is its `torchgen/packaged`; otherwise ""."""
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
        """Whether the file exists, or the member exists and is not empty."""
        if not self.member:
            return os.path.exists(self.path)
        try:
            return bool(self.read())
        except (OSError, KeyError):
            return False

    def read(self) -> bytes:
        """The bytes. Raises OSError or KeyError if they cannot be read or exceed MAX_BYTES."""
        return _read_member(self.path, self.member) if self.member else _read_file(self.path)


def _read_file(path: str) -> bytes:
    status = os.stat(path)
    if not S_ISREG(status.st_mode) and not S_ISDIR(status.st_mode):
        raise OSError(EINVAL, "it is not a regular file")
    _check_size(status.st_size)
    with open(path, "rb") as file:
        data = file.read(status.st_size + 1)  # not MAX_BYTES: Python would allocate all of it first
        while len(data) > status.st_size and (more := file.read(len(data))):  # the file grew
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
    except Exception as error:  # encrypted, damaged, or an unsupported compression
        raise OSError(EIO, f"{error}") from error
    _check_size(len(data))
    return data


@lru_cache(maxsize=1)
def _archive(path: str, stat: Stat | None) -> ZipFile:
    """An open zip file, keyed by path and stat. A torch wheel has 12,000 members, and a run reads some 24 of them."""
    from zipfile import ZipFile

    return ZipFile(path)


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise OSError(EFBIG, f"it has {size} bytes; the limit for a spec file is {MAX_BYTES}")


def nearest_file(path: str) -> str:
    """A hint with the nearest name in the folder of a file that is not there."""
    folder = os.path.dirname(path) or os.curdir
    return nearest(os.path.basename(path), os.listdir(folder) if os.path.isdir(folder) else [])
